// Start of the finest cubes: each takes its joint's rotation, or keeps the last frame's, and turns to its deformation.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Two per cube.
layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
layout(set = 0, binding = 2, scalar) readonly buffer Homes { uint homes[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Dual { DualQuat dual[]; };
layout(set = 0, binding = 4, scalar) buffer Rotations { vec4 rotations[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void orient(uint c) {
    uvec4 near = texelFetch(corners, int(2 * c));
    uvec4 far = texelFetch(corners, int(2 * c + 1));
    vec3 x[8];
    for (int i = 0; i < 4; ++i) {
        x[i] = texelFetch(displacements, int(near[i])).xyz;
        x[i + 4] = texelFetch(displacements, int(far[i])).xyz;
    }
    mat3 mean = mean_edges(x);
    vec4 q = push.from_joint != 0 ? normalize(dual[homes[c]].real) : rotations[c];
    for (uint k = 0; k < push.turns; ++k) {
        q = turn(q, mean);
    }
    rotations[c] = q;
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint c = span_element(k);
        if (c < push.count) {
            orient(c);
        }
    }
}
