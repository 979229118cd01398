// The elasticity of one cube and of one node: src/deform/volume/solve.rs has the same functions by the same names.
// Needs lib/quaternion.glsl and types/volume.glsl.

// Corners at the near side of a cube along axis k are those whose index has no bit k.
#define NEAR_X(i) (2 * (i))
#define NEAR_Y(i) (((i) & 1) | (((i) & 2) << 1))
#define NEAR_Z(i) (i)

// Steps of the search in to_unit_volume, and the smallest squared gradient of the determinant by which it divides.
const int VOLUME_STEPS = 3;
const float FLATTEST = 0.1;

// Mean edge along each axis, without that at zero displacement.
mat3 mean_edges(vec3 x[8]) {
    mat3 mean = mat3(0.0);
    for (int i = 0; i < 4; ++i) {
        mean[0] += x[NEAR_X(i) + 1] - x[NEAR_X(i)];
        mean[1] += x[NEAR_Y(i) + 2] - x[NEAR_Y(i)];
        mean[2] += x[NEAR_Z(i) + 4] - x[NEAR_Z(i)];
    }
    return 0.25 * mean;
}

// One update of the rotation nearest to a matrix.
vec4 turn(vec4 q, mat3 columns) {
    vec3 x = quat_rotate(q, vec3(1.0, 0.0, 0.0));
    vec3 y = quat_rotate(q, vec3(0.0, 1.0, 0.0));
    vec3 z = quat_rotate(q, vec3(0.0, 0.0, 1.0));
    vec3 torque = cross(x, columns[0]) + cross(y, columns[1]) + cross(z, columns[2]);
    float trace = dot(x, columns[0]) + dot(y, columns[1]) + dot(z, columns[2]);
    float scale = (length(columns[0]) + length(columns[1]) + length(columns[2])) * (1.0 / 3.0);
    vec3 v = torque * (1.0 / max(trace + scale, 0.1 * scale + 1e-30));
    vec4 turned = quat_multiply(vec4(v, 1.0), q);
    float size = length(turned);
    // Not so for NaN and infinity.
    return size < 1e30 ? turned * (1.0 / size) : q;
}

// The shortest change that gives a deformation with these columns the determinant 1. Each step linearises the
// determinant, the first step at `from`.
mat3 to_unit_volume(mat3 columns, mat3 from, int steps) {
    mat3 t = from;
    mat3 change = mat3(0.0);
    for (int i = 0; i < steps; ++i) {
        mat3 gradient = mat3(cross(t[1], t[2]), cross(t[2], t[0]), cross(t[0], t[1]));
        mat3 way = t - columns;
        float along = dot(gradient[0], way[0]) + dot(gradient[1], way[1]) + dot(gradient[2], way[2]);
        float slope = dot(gradient[0], gradient[0]) + dot(gradient[1], gradient[1]) + dot(gradient[2], gradient[2]);
        change = gradient * ((along + 1.0 - dot(t[0], gradient[0])) / max(slope, FLATTEST));
        t = columns + change;
    }
    return change;
}

// The part of a cube's force that its displacements leave unchanged: per axis, on each corner at the near side, over the
// cube's weight. `mean` has the mean edges, `base` those at zero displacement. If the rotation is constant (no turns), so
// is the direction of the pressure.
mat3 constant_force(mat3 base, mat3 mean, vec4 q, uint turns, float lambda, float size, bool coarse) {
    mat3 r = mat3(
        quat_rotate(q, vec3(1.0, 0.0, 0.0)),
        quat_rotate(q, vec3(0.0, 1.0, 0.0)),
        quat_rotate(q, vec3(0.0, 0.0, 1.0)));
    mat3 pressure;
    if (turns == 0) {
        float trace = dot(r[0], mean[0]) + dot(r[1], mean[1]) + dot(r[2], mean[2]);
        pressure = r * (0.25 * lambda * (trace - 3.0 * size));
    } else {
        // The forces of a coarser cube are linear in its displacements, so that its corrections are bounded.
        mat3 columns = mean * (1.0 / size);
        mat3 change = coarse ? to_unit_volume(columns, base * (1.0 / size), 1)
                             : to_unit_volume(columns, columns, VOLUME_STEPS);
        pressure = change * (-0.75 * lambda * size);
    }
    return 0.5 * base + (pressure - r * (0.5 * size));
}

// The node in a texel.
VolumeNode node_of(vec4 texel) {
    return VolumeNode(texel.x, texel.y, texel.z, texel.w);
}

// Stiffness of the spring at a node to zero displacement, or on the finest level to its start.
float hold(VolumeNode node, float lambda, float firmness) {
    return node.brace * (1.5 + 0.28 * lambda) + node.core * firmness;
}

// Stiffness of the spring at a node, with the target of the dynamics.
float spring(VolumeNode node, VolumePush push) {
    return hold(node, push.lambda, push.firmness) + node.mass * push.inertia;
}

// Inverse of the stiffness bound at a node with contact springs of this stiffness; 0 if it is held.
float inverse_bound(VolumeNode node, VolumePush push, float contact) {
    return node.cubes > 0.0
        ? 1.0 / (node.cubes * (1.5 + 3.0 / 16.0 * push.lambda) + spring(node, push) + contact)
        : 0.0;
}
