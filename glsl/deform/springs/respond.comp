// Computes the response of vertices to volume changes from the area of their triangles, projected along the rotated
// rest normals, relative to bind. One invocation per vertex of triangles that may invert; all others respond fully.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Vertex, index of its first corner, end of its corners.
layout(set = 0, binding = 0) uniform usamplerBuffer soft;
// The triangle's other two vertices in its order, and its index.
layout(set = 0, binding = 1) uniform usamplerBuffer corners;
// Bits of twice each triangle's area along the rotated normal, and of twice its area in bind.
layout(set = 0, binding = 2) uniform usamplerBuffer seen;
layout(set = 0, binding = 3, scalar) writeonly buffer Responses { float responses[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Relative projected area from which a vertex responds fully.
    float free;
} push;

void respond(uint k) {
    uvec4 own = texelFetch(soft, int(k));
    vec2 sum = vec2(0.0);
    for (uint c = own.y; c < own.z; ++c) {
        sum += uintBitsToFloat(texelFetch(seen, int(texelFetch(corners, int(c)).z)).xy);
    }
    float t = clamp(sum.x / (sum.y * push.free), 0.0, 1.0);
    responses[own.x] = t * t * (3.0 - 2.0 * t);
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint k = span_element(n);
        if (k < push.count) {
            respond(k);
        }
    }
}
