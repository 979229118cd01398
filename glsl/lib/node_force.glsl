// The force at a node of the cubes, its load and its spring. Needs the bindings that it names.

#include "lib/cube_force.glsl"
#include "lib/contact_stiffness.glsl"

vec3 node_force(uint n, VolumeNode node, vec3 y) {
    if (node.cubes <= 0.0) {
        return vec3(0.0);
    }
    // On the finest level the contact springs act through the load.
    float contact = push.has_base > 0 ? contact_stiffness(n) : 0.0;
    return texelFetch(loads, int(n)).xyz - y * (spring(node, push) + contact) + cube_force(n);
}
