// Extracts silhouettes: a Laplacian filter over a G-buffer target selects edge texels (thesis 7.3). Writes a list of
// them, with the barycentrics of the deformed triangle.
#version 460
#extension GL_EXT_scalar_block_layout : require
#include "lib/barycentrics.glsl"
#include "render/edge.glsl"

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

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= push.size.x || at.y >= push.size.y) {
        return;
    }
    ivec3 here = ivec3(at, push.view);
    float strength = edge_strength(here, ivec2(push.size), push.eye, push.footprint, push.filter_over);
    if (!(strength > push.threshold)) {
        return;
    }
    uint slot = atomicAdd(count, 1u);
    if (slot >= push.capacity) {
        return;
    }
    uvec2 id = texelFetch(ids, here, 0).xy;
    vec3 p = texelFetch(position, here, 0).xyz;
    uvec3 c = triangles[id.x];
    points[slot].pixel = vec2(at) + 0.5;
    points[slot].part = id.y;
    points[slot].triangle = id.x;
    points[slot].barycentrics = barycentrics_of(p, positions[c.x].xyz, positions[c.y].xyz, positions[c.z].xyz);
    points[slot].position = p;
    points[slot].strength = strength;
}
