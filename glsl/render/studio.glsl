// The studio's lights and surroundings, with their bindings in set 0 of the shading stages.
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

// Returns the fraction of key light that reaches point p with normal n. `spread` is the blur radius in the shadow
// map. Depths are compared with the surface's tangent plane, so slopes do not shadow themselves. Without `wanted` no
// tap is taken: software drivers skip an empty loop, but execute both branches of an if.
float lit_share(vec3 p, vec3 n, bool wanted, float spread, float bias, float turn) {
    vec4 clip = lighting.shadow_from_world * vec4(p, 1.0);
    vec2 uv = vec2(clip.x, -clip.y) * 0.5 + 0.5;
    bool inside = all(greaterThanEqual(uv, vec2(0.0))) && all(lessThanEqual(uv, vec2(1.0)));
    int taps = wanted && inside && (lighting.flags & LOOK_SHADOW) != 0u ? 12 : 0;
    vec2 size = vec2(textureSize(shadow, 0).xy);
    // Depth change of the tangent plane per unit of shadow map coordinates.
    vec3 tilt = mat3(lighting.shadow_from_world) * (n * lighting.radius);
    vec2 slope = clamp(0.5 * vec2(-tilt.x, tilt.y) / max(tilt.z, 1e-6), -2.0, 2.0);
    float c = cos(turn), s = sin(turn), covered = 0.0;
    for (int i = 0; i < taps; i++) {
        vec2 offset = mat2(c, s, -s, c) * TAPS[i] * spread;
        vec2 tap = uv + offset;
        float depth = texelFetch(shadow, ivec3(clamp(tap * size, vec2(0.0), size - 1.0), 0), 0).r;
        // Depth 0 is empty; the floor may lie beyond the depth range of the shadow map.
        covered += depth > max(clip.z + bias + dot(slope, offset), 0.0) ? 1.0 : 0.0;
    }
    return 1.0 - covered / 12.0;
}

// Returns the blurred ambient light from a direction: sky above, floor below.
vec3 ambient(vec3 d, float blur) {
    float edge = mix(0.15, 1.0, blur);
    return mix(lighting.floor_color, lighting.sky_color, smoothstep(-edge, edge, d.y));
}

// Returns the light of a broad light panel, which appears in reflections.
vec3 panel(vec3 d, vec3 direction, vec3 color, float roughness) {
    float width = mix(0.06, 0.6, roughness);
    return color * smoothstep(1.0 - width, 1.0 - 0.3 * width, dot(d, direction)) * 0.35 * (1.0 - roughness);
}

// Returns a random number in 0..1 per pixel, equal for all its samples (Jimenez 2014).
float pixel_noise() {
    return fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715))));
}

// Converts linear light to display values. Noise of half a step hides banding in gradients. Samples are encoded
// before they are averaged, so that edges in front of bright light stay smooth.
vec4 encoded(vec3 light, float noise) {
    return vec4(srgb_from_linear(tone_map(light)) + (noise - 0.5) / 255.0, 1.0);
}
