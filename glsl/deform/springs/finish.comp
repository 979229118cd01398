// Copies the last iterate to the position stream, whichever half it is in.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Iterates { vec4 iterates[]; };
layout(set = 0, binding = 1, scalar) readonly buffer State { SpringState state; };
layout(set = 0, binding = 2, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < push.count) {
        positions[i] = vec4(iterates[(state.executed & 1u) * push.count + i].xyz, 1.0);
    }
}
