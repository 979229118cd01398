// A panel as a rectangle in the world.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };

layout(push_constant, scalar) uniform Push {
    // Upper left corner and the edges from it, world, metres.
    vec3 corner;
    vec3 right;
    vec3 down;
    // Share that shows through what stands before it.
    float hidden;
    // Samples per pixel and direction of the depth picture.
    uint samples;
} push;

layout(location = 0) out vec2 out_uv;

void main() {
    uint corner = uint[](0u, 2u, 1u, 1u, 2u, 3u)[gl_VertexIndex % 6];
    out_uv = vec2(corner & 1u, corner >> 1);
    vec3 p = push.corner + push.right * out_uv.x + push.down * out_uv.y;
    gl_Position = views[gl_ViewIndex].clip_from_world * vec4(p, 1.0);
}
