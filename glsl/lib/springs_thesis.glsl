// The springs of the thesis (4.2, equations 21-23); the CPU reference is src/deform/springs/thesis/cpu.rs (needs
// lib/angle.glsl, lib/quaternion.glsl and types/springs.glsl).

// A vertex in an iteration.
struct ThesisVertex {
    vec3 x;
    vec3 attachment;
    // Distance from the attachment point in bind.
    float radius;
    // Scale vector in bind.
    vec3 rest_scale;
    // Rotation of the bone from bind to the pose.
    vec4 turn;
    vec3 bone_direction;
    // Angle between scale vector and bone in bind, radians.
    float rest_phi;
    // Stiffness of the bone spring.
    float bone;
    // Scale vector rotated with the bone; a sculpt layer pulls to attachment + hold with the stiffness `pull`.
    vec3 hold;
    float pull;
    vec3 load;
    float degree;
};

struct ThesisSums {
    vec3 surface;
    vec3 turn;
    float stretch;
};

struct ThesisGains {
    float surface;
    float stretch;
    float torsion;
    // Unit of length of the torques, metres.
    float unit;
    float dt;
    float omega;
    // A vertex that is nearer to its bone in bind has no direction from it, metres.
    float on_bone;
};

// Whether a scale vector of this length has a direction; `radius` is its bind length.
bool has_direction(float s_length, float radius, float on_bone) {
    return radius > on_bone && s_length > radius * FREE;
}

// Adds the springs to a neighbour at `xj` with its attachment point and radius, its bind scale vector and rotation.
void add_neighbor(inout ThesisSums sums, ThesisVertex me, vec3 xj, vec4 anchor_j, vec3 rest_scale_j, vec4 turn_j,
    float rest_length, float on_bone) {
    vec3 s = me.x - me.attachment;
    vec3 along = xj - me.x;
    float span = length(along);
    sums.surface += along * (span > 0.0 ? (span - rest_length) / span : 0.0);
    vec3 sj = xj - anchor_j.xyz;
    sums.stretch += (length(sj) - length(s)) - (anchor_j.w - me.radius);
    vec4 mean = normalize(me.turn + turn_j * quat_side(me.turn, turn_j));
    vec3 normal = quat_rotate(mean, cross(me.rest_scale, rest_scale_j));
    float side = dot(cross(s, sj), normal) < 0.0 ? -1.0 : 1.0;
    float rest_angle = angle_between(me.rest_scale, rest_scale_j);
    if (has_direction(length(sj), anchor_j.w, on_bone)) {
        sums.turn += toward(s, sj) * (angle_between(s, sj) - side * rest_angle);
    }
}

// The forces on a vertex. Torques are kept apart: their rounding error along the scale vector must not move the vertex
// by the longer step along it.
struct ThesisForces {
    vec3 turning;
    vec3 other;
};

// Returns the forces (equation 22 without the sum) with the force of sculpt layers (5.2).
ThesisForces thesis_forces(ThesisVertex me, ThesisSums sums, ThesisGains gains) {
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    vec3 force = sums.surface * gains.surface + (me.hold - s) * me.pull + me.load;
    if (!has_direction(s_length, me.radius, gains.on_bone)) {
        return ThesisForces(vec3(0.0), force);
    }
    vec3 lean = toward(s, me.bone_direction) * (me.bone * (angle_between(s, me.bone_direction) - me.rest_phi));
    vec3 turning = sums.turn * gains.torsion + lean;
    return ThesisForces(turning * (gains.unit * gains.unit / s_length),
        force + s / s_length * (sums.stretch * gains.stretch));
}

float thesis_step(float bound, ThesisGains gains) {
    return bound > 0.0 ? min(gains.dt, gains.omega / bound) : 0.0;
}

// Returns the next position (equation 23), with the limits that src/deform/springs/thesis/mod.rs describes.
vec3 thesis_advance(ThesisVertex me, ThesisForces forces, ThesisGains gains) {
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    float degree = EDGE_BOUND * me.degree;
    float along = thesis_step(degree * (gains.surface + gains.stretch) + me.pull, gains);
    if (!has_direction(s_length, me.radius, gains.on_bone)) {
        return me.x + forces.other * along;
    }
    float ratio = gains.unit / s_length;
    float turning = (degree * gains.torsion + me.bone) * (ratio * ratio);
    float across = thesis_step(degree * gains.surface + turning + me.pull, gains);
    vec3 radial = s / s_length;
    float pull = dot(forces.other, radial);
    float outward = pull * along;
    vec3 next = s + radial * outward + (forces.turning + (forces.other - radial * pull)) * across;
    float reached = length(next);
    float most = max(2.0 * me.radius, s_length + outward);
    return me.attachment + (reached > most ? next * (most / reached) : next);
}
