// Load of each finest node with the contact springs, and their stiffness.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) writeonly buffer Contacts { float contacts[]; };
// Load without contact.
layout(set = 0, binding = 1) uniform samplerBuffer pulls;
layout(set = 0, binding = 2, scalar) readonly buffer PointOffsets { uint point_offsets[]; };
layout(set = 0, binding = 3, scalar) readonly buffer PointShares { VolumeShare point_shares[]; };
layout(set = 0, binding = 4) uniform samplerBuffer pushes;
layout(set = 0, binding = 5, scalar) writeonly buffer Loads { vec4 loads[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void gather(uint n) {
    vec3 load = texelFetch(pulls, int(n)).xyz;
    float contact = 0.0;
    for (uint k = point_offsets[n]; k < point_offsets[n + 1]; ++k) {
        VolumeShare share = point_shares[k];
        vec4 point = texelFetch(pushes, int(share.node));
        load += point.xyz * share.weight;
        // Both ends of a spring move.
        contact += 2.0 * point.w * abs(share.weight);
    }
    loads[n] = vec4(load, 0.0);
    contacts[n] = contact;
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            gather(n);
        }
    }
}
