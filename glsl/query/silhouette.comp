// Extracts silhouettes: a Laplacian filter over a G-buffer target selects edge texels (thesis 7.3). Writes a list of
// them, with the barycentrics of the deformed triangle.
#version 460
#extension GL_EXT_scalar_block_layout : require
#include "lib/barycentrics.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

struct Point {
    vec2 pixel;
    uint part;
    uint triangle;
    vec3 barycentrics;
    vec3 position;
    float strength;
};

layout(set = 0, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Triangles { uvec3 triangles[]; };
layout(set = 0, binding = 2) uniform usampler2DArray ids;
layout(set = 0, binding = 3) uniform sampler2DArray position;
layout(set = 0, binding = 4) uniform sampler2DArray normal;
layout(set = 0, binding = 5) uniform sampler2DArray depth;
layout(set = 0, binding = 6, scalar) buffer Count { uint count; };
layout(set = 0, binding = 7, scalar) writeonly buffer Points { Point points[]; };

layout(push_constant, scalar) uniform Push {
    vec3 eye;
    // Width of a texel at unit distance, metres.
    float footprint;
    // Size of the G-buffer, texels.
    uvec2 size;
    uint view;
    uint filter_over;
    float threshold;
    uint capacity;
} push;

// Distance of a background texel, in footprints: practically infinite.
const float FAR = 1e3;
// If the mean depth of its neighbours is nearer by this fraction, a texel lies behind an edge, not on it.
const float BEHIND = 2e-3;

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= push.size.x || at.y >= push.size.y) {
        return;
    }
    ivec3 here = ivec3(at, push.view);
    uvec2 id = texelFetch(ids, here, 0).xy;
    if (id.y == NONE) {
        return;
    }
    vec3 p = texelFetch(position, here, 0).xyz, n = texelFetch(normal, here, 0).xyz;
    float d = texelFetch(depth, here, 0).x;
    float footprint = push.footprint * distance(p, push.eye);
    vec3 normals = vec3(0.0), positions_off = vec3(0.0);
    float depths = 0.0;
    ivec2 last = ivec2(push.size) - 1;
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            // Clamped, so that the image border is no edge.
            ivec3 there = ivec3(clamp(here.xy + ivec2(x, y), ivec2(0), last), push.view);
            normals += texelFetch(normal, there, 0).xyz - n;
            depths += texelFetch(depth, there, 0).x - d;
            bool none = texelFetch(ids, there, 0).y == NONE;
            vec3 off = texelFetch(position, there, 0).xyz - p;
            positions_off += none ? normalize(p - push.eye) * (FAR * footprint) : off;
        }
    }
    // Over a plane, reversed depth is linear and positions nearly so; the filter is therefore zero on slopes.
    float strength = length(normals) / 8.0;
    if (push.filter_over == SILHOUETTE_DEPTH) {
        strength = -depths / (8.0 * d);
    } else if (push.filter_over == SILHOUETTE_POSITION) {
        strength = length(positions_off) / (8.0 * footprint);
    }
    if (!(strength > push.threshold) || depths > 8.0 * BEHIND * d) {
        return;
    }
    uint slot = atomicAdd(count, 1u);
    if (slot >= push.capacity) {
        return;
    }
    uvec3 c = triangles[id.x];
    points[slot].pixel = vec2(at) + 0.5;
    points[slot].part = id.y;
    points[slot].triangle = id.x;
    points[slot].barycentrics = barycentrics_of(p, positions[c.x].xyz, positions[c.y].xyz, positions[c.z].xyz);
    points[slot].position = p;
    points[slot].strength = strength;
}
