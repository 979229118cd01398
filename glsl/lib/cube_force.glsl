// The force of the cubes at a node. Needs the bindings that it names.

// Sum of the forces of the cubes at a node. Padding in a node's list names the zero after the last corner's force.
vec3 cube_force(uint n) {
    vec3 sum = vec3(0.0);
    for (uint k = 0; k < push.corner_quads; ++k) {
        uvec4 four = texelFetch(node_corners, int(push.corner_quads * n + k));
        for (int i = 0; i < 4; ++i) {
            sum += texelFetch(corner_forces, int(four[i])).xyz;
        }
    }
    return sum;
}
