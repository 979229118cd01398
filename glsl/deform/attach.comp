// Posed attachment points of all control vertices; a prop's vertex is its own.
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
layout(set = 0, binding = 4, scalar) writeonly buffer Attachments { vec4 attachments[]; };

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
    vec3 a = (target & ON_JOINT) == 0u ? attachment_point(bones[target], anchor.t)
                                       : rows_point(skinning[target & ~ON_JOINT], anchor.scale_vector);
    attachments[i] = vec4(a, 0.0);
}
