// The volume that the whole closed mesh has lost, a part per group.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/quaternion.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Vertices, and bits of the cone in bind.
layout(set = 0, binding = 0) uniform usamplerBuffer whole;
layout(set = 0, binding = 1) uniform samplerBuffer positions;
layout(set = 0, binding = 2) uniform samplerBuffer anchors;
layout(set = 0, binding = 3) uniform samplerBuffer turns;
layout(set = 0, binding = 4, scalar) writeonly buffer Parts { float parts[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // From the first vertex's attachment point to where the cones start, bind space.
    vec3 middle;
} push;

shared float sums[GROUP_SIZE];

void main() {
    uint t = gl_LocalInvocationID.x;
    vec3 from = texelFetch(anchors, 0).xyz + quat_rotate(texelFetch(turns, 0), push.middle);
    float sum = 0.0;
    for (uint k = gl_GlobalInvocationID.x; k < push.count; k += gl_NumWorkGroups.x * GROUP_SIZE) {
        uvec4 side = texelFetch(whole, int(k));
        vec3 a = texelFetch(positions, int(side.x)).xyz - from;
        vec3 b = texelFetch(positions, int(side.y)).xyz - from;
        vec3 c = texelFetch(positions, int(side.z)).xyz - from;
        sum += uintBitsToFloat(side.w) - dot(a, cross(b, c)) * (1.0 / 6.0);
    }
    sums[t] = sum;
    for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (t < half_size) {
            sums[t] += sums[t + half_size];
        }
    }
    if (t == 0) {
        parts[gl_WorkGroupID.x] = sums[0];
    }
}
