// A hash grid of points. Needs ContactPush push.

ivec3 grid_cell(vec3 x) {
    return ivec3(floor(x / push.reach));
}

uint grid_bucket(ivec3 cell) {
    uvec3 c = uvec3(cell) * uvec3(73856093u, 19349663u, 83492791u);
    return (c.x ^ c.y ^ c.z) & push.mask;
}
