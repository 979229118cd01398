// Moves the ends of anchored line segments to the current deformed surface.
#version 460
#include "types/anchor.glsl"
#include "types/segment.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Normals { vec4 normals[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Triangles { uvec3 triangles[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Anchors { Anchor anchors[]; };
layout(set = 0, binding = 4, scalar) buffer Segments { Segment segments[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint triangles;
} push;

vec3 place(uint triangle, vec3 weights, float lift) {
    uvec3 t = triangles[min(triangle, push.triangles - 1u)];
    vec3 x = weights.x * positions[t.x].xyz + weights.y * positions[t.y].xyz + weights.z * positions[t.z].xyz;
    vec3 n = weights.x * normals[t.x].xyz + weights.y * normals[t.y].xyz + weights.z * normals[t.z].xyz;
    return x + lift * n;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count || push.triangles == 0u) {
        return;
    }
    Anchor anchor = anchors[i];
    segments[anchor.segment].a = place(anchor.triangle_a, anchor.weights_a, anchor.lift);
    segments[anchor.segment].b = place(anchor.triangle_b, anchor.weights_b, anchor.lift);
}
