// Applies transforms of joints and bones to points (needs types/rig.glsl and lib/quaternion.glsl).

vec3 rows_point(Rows map, vec3 x) {
    vec4 p = vec4(x, 1.0);
    return vec3(dot(map.rows[0], p), dot(map.rows[1], p), dot(map.rows[2], p));
}

vec3 rows_vector(Rows map, vec3 x) {
    return vec3(dot(map.rows[0].xyz, x), dot(map.rows[1].xyz, x), dot(map.rows[2].xyz, x));
}

void rows_add(inout Rows sum, Rows map, float weight) {
    sum.rows[0] += weight * map.rows[0];
    sum.rows[1] += weight * map.rows[1];
    sum.rows[2] += weight * map.rows[2];
}

Rows rows_zero() {
    return Rows(vec4[3](vec4(0.0), vec4(0.0), vec4(0.0)));
}

// Returns the attachment point a' = p' + t (c' - p').
vec3 attachment_point(BoneFrame bone, float t) {
    return bone.head + t * bone.span;
}

// Adds a weighted dual quaternion, with its sign chosen relative to the pivot.
void dual_add(inout DualQuat sum, vec4 pivot, DualQuat motion, float weight) {
    float side = quat_side(pivot, motion.real) * weight;
    sum.real += side * motion.real;
    sum.dual += side * motion.dual;
}

// Applies a dual quaternion (Kavan 2008, equation 12, without the terms that vanish for a unit rotation).
vec3 dual_point(vec4 real, vec4 dual, vec3 x) {
    vec3 shift = real.w * dual.xyz - dual.w * real.xyz + cross(real.xyz, dual.xyz);
    return quat_rotate(real, x) + 2.0 * shift;
}

// Normalises the sum and applies it. If opposed rotations cancel, applies the heaviest joint's motion instead.
vec3 dual_apply(DualQuat sum, DualQuat heaviest, vec3 x) {
    float size = length(sum.real);
    if (size < 1e-6) {
        return dual_point(heaviest.real, heaviest.dual, x);
    }
    return dual_point(sum.real / size, sum.dual / size, x);
}

// Moves a point by fractions of a joint's swing and twist (Kavan & Sorkine 2012, equation 6).
vec3 joint_motion_point(JointMotion motion, float swing, float twist, vec3 x) {
    float angle = motion.angle * (motion.spherical != 0u ? swing : twist);
    vec3 turned = motion.pivot + twist_about(motion.axis, angle, x - motion.pivot);
    return mix(turned, rows_point(Rows(motion.swing), turned), swing);
}
