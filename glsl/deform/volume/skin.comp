// Places each control vertex in its cube; vertices without a cube stay, those far from it take its displacement.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
// Coordinates in the cube; in w how little the vertex is part of it.
layout(set = 0, binding = 2) uniform samplerBuffer places;
layout(set = 0, binding = 3, scalar) readonly buffer PlaceCells { uint place_cells[]; };
layout(set = 0, binding = 4, scalar) buffer Positions { vec4 positions[]; };
// Where the geometric method puts the nodes.
layout(set = 0, binding = 5) uniform samplerBuffer starts;

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/cube_place.glsl"

void skin(uint v) {
    uint cell = place_cells[v];
    if (cell == NONE) {
        return;
    }
    vec4 place = texelFetch(places, int(v));
    vec3 x = cube_place(cell, place.xyz);
    if (place.w > 0.0) {
        vec3 inside = clamp(place.xyz, 0.0, 1.0);
        vec3 moved = cube_place(cell, inside) - cube_place_in(starts, cell, inside);
        x = mix(x, positions[v].xyz + moved, place.w);
    }
    positions[v] = vec4(x, 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint v = span_element(k);
        if (v < push.count) {
            skin(v);
        }
    }
}
