// Stiffness of the contact springs at each coarser node.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer RestrictOffsets { uint restrict_offsets[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Restrict { VolumeShare restrict_shares[]; };
layout(set = 0, binding = 2, scalar) readonly buffer FinerContacts { float finer_contacts[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer Contacts { float contacts[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void brace(uint n) {
    float contact = 0.0;
    for (uint k = restrict_offsets[n]; k < restrict_offsets[n + 1]; ++k) {
        VolumeShare share = restrict_shares[k];
        contact += finer_contacts[share.node] * share.weight;
    }
    contacts[n] = contact;
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            brace(n);
        }
    }
}
