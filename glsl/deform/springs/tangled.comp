// Finds inverted or nearly inverted triangles; the first round of untangling processes their vertices. One invocation
// per triangle.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(push_constant, scalar) uniform Push {
    uint count;
    uint faces;
    float open;
} push;

#include "deform/springs/queue.glsl"

// Two texels per triangle: its vertices; its normal in bind.
layout(set = 0, binding = 4) uniform usamplerBuffer faces;
// Posed normal, and twice the area in bind.
layout(set = 0, binding = 5) uniform samplerBuffer sides;
layout(set = 0, binding = 6) uniform samplerBuffer positions;

void find(uint i) {
    uvec4 face = texelFetch(faces, int(2 * i));
    vec4 side = texelFetch(sides, int(i));
    vec3 x = texelFetch(positions, int(face.x)).xyz;
    vec3 to_y = texelFetch(positions, int(face.y)).xyz - x;
    vec3 to_z = texelFetch(positions, int(face.z)).xyz - x;
    if (dot(cross(to_y, to_z), side.xyz) < push.open * side.w) {
        enqueue(face.x, 0);
        enqueue(face.y, 0);
        enqueue(face.z, 0);
    }
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint i = span_element(n);
        if (i < push.faces) {
            find(i);
        }
    }
}
