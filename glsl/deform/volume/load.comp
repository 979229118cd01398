// Force at each coarser node: the finer forces. Its load: these minus its cubes' own forces at zero displacement.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer NodeOffsets { uint node_offsets[]; };
layout(set = 0, binding = 1, scalar) readonly buffer NodeCorners { uint node_corners[]; };
layout(set = 0, binding = 2) uniform samplerBuffer corner_forces;
layout(set = 0, binding = 3, scalar) readonly buffer RestrictOffsets { uint restrict_offsets[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Restrict { VolumeShare restrict_shares[]; };
// Of the finer level.
layout(set = 0, binding = 5) uniform samplerBuffer residuals;
layout(set = 0, binding = 6, scalar) writeonly buffer Loads { vec4 loads[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer Displacements { vec4 displacements[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer Moves { vec4 moves[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer OwnResiduals { vec4 own_residuals[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void load(uint n) {
    vec3 own = vec3(0.0);
    for (uint k = node_offsets[n]; k < node_offsets[n + 1]; ++k) {
        own += texelFetch(corner_forces, int(node_corners[k])).xyz;
    }
    vec3 from = vec3(0.0);
    for (uint k = restrict_offsets[n]; k < restrict_offsets[n + 1]; ++k) {
        VolumeShare share = restrict_shares[k];
        from += texelFetch(residuals, int(share.node)).xyz * share.weight;
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
