// Adds the coarser displacements to the finer ones.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer ProlongOffsets { uint prolong_offsets[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Prolong { VolumeShare prolong_shares[]; };
layout(set = 0, binding = 2) uniform samplerBuffer coarse_displacements;
layout(set = 0, binding = 3, scalar) buffer Displacements { vec4 displacements[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            vec3 sum = vec3(0.0);
            for (uint s = prolong_offsets[n]; s < prolong_offsets[n + 1]; ++s) {
                VolumeShare share = prolong_shares[s];
                sum += texelFetch(coarse_displacements, int(share.node)).xyz * share.weight;
            }
            displacements[n].xyz += push.step * sum;
        }
    }
}
