// Rotation of each cube and its force on its corners.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
// Three per cube.
layout(set = 0, binding = 2) uniform samplerBuffer bases;
layout(set = 0, binding = 3) uniform samplerBuffer weights;
// The stage reads and writes them: an invocation reads its own element before it writes it.
layout(set = 0, binding = 4) uniform samplerBuffer rotations;
layout(set = 0, binding = 5, scalar) writeonly buffer Turned { vec4 turned[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer CornerForces { vec4 corner_forces[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void forces(uint c) {
    vec3 x[8];
    uvec4 near = texelFetch(corners, int(2 * c));
    uvec4 far = texelFetch(corners, int(2 * c + 1));
    for (int i = 0; i < 4; ++i) {
        x[i] = texelFetch(displacements, int(near[i])).xyz;
        x[i + 4] = texelFetch(displacements, int(far[i])).xyz;
    }
    mat3 base = mat3(0.0);
    if (push.has_base != 0) {
        for (int k = 0; k < 3; ++k) {
            base[k] = texelFetch(bases, int(3 * c) + k).xyz;
        }
    }
    mat3 mean = base + mean_edges(x);
    vec4 q = texelFetch(rotations, int(c));
    for (uint k = 0; k < push.turns; ++k) {
        q = turn(q, mean);
    }
    if (push.turns > 0) {
        turned[c] = q;
    }
    mat3 constant = constant_force(base, mean, q, push.turns, push.lambda, push.size, push.has_base != 0);
    float weight = texelFetch(weights, int(c)).x;
    vec3 force[8];
    for (int i = 0; i < 8; ++i) {
        force[i] = vec3(0.0);
    }
    for (int i = 0; i < 4; ++i) {
        vec3 along_x = ((x[NEAR_X(i) + 1] - x[NEAR_X(i)]) * 0.5 + constant[0]) * weight;
        vec3 along_y = ((x[NEAR_Y(i) + 2] - x[NEAR_Y(i)]) * 0.5 + constant[1]) * weight;
        vec3 along_z = ((x[NEAR_Z(i) + 4] - x[NEAR_Z(i)]) * 0.5 + constant[2]) * weight;
        force[NEAR_X(i)] += along_x;
        force[NEAR_X(i) + 1] -= along_x;
        force[NEAR_Y(i)] += along_y;
        force[NEAR_Y(i) + 2] -= along_y;
        force[NEAR_Z(i)] += along_z;
        force[NEAR_Z(i) + 4] -= along_z;
    }
    for (int i = 0; i < 8; ++i) {
        corner_forces[8 * c + i] = vec4(force[i], 0.0);
    }
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint c = span_element(k);
        if (c < push.count) {
            forces(c);
        }
    }
}
