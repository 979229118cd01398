// Runs a round that opens inverted triangles: one invocation per vertex that may move.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/corrections.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(push_constant, scalar) uniform Push {
    uint count;
    float open;
    float most;
    float relaxation;
} push;

// Vertex, index of its first corner, end of its corners.
layout(set = 0, binding = 0) uniform usamplerBuffer soft;
// The triangle's other two vertices in its order, and its index.
layout(set = 0, binding = 1) uniform usamplerBuffer corners;
// Posed normal, and twice the area in bind.
layout(set = 0, binding = 2) uniform samplerBuffer sides;
layout(set = 0, binding = 3) uniform samplerBuffer positions;
layout(set = 0, binding = 4, scalar) writeonly buffer Next { vec4 next[]; };

void push_open(uint k) {
    uvec4 own = texelFetch(soft, int(k));
    vec3 x = texelFetch(positions, int(own.x)).xyz;
    vec3 sum = vec3(0.0);
    float sizes = 0.0;
    for (uint c = own.y; c < own.z; ++c) {
        uvec4 corner = texelFetch(corners, int(c));
        vec4 side = texelFetch(sides, int(corner.z));
        vec3 to_j = texelFetch(positions, int(corner.x)).xyz - x;
        vec3 to_l = texelFetch(positions, int(corner.y)).xyz - x;
        vec4 asked = opening(to_j, to_l, side, push.open, push.most);
        sum += asked.xyz * asked.w;
        sizes += asked.w;
    }
    next[own.x] = vec4(sizes > 0.0 ? x + sum * (push.relaxation / sizes) : x, 1.0);
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint k = span_element(n);
        if (k < push.count) {
            push_open(k);
        }
    }
}
