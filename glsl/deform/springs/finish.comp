// Copies the last iterate from its half of the buffer to the position stream.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform samplerBuffer iterates;
layout(set = 0, binding = 1, scalar) readonly buffer State { SpringState state; };
layout(set = 0, binding = 2, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void main() {
    uint from = (state.executed & 1u) * push.count;
    for (uint n = 0; n < SPAN; ++n) {
        uint i = span_element(n);
        if (i < push.count) {
            positions[i] = vec4(texelFetch(iterates, int(from + i)).xyz, 1.0);
        }
    }
}
