// Colours the silhouettes of a mask in the picture, in all views.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform sampler2DArray mask;
layout(set = 0, binding = 1, rgba8) uniform image2DArray picture;

layout(push_constant, scalar) uniform Push {
    vec4 color;
    // Size of the picture, pixels.
    uvec2 size;
} push;

// Returns the share of marked texels at a position of the mask, interpolated between the texels.
float share_at(vec2 at, int view) {
    ivec2 last = textureSize(mask, 0).xy - 1;
    ivec2 first = ivec2(floor(at));
    vec2 part = at - vec2(first);
    float share = 0.0;
    for (int i = 0; i < 4; i++) {
        ivec2 off = ivec2(i & 1, i >> 1);
        vec2 weight = mix(1.0 - part, part, vec2(off));
        ivec2 texel = clamp(first + off, ivec2(0), last);
        share += weight.x * weight.y * texelFetch(mask, ivec3(texel, view), 0).r;
    }
    return share;
}

void main() {
    ivec3 here = ivec3(gl_GlobalInvocationID);
    if (here.x >= int(push.size.x) || here.y >= int(push.size.y)) {
        return;
    }
    // The mask is coarser than the picture, so the colour fades out over a texel.
    vec2 at = (vec2(here.xy) + 0.5) / vec2(push.size) * vec2(textureSize(mask, 0).xy) - 0.5;
    float share = push.color.a * min(1.5 * share_at(at, here.z), 1.0);
    if (share > 1e-3) {
        vec4 below = imageLoad(picture, here);
        imageStore(picture, here, vec4(mix(below.rgb, push.color.rgb, share), max(below.a, share)));
    }
}
