// Stiffness and steps of the springs: when the parameters change, not in every frame. One invocation per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Measures { SpringMeasure measures[]; };
layout(set = 0, binding = 1, scalar) writeonly buffer Gains { SpringGains gains[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
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
} push;

// Stiffness per unit with which a difference fades over `reach` metres: deg/4 (l/reach)^2.
float fading(float mean_length, float grain, float degree, float reach) {
    float ratio = grain > 0.0 ? mean_length / max(reach, grain) : 0.0;
    return degree * 0.25 * ratio * ratio;
}

float step_of(float bound) {
    return bound > 0.0 ? min(push.largest_step, push.omega / bound) : 0.0;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    SpringMeasure v = measures[i];
    float degree = float(v.first_and_degree >> 24);
    bool free = v.radius > push.on_bone;
    SpringGains g;
    g.bone_stiffness = free && v.has_bone != 0u
        ? push.bone * fading(v.mean_length, v.grain, degree, push.bend_reach * v.radius) : 0.0;
    g.hold_stiffness =
        free ? push.hold * fading(v.mean_length, v.grain, degree, push.hold_reach * v.radius) : 0.0;
    g.girth_stiffness =
        free ? push.girth * fading(v.mean_length, v.grain, degree, push.girth_reach * v.radius) : 0.0;
    g.phi = v.phi;
    float blind = max(v.mean_length, push.resolved * v.grain);
    float ratio = free && blind > 0.0 ? min(v.radius / blind, 1.0) : 0.0;
    g.sense = ratio * ratio;
    g.pull = push.hold * degree * (1.0 - g.sense);
    float across = EDGE_BOUND * degree * (push.surface + push.torsion * push.turning)
        + (g.bone_stiffness + g.hold_stiffness) * push.turning + g.pull;
    float along = EDGE_BOUND * (degree * (push.surface + push.length_gain) + v.loose * push.torsion)
        + g.girth_stiffness + g.pull;
    // Without a direction there is no telling them apart.
    float blunt = max(across, along);
    g.step_across = step_of(g.sense < 1.0 ? blunt : across);
    g.step_along = step_of(g.sense < 1.0 ? blunt : along);
    g.first_and_degree = v.first_and_degree;
    g.density = degree * 0.25 * v.mean_length * v.mean_length;
    g.unused = uvec2(0u);
    gains[i] = g;
}
