// Rotates the rest measures of the springs by the pose and finds the initial iterate, per frame, level and vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#define INFLUENCE_TEXELS
#include "types/rig.glsl"
#include "types/springs.glsl"
#include "lib/quaternion.glsl"
#include "lib/span.glsl"
#include "lib/skinning.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 4) uniform samplerBuffer rest;
// Two texels per joint.
layout(set = 0, binding = 5) uniform samplerBuffer dual;
// Positions of the finest level; `seeds` maps the vertices of a coarser level to it.
layout(set = 0, binding = 6) uniform samplerBuffer positions;
layout(set = 0, binding = 7, scalar) readonly buffer Scale { Rows scale[]; };
layout(set = 0, binding = 8, scalar) buffer Anchors { vec4 anchors[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer Posed { vec4 posed[]; };
layout(set = 0, binding = 10, scalar) buffer Iterates { vec4 iterates[]; };
layout(set = 0, binding = 11, scalar) readonly buffer Seeds { uint seeds[]; };
layout(set = 0, binding = 12, scalar) buffer Turns { vec4 turns[]; };
layout(set = 0, binding = 13, scalar) readonly buffer State { SpringState state; };
layout(set = 0, binding = 14) uniform samplerBuffer gains;

layout(push_constant, scalar) uniform Push {
    uint count;
    uint has_tail;
    uint coarse;
    // Whether to start from the previous frame's shape, moved by the change of the joints.
    uint from_last;
    // Whether the next frame may start from this frame's shape.
    uint keep;
    uint scaled;
    float torsion;
} push;

DualQuat dual_of(uint joint) {
    return DualQuat(texelFetch(dual, int(2 * joint)), texelFetch(dual, int(2 * joint + 1)));
}

#define ADD_SCALE(joint, weight) rows_add(stretch, scale[joint], weight);
#define ADD_DUAL(joint, weight) dual_add(sum, heaviest.real, dual_of(joint), weight);

vec3 rest_of(uint i, int k) {
    return texelFetch(rest, int(i) * REST_TEXELS + k).xyz;
}

void prepare(uint i) {
    vec4 attachment = texelFetch(rest, int(i) * REST_TEXELS);
    // Dual quaternion skinning of the attachment point, as in dqs.comp.
    vec3 anchor = attachment.xyz;
    if (push.scaled != 0u) {
        Rows stretch = rows_zero();
        FOR_INFLUENCES(i, push.has_tail, ADD_SCALE)
        anchor = rows_point(stretch, anchor);
    }
    DualQuat heaviest = dual_of(JOINTS_OF(i).x & 0xffffu);
    DualQuat sum = DualQuat(vec4(0.0), vec4(0.0));
    FOR_INFLUENCES(i, push.has_tail, ADD_DUAL)
    anchor = dual_apply(sum, heaviest, anchor);
    float size = length(sum.real);
    vec4 q = size < 1e-6 ? heaviest.real : sum.real / size;

    vec4 x = vec4(texelFetch(positions, int(push.coarse != 0 ? seeds[i] : i)).xyz, 0.0);
    if (push.from_last != 0) {
        vec3 last = iterates[(state.executed & 1u) * push.count + i].xyz - anchors[i].xyz;
        x.xyz = anchor + quat_rotate(q, quat_rotate(quat_conjugate(turns[i]), last));
    }
    vec4 gain = texelFetch(gains, int(i) * GAIN_TEXELS);
    uint at = i * POSE_TEXELS;
    posed[at] = vec4(quat_rotate(q, rest_of(i, 1)), gain.x);
    posed[at + 1] = vec4(quat_rotate(q, rest_of(i, 2)), gain.y);
    posed[at + 2] = vec4(quat_rotate(q, rest_of(i, 3)), gain.z);
    posed[at + 3] = vec4(quat_rotate(q, rest_of(i, 4)) * -push.torsion, gain.w);
    anchors[i] = vec4(anchor, attachment.w);
    if (push.keep != 0) {
        turns[i] = q;
    }
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
