// Replaces the left eye's image with an anaglyph of both eyes, for red and cyan glasses.
#version 460
#include "lib/tone.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, rgba8) uniform image2DArray picture;

// Dubois, Conversion of a Stereo Pair to Anaglyph with the Least-Squares Projection Method, 2009. The matrices map
// linear light of the left and right eye to that of the display, for common red and cyan filters. Column-major.
const mat3 LEFT = mat3(0.437, -0.062, -0.048, 0.449, -0.062, -0.050, 0.164, -0.024, -0.017);
const mat3 RIGHT = mat3(-0.011, 0.377, -0.026, -0.032, 0.761, -0.093, -0.007, 0.009, 1.234);

vec3 linear_from_srgb(vec3 c) {
    return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), greaterThan(c, vec3(0.04045)));
}

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(picture).xy))) {
        return;
    }
    vec3 left = linear_from_srgb(imageLoad(picture, ivec3(at, 0)).rgb);
    vec3 right = linear_from_srgb(imageLoad(picture, ivec3(at, 1)).rgb);
    imageStore(picture, ivec3(at, 0), vec4(srgb_from_linear(LEFT * left + RIGHT * right), 1.0));
}
