// Swing-twist deformers (Kavan & Sorkine 2012): a vertex takes fractions of the swing and the twist of each joint.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Offsets { uint offsets[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Entries { ChainEntry entries[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Bases { uint bases[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Motions { JointMotion motions[]; };
layout(set = 0, binding = 4, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 x = bind_positions[i].xyz;
    uint end = offsets[i + 1];
    for (uint k = offsets[i]; k < end; ++k) {
        ChainEntry entry = entries[k];
        x = joint_motion_point(motions[entry.joint], entry.swing, entry.twist, x);
    }
    uint base = bases[i];
    positions[i] = vec4(base == NO_JOINT ? x : rows_point(skinning[base], x), 0.0);
}
