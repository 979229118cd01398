// Evaluates and shades the material, for opaque surfaces and, with CUT_OUT, for masked and blended ones.
#include "render/studio.glsl"
#include "types/material.glsl"
#include "lib/material.glsl"
#include "lib/barycentrics.glsl"

layout(set = 1, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 1, binding = 3, scalar) readonly buffer Materials { Material materials[]; };
layout(set = 1, binding = 4, scalar) readonly buffer Triangles { uvec3 triangles[]; };
layout(set = 2, binding = 0) uniform sampler2DArray base_color_texture;
layout(set = 2, binding = 1) uniform sampler2DArray metallic_roughness_texture;
layout(set = 2, binding = 2) uniform sampler2DArray normal_texture;
layout(set = 2, binding = 3) uniform sampler2DArray emissive_texture;

layout(push_constant, scalar) uniform Push {
    uint part;
    uint first_triangle;
    uint material;
} push;

// Sampled inside the triangle, so that edge pixels whose centre lies outside do not extrapolate colours and normals.
layout(location = 0) centroid in vec3 in_position;
layout(location = 1) centroid in vec3 in_normal;
layout(location = 2) centroid in vec4 in_uvs;
layout(location = 3) centroid in vec4 in_color;
// Sampled at the pixel centre, for derivatives: centroids jump between adjacent edge pixels.
layout(location = 4) in vec3 in_centre;
layout(location = 5) in vec4 in_centre_uvs;
layout(location = 6) centroid in vec4 in_paint;

layout(location = 0) out vec4 out_color;

#ifdef CUT_OUT
// Samples per pixel.
layout(constant_id = 0) const uint SAMPLES = 1;

// Returns the samples that a fragment of this alpha covers. A mask's edge is sharpened to one pixel, so that
// multisampling smooths it. Blended materials are dithered, which is independent of surface order.
int covered_samples(float alpha, Material m) {
    float share = 1.0, first = 0.5;
    if ((m.flags & MATERIAL_MASK) != 0u) {
        share = clamp((alpha - m.alpha_cutoff) / max(fwidth(alpha), 1e-4) + 0.5, 0.0, 1.0);
    } else if ((m.flags & MATERIAL_BLEND) != 0u) {
        share = alpha;
        first = dither(gl_FragCoord.xy) * 0.996 + 0.002;
    }
    int covered = 0;
    for (uint i = 0u; i < SAMPLES; i++) {
        covered |= share > (float(i) + first) / float(SAMPLES) ? 1 << i : 0;
    }
    return covered;
}
#endif

struct Sample {
    vec3 albedo, emissive, position, normal;
    // Metallic, roughness, and 1 if unlit.
    vec3 material;
};

vec3 shaded(Sample g, vec3 eye, float lit) {
    vec3 v = normalize(eye - g.position);
    vec3 n = normalize(g.normal);
    // A normal that points away from the eye (at a silhouette) is bent until it is just visible.
    float nv = dot(n, v);
    n = nv < 0.02 ? normalize(n + v * (0.02 - nv)) : n;
    nv = max(dot(n, v), 0.02);
    Surface s = surface_of(g.albedo, g.material.x, g.material.y);
    vec3 c = lighting.key_color * reflect_light(s, n, v, lighting.key_direction) * lit;
    c += lighting.fill_color * reflect_light(s, n, v, lighting.fill_direction);
    c += lighting.rim_color * reflect_light(s, n, v, lighting.rim_direction);
    // Points near the floor receive less light from the sky.
    float height = clamp((g.position.y - lighting.floor_height) / lighting.radius, 0.0, 1.0);
    float open = mix(0.75, 1.0, smoothstep(0.0, 0.6, height));
    c += s.diffuse * ambient(n, 1.0) * open;
    vec3 r = reflect(-v, n);
    vec3 mirrored = ambient(r, s.roughness) + panel(r, lighting.key_direction, lighting.key_color, s.roughness)
        + panel(r, lighting.rim_direction, lighting.rim_color, s.roughness);
    c += ambient_specular(s, nv) * mirrored * open;
    return (g.material.z > 0.5 ? g.albedo : c) + g.emissive;
}

// Returns the fraction of the pixel covered by the triangle's own half of its edges; the adjacent triangle draws the
// other half. A half is half a point wide, or half a pixel if that is more. Without wireframe the loop is empty.
float edge_share() {
    float share = 0.0;
    for (uint i = 0u, turns = (lighting.flags & LOOK_WIRE) != 0u ? 1u : 0u; i < turns; i++) {
        uvec3 c = triangles[push.first_triangle + gl_PrimitiveID];
        vec3 w = plane_barycentrics(in_centre, positions[c.x].xyz, positions[c.y].xyz, positions[c.z].xyz);
        vec3 x = dFdx(w), y = dFdy(w);
        vec3 off = w / max(sqrt(x * x + y * y), 1e-12);
        float nearest = min(off.x, min(off.y, off.z));
        share = clamp(0.5 + 0.5 * max(lighting.scale, 1.0) - nearest, 0.0, 1.0);
    }
    return share;
}

void main() {
    Material m = materials[push.material];
    vec3 px = dFdx(in_centre), py = dFdy(in_centre);
    vec4 ux = dFdx(in_centre_uvs), uy = dFdy(in_centre_uvs);
    vec4 color = m.base_color * in_color;
    if ((m.flags & MATERIAL_BASE_COLOR_TEXTURE) != 0u) {
        uint bit = MATERIAL_BASE_COLOR_UV1;
        color *= textureGrad(base_color_texture, vec3(material_uv(in_uvs, m.flags, bit), 0.0),
            material_uv(ux, m.flags, bit), material_uv(uy, m.flags, bit));
    }
#ifdef CUT_OUT
    gl_SampleMask[0] = covered_samples(color.a, m);
#endif
    float metallic = m.metallic, roughness = m.roughness;
    if ((m.flags & MATERIAL_METALLIC_ROUGHNESS_TEXTURE) != 0u) {
        uint bit = MATERIAL_METALLIC_ROUGHNESS_UV1;
        vec2 mr = textureGrad(metallic_roughness_texture, vec3(material_uv(in_uvs, m.flags, bit), 0.0),
            material_uv(ux, m.flags, bit), material_uv(uy, m.flags, bit)).bg;
        metallic *= mr.x;
        roughness *= mr.y;
    }
    vec3 emissive = m.emissive;
    if ((m.flags & MATERIAL_EMISSIVE_TEXTURE) != 0u) {
        uint bit = MATERIAL_EMISSIVE_UV1;
        emissive *= textureGrad(emissive_texture, vec3(material_uv(in_uvs, m.flags, bit), 0.0),
            material_uv(ux, m.flags, bit), material_uv(uy, m.flags, bit)).rgb;
    }
    // Painted skin is dull, so that colours can be compared.
    color.rgb = mix(color.rgb, in_paint.rgb, in_paint.a);
    metallic *= 1.0 - in_paint.a;
    roughness = mix(roughness, 0.9, in_paint.a);
    emissive *= 1.0 - in_paint.a;
    vec3 n = facing_normal(in_normal, gl_FrontFacing, px, py);
    if ((m.flags & MATERIAL_NORMAL_TEXTURE) != 0u) {
        uint bit = MATERIAL_NORMAL_UV1;
        vec2 nx = material_uv(ux, m.flags, bit), ny = material_uv(uy, m.flags, bit);
        vec3 sampled = textureGrad(normal_texture, vec3(material_uv(in_uvs, m.flags, bit), 0.0), nx, ny).xyz * 2.0 - 1.0;
        n = mapped_normal(n, sampled * vec3(m.normal_scale, m.normal_scale, 1.0), px, py, nx, ny);
    }
    // Adds the variance of the normals in a pixel to the roughness, so that highlights do not flicker (Tokuyoshi,
    // Kaplanyan, Improved Geometric Specular Antialiasing, 2019, equations 1 and 2 with their constants).
    vec3 nx = dFdx(n), ny = dFdy(n);
    float spread = min(0.5 * (dot(nx, nx) + dot(ny, ny)), 0.18);
    roughness = sqrt(sqrt(min(pow(clamp(roughness, 0.0, 1.0), 4.0) + spread, 1.0)));
    float noise = pixel_noise();
    // The shadow lookup starts slightly above the surface.
    float facing = dot(n, lighting.key_direction);
    vec3 lifted = in_position + n * (lighting.radius * (0.006 + 0.010 * (1.0 - clamp(facing, 0.0, 1.0))));
    float lit = lit_share(lifted, n, facing > 0.0, 0.0045, 0.0008, 6.2831853 * noise);
    Sample g = Sample(color.rgb, emissive, in_position, n, vec3(metallic, roughness, (m.flags & MATERIAL_UNLIT) != 0u ? 1.0 : 0.0));
    out_color = encoded(shaded(g, views[gl_ViewIndex].eye, lit), noise);
    out_color.rgb = mix(out_color.rgb, vec3(0.05, 0.07, 0.10), 0.6 * edge_share());
}
