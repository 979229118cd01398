// Depths around a pixel of a picture.

// Returns the smallest and the largest reversed depth of a pixel and the four pixels beside it: the farthest and the nearest
// surface. At an edge, the depth of a pixel is that of one of its samples, so the pixel alone could be either surface.
vec2 depths_around(sampler2DArray depth, ivec3 here) {
    ivec2 last = textureSize(depth, 0).xy - 1;
    vec2 found = vec2(1.0, 0.0);
    for (int i = 0; i < 5; i++) {
        ivec2 off = i == 0 ? ivec2(0) : ivec2((i & 1) * (i - 2), (1 - (i & 1)) * (i - 3));
        float there = texelFetch(depth, ivec3(clamp(here.xy + off, ivec2(0), last), here.z), 0).r;
        found = vec2(min(found.x, there), max(found.y, there));
    }
    return found;
}
