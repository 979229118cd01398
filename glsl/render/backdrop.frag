// Draws the backdrop and the floor where no surface covers them.
#version 460
#include "render/studio.glsl"

layout(location = 0) in vec3 in_ray;
layout(location = 0) out vec4 out_color;

const vec2 TAPS[12] = vec2[](
    vec2(-0.326, -0.406), vec2(-0.840, -0.074), vec2(-0.696, 0.457), vec2(-0.203, 0.621),
    vec2(0.962, -0.195), vec2(0.473, -0.480), vec2(0.519, 0.767), vec2(0.185, -0.893),
    vec2(0.507, 0.064), vec2(0.896, 0.412), vec2(-0.322, -0.933), vec2(-0.792, -0.598));
// Radius of the blur of the shadow on the floor, in widths of the shadow map.
const float BLUR = 0.03;

vec3 backdrop(vec3 d) {
    return mix(lighting.background_bottom, lighting.background_top, smoothstep(-0.35, 0.55, d.y));
}

// Returns the coverage of antialiased grid lines at integer multiples of `spacing`.
float grid(vec2 p, float spacing, float footprint) {
    vec2 q = abs(fract(p / spacing - 0.5) - 0.5) * spacing;
    float width = max(footprint, 1e-6);
    float line = 1.0 - smoothstep(0.4 * width, 1.4 * width, min(q.x, q.y));
    return line * clamp(1.0 - 6.0 * width / spacing, 0.0, 1.0);
}

// Returns the distance along a ray to the floor; negative if the ray does not meet the floor.
float floor_distance(vec3 eye, vec3 d) {
    bool meets = (lighting.flags & LOOK_FLOOR) != 0u && d.y < -1e-3 && eye.y > lighting.floor_height;
    return meets ? (lighting.floor_height - eye.y) / d.y : -1.0;
}

// Converts a point of the floor to the floor's own axes, which the grid follows.
vec2 on_floor(vec2 p) {
    vec2 q = p - lighting.floor_shift, turn = lighting.floor_turn;
    return vec2(turn.x * q.x - turn.y * q.y, turn.y * q.x + turn.x * q.y);
}

// Returns the fraction of key light that reaches point p of the floor. Noise hides the steps between the few texels that
// are read.
float floor_lit(vec3 p, bool wanted, float noise) {
    vec3 at = in_shadow_map(p);
    vec2 size = vec2(textureSize(shadow, 0).xy), slope = shadow_slope(vec3(0.0, 1.0, 0.0));
    float turn = 6.2831853 * noise, c = cos(turn), s = sin(turn), covered = 0.0;
    int taps = wanted && in_reach(at.xy, 0.0) ? 12 : 0;
    for (int i = 0; i < taps; i++) {
        vec2 offset = mat2(c, s, -s, c) * TAPS[i] * BLUR * size;
        float depth = texelFetch(shadow, ivec3(clamp(at.xy + offset, vec2(0.0), size - 1.0), 0), 0).r;
        // Depth 0 is empty; the floor may lie beyond the depth range of the shadow map.
        covered += depth > max(at.z + dot(slope, offset), 0.0) ? 1.0 : 0.0;
    }
    return 1.0 - covered / 12.0;
}

// Returns the share of the backdrop's light that the floor leaves. t is the floor distance, p the floor point, lit the
// fraction of key light at p.
float floor_share(vec3 d, float t, vec3 p, float lit, float footprint) {
    if (t <= 0.0) {
        return 1.0;
    }
    float away = distance(p.xz, lighting.center.xz) / lighting.radius;
    float fade = 1.0 - smoothstep(1.0, 5.0, away);
    // The model hides the sky from the floor below it: a soft round ambient shadow.
    float contact = 0.22 * exp(-3.0 * away * away);
    float shade = mix(1.0, 0.58 + 0.42 * lit, fade) * (1.0 - contact * fade);
    float width = footprint * t / max(-d.y, 0.05);
    vec2 q = on_floor(p.xz);
    float lines = 0.10 * grid(q, lighting.grid_spacing, width) + 0.08 * grid(q, lighting.grid_spacing * 10.0, width);
    return shade * (1.0 - lines * fade);
}

void main() {
    vec3 eye = views[gl_ViewIndex].eye;
    // Width of a pixel at unit distance along this ray.
    float footprint = max(length(dFdx(in_ray)), length(dFdy(in_ray))) / length(in_ray);
    vec3 d = normalize(in_ray);
    float t = floor_distance(eye, d);
    vec3 p = eye + t * d;
    bool near = distance(p.xz, lighting.center.xz) < 5.0 * lighting.radius;
    float noise = pixel_noise();
    float lit = floor_lit(p, t > 0.0 && near, noise);
    float share = floor_share(d, t, p, lit, footprint);
    vec4 color = encoded(backdrop(d) * share, noise);
    out_color = (lighting.flags & LOOK_CLEAR) != 0u ? vec4(vec3(0.0), 1.0 - share) : color;
}
