// Transforms a vertex of a user interface panel.
#version 460
#include "types/panel.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Vertices { PanelVertex vertices[]; };

layout(push_constant, scalar) uniform Push {
    // Size of the panel in points.
    vec2 size;
    // Fraction of the texture that is in use.
    vec2 uv_scale;
} push;

layout(location = 0) out vec2 out_uv;
layout(location = 1) out vec4 out_color;

void main() {
    PanelVertex v = vertices[gl_VertexIndex];
    out_uv = v.uv * push.uv_scale;
    out_color = unpackUnorm4x8(v.color);
    vec2 at = v.position / push.size * 2.0 - 1.0;
    gl_Position = vec4(at.x, -at.y, 0.0, 1.0);
}
