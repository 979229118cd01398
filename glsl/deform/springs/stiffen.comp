// Computes stiffness and step lengths of the springs when parameters change. One invocation per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"
#include "lib/stiffness.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Measures { SpringMeasure measures[]; };
layout(set = 0, binding = 1, scalar) writeonly buffer Gains { SpringGains gains[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    float surface;
    float length_gain;
    float torsion;
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
    uint plain;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    StiffnessSettings user = StiffnessSettings(push.surface, push.length_gain, push.torsion, push.bone,
        push.hold, push.girth, push.bend_reach, push.hold_reach, push.girth_reach, push.largest_step, push.omega,
        push.on_bone, push.resolved, push.plain);
    gains[i] = stiffen(measures[i], user);
}
