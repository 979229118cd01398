// Adds the coarser displacements to the finer ones.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Two per node: eight coarse nodes, which count alike. A node on the middle of an edge has both ends four times.
layout(set = 0, binding = 0) uniform usamplerBuffer prolong_shares;
layout(set = 0, binding = 1) uniform samplerBuffer coarse_displacements;
// The stage reads and writes them: an invocation reads its own element before it writes it.
layout(set = 0, binding = 2) uniform samplerBuffer displacements;
layout(set = 0, binding = 3, scalar) writeonly buffer Moved { vec4 moved[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            uvec4 near = texelFetch(prolong_shares, int(2 * n));
            uvec4 far = texelFetch(prolong_shares, int(2 * n + 1));
            vec3 sum = vec3(0.0);
            for (int i = 0; i < 4; ++i) {
                sum += texelFetch(coarse_displacements, int(near[i])).xyz;
                sum += texelFetch(coarse_displacements, int(far[i])).xyz;
            }
            moved[n] = vec4(texelFetch(displacements, int(n)).xyz + push.step * 0.125 * sum, 0.0);
        }
    }
}
