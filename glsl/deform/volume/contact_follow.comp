// Finds how far each control vertex lies from its place in the cubes, in the bind pose.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/contact.glsl"
#include "lib/quaternion.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
// Coordinates in the cube.
layout(set = 0, binding = 2) uniform samplerBuffer places;
layout(set = 0, binding = 3, scalar) readonly buffer PlaceCells { uint place_cells[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Rotations { vec4 rotations[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Bulges { vec4 bulges[]; };

layout(push_constant, scalar) uniform Push {
    ContactPush push;
};

#include "lib/cube_place.glsl"

vec3 offset(uint v) {
    uint cell = place_cells[v];
    if (cell == NONE) {
        return vec3(0.0);
    }
    vec3 off = positions[v].xyz - cube_place(cell, texelFetch(places, int(v)).xyz);
    return quat_rotate(quat_conjugate(rotations[cell]), off);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint v = span_element(k);
        if (v < push.count) {
            bulges[v] = vec4(offset(v), 0.0);
        }
    }
}
