// Draws the ghosts of two masks over the picture, in all views: a faint fill in front of the body, and an outline.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 8, local_size_y = 8) in;

// One channel per ghost, the nearest in time first.
layout(set = 0, binding = 0) uniform sampler2DArray past;
layout(set = 0, binding = 1) uniform sampler2DArray future;
layout(set = 0, binding = 2, rgba8) uniform image2DArray picture;

layout(push_constant, scalar) uniform Push {
    // Opacity of each ghost, 0..=1.
    vec4 past_strength;
    vec4 future_strength;
    vec3 past_color;
    vec3 future_color;
    // Size of the picture, pixels.
    uvec2 size;
    // Half the width of an outline, pixels.
    int radius;
} push;

const float FILL = 0.3;
const float OUTLINE = 0.9;

// Returns the opacity of the ghosts of a mask at a pixel.
vec4 opacity(sampler2DArray mask, vec4 strength, ivec3 here) {
    ivec2 last = ivec2(push.size) - 1;
    vec4 any = vec4(0.0), front = vec4(0.0), most = vec4(0.0);
    for (int i = 0; i < 9; i++) {
        ivec2 off = ivec2(i % 3, i / 3) - 1;
        ivec2 texel = clamp(here.xy + off * push.radius, ivec2(0), last);
        vec4 mark = texelFetch(mask, ivec3(texel, here.z), 0);
        float weight = float((2 - abs(off.x)) * (2 - abs(off.y))) / 16.0;
        any += weight * vec4(greaterThan(mark, vec4(0.0)));
        front += weight * vec4(greaterThan(mark, vec4(0.7)));
        most = max(most, mark);
    }
    // The outline lies where about half of the neighbourhood is covered.
    vec4 edge = 4.0 * any * (1.0 - any);
    return strength * min(FILL * front + OUTLINE * edge * most, vec4(1.0));
}

void main() {
    ivec3 here = ivec3(gl_GlobalInvocationID);
    if (here.x >= int(push.size.x) || here.y >= int(push.size.y)) {
        return;
    }
    vec4 before = opacity(past, push.past_strength, here);
    vec4 after = opacity(future, push.future_strength, here);
    if (max(max(max(before.x, before.y), max(before.z, before.w)), max(max(after.x, after.y), max(after.z, after.w))) < 1e-3) {
        return;
    }
    vec4 below = imageLoad(picture, here);
    // The nearest ghosts in time are on top.
    for (int rank = 3; rank >= 0; rank--) {
        below = mix(below, vec4(push.past_color, 1.0), before[rank]);
        below = mix(below, vec4(push.future_color, 1.0), after[rank]);
    }
    imageStore(picture, here, below);
}
