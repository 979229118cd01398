// The studio's lights and surroundings, with their bindings in set 0 of the shading stages.
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "types/lighting.glsl"
#include "lib/brdf.glsl"
#include "lib/tone.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, scalar) readonly buffer LightingBlock { Lighting lighting; };
layout(set = 0, binding = 2) uniform sampler2DArray shadow;

// Half the width of the filter of the surface's shadows, in texels of the shadow map.
const int HALF_WIDTH = 3;

// Returns the position of point p in the shadow map, in texels, and its depth.
vec3 in_shadow_map(vec3 p) {
    vec4 clip = lighting.shadow_from_world * vec4(p, 1.0);
    return vec3(vec2(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y) * vec2(textureSize(shadow, 0).xy), clip.z);
}

// Returns the change of depth per texel on the plane with normal n. Depths are compared with the surface's tangent
// plane, so slopes do not shadow themselves.
vec2 shadow_slope(vec3 n) {
    vec3 tilt = mat3(lighting.shadow_from_world) * (n * lighting.radius);
    return clamp(0.5 * vec2(-tilt.x, tilt.y) / max(tilt.z, 1e-6), -2.0, 2.0) / vec2(textureSize(shadow, 0).xy);
}

// Whether a square of texels about `at`, `reach` texels to each side, lies in the shadow map.
bool in_reach(vec2 at, float reach) {
    return (lighting.flags & LOOK_SHADOW) != 0u && all(greaterThanEqual(at, vec2(reach))) &&
        all(lessThanEqual(at, vec2(textureSize(shadow, 0).xy) - reach));
}

// Returns the fraction of key light that reaches point p with normal n: a tent filter over the texels around p, which
// is continuous and has no noise. Without `wanted` no texel is read: software drivers skip an empty loop, but execute
// both branches of an if.
float lit_share(vec3 p, vec3 n, bool wanted, float bias) {
    vec3 at = in_shadow_map(p);
    vec2 slope = shadow_slope(n), first = floor(at.xy - 0.5), part = at.xy - 0.5 - first;
    vec2 size = vec2(textureSize(shadow, 0).xy);
    int rows = wanted && in_reach(at.xy, float(HALF_WIDTH + 1)) ? HALF_WIDTH : 0;
    float covered = 0.0;
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < HALF_WIDTH; i++) {
            // The corner that four texels share, relative to the texel `first`, in texels.
            vec2 corner = vec2(2 * i, 2 * j) - float(HALF_WIDTH - 2);
            vec4 depth = textureGather(shadow, vec3((first + corner) / size, 0.0));
            vec4 x = corner.x - part.x + vec4(-1.0, 0.0, 0.0, -1.0), y = corner.y - part.y + vec4(0.0, 0.0, -1.0, -1.0);
            vec4 weight = (float(HALF_WIDTH) - abs(x)) * (float(HALF_WIDTH) - abs(y));
            // Depth 0 is empty.
            vec4 plane = max(at.z + bias + slope.x * x + slope.y * y, 0.0);
            covered += dot(vec4(greaterThan(depth, plane)), weight);
        }
    }
    return 1.0 - covered / pow(float(HALF_WIDTH), 4.0);
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
