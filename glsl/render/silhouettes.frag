// Colours silhouettes over the picture.
#version 460
#extension GL_EXT_multiview : require
#extension GL_EXT_scalar_block_layout : require

layout(set = 0, binding = 0) uniform sampler2DArray mask;

layout(push_constant, scalar) uniform Push {
    vec4 color;
    // Texels of the mask per pixel of the picture.
    vec2 texels;
} push;

layout(location = 0) out vec4 out_color;

// Returns the share of marked texels at a position of the mask, interpolated between the texels.
float share_at(vec2 at) {
    ivec2 last = textureSize(mask, 0).xy - 1;
    ivec2 first = ivec2(floor(at));
    vec2 part = at - vec2(first);
    float share = 0.0;
    for (int i = 0; i < 4; i++) {
        ivec2 off = ivec2(i & 1, i >> 1);
        vec2 weight = mix(1.0 - part, part, vec2(off));
        ivec2 texel = clamp(first + off, ivec2(0), last);
        share += weight.x * weight.y * texelFetch(mask, ivec3(texel, gl_ViewIndex), 0).r;
    }
    return share;
}

void main() {
    // The mask is coarser than the picture, so the colour fades out over a texel.
    float share = min(1.5 * share_at(gl_FragCoord.xy * push.texels - 0.5), 1.0);
    if (share < 1e-3) {
        discard;
    }
    out_color = vec4(push.color.rgb, push.color.a * share);
}
