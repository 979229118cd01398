// Move of each vertex of the skin away from its partner.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/contact.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Partners { uint partners[]; };
// Common normal; in w the distance to keep.
layout(set = 0, binding = 2, scalar) readonly buffer Pairs { vec4 pairs[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer Moves { vec4 moves[]; };

layout(push_constant, scalar) uniform Push {
    ContactPush push;
};

void part(uint v) {
    uint j = partners[v];
    vec3 move = vec3(0.0);
    if (j != NONE) {
        vec4 pair = pairs[v];
        float gap = dot(positions[v].xyz - positions[j].xyz, pair.xyz);
        move = pair.xyz * clamp(0.5 * (pair.w - gap), 0.0, push.largest_move);
    }
    moves[v] = vec4(move, 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint v = span_element(k);
        if (v < push.count) {
            part(v);
        }
    }
}
