// Skinning with optimized centres of rotation (Le & Hodgins 2016, algorithm 1).
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 4, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Dual { DualQuat dual[]; };
layout(set = 0, binding = 6, scalar) readonly buffer Scale { Rows scale[]; };
layout(set = 0, binding = 7, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 8, scalar) readonly buffer Centers { vec4 centers[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

#define ADD_SCALE(joint, weight) rows_add(stretch, scale[joint], weight);
#define ADD_BOTH(joint, weight) \
    rows_add(linear, skinning[joint], weight); \
    sum += quat_side(heaviest, dual[joint].real) * weight * dual[joint].real;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 center = centers[i].xyz;
    vec3 arm = bind_positions[i].xyz - center;
    if (push.flag != 0u) {
        Rows stretch = rows_zero();
        FOR_INFLUENCES(i, push.has_tail, ADD_SCALE)
        arm = rows_vector(stretch, arm);
    }
    vec4 heaviest = dual[influence_joints[i].x & 0xffffu].real;
    vec4 sum = vec4(0.0);
    Rows linear = rows_zero();
    FOR_INFLUENCES(i, push.has_tail, ADD_BOTH)
    float size = length(sum);
    vec4 turn = size > 1e-6 ? sum / size : heaviest;
    positions[i] = vec4(quat_rotate(turn, arm) + rows_point(linear, center), 0.0);
}
