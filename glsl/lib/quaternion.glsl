// Quaternions (x, y, z, w) as rotations.

vec4 quat_conjugate(vec4 q) {
    return vec4(-q.xyz, q.w);
}

vec4 quat_multiply(vec4 a, vec4 b) {
    return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

// Rotates x by the unit quaternion q.
vec3 quat_rotate(vec4 q, vec3 x) {
    vec3 t = 2.0 * cross(q.xyz, x);
    return x + q.w * t + cross(q.xyz, t);
}

// Returns the rotation about the axis of q by a fraction in [0, 1/2] of its angle; q must have w >= 0.
vec4 quat_fraction(vec4 q, float fraction) {
    float sine = length(q.xyz);
    if (sine < 1e-7) {
        return vec4(0.0, 0.0, 0.0, 1.0);
    }
    float half_angle = atan(sine, q.w) * fraction;
    return vec4(q.xyz * (sin(half_angle) / sine), cos(half_angle));
}

// Rotates x by an angle about a unit axis; a zero axis leaves x unchanged.
vec3 twist_about(vec3 axis, float angle, vec3 x) {
    if (axis == vec3(0.0)) {
        return x;
    }
    return quat_rotate(vec4(axis * sin(0.5 * angle), cos(0.5 * angle)), x);
}

// Returns the sign that gives q a positive dot product with pivot; q and -q are the same rotation.
float quat_side(vec4 pivot, vec4 q) {
    return dot(pivot, q) < 0.0 ? -1.0 : 1.0;
}
