// The parts of evaluating a material that the G-buffer and the shadow pass share.

vec2 material_uv(vec4 uvs, uint flags, uint second_bit) {
    return (flags & second_bit) != 0u ? uvs.zw : uvs.xy;
}

// Interleaved gradient noise (Jimenez 2014): a good dither in screen space, in 0..1.
float dither(vec2 pixel) {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

// Whether a fragment of this alpha is left out. Blending is drawn as a dither: the order of surfaces does not
// matter then, and supersampling smooths it.
bool cut_out(float alpha, Material m, vec2 pixel) {
    if ((m.flags & MATERIAL_MASK) != 0u) {
        return alpha < m.alpha_cutoff;
    }
    return (m.flags & MATERIAL_BLEND) != 0u && alpha <= dither(pixel) * 0.996 + 0.002;
}
