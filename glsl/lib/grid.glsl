// A rectangle that is divided into cells of two triangles each.

// Returns the place of a vertex in the rectangle, 0..1, for six vertices per cell, row by row. Adjacent cells get equal
// places for their common corners.
vec2 grid_corner(uint vertex, uvec2 cells) {
    uint cell = vertex / 6u, corner = uint[](0u, 2u, 1u, 1u, 2u, 3u)[vertex % 6u];
    uvec2 at = uvec2(cell % cells.x, cell / cells.x) + uvec2(corner & 1u, corner >> 1);
    return vec2(at) / vec2(cells);
}
