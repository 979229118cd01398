// Reads the G-buffer at one pixel and recovers the barycentrics from the deformed triangle.
#version 460
#extension GL_EXT_scalar_block_layout : require
#include "lib/barycentrics.glsl"

layout(local_size_x = 1) in;

struct Hit {
    uint part;
    uint triangle;
    vec3 barycentrics;
    vec3 position;
    vec3 normal;
};

layout(set = 0, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Triangles { uvec3 triangles[]; };
layout(set = 0, binding = 2) uniform usampler2DArray ids;
layout(set = 0, binding = 3) uniform sampler2DArray position;
layout(set = 0, binding = 4) uniform sampler2DArray normal;
layout(set = 0, binding = 5, scalar) writeonly buffer Hits { Hit hit; };

layout(push_constant, scalar) uniform Push {
    uvec2 pixel;
    uint view;
} push;

void main() {
    ivec3 at = ivec3(push.pixel, push.view);
    uvec2 id = texelFetch(ids, at, 0).xy;
    hit.part = id.y;
    hit.triangle = id.x;
    if (id.y == NONE) {
        return;
    }
    uvec3 corners = triangles[id.x];
    vec3 p = texelFetch(position, at, 0).xyz;
    hit.position = p;
    hit.normal = texelFetch(normal, at, 0).xyz;
    hit.barycentrics =
        barycentrics_of(p, positions[corners.x].xyz, positions[corners.y].xyz, positions[corners.z].xyz);
}
