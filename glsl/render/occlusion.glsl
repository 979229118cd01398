// Returns the fraction of a pixel that is covered by a surface nearer than a depth, as a mean over the pixel and its
// neighbours, so that occluded lines and panels have smooth edges. Needs the depth image at binding 2 of set 0.
#extension GL_EXT_multiview : require

layout(set = 0, binding = 2) uniform sampler2DArray depth;

float covered_share(float than) {
    ivec2 last = textureSize(depth, 0).xy - 1;
    float share = 0.0;
    for (int i = 0; i < 9; i++) {
        ivec2 off = ivec2(i % 3, i / 3) - 1;
        ivec2 texel = clamp(ivec2(gl_FragCoord.xy) + off, ivec2(0), last);
        // With reversed depth, nearer surfaces have greater values.
        float nearer = texelFetch(depth, ivec3(texel, gl_ViewIndex), 0).r > than ? 1.0 : 0.0;
        share += nearer * float((2 - abs(off.x)) * (2 - abs(off.y)));
    }
    return share / 16.0;
}
