// Multiplies colour and texture without decoding sRGB, because egui blends sRGB-encoded values.
#version 460

layout(set = 1, binding = 0) uniform sampler2DArray colors;

layout(location = 0) in vec2 in_uv;
layout(location = 1) in vec4 in_color;
layout(location = 0) out vec4 out_color;

void main() {
    vec4 c = in_color * texture(colors, vec3(in_uv, 0.0));
    if (c.a <= 0.0) {
        discard;
    }
    // Blending multiplies by alpha again, which leaves the target premultiplied.
    out_color = vec4(c.rgb / c.a, c.a);
}
