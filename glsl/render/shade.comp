// Shades the G-buffer, adds backdrop and floor, and averages the samples of each pixel.
#version 460
#include "types/view.glsl"
#include "types/lighting.glsl"
#include "lib/brdf.glsl"
#include "lib/tone.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, scalar) readonly buffer LightingBlock { Lighting lighting; };
layout(set = 0, binding = 2) uniform sampler2DArray albedo;
layout(set = 0, binding = 3) uniform sampler2DArray material;
layout(set = 0, binding = 4) uniform sampler2DArray emissive;
layout(set = 0, binding = 5) uniform sampler2DArray position;
layout(set = 0, binding = 6) uniform sampler2DArray normal;
layout(set = 0, binding = 7) uniform usampler2DArray ids;
layout(set = 0, binding = 8) uniform sampler2DArray shadow;
layout(set = 0, binding = 9, rgba8) writeonly uniform image2DArray picture;

layout(push_constant, scalar) uniform Push {
    uvec2 size;
    uint samples;
} push;

const vec2 TAPS[12] = vec2[](
    vec2(-0.326, -0.406), vec2(-0.840, -0.074), vec2(-0.696, 0.457), vec2(-0.203, 0.621),
    vec2(0.962, -0.195), vec2(0.473, -0.480), vec2(0.519, 0.767), vec2(0.185, -0.893),
    vec2(0.507, 0.064), vec2(0.896, 0.412), vec2(-0.322, -0.933), vec2(-0.792, -0.598));

// Share of the key light that arrives; `spread` is the blur's radius relative to the model's.
float lit_share(vec3 p, float spread, float bias, float turn) {
    if ((lighting.flags & LOOK_SHADOW) == 0u) {
        return 1.0;
    }
    vec4 clip = lighting.shadow_from_world * vec4(p, 1.0);
    vec2 uv = vec2(clip.x, -clip.y) * 0.5 + 0.5;
    if (any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) {
        return 1.0;
    }
    ivec2 size = textureSize(shadow, 0).xy;
    float c = cos(turn), s = sin(turn), lit = 0.0;
    for (int i = 0; i < 12; i++) {
        vec2 tap = mat2(c, s, -s, c) * TAPS[i] * spread + uv;
        ivec2 texel = clamp(ivec2(tap * vec2(size)), ivec2(0), size - 1);
        lit += texelFetch(shadow, ivec3(texel, 0), 0).r > clip.z + bias ? 0.0 : 1.0;
    }
    return lit / 12.0;
}

// Ambient light from a direction, blurred: sky above, floor below.
vec3 ambient(vec3 d, float blur) {
    float edge = mix(0.15, 1.0, blur);
    return mix(lighting.floor_color, lighting.sky_color, smoothstep(-edge, edge, d.y));
}

// A broad panel that shows in reflections.
vec3 panel(vec3 d, vec3 direction, vec3 color, float roughness) {
    float width = mix(0.06, 0.6, roughness);
    return color * smoothstep(1.0 - width, 1.0 - 0.3 * width, dot(d, direction)) * 0.35 * (1.0 - roughness);
}

vec3 backdrop(vec3 d) {
    return mix(lighting.background_bottom, lighting.background_top, smoothstep(-0.35, 0.55, d.y));
}

// Antialiased lines at whole multiples of `spacing`.
float grid(vec2 p, float spacing, float footprint) {
    vec2 q = abs(fract(p / spacing - 0.5) - 0.5) * spacing;
    float width = max(footprint, 1e-6);
    float line = 1.0 - smoothstep(0.4 * width, 1.4 * width, min(q.x, q.y));
    return line * clamp(1.0 - 6.0 * width / spacing, 0.0, 1.0);
}

// What is seen where there is no surface: the floor, fading into the backdrop.
vec3 surroundings(View view, vec3 ray, float footprint, float turn) {
    vec3 d = normalize(ray);
    vec3 behind = backdrop(d);
    if ((lighting.flags & LOOK_FLOOR) == 0u || d.y > -1e-3) {
        return behind;
    }
    float t = (lighting.floor_height - view.eye.y) / d.y;
    if (t <= 0.0) {
        return behind;
    }
    vec3 p = view.eye + t * d;
    float away = distance(p.xz, lighting.center.xz) / lighting.radius;
    float fade = 1.0 - smoothstep(1.0, 5.0, away);
    float lit = lit_share(p, 0.03, 0.0, turn);
    // Under the model the sky is hidden: an ambient shadow, round and soft.
    float contact = 0.22 * exp(-3.0 * away * away);
    float shade = mix(1.0, 0.58 + 0.42 * lit, fade) * (1.0 - contact * fade);
    float width = footprint * t / max(-d.y, 0.05);
    float lines = 0.10 * grid(p.xz, lighting.grid_spacing, width) + 0.08 * grid(p.xz, lighting.grid_spacing * 10.0, width);
    return behind * shade * (1.0 - lines * fade);
}

struct Sample {
    vec3 albedo, emissive, position, normal;
    vec3 material;
};

vec3 shaded(Sample g, View view, float turn) {
    if (g.material.z > 0.5) {
        return g.albedo + g.emissive;
    }
    vec3 v = normalize(view.eye - g.position);
    vec3 n = normalize(g.normal);
    // A normal that points away from the eye (smooth normals at a silhouette) is bent just into view.
    float nv = dot(n, v);
    n = nv < 0.02 ? normalize(n + v * (0.02 - nv)) : n;
    nv = max(dot(n, v), 0.02);
    Surface s = surface_of(g.albedo, g.material.x, g.material.y);
    float away = 1.0 - clamp(dot(g.normal, lighting.key_direction), 0.0, 1.0);
    vec3 lifted = g.position + g.normal * (lighting.radius * (0.004 + 0.012 * away));
    float lit = lit_share(lifted, 0.006, 0.0008, turn);
    vec3 c = lighting.key_color * reflect_light(s, n, v, lighting.key_direction) * lit;
    c += lighting.fill_color * reflect_light(s, n, v, lighting.fill_direction);
    c += lighting.rim_color * reflect_light(s, n, v, lighting.rim_direction);
    // Low parts see less of the sky.
    float height = clamp((g.position.y - lighting.floor_height) / lighting.radius, 0.0, 1.0);
    float open = mix(0.75, 1.0, smoothstep(0.0, 0.6, height));
    c += s.diffuse * ambient(n, 1.0) * open;
    vec3 r = reflect(-v, n);
    vec3 mirrored = ambient(r, s.roughness) + panel(r, lighting.key_direction, lighting.key_color, s.roughness)
        + panel(r, lighting.rim_direction, lighting.rim_color, s.roughness);
    c += ambient_specular(s, nv) * mirrored * open;
    return c + g.emissive;
}

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    uint eye = gl_GlobalInvocationID.z;
    if (any(greaterThanEqual(pixel, push.size))) {
        return;
    }
    View view = views[eye];
    uint samples = push.samples;
    float turn = 6.2831853 * fract(52.9829189 * fract(dot(vec2(pixel), vec2(0.06711056, 0.00583715))));
    vec2 footprint2 = vec2(length(view.ray_right) / float(push.size.x), length(view.ray_down) / float(push.size.y));

    // Samples of one part that face one way are shaded as one; others one by one.
    Sample mean = Sample(vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0));
    uint part = texelFetch(ids, ivec3(pixel * samples, eye), 0).y;
    bool uniform_part = true;
    float count = float(samples * samples);
    for (uint i = 0u; i < samples * samples; i++) {
        ivec3 at = ivec3(pixel * samples + uvec2(i % samples, i / samples), eye);
        uniform_part = uniform_part && texelFetch(ids, at, 0).y == part;
        mean.albedo += texelFetch(albedo, at, 0).rgb / count;
        mean.emissive += texelFetch(emissive, at, 0).rgb / count;
        mean.position += texelFetch(position, at, 0).xyz / count;
        mean.normal += texelFetch(normal, at, 0).xyz / count;
        mean.material += texelFetch(material, at, 0).xyz / count;
    }
    bool one = uniform_part && (part == NONE || dot(mean.normal, mean.normal) > 0.9);
    uint shadings = one ? 1u : samples * samples;
    vec3 color = vec3(0.0);
    for (uint i = 0u; i < shadings; i++) {
        uvec2 sub = uvec2(i % samples, i / samples);
        ivec3 at = ivec3(pixel * samples + sub, eye);
        vec3 c;
        if (texelFetch(ids, at, 0).y == NONE) {
            vec2 inside = one ? vec2(0.5) : (vec2(sub) + 0.5) / float(samples);
            vec2 uv = (vec2(pixel) + inside) / vec2(push.size);
            vec3 ray = view.ray_corner + uv.x * view.ray_right + uv.y * view.ray_down;
            float angle = max(footprint2.x, footprint2.y) / length(ray);
            c = surroundings(view, ray, angle, turn);
        } else {
            Sample g = mean;
            if (!one) {
                g = Sample(texelFetch(albedo, at, 0).rgb, texelFetch(emissive, at, 0).rgb,
                    texelFetch(position, at, 0).xyz, texelFetch(normal, at, 0).xyz, texelFetch(material, at, 0).xyz);
            }
            c = shaded(g, view, turn);
        }
        color += srgb_from_linear(tone_map(c));
    }
    // Half a step of noise hides the bands of the backdrop's gradient.
    vec3 encoded = color / float(shadings) + (turn / 6.2831853 - 0.5) / 255.0;
    imageStore(picture, ivec3(pixel, eye), vec4(encoded, 1.0));
}
