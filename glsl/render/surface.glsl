// Evaluates and shades the material, for opaque surfaces and, with CUT_OUT, for masked and blended ones.
#include "render/studio.glsl"
#include "types/material.glsl"
#include "lib/material.glsl"
#include "lib/barycentrics.glsl"
#include "lib/clay.glsl"

// Share of ambient light that reaches the surface, and the positions for which it was computed, in coarse texels.
layout(set = 0, binding = 3) uniform sampler2DArray occlusion;
layout(set = 0, binding = 4) uniform sampler2DArray occlusion_positions;

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

// Colour of clay, linear.
const vec3 CLAY = vec3(0.53, 0.43, 0.36);

// Returns the share of ambient light that reaches a surface point: a mean over the nearest texels, most of those that show
// the same place. Without ambient occlusion the loop is empty.
float ambient_share(vec3 p) {
    int taps = (lighting.flags & LOOK_OCCLUSION) != 0u ? 4 : 0;
    vec2 at = gl_FragCoord.xy * lighting.occlusion_texels - 0.5;
    ivec2 first = ivec2(floor(at)), last = textureSize(occlusion, 0).xy - 1;
    vec2 part = at - vec2(first);
    float share = 1e-6, weights = 1e-6;
    for (int i = 0; i < taps; i++) {
        ivec2 off = ivec2(i & 1, i >> 1);
        ivec3 texel = ivec3(clamp(first + off, ivec2(0), last), gl_ViewIndex);
        vec2 near = mix(1.0 - part, part, vec2(off));
        vec4 q = texelFetch(occlusion_positions, texel, 0);
        vec3 away = (q.xyz - p) / lighting.occlusion_radius;
        float weight = q.w * (near.x * near.y + 1e-3) / (dot(away, away) + 1e-3);
        share += weight * texelFetch(occlusion, texel, 0).r;
        weights += weight;
    }
    return share / weights;
}

struct Sample {
    vec3 albedo, emissive, position, normal;
    // Metallic, roughness, and 1 if unlit.
    vec3 material;
};

// Returns a unit normal; if it points away from the eye (at a silhouette), it is bent until it is just visible.
vec3 visible_normal(vec3 n, vec3 v) {
    n = normalize(n);
    float nv = dot(n, v);
    return nv < 0.02 ? normalize(n + v * (0.02 - nv)) : n;
}

// Shades the material. `lit` is the share of key light and `free` the share of ambient light that reach the point.
vec3 shaded(Sample g, vec3 eye, float lit, float free) {
    vec3 v = normalize(eye - g.position);
    vec3 n = visible_normal(g.normal, v);
    float nv = max(dot(n, v), 0.02);
    Surface s = surface_of(g.albedo, g.material.x, g.material.y);
    vec3 c = lighting.key_color * reflect_light(s, n, v, lighting.key_direction) * lit;
    c += lighting.fill_color * reflect_light(s, n, v, lighting.fill_direction);
    c += lighting.rim_color * reflect_light(s, n, v, lighting.rim_direction);
    // Points near the floor receive less light from the sky.
    float height = clamp((g.position.y - lighting.floor_height) / lighting.radius, 0.0, 1.0);
    float open = mix(0.75, 1.0, smoothstep(0.0, 0.6, height)) * free;
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
    bool clay = (lighting.flags & LOOK_CLAY) != 0u;
    // The shadow lookup starts slightly above the surface.
    float facing = dot(n, lighting.key_direction);
    vec3 lifted = in_position + n * (lighting.radius * (0.006 + 0.010 * (1.0 - clamp(facing, 0.0, 1.0))));
    float lit = lit_share(lifted, n, facing > 0.0 && !clay, 0.0008);
    float free = ambient_share(in_position);
    vec3 eye = views[gl_ViewIndex].eye;
    Sample g = Sample(color.rgb, emissive, in_position, n, vec3(metallic, roughness, (m.flags & MATERIAL_UNLIT) != 0u ? 1.0 : 0.0));
    vec3 light = shaded(g, eye, lit, free);
    // A loop instead of an if: software drivers skip it for textured surfaces.
    for (uint i = 0u, turns = clay ? 1u : 0u; i < turns; i++) {
        vec3 own = visible_normal(facing_normal(in_normal, gl_FrontFacing, px, py), normalize(eye - in_position));
        vec3 m = clay_normal(own, in_position, lighting.head, lighting.head_up);
        light = lighting.exposure * clay_light(m, mix(CLAY, in_paint.rgb, in_paint.a), free);
    }
    out_color = encoded(light, noise);
    out_color.rgb = mix(out_color.rgb, vec3(0.05, 0.07, 0.10), 0.6 * edge_share());
}
