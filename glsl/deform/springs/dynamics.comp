// Dynamics: advances every vertex from the previous frame to this one by semi-implicit Euler (lib/dynamics.glsl). The
// position stream holds the equilibrium. One invocation per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/dynamics.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Frequency relative to the thickest tissue (zero for a vertex without dynamics), and maximum displacement.
layout(set = 0, binding = 0, scalar) readonly buffer Rests { vec2 rests[]; };
layout(set = 0, binding = 1, scalar) buffer Motions { VertexMotion motions[]; };
layout(set = 0, binding = 2, scalar) buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint start;
    uint steps;
    float seconds;
    float omega;
    float damping;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 target = positions[i].xyz;
    vec2 rest = rests[i];
    if (push.start != 0 || rest.x == 0.0) {
        motions[i] = VertexMotion(vec4(target, 1.0), vec4(0.0), vec4(target, 1.0));
        return;
    }
    DynamicsSettings settings = DynamicsSettings(push.omega, push.damping, push.seconds, push.steps);
    VertexMotion me = advance(motions[i], target, rest.x, rest.y, settings);
    motions[i] = me;
    positions[i] = me.position;
}
