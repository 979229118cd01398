// Draws a panel's image where no surface occludes the panel.
#version 460
#extension GL_EXT_scalar_block_layout : require
#include "render/occlusion.glsl"

layout(set = 1, binding = 0) uniform sampler2DArray panel;

layout(push_constant, scalar) uniform Push {
    vec3 corner;
    vec3 right;
    vec3 down;
    float hidden;
    vec2 size;
} push;

layout(location = 0) in vec2 in_uv;
layout(location = 0) out vec4 out_color;

void main() {
    // The panel's image has no mipmaps, so distant text is averaged over as many taps as the pixel covers texels.
    vec2 size = vec2(textureSize(panel, 0).xy);
    vec2 dx = dFdx(in_uv), dy = dFdy(in_uv);
    float across = max(length(dx * size), length(dy * size));
    int taps = clamp(int(ceil(across)), 1, 8);
    vec4 c = vec4(0.0);
    for (int i = 0; i < taps; i++) {
        for (int k = 0; k < taps; k++) {
            vec2 t = (vec2(i, k) + 0.5) / float(taps) - 0.5;
            c += textureLod(panel, vec3(in_uv + dx * t.x + dy * t.y, 0.0), 0.0);
        }
    }
    c /= float(taps * taps);
    // Antialiases the rectangle's edge over one pixel.
    vec2 inside = min(in_uv, 1.0 - in_uv) / max(vec2(length(vec2(dx.x, dy.x)), length(vec2(dx.y, dy.y))), 1e-9) + 0.5;
    float seen = clamp(min(inside.x, inside.y), 0.0, 1.0);
    seen *= mix(1.0, push.hidden, covered_share(gl_FragCoord.z * 1.0005));
    if (c.a * seen <= 0.0) {
        discard;
    }
    // The image has premultiplied alpha, and blending expects straight alpha.
    out_color = vec4(c.rgb / c.a, c.a * seen);
}
