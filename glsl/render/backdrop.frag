// Draws the backdrop and the floor where no surface covers them.
#version 460
#include "render/studio.glsl"

layout(location = 0) in vec3 in_ray;
layout(location = 0) out vec4 out_color;

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
    float lit = lit_share(p, vec3(0.0, 1.0, 0.0), t > 0.0 && near, 0.03, 0.0, 6.2831853 * noise);
    float share = floor_share(d, t, p, lit, footprint);
    vec4 color = encoded(backdrop(d) * share, noise);
    out_color = (lighting.flags & LOOK_CLEAR) != 0u ? vec4(vec3(0.0), 1.0 - share) : color;
}
