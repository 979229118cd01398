// Parts of the material evaluation that the shading, G-buffer and shadow passes share.

vec2 material_uv(vec4 uvs, uint flags, uint second_bit) {
    return (flags & second_bit) != 0u ? uvs.zw : uvs.xy;
}

// Returns interleaved gradient noise (Jimenez 2014), a dither pattern in screen space, 0..1.
float dither(vec2 pixel) {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

// Returns whether a fragment with this alpha is discarded. Blended materials are dithered, so the result does not
// depend on the order of surfaces.
bool cut_out(float alpha, Material m, vec2 pixel) {
    if ((m.flags & MATERIAL_MASK) != 0u) {
        return alpha < m.alpha_cutoff;
    }
    return (m.flags & MATERIAL_BLEND) != 0u && alpha <= dither(pixel) * 0.996 + 0.002;
}

// Returns the unit normal that faces the eye; px and py are screen-space derivatives of the position. If the
// interpolated normal is zero, returns the triangle's normal, which is along the cross product of down and right.
vec3 facing_normal(vec3 normal, bool front, vec3 px, vec3 py) {
    float l = dot(normal, normal);
    if (l > 1e-12) {
        return normal * (front ? inversesqrt(l) : -inversesqrt(l));
    }
    return normalize(cross(py, px) + vec3(0.0, 1e-20, 0.0));
}

// Applies the normal map in a frame from screen-space derivatives of position and UVs, without deformed tangents.
vec3 mapped_normal(vec3 n, vec3 sampled, vec3 px, vec3 py, vec2 ux, vec2 uy) {
    vec3 across_x = cross(n, px), across_y = cross(py, n);
    vec3 tangent = across_y * ux.x + across_x * uy.x;
    vec3 bitangent = across_y * ux.y + across_x * uy.y;
    float longest = max(dot(tangent, tangent), dot(bitangent, bitangent));
    if (!(longest > 1e-30)) {
        return n;
    }
    // glTF's bitangent points against v, which increases downwards in the image.
    float s = inversesqrt(longest);
    vec3 mapped = tangent * (s * sampled.x) - bitangent * (s * sampled.y) + n * sampled.z;
    float l = dot(mapped, mapped);
    return l > 1e-12 ? mapped * inversesqrt(l) : n;
}
