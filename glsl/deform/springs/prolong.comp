// Applies a coarse level's correction: each vertex moves by the weighted movement of its coarse parent vertices.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "types/springs.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Index on the finer level of each coarse vertex.
layout(set = 0, binding = 0, scalar) readonly buffer Seeds { uint seeds[]; };
layout(set = 0, binding = 1) uniform usamplerBuffer parents;
layout(set = 0, binding = 2) uniform samplerBuffer weights;
layout(set = 0, binding = 3) uniform samplerBuffer coarse_iterates;
layout(set = 0, binding = 4) uniform samplerBuffer iterates;
layout(set = 0, binding = 5, scalar) writeonly buffer Next { vec4 next_iterates[]; };
layout(set = 0, binding = 6, scalar) buffer State { SpringState state; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Offset of the coarse iterate.
    uint coarse;
    // Offset of the iterate from which the coarse level started.
    uint before;
    // Offset of the iterate that is moved.
    uint after;
    uint tested;
} push;

vec3 change(uint c) {
    return texelFetch(coarse_iterates, int(push.coarse + c)).xyz
        - texelFetch(iterates, int(push.before + seeds[c])).xyz;
}

void main() {
    float moved = 0.0;
    for (uint n = 0; n < SPAN; ++n) {
        uint i = span_element(n);
        if (i < push.count) {
            uvec4 p = texelFetch(parents, int(i));
            vec4 w = texelFetch(weights, int(i));
            vec3 sum = change(p.x) * w.x + change(p.y) * w.y + change(p.z) * w.z + change(p.w) * w.w;
            next_iterates[push.after + i] = vec4(texelFetch(iterates, int(push.after + i)).xyz + sum, 0.0);
            moved = max(moved, length(sum));
        }
    }
    if (push.tested != 0) {
        float most = subgroupMax(moved);
        if (subgroupElect()) {
            atomicMax(state.corrected, floatBitsToUint(most));
        }
    }
}
