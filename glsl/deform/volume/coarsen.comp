// Deformation of each coarser cube, the mean of the finer cubes in it, and its force on its corners at zero displacement.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer ChildOffsets { uint child_offsets[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Children { uint children[]; };
// Of the finer level.
layout(set = 0, binding = 2) uniform usamplerBuffer corners;
layout(set = 0, binding = 3) uniform samplerBuffer displacements;
layout(set = 0, binding = 4) uniform samplerBuffer bases;
layout(set = 0, binding = 5) uniform samplerBuffer rotations;
layout(set = 0, binding = 6) uniform samplerBuffer coarse_weights;
layout(set = 0, binding = 7, scalar) writeonly buffer CoarseBases { vec4 coarse_bases[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer CoarseRotations { vec4 coarse_rotations[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer CornerForces { vec4 corner_forces[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void coarsen(uint c) {
    uint begin = child_offsets[c];
    uint end = child_offsets[c + 1];
    mat3 sum = mat3(0.0);
    vec4 q = vec4(0.0);
    for (uint k = begin; k < end; ++k) {
        int child = int(children[k]);
        uvec4 near = texelFetch(corners, 2 * child);
        uvec4 far = texelFetch(corners, 2 * child + 1);
        vec3 x[8];
        for (int i = 0; i < 4; ++i) {
            x[i] = texelFetch(displacements, int(near[i])).xyz;
            x[i + 4] = texelFetch(displacements, int(far[i])).xyz;
        }
        sum += mean_edges(x);
        if (push.has_base != 0) {
            for (int i = 0; i < 3; ++i) {
                sum[i] += texelFetch(bases, 3 * child + i).xyz;
            }
        }
        vec4 own = texelFetch(rotations, child);
        q += dot(own, q) < 0.0 ? -own : own;
    }
    sum *= 2.0 / float(end - begin);
    for (int i = 0; i < 3; ++i) {
        coarse_bases[3 * c + i] = vec4(sum[i], 0.0);
    }
    q /= max(length(q), 1e-12);
    for (uint k = 0; k < push.turns; ++k) {
        q = turn(q, sum);
    }
    coarse_rotations[c] = q;
    mat3 constant = constant_force(sum, sum, q, push.turns, push.lambda, push.size, true);
    constant *= texelFetch(coarse_weights, int(c)).x;
    for (int i = 0; i < 8; ++i) {
        vec3 force = (i & 1) == 0 ? constant[0] : -constant[0];
        force += (i & 2) == 0 ? constant[1] : -constant[1];
        force += (i & 4) == 0 ? constant[2] : -constant[2];
        corner_forces[8 * c + i] = vec4(force, 0.0);
    }
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint c = span_element(k);
        if (c < push.count) {
            coarsen(c);
        }
    }
}
