// Rigid attachment: x' = a' + R_p s, with attachment point a' and scale vector s.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Anchors { Anchor anchors[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Bones { BoneFrame bones[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    Anchor anchor = anchors[i];
    uint target = targets[i];
    vec3 x;
    if ((target & ON_JOINT) == 0u) {
        BoneFrame bone = bones[target];
        x = attachment_point(bone, anchor.t) + quat_rotate(bone.rotation, anchor.scale_vector);
    } else {
        x = rows_point(skinning[target & ~ON_JOINT], anchor.scale_vector);
    }
    positions[i] = vec4(x, 0.0);
}
