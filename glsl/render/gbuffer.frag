// Fills the G-buffer, which queries read.
#version 460
#include "types/material.glsl"
#include "lib/material.glsl"

layout(set = 1, binding = 3, scalar) readonly buffer Materials { Material materials[]; };
layout(set = 2, binding = 0) uniform sampler2DArray base_color_texture;
layout(set = 2, binding = 1) uniform sampler2DArray normal_texture;

layout(push_constant, scalar) uniform Push {
    uint part;
    uint first_triangle;
    uint material;
} push;

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec4 in_uvs;
layout(location = 3) in float in_alpha;

layout(location = 0) out vec4 out_position;
layout(location = 1) out vec4 out_normal;
layout(location = 2) out uvec2 out_ids;

void main() {
    Material m = materials[push.material];
    float alpha = m.base_color.a * in_alpha;
    if ((m.flags & MATERIAL_BASE_COLOR_TEXTURE) != 0u) {
        vec2 uv = material_uv(in_uvs, m.flags, MATERIAL_BASE_COLOR_UV1);
        alpha *= texture(base_color_texture, vec3(uv, 0.0)).a;
    }
    vec3 px = dFdx(in_position), py = dFdy(in_position);
    vec3 n = facing_normal(in_normal, gl_FrontFacing, px, py);
    if ((m.flags & MATERIAL_NORMAL_TEXTURE) != 0u) {
        vec2 uv = material_uv(in_uvs, m.flags, MATERIAL_NORMAL_UV1);
        vec3 sampled = texture(normal_texture, vec3(uv, 0.0)).xyz * 2.0 - 1.0;
        n = mapped_normal(n, sampled * vec3(m.normal_scale, m.normal_scale, 1.0), px, py, dFdx(uv), dFdy(uv));
    }
    // Discards after all derivatives, because a discarded neighbour would make them undefined.
    if (cut_out(alpha, m, gl_FragCoord.xy)) {
        discard;
    }

    out_position = vec4(in_position, 1.0);
    out_normal = vec4(n, 0.0);
    out_ids = uvec2(push.first_triangle + gl_PrimitiveID, push.part);
}
