// Dual quaternion skinning (Kavan et al. 2008): blends scales linearly, then applies one blended rigid motion.
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
layout(set = 0, binding = 7, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

#define ADD_SCALE(joint, weight) rows_add(stretch, scale[joint], weight);
#define ADD_DUAL(joint, weight) dual_add(sum, heaviest.real, dual[joint], weight);

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 x = bind_positions[i].xyz;
    if (push.flag != 0u) {
        Rows stretch = rows_zero();
        FOR_INFLUENCES(i, push.has_tail, ADD_SCALE)
        x = rows_point(stretch, x);
    }
    DualQuat heaviest = dual[influence_joints[i].x & 0xffffu];
    DualQuat sum = DualQuat(vec4(0.0), vec4(0.0));
    FOR_INFLUENCES(i, push.has_tail, ADD_DUAL)
    positions[i] = vec4(dual_apply(sum, heaviest, x), 0.0);
}
