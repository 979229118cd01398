// Places each control vertex in its cube; vertices without a cube stay.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
// Coordinates in the cube.
layout(set = 0, binding = 2) uniform samplerBuffer places;
layout(set = 0, binding = 3, scalar) readonly buffer PlaceCells { uint place_cells[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/cube_place.glsl"

void skin(uint v) {
    uint cell = place_cells[v];
    if (cell == NONE) {
        return;
    }
    positions[v] = vec4(cube_place(cell, texelFetch(places, int(v)).xyz), 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint v = span_element(k);
        if (v < push.count) {
            skin(v);
        }
    }
}
