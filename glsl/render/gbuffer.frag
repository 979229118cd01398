// Evaluates the material and fills the G-buffer.
#version 460
#include "types/material.glsl"
#include "lib/material.glsl"

layout(set = 1, binding = 3, scalar) readonly buffer Materials { Material materials[]; };
layout(set = 2, binding = 0) uniform sampler2DArray base_color_texture;
layout(set = 2, binding = 1) uniform sampler2DArray metallic_roughness_texture;
layout(set = 2, binding = 2) uniform sampler2DArray normal_texture;
layout(set = 2, binding = 3) uniform sampler2DArray emissive_texture;

layout(push_constant, scalar) uniform Push {
    uint part;
    uint first_triangle;
    uint material;
} push;

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec4 in_uvs;
layout(location = 3) in vec4 in_color;

layout(location = 0) out vec4 out_albedo;
layout(location = 1) out vec4 out_material;
layout(location = 2) out vec4 out_emissive;
layout(location = 3) out vec4 out_position;
layout(location = 4) out vec4 out_normal;
layout(location = 5) out uvec2 out_ids;

// The normal map in a frame from screen-space derivatives: no tangents need be deformed.
vec3 mapped_normal(vec3 n, vec3 sampled, vec2 uv) {
    vec3 px = dFdx(in_position), py = dFdy(in_position);
    vec2 ux = dFdx(uv), uy = dFdy(uv);
    vec3 across_x = cross(n, px), across_y = cross(py, n);
    vec3 tangent = across_y * ux.x + across_x * uy.x;
    vec3 bitangent = across_y * ux.y + across_x * uy.y;
    float longest = max(dot(tangent, tangent), dot(bitangent, bitangent));
    if (!(longest > 1e-30)) {
        return n;
    }
    // glTF's bitangent points against v, which runs down the picture.
    float s = inversesqrt(longest);
    vec3 mapped = tangent * (s * sampled.x) - bitangent * (s * sampled.y) + n * sampled.z;
    float l = dot(mapped, mapped);
    return l > 1e-12 ? mapped * inversesqrt(l) : n;
}

void main() {
    Material m = materials[push.material];
    vec4 color = m.base_color * in_color;
    if ((m.flags & MATERIAL_BASE_COLOR_TEXTURE) != 0u) {
        vec2 uv = material_uv(in_uvs, m.flags, MATERIAL_BASE_COLOR_UV1);
        color *= texture(base_color_texture, vec3(uv, 0.0));
    }
    float metallic = m.metallic, roughness = m.roughness;
    if ((m.flags & MATERIAL_METALLIC_ROUGHNESS_TEXTURE) != 0u) {
        vec2 uv = material_uv(in_uvs, m.flags, MATERIAL_METALLIC_ROUGHNESS_UV1);
        vec2 mr = texture(metallic_roughness_texture, vec3(uv, 0.0)).bg;
        metallic *= mr.x;
        roughness *= mr.y;
    }
    vec3 emissive = m.emissive;
    if ((m.flags & MATERIAL_EMISSIVE_TEXTURE) != 0u) {
        vec2 uv = material_uv(in_uvs, m.flags, MATERIAL_EMISSIVE_UV1);
        emissive *= texture(emissive_texture, vec3(uv, 0.0)).rgb;
    }

    // Rightwards times downwards points away from the eye, so this is the triangle's own normal on the eye's side.
    vec3 toward = cross(dFdy(in_position), dFdx(in_position));
    float l = dot(in_normal, in_normal);
    vec3 n = l > 1e-12 ? in_normal * inversesqrt(l) : normalize(toward + vec3(0.0, 1e-20, 0.0));
    if (l > 1e-12 && !gl_FrontFacing) {
        n = -n;
    }
    if ((m.flags & MATERIAL_NORMAL_TEXTURE) != 0u) {
        vec2 uv = material_uv(in_uvs, m.flags, MATERIAL_NORMAL_UV1);
        vec3 sampled = texture(normal_texture, vec3(uv, 0.0)).xyz * 2.0 - 1.0;
        n = mapped_normal(n, sampled * vec3(m.normal_scale, m.normal_scale, 1.0), uv);
    }
    // After all derivatives: a discarded neighbour would spoil them.
    if (cut_out(color.a, m, gl_FragCoord.xy)) {
        discard;
    }

    out_albedo = vec4(color.rgb, 1.0);
    out_material = vec4(metallic, roughness, (m.flags & MATERIAL_UNLIT) != 0u ? 1.0 : 0.0, 1.0);
    out_emissive = vec4(emissive, 1.0);
    out_position = vec4(in_position, 1.0);
    out_normal = vec4(n, 0.0);
    out_ids = uvec2(push.first_triangle + gl_PrimitiveID, push.part);
}
