// The studio's lights and surroundings, with their bindings: set 0 of the stages that shade.
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "types/lighting.glsl"
#include "lib/brdf.glsl"
#include "lib/tone.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, scalar) readonly buffer LightingBlock { Lighting lighting; };
layout(set = 0, binding = 2) uniform sampler2DArray shadow;

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

// A number in 0..1 of each pixel, alike in all its samples (Jimenez 2014).
float pixel_noise() {
    return fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715))));
}

// Linear light as the display wants it; half a step of noise hides the bands of gradients. Samples are encoded before
// they are averaged, so that an edge before bright light stays smooth.
vec4 encoded(vec3 light, float noise) {
    return vec4(srgb_from_linear(tone_map(light)) + (noise - 0.5) / 255.0, 1.0);
}
