// One triangle over the whole image, at infinite distance.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };

layout(location = 0) out vec3 out_ray;

void main() {
    vec2 uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    View view = views[gl_ViewIndex];
    out_ray = view.ray_corner + uv.x * view.ray_right + uv.y * view.ray_down;
    gl_Position = vec4(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0);
}
