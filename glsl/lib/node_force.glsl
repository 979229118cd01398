// The force at a node of the cubes, its load and its spring. Needs the bindings that it names.

vec3 cube_force(uint n) {
    vec3 sum = vec3(0.0);
    uint end = node_offsets[n + 1];
    for (uint k = node_offsets[n]; k < end; ++k) {
        sum += texelFetch(corner_forces, int(node_corners[k])).xyz;
    }
    return sum;
}

vec3 node_force(uint n, VolumeNode node, vec3 y) {
    if (node.cubes <= 0.0) {
        return vec3(0.0);
    }
    // On the finest level the contact springs act through the load.
    float contact = push.has_base > 0 ? push.contact * node.contact : 0.0;
    return loads[n].xyz - y * (spring(node, push) + contact) + cube_force(n);
}
