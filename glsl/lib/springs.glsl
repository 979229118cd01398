// The spring forces; the CPU reference is src/deform/springs/cpu.rs (needs lib/angle.glsl and types/springs.glsl).

// Returns the rotation from one scale vector to another as a rotation vector, radians; beyond two radians it falls to
// zero. The cross product divided by `sum` is tan(angle/2) n, and angle/tan(angle/2) is a polynomial of
// tan^2(angle/2).
vec3 turn_between(vec3 s, float s_length, vec3 sj, float sj_length) {
    float product = s_length * sj_length;
    float d = dot(s, sj);
    float sum = product + d;
    float inverse = sum > product * 1e-6 ? 1.0 / sum : 0.0;
    float u = max((product - d) * inverse, 0.0);
    float p = -0.00095792394;
    p = p * u + 0.010206034;
    p = p * u - 0.0471537;
    p = p * u + 0.1281393;
    p = p * u - 0.24363458;
    p = p * u + 0.38990563;
    p = p * u - 0.665703;
    p = p * u + 1.9999847;
    float ratio = u < 2.4255188 ? p : 3.1148155 / u;
    return cross(s, sj) * (ratio * inverse);
}

// Returns a neighbour's weight in the torsion: its radius relative to the vertex's, at most 1; 0 on the bone.
float leverage(float inverse_radius, float neighbor) {
    return min(neighbor * inverse_radius, 1.0);
}

// Spring data of a control vertex: its posed rest measures and its position (see PosedVertex in springs/cpu.rs).
struct SpringVertex {
    vec3 x;
    vec3 attachment;
    // Distance from the attachment point in bind; 0 for a vertex on the bone.
    float radius;
    // Scale vector of the hold spring: the bind vector, rotated by the vertex's blended rotation.
    vec3 hold;
    vec3 bone_direction;
    // Angle between scale vector and bone in bind, radians.
    float rest_phi;
    // Value of SpringSums.turn at rest.
    vec3 rest_turn;
    // Stiffness of the bone, hold and girth springs.
    vec3 stiffness;
    // Stiffness of the pull to the point attachment + hold.
    float pull;
    vec3 load;
    // Factor on the forces about the bone, 0..1.
    float sense;
    // Step length per force, across and along the scale vector.
    vec2 steps;
};

// Sums over the neighbours of a vertex.
struct SpringSums {
    vec3 surface;
    vec3 turn;
    vec3 shape;
    float stretch;
};

// Gains set by the user; `thesis_unit` is the unit of length of the thesis's torques, or 0 if torques act as arcs.
struct UserGains {
    float surface;
    float stretch;
    float torsion;
    float thesis_unit;
    float omega;
};

bool is_free(SpringVertex me, float s_length) {
    return s_length > me.radius * FREE && me.radius > 0.0;
}

// Adds the springs to a neighbour at `xj`; `anchor_j` is its attachment point and radius.
void add_neighbor(inout SpringSums sums, SpringVertex me, vec3 xj, vec4 anchor_j, float rest_length, float coherence) {
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    vec3 along = xj - me.x;
    float span = length(along);
    sums.surface += along * (span > 0.0 ? 1.0 - rest_length / span : 0.0);
    vec3 sj = xj - anchor_j.xyz;
    float sj_length = length(sj);
    sums.stretch += ((sj_length - s_length) - (anchor_j.w - me.radius)) * coherence;
    float inverse_radius = me.radius > 0.0 ? 1.0 / me.radius : 0.0;
    sums.turn += turn_between(s, s_length, sj, sj_length)
        * (coherence * leverage(inverse_radius, min(anchor_j.w, sj_length)));
    sums.shape += along * (1.0 - coherence);
}

// Returns the force on a vertex (thesis 4.2; src/deform/springs/mod.rs lists the differences).
vec3 spring_force(SpringVertex me, SpringSums sums, UserGains gains) {
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    vec3 force = sums.surface * gains.surface + sums.shape * gains.torsion + (me.hold - s) * me.pull + me.load;
    if (!is_free(me, s_length)) {
        return force;
    }
    vec3 radial = s / s_length;
    // Arc length per radian; the printed thesis has the inverse.
    float lever = gains.thesis_unit > 0.0 ? gains.thesis_unit * gains.thesis_unit / s_length : s_length;
    vec3 turning = cross(sums.turn - me.rest_turn, radial) * gains.torsion;
    turning += toward(s, me.bone_direction)
        * (me.stiffness.x * (angle_between(s, me.bone_direction) - me.rest_phi));
    turning += cross(turn_between(s, s_length, me.hold, me.radius), radial) * me.stiffness.y;
    float stretching = sums.stretch * gains.stretch + me.stiffness.z * (me.radius - s_length);
    return force + (turning * lever + radial * stretching) * me.sense;
}

// Returns the longest stable step across the scale vector with the thesis's torques. `rate` is their stiffness relative
// to that of arcs.
float thesis_step(SpringVertex me, float degree, float rate, UserGains gains) {
    float turning = (EDGE_BOUND * degree * gains.torsion + me.stiffness.x + me.stiffness.y) * (rate * me.sense);
    float bound = EDGE_BOUND * degree * gains.surface + turning + me.pull;
    return bound > 0.0 ? gains.omega / bound : 0.0;
}

// Returns the step of a vertex under a force, without momentum.
vec3 plain_step(SpringVertex me, vec3 force, float degree, UserGains gains) {
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    vec3 radial = is_free(me, s_length) ? s / s_length : vec3(0.0);
    vec2 steps = me.steps;
    if (gains.thesis_unit > 0.0 && is_free(me, s_length)) {
        float ratio = gains.thesis_unit / s_length;
        float longest = thesis_step(me, degree, ratio * ratio, gains);
        steps = vec2(min(steps.x, longest), me.sense < 1.0 ? min(steps.y, longest) : steps.y);
    }
    return force * steps.x + radial * (dot(force, radial) * (steps.y - steps.x));
}

// Returns the next position: the plain step, extrapolated if the momentum weight exceeds 1. The vertex moves on an
// arc about the attachment point, because a chord would lengthen the scale vector at every step.
vec3 advance(SpringVertex me, vec3 previous, vec3 step, float weight) {
    vec3 past = me.x - previous;
    // A step against the previous movement resets the momentum, which comes from an outdated shape.
    float momentum = dot(step, past) < 0.0 ? 0.0 : weight - 1.0;
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    if (!is_free(me, s_length)) {
        return me.x + step + (step + past) * momentum;
    }
    vec3 radial = s / s_length;
    past += radial * (s_length - length(s - past) - dot(past, radial));
    vec3 total = step + (step + past) * momentum;
    float along = dot(total, radial);
    vec3 turned = s + total - radial * along;
    return me.attachment + turned * ((s_length + along) / length(turned));
}
