// Incremental rotation skinning (thesis 4.1): rigid attachment, then partial rotations near joints.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "lib/irs.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Anchors { Anchor anchors[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Bones { BoneFrame bones[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Reaches { BoneReach reaches[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Near { uint near[]; };
layout(set = 0, binding = 6, scalar) readonly buffer Distances { float distances[]; };
layout(set = 0, binding = 7, scalar) readonly buffer Local { vec4 local[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

// Moves x to its bind distance from the vertex's bone and that bone's neighbours.
vec3 correct_length(vec3 x, BoneReach reach, float distance_in_bind) {
    vec3 foot = x;
    float shortest = 3.0e38;
    for (uint k = 0u; k < reach.near_count; ++k) {
        BoneFrame bone = bones[near[reach.near_offset + k]];
        vec3 point = nearest_on_segment(bone.head, bone.span, x);
        float square = dot(x - point, x - point);
        if (square < shortest) {
            shortest = square;
            foot = point;
        }
    }
    float reached = distance(x, foot);
    return reached > push.on_bone ? foot + (x - foot) * (distance_in_bind / reached) : x;
}

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
        BoneReach reach = reaches[target];
        vec4 tail_local = reach.child == NONE ? vec4(0.0, 0.0, 0.0, 1.0) : local[reach.child];
        vec4 increment = irs_increment(irs_weights(reach, anchor.t), local[reach.parent], tail_local);
        vec3 rigid = quat_rotate(bone.rotation, anchor.scale_vector);
        x = attachment_point(bone, anchor.t) + quat_rotate(increment, rigid);
        if (push.flag != 0u) {
            x = correct_length(x, reach, distances[i]);
        }
    } else {
        x = rows_point(skinning[target & ~ON_JOINT], anchor.scale_vector);
    }
    positions[i] = vec4(x, 0.0);
}
