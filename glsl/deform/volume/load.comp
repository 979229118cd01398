// Force at each coarser node: the finer forces. Its load: these minus its cubes' own forces at zero displacement.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer node_corners;
layout(set = 0, binding = 1) uniform samplerBuffer corner_forces;
// The finer nodes that a node moves. The upper two bits are how often the weight is halved from 1.
layout(set = 0, binding = 2) uniform usamplerBuffer restrict_shares;
// Of the finer level.
layout(set = 0, binding = 3) uniform samplerBuffer residuals;
layout(set = 0, binding = 4, scalar) writeonly buffer Loads { vec4 loads[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Displacements { vec4 displacements[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Moves { vec4 moves[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer OwnResiduals { vec4 own_residuals[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/cube_force.glsl"

void load(uint n) {
    vec3 own = cube_force(n);
    vec3 from = vec3(0.0);
    for (uint k = 0; k < push.share_quads; ++k) {
        uvec4 four = texelFetch(restrict_shares, int(push.share_quads * n + k));
        uvec4 nodes = four & 0x3fffffffu;
        // The bits of 2 to the power of minus the number of halvings.
        vec4 weight = uintBitsToFloat((127u - (four >> 30)) << 23);
        for (int i = 0; i < 4; ++i) {
            from += texelFetch(residuals, int(nodes[i])).xyz * weight[i];
        }
    }
    own_residuals[n] = vec4(from, 0.0);
    loads[n] = vec4(from - own, 0.0);
    displacements[n] = vec4(0.0);
    moves[n] = vec4(0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            load(n);
        }
    }
}
