// Measures volumes: the volume that the closed mesh has lost, by cones over all triangles (one partial sum per
// group), and the prisms of the triangles that belong to a joint's tissue.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/quaternion.glsl"
#include "lib/corrections.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Vertices of each triangle, and bits of its cone's volume in bind.
layout(set = 0, binding = 0) uniform usamplerBuffer sides;
layout(set = 0, binding = 1) uniform samplerBuffer positions;
layout(set = 0, binding = 2) uniform samplerBuffer anchors;
layout(set = 0, binding = 3) uniform samplerBuffer turns;
layout(set = 0, binding = 4, scalar) readonly buffer Responses { float responses[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Parts { float parts[]; };
// Volume, and its derivative with respect to a factor on the scale vectors.
layout(set = 0, binding = 6, scalar) writeonly buffer Prisms { vec2 prisms[]; };

// Rest measures of the springs; the first texel is the first vertex's attachment point.
layout(set = 0, binding = 7) uniform samplerBuffer rest;

layout(push_constant, scalar) uniform Push {
    uint count;
    // Number of triangles that belong to a joint's tissue; they come first.
    uint prism_count;
    // Apex of the cones, bind space. The first vertex carries it.
    vec3 middle;
} push;

shared float sums[GROUP_SIZE];

void main() {
    uint t = gl_LocalInvocationID.x;
    vec3 from = texelFetch(anchors, 0).xyz
        + quat_rotate(texelFetch(turns, 0), push.middle - texelFetch(rest, 0).xyz);
    float sum = 0.0;
    for (uint k = gl_GlobalInvocationID.x; k < push.count; k += gl_NumWorkGroups.x * GROUP_SIZE) {
        uvec4 side = texelFetch(sides, int(k));
        vec3 x0 = texelFetch(positions, int(side.x)).xyz;
        vec3 x1 = texelFetch(positions, int(side.y)).xyz;
        vec3 x2 = texelFetch(positions, int(side.z)).xyz;
        sum += uintBitsToFloat(side.w) - cone(x0 - from, x1 - from, x2 - from);
        if (k >= push.prism_count) {
            continue;
        }
        vec3 a0 = texelFetch(anchors, int(side.x)).xyz;
        vec3 a1 = texelFetch(anchors, int(side.y)).xyz;
        vec3 a2 = texelFetch(anchors, int(side.z)).xyz;
        vec2 grown = prism(a0, a1, a2, x0 - a0, x1 - a1, x2 - a2);
        float response = (responses[side.x] + responses[side.y] + responses[side.z]) * (1.0 / 3.0);
        prisms[k] = vec2(grown.x, grown.y * response);
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
