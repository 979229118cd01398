// Scales the scale vectors by the factors of the nearby joints: one invocation per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer PullOffsets { uint pull_offsets[]; };
// Joint, and bits of the weight with which the vertex follows the joint's factor.
layout(set = 0, binding = 1) uniform usamplerBuffer pulls;
layout(set = 0, binding = 2, scalar) readonly buffer Factors { float factors[]; };
layout(set = 0, binding = 3) uniform samplerBuffer anchors;
layout(set = 0, binding = 4, scalar) buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Responses { float responses[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    float limit;
} push;

void inflate(uint i) {
    float factor = 0.0;
    uint end = pull_offsets[i + 1];
    for (uint k = pull_offsets[i]; k < end; ++k) {
        uvec2 pull = texelFetch(pulls, int(k)).xy;
        factor += uintBitsToFloat(pull.y) * factors[pull.x];
    }
    if (factor != 0.0) {
        vec3 x = positions[i].xyz;
        vec3 s = x - texelFetch(anchors, int(i)).xyz;
        positions[i] = vec4(x + s * (responses[i] * clamp(factor, -push.limit, push.limit)), 1.0);
    }
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint i = span_element(n);
        if (i < push.count) {
            inflate(i);
        }
    }
}
