// Spreads low responses to volume changes over the skin, one ring of vertices per round: a response falls to the mean of
// its neighbours. One invocation per vertex of triangles that may invert; all others respond fully.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Vertex, index of its first corner, end of its corners.
layout(set = 0, binding = 0) uniform usamplerBuffer soft;
// The triangle's other two vertices in its order, and its index.
layout(set = 0, binding = 1) uniform usamplerBuffer corners;
layout(set = 0, binding = 2) uniform samplerBuffer responses;
layout(set = 0, binding = 3, scalar) writeonly buffer Next { float next[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

float response(uint v) {
    return texelFetch(responses, int(v)).x;
}

void spread(uint k) {
    uvec4 own = texelFetch(soft, int(k));
    float sum = 0.0;
    for (uint c = own.y; c < own.z; ++c) {
        // Each neighbour follows the vertex in one triangle, except at a border.
        sum += response(texelFetch(corners, int(c)).x);
    }
    next[own.x] = min(response(own.x), sum / float(own.z - own.y));
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint k = span_element(n);
        if (k < push.count) {
            spread(k);
        }
    }
}
