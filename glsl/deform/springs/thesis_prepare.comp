// Attaches every vertex to its bone in the pose, without skin weights, and finds the initial iterate: the springs of the
// thesis, once per frame.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "types/springs.glsl"
#include "lib/quaternion.glsl"
#include "lib/span.glsl"
#include "lib/skinning.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer RestAnchors { Anchor rest_anchors[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Bones { BoneFrame bones[]; };
layout(set = 0, binding = 4) uniform samplerBuffer rest;
layout(set = 0, binding = 5) uniform samplerBuffer positions;
layout(set = 0, binding = 6) uniform samplerBuffer gains;
layout(set = 0, binding = 7, scalar) buffer Anchors { vec4 anchors[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer Posed { vec4 posed[]; };
layout(set = 0, binding = 9, scalar) buffer Iterates { vec4 iterates[]; };
layout(set = 0, binding = 10, scalar) buffer Turns { vec4 turns[]; };
layout(set = 0, binding = 11, scalar) readonly buffer State { SpringState state; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Whether to start from the previous frame's shape, moved by the change of the bones.
    uint from_last;
} push;

vec3 rest_of(uint i, int k) {
    return texelFetch(rest, int(i) * REST_TEXELS + k).xyz;
}

void prepare(uint i) {
    Anchor bind = rest_anchors[i];
    uint target = targets[i];
    vec3 direction = rest_of(i, 2);
    vec3 anchor;
    vec4 q = vec4(0.0, 0.0, 0.0, 1.0);
    if ((target & ON_JOINT) == 0u) {
        BoneFrame bone = bones[target];
        anchor = attachment_point(bone, bind.t);
        q = bone.rotation;
        float bone_length = length(bone.span);
        direction = direction != vec3(0.0) && bone_length > 0.0 ? bone.span / bone_length : vec3(0.0);
    } else {
        anchor = rows_point(skinning[target & ~ON_JOINT], bind.scale_vector);
    }
    vec4 x = vec4(texelFetch(positions, int(i)).xyz, 0.0);
    if (push.from_last != 0) {
        vec3 last = iterates[(state.executed & 1u) * push.count + i].xyz - anchors[i].xyz;
        x.xyz = anchor + quat_rotate(q, quat_rotate(quat_conjugate(turns[i]), last));
    }
    vec4 gain = texelFetch(gains, int(i) * GAIN_TEXELS);
    uint at = i * POSE_TEXELS;
    posed[at] = vec4(quat_rotate(q, rest_of(i, 1)), gain.x);
    posed[at + 1] = vec4(direction, gain.y);
    posed[at + 2] = vec4(vec3(0.0), gain.z);
    posed[at + 3] = vec4(vec3(0.0), gain.w);
    anchors[i] = vec4(anchor, texelFetch(rest, int(i) * REST_TEXELS).w);
    turns[i] = q;
    iterates[i] = x;
    iterates[push.count + i] = x;
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint i = span_element(n);
        if (i < push.count) {
            prepare(i);
        }
    }
}
