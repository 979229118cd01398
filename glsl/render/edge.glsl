// The Laplacian edge filter over a G-buffer, which finds silhouettes (thesis 7.3). Needs the images of the G-buffer at
// bindings 2 to 5 of set 0.

layout(set = 0, binding = 2) uniform usampler2DArray ids;
layout(set = 0, binding = 3) uniform sampler2DArray position;
layout(set = 0, binding = 4) uniform sampler2DArray normal;
layout(set = 0, binding = 5) uniform sampler2DArray depth;

// Quantities of the filter; every other value means the normals (src/render/silhouettes.rs).
const uint SILHOUETTE_DEPTH = 1u;
const uint SILHOUETTE_POSITION = 2u;

// Distance of a background texel, in footprints: practically infinite.
const float FAR = 1e3;
// If the mean depth of its neighbours is nearer by this fraction, a texel lies behind an edge, not on it.
const float BEHIND = 2e-3;

// Returns the strength of the filter over a quantity (SILHOUETTE_...) at a texel of a G-buffer of `size` texels: 0 if
// the texel shows no surface or lies behind an edge. `footprint` is the width of a texel at unit distance, metres.
float edge_strength(ivec3 here, ivec2 size, vec3 eye, float footprint, uint filter_over) {
    if (texelFetch(ids, here, 0).y == NONE) {
        return 0.0;
    }
    vec3 p = texelFetch(position, here, 0).xyz, n = texelFetch(normal, here, 0).xyz;
    float d = texelFetch(depth, here, 0).x;
    float width = footprint * distance(p, eye);
    vec3 normals = vec3(0.0), positions_off = vec3(0.0);
    float depths = 0.0;
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            // Clamped, so that the image border is no edge.
            ivec3 there = ivec3(clamp(here.xy + ivec2(x, y), ivec2(0), size - 1), here.z);
            normals += texelFetch(normal, there, 0).xyz - n;
            depths += texelFetch(depth, there, 0).x - d;
            bool none = texelFetch(ids, there, 0).y == NONE;
            vec3 off = texelFetch(position, there, 0).xyz - p;
            positions_off += none ? normalize(p - eye) * (FAR * width) : off;
        }
    }
    if (depths > 8.0 * BEHIND * d) {
        return 0.0;
    }
    // Over a plane, reversed depth is linear and positions nearly so; the filter is therefore zero on slopes.
    if (filter_over == SILHOUETTE_DEPTH) {
        return -depths / (8.0 * d);
    }
    return filter_over == SILHOUETTE_POSITION ? length(positions_off) / (8.0 * width) : length(normals) / 8.0;
}
