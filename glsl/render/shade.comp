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

// Share of the key light that arrives at p of a surface with normal n; `spread` is the blur's radius in the shadow
// picture. Taps are compared with the surface's own plane, so slopes do not shade themselves. Where it is not
// `wanted` no tap is taken: loops of no turn are skipped even by software drivers, which run both sides of an if.
float lit_share(vec3 p, vec3 n, bool wanted, float spread, float bias, float turn) {
    vec4 clip = lighting.shadow_from_world * vec4(p, 1.0);
    vec2 uv = vec2(clip.x, -clip.y) * 0.5 + 0.5;
    bool inside = all(greaterThanEqual(uv, vec2(0.0))) && all(lessThanEqual(uv, vec2(1.0)));
    int taps = wanted && inside && (lighting.flags & LOOK_SHADOW) != 0u ? 12 : 0;
    vec2 size = vec2(textureSize(shadow, 0).xy);
    // The plane's depth per picture coordinate.
    vec3 tilt = mat3(lighting.shadow_from_world) * (n * lighting.radius);
    vec2 slope = clamp(0.5 * vec2(-tilt.x, tilt.y) / max(tilt.z, 1e-6), -2.0, 2.0);
    float c = cos(turn), s = sin(turn), covered = 0.0;
    for (int i = 0; i < taps; i++) {
        vec2 offset = mat2(c, s, -s, c) * TAPS[i] * spread;
        vec2 tap = uv + offset;
        float depth = texelFetch(shadow, ivec3(clamp(tap * size, vec2(0.0), size - 1.0), 0), 0).r;
        // Depth 0 is empty; the floor may lie beyond the picture's depths.
        covered += depth > max(clip.z + bias + dot(slope, offset), 0.0) ? 1.0 : 0.0;
    }
    return 1.0 - covered / 12.0;
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

struct Sample {
    vec3 albedo, emissive, position, normal;
    vec3 material;
};

Sample fetch(ivec3 at) {
    return Sample(texelFetch(albedo, at, 0).rgb, texelFetch(emissive, at, 0).rgb, texelFetch(position, at, 0).xyz,
        texelFetch(normal, at, 0).xyz, texelFetch(material, at, 0).xyz);
}

// Where a ray meets the floor: the distance along it, negative where it does not.
float floor_distance(vec3 eye, vec3 d) {
    bool meets = (lighting.flags & LOOK_FLOOR) != 0u && d.y < -1e-3 && eye.y > lighting.floor_height;
    return meets ? (lighting.floor_height - eye.y) / d.y : -1.0;
}

// The backdrop with the floor fading into it; t as above, p the floor's point, lit its share of the key light.
vec3 surroundings(vec3 d, float t, vec3 p, float lit, float footprint) {
    vec3 behind = backdrop(d);
    if (t <= 0.0) {
        return behind;
    }
    float away = distance(p.xz, lighting.center.xz) / lighting.radius;
    float fade = 1.0 - smoothstep(1.0, 5.0, away);
    // Under the model the sky is hidden: an ambient shadow, round and soft.
    float contact = 0.22 * exp(-3.0 * away * away);
    float shade = mix(1.0, 0.58 + 0.42 * lit, fade) * (1.0 - contact * fade);
    float width = footprint * t / max(-d.y, 0.05);
    float lines = 0.10 * grid(p.xz, lighting.grid_spacing, width)
        + 0.08 * grid(p.xz, lighting.grid_spacing * 10.0, width);
    return behind * shade * (1.0 - lines * fade);
}

vec3 shaded(Sample g, View view, float lit) {
    vec3 v = normalize(view.eye - g.position);
    vec3 n = normalize(g.normal);
    // A normal that points away from the eye (smooth normals at a silhouette) is bent just into view.
    float nv = dot(n, v);
    n = nv < 0.02 ? normalize(n + v * (0.02 - nv)) : n;
    nv = max(dot(n, v), 0.02);
    Surface s = surface_of(g.albedo, g.material.x, g.material.y);
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
    return (g.material.z > 0.5 ? g.albedo : c) + g.emissive;
}

// Share of a pixel's samples that lie on an edge between two triangles of one part: their right or lower neighbour, a
// pixel away, shows another triangle.
float edge_share(uvec2 pixel, uint eye) {
    uint samples = push.samples, count = samples * samples, found = 0u;
    uvec2 last = push.size * samples - 1u;
    for (uint i = 0u, taps = (lighting.flags & LOOK_WIRE) != 0u ? count : 0u; i < taps; i++) {
        uvec2 at = pixel * samples + uvec2(i % samples, i / samples);
        uvec2 here = texelFetch(ids, ivec3(at, eye), 0).xy;
        uvec2 right = texelFetch(ids, ivec3(min(at + uvec2(samples, 0u), last), eye), 0).xy;
        uvec2 below = texelFetch(ids, ivec3(min(at + uvec2(0u, samples), last), eye), 0).xy;
        bool edge = (right.y == here.y && right.x != here.x) || (below.y == here.y && below.x != here.x);
        found += here.y != NONE && edge ? 1u : 0u;
    }
    return float(found) / float(count);
}

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    uint eye = gl_GlobalInvocationID.z;
    if (any(greaterThanEqual(pixel, push.size))) {
        return;
    }
    View view = views[eye];
    uint samples = push.samples, count = samples * samples;
    float noise = fract(52.9829189 * fract(dot(vec2(pixel), vec2(0.06711056, 0.00583715))));
    float turn = 6.2831853 * noise;
    vec2 size = vec2(push.size);
    float pixel_side = max(length(view.ray_right) / size.x, length(view.ray_down) / size.y);

    uint parts[4];
    bool same = true;
    for (uint i = 0u; i < count; i++) {
        parts[i] = texelFetch(ids, ivec3(pixel * samples + uvec2(i % samples, i / samples), eye), 0).y;
        same = same && parts[i] == parts[0];
    }
    // Samples of one part that face one way are shaded as one; others one by one.
    Sample mean = Sample(vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0));
    uint averaged = same && parts[0] != NONE ? count : 0u;
    for (uint i = 0u; i < averaged; i++) {
        Sample g = fetch(ivec3(pixel * samples + uvec2(i % samples, i / samples), eye));
        float w = 1.0 / float(count);
        mean.albedo += g.albedo * w;
        mean.emissive += g.emissive * w;
        mean.position += g.position * w;
        mean.normal += g.normal * w;
        mean.material += g.material * w;
    }
    bool one = same && (parts[0] == NONE || dot(mean.normal, mean.normal) > 0.9);
    uint shadings = one ? 1u : count;
    vec3 color = vec3(0.0);
    for (uint i = 0u; i < shadings; i++) {
        uvec2 sub = uvec2(i % samples, i / samples);
        bool surface = parts[i] != NONE;
        Sample g = mean;
        uint fetched = surface && !one ? 1u : 0u;
        for (uint k = 0u; k < fetched; k++) {
            g = fetch(ivec3(pixel * samples + sub, eye));
        }
        vec2 uv = (vec2(pixel) + (one ? vec2(0.5) : (vec2(sub) + 0.5) / float(samples))) / size;
        vec3 ray = view.ray_corner + uv.x * view.ray_right + uv.y * view.ray_down;
        vec3 d = normalize(ray);
        float t = floor_distance(view.eye, d);
        vec3 p = view.eye + t * d;
        // One look at the shadow for either kind of sample; a surface looks a little in front of itself.
        float facing = dot(g.normal, lighting.key_direction);
        vec3 lifted = g.position + g.normal * (lighting.radius * (0.006 + 0.010 * (1.0 - clamp(facing, 0.0, 1.0))));
        bool near = distance(p.xz, lighting.center.xz) < 5.0 * lighting.radius;
        bool wanted = surface ? facing > 0.0 : t > 0.0 && near;
        float lit = lit_share(surface ? lifted : p, surface ? g.normal : vec3(0.0, 1.0, 0.0), wanted, surface ? 0.0045 : 0.03, surface ? 0.0008 : 0.0, turn);
        vec3 c = surface ? shaded(g, view, lit) : surroundings(d, t, p, lit, pixel_side / length(ray));
        color += srgb_from_linear(tone_map(c));
    }
    // Half a step of noise hides the bands of the backdrop's gradient.
    vec3 encoded = color / float(shadings) + (noise - 0.5) / 255.0;
    encoded = mix(encoded, vec3(0.05, 0.07, 0.10), 0.6 * edge_share(pixel, eye));
    imageStore(picture, ivec3(pixel, eye), vec4(encoded, 1.0));
}
