// Restricts a level to the next coarser one: positions, and mean force densities around each coarse vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Seeds { uint seeds[]; };
layout(set = 0, binding = 1, scalar) readonly buffer ChildOffsets { uint child_offsets[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Children { uint children[]; };
layout(set = 0, binding = 3) uniform samplerBuffer iterates;
layout(set = 0, binding = 4) uniform samplerBuffer residuals;
layout(set = 0, binding = 5, scalar) writeonly buffer CoarseIterates { vec4 coarse_iterates[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer CoarseResiduals { vec4 coarse_residuals[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Offset of the finer iterate for which the residuals were computed.
    uint before;
} push;

void restrict_to(uint c) {
    vec4 sum = vec4(0.0);
    uint end = child_offsets[c + 1];
    for (uint k = child_offsets[c]; k < end; ++k) {
        sum += texelFetch(residuals, int(children[k]));
    }
    vec4 x = vec4(texelFetch(iterates, int(push.before + seeds[c])).xyz, 0.0);
    coarse_iterates[c] = x;
    coarse_iterates[push.count + c] = x;
    coarse_residuals[c] = vec4(sum.w > 0.0 ? sum.xyz / sum.w : vec3(0.0), 0.0);
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint c = span_element(n);
        if (c < push.count) {
            restrict_to(c);
        }
    }
}
