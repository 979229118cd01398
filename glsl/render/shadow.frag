// Discards the cut-out fragments of the key light's shadow map.
#version 460
#include "types/material.glsl"
#include "lib/material.glsl"

layout(set = 1, binding = 2, scalar) readonly buffer Materials { Material materials[]; };
layout(set = 2, binding = 0) uniform sampler2DArray base_color_texture;

layout(push_constant, scalar) uniform Push {
    uint part;
    uint first_triangle;
    uint material;
} push;

layout(location = 0) in vec4 in_uvs;
layout(location = 1) in float in_alpha;

void main() {
    Material m = materials[push.material];
    float alpha = m.base_color.a * in_alpha;
    if ((m.flags & MATERIAL_BASE_COLOR_TEXTURE) != 0u) {
        vec2 uv = material_uv(in_uvs, m.flags, MATERIAL_BASE_COLOR_UV1);
        alpha *= texture(base_color_texture, vec3(uv, 0.0)).a;
    }
    if (cut_out(alpha, m, gl_FragCoord.xy)) {
        discard;
    }
}
