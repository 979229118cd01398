// The measures of the spring forces; those of src/deform/springs/cpu.rs (needs lib/angle.glsl).

// The turn from one scale vector to another as a rotation vector, radians, given their lengths; beyond two radians
// it falls to zero. The cross product over `sum` is tan(turn/2) n, and turn/tan(turn/2) is a polynomial of
// tan^2(turn/2).
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

// How much a neighbour nearer to the bone counts in the torsion; 0 for the inverse radius of a vertex on the bone.
float leverage(float inverse_radius, float neighbor) {
    return min(neighbor * inverse_radius, 1.0);
}

// A control vertex as its springs see it: its pose, and where it is now (see PosedVertex).
struct SpringVertex {
    vec3 x;
    vec3 attachment;
    // Distance from the attachment point in bind; 0 on the bone.
    float radius;
    // Where the vertex would be if it turned with its bone, from the attachment point.
    vec3 hold;
    vec3 bone_direction;
    // Angle to the bone in bind.
    float rest_phi;
    // What `turn` sums up to at rest.
    vec3 rest_turn;
    // Stiffness of bone, hold and girth.
    vec3 stiffness;
    // Stiffness towards `hold` as a point.
    float pull;
    vec3 load;
    // Share of the forces about the bone that counts.
    float sense;
    // Length of a step per force, across and along the scale vector.
    vec2 steps;
};

// What neighbours add.
struct SpringSums {
    vec3 surface;
    vec3 turn;
    vec3 shape;
    float stretch;
};

// The user's gains; `thesis_limit` is 0 for torques as arcs.
struct UserGains {
    float surface;
    float stretch;
    float torsion;
    float thesis_limit;
};

// Nearer to the attachment point than this part of its bind distance a vertex has no direction from it.
const float FREE = 1e-3;

bool is_free(SpringVertex me, float s_length) {
    return s_length > me.radius * FREE && me.radius > 0.0;
}

// Adds a neighbour at `xj` with the attachment point and radius `anchor_j`.
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

// The force on a vertex (thesis 4.2; src/deform/springs/mod.rs has the differences).
vec3 spring_force(SpringVertex me, SpringSums sums, UserGains gains) {
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    vec3 force = sums.surface * gains.surface + sums.shape * gains.torsion + (me.hold - s) * me.pull + me.load;
    if (!is_free(me, s_length)) {
        return force;
    }
    vec3 radial = s / s_length;
    // Arc length per radian; the thesis's print has the inverse.
    float lever = gains.thesis_limit > 0.0 ? min(1.0 / s_length, s_length * gains.thesis_limit) : s_length;
    vec3 turning = cross(sums.turn - me.rest_turn, radial) * gains.torsion;
    turning += toward(s, me.bone_direction)
        * (me.stiffness.x * (angle_between(s, me.bone_direction) - me.rest_phi));
    turning += cross(turn_between(s, s_length, me.hold, me.radius), radial) * me.stiffness.y;
    float stretching = sums.stretch * gains.stretch + me.stiffness.z * (me.radius - s_length);
    return force + (turning * lever + radial * stretching) * me.sense;
}

// The step of a vertex under a force, without momentum.
vec3 plain_step(SpringVertex me, vec3 force) {
    vec3 s = me.x - me.attachment;
    float s_length = length(s);
    vec3 radial = is_free(me, s_length) ? s / s_length : vec3(0.0);
    return force * me.steps.x + radial * (dot(force, radial) * (me.steps.y - me.steps.x));
}

// The next position: by the plain step and, with a momentum's weight, beyond it. About the attachment point the vertex
// moves on an arc; a chord would lengthen the scale vector at every step.
vec3 advance(SpringVertex me, vec3 previous, vec3 step, float weight) {
    vec3 past = me.x - previous;
    // A vertex that turns back has momentum from a shape that is gone: it starts again.
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
