// Linear blend skinning: x' = sum over joints j of w_ij T_j x.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 4, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

#define ADD(joint, weight) rows_add(sum, skinning[joint], weight);

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    Rows sum = rows_zero();
    FOR_INFLUENCES(i, push.has_tail, ADD)
    positions[i] = vec4(rows_point(sum, bind_positions[i].xyz), 0.0);
}
