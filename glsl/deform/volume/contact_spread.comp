// Spreads moves of the skin: each vertex near contact takes half of its move and half of its neighbours' mean.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/contact.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// In w: whether the vertex is near contact.
layout(set = 0, binding = 0, scalar) readonly buffer PosedPoints { vec4 posed_points[]; };
layout(set = 0, binding = 1, scalar) readonly buffer NeighborOffsets { uint neighbor_offsets[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Neighbors { uint neighbors[]; };
layout(set = 0, binding = 3) uniform samplerBuffer moves;
layout(set = 0, binding = 4, scalar) writeonly buffer Spread { vec4 spread[]; };
layout(set = 0, binding = 5, scalar) buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    ContactPush push;
};

void spread_move(uint v) {
    uint begin = neighbor_offsets[v];
    uint end = neighbor_offsets[v + 1];
    vec3 move = texelFetch(moves, int(v)).xyz;
    if (begin < end && posed_points[v].w > 0.0) {
        vec3 mean = vec3(0.0);
        for (uint k = begin; k < end; ++k) {
            mean += texelFetch(moves, int(neighbors[k])).xyz;
        }
        move = 0.5 * (move + mean / float(end - begin));
    }
    if (push.apply == 0) {
        spread[v] = vec4(move, 0.0);
    } else if (move != vec3(0.0)) {
        positions[v] = vec4(positions[v].xyz + move, 0.0);
    }
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint v = span_element(k);
        if (v < push.count) {
            spread_move(v);
        }
    }
}
