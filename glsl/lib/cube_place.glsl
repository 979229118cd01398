// A place in a cube. Needs the texel buffers corners and displacements.

vec3 cube_place_in(samplerBuffer nodes, uint cell, vec3 place) {
    uvec4 near = texelFetch(corners, int(2 * cell));
    uvec4 far = texelFetch(corners, int(2 * cell + 1));
    vec3 x[8];
    for (int i = 0; i < 4; ++i) {
        x[i] = texelFetch(nodes, int(near[i])).xyz;
        x[i + 4] = texelFetch(nodes, int(far[i])).xyz;
    }
    vec3 low = mix(mix(x[0], x[1], place.x), mix(x[2], x[3], place.x), place.y);
    vec3 high = mix(mix(x[4], x[5], place.x), mix(x[6], x[7], place.x), place.y);
    return mix(low, high, place.z);
}

vec3 cube_place(uint cell, vec3 place) {
    return cube_place_in(displacements, cell, place);
}
