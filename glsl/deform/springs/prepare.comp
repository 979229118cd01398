// Poses the rest measures of the springs and finds their start: once per frame and level, one invocation per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "types/springs.glsl"
#include "lib/quaternion.glsl"
#include "lib/span.glsl"
#include "lib/skinning.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 4, scalar) readonly buffer Vertices { SpringVertex vertices[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Dual { DualQuat dual[]; };
// Of the mesh itself; `seeds` are a coarser level's vertices in it.
layout(set = 0, binding = 6, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 7, scalar) readonly buffer Scale { Rows scale[]; };
layout(set = 0, binding = 8, scalar) buffer Anchors { vec4 anchors[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer Posed { SpringPose posed[]; };
layout(set = 0, binding = 10, scalar) buffer Iterates { vec4 iterates[]; };
layout(set = 0, binding = 11, scalar) readonly buffer Seeds { uint seeds[]; };
layout(set = 0, binding = 12, scalar) buffer Turns { vec4 turns[]; };
layout(set = 0, binding = 13, scalar) readonly buffer State { SpringState state; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint has_tail;
    uint coarse;
    // The start is the last frame's shape, carried by the change of the joints.
    uint from_last;
    float surface;
    float length_gain;
    float torsion;
    float turning;
    float bone;
    float hold;
    float girth;
    float bend_reach;
    float hold_reach;
    float girth_reach;
    float largest_step;
    float omega;
    float on_bone;
    float resolved;
    uint scaled;
} push;

#define ADD_SCALE(joint, weight) rows_add(stretch, scale[joint], weight);
#define ADD_DUAL(joint, weight) dual_add(sum, heaviest.real, dual[joint], weight);

// Stiffness per unit with which a difference fades over `reach` metres: deg/4 (l/reach)^2.
float fading(float mean_length, float grain, float degree, float reach) {
    float ratio = grain > 0.0 ? mean_length / max(reach, grain) : 0.0;
    return degree * 0.25 * ratio * ratio;
}

float step_of(float bound) {
    return bound > 0.0 ? min(push.largest_step, push.omega / bound) : 0.0;
}

void prepare(uint i) {
    SpringVertex v = vertices[i];
    // Dual quaternion skinning of the attachment point, as in dqs.comp.
    vec3 anchor = v.attachment;
    if (push.scaled != 0u) {
        Rows stretch = rows_zero();
        FOR_INFLUENCES(i, push.has_tail, ADD_SCALE)
        anchor = rows_point(stretch, anchor);
    }
    DualQuat heaviest = dual[influence_joints[i].x & 0xffffu];
    DualQuat sum = DualQuat(vec4(0.0), vec4(0.0));
    FOR_INFLUENCES(i, push.has_tail, ADD_DUAL)
    anchor = dual_apply(sum, heaviest, anchor);
    float size = length(sum.real);
    vec4 q = size < 1e-6 ? heaviest.real : sum.real / size;
    float degree = float(v.first_and_degree >> 24);
    bool free = v.radius > push.on_bone;
    bool has_bone = v.bone_direction != vec3(0.0);

    SpringPose p;
    p.hold = quat_rotate(q, v.scale_vector);
    p.axis = quat_rotate(q, v.bone_direction);
    p.turn = quat_rotate(q, v.turn);
    p.load = quat_rotate(q, v.shape) * -push.torsion;
    p.phi = v.phi;
    p.bone_stiffness = free && has_bone
        ? push.bone * fading(v.mean_length, v.grain, degree, push.bend_reach * v.radius) : 0.0;
    p.hold_stiffness =
        free ? push.hold * fading(v.mean_length, v.grain, degree, push.hold_reach * v.radius) : 0.0;
    p.girth_stiffness =
        free ? push.girth * fading(v.mean_length, v.grain, degree, push.girth_reach * v.radius) : 0.0;
    float blind = max(v.mean_length, push.resolved * v.grain);
    float ratio = free && blind > 0.0 ? min(v.radius / blind, 1.0) : 0.0;
    p.sense = ratio * ratio;
    p.pull = push.hold * degree * (1.0 - p.sense);
    float across = EDGE_BOUND * degree * (push.surface + push.torsion * push.turning)
        + (p.bone_stiffness + p.hold_stiffness) * push.turning + p.pull;
    float along = EDGE_BOUND * (degree * (push.surface + push.length_gain) + v.loose * push.torsion)
        + p.girth_stiffness + p.pull;
    // Without a direction there is no telling them apart.
    float blunt = max(across, along);
    p.step_across = step_of(p.sense < 1.0 ? blunt : across);
    p.step_along = step_of(p.sense < 1.0 ? blunt : along);
    p.first_and_degree = v.first_and_degree;
    p.density = degree * 0.25 * v.mean_length * v.mean_length;
    p.unused = uvec2(0u);

    vec4 x = vec4(positions[push.coarse != 0 ? seeds[i] : i].xyz, 0.0);
    if (push.from_last != 0) {
        vec3 last = iterates[(state.executed & 1u) * push.count + i].xyz - anchors[i].xyz;
        x.xyz = anchor + quat_rotate(q, quat_rotate(quat_conjugate(turns[i]), last));
    }
    anchors[i] = vec4(anchor, v.radius);
    posed[i] = p;
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
