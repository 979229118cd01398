// Incremental rotation skinning, thesis equations 14-17 (needs types/rig.glsl and lib/quaternion.glsl).

// Returns the weights of the head joint's and of the tail joint's rotation at parameter t (equation 14).
vec2 irs_weights(BoneReach reach, float t) {
    float tail = 1.0 - reach.tail;
    float pw = reach.head > 0.0 ? clamp(1.0 - t / reach.head, 0.0, 1.0) : 0.0;
    float cw = tail > 0.0 ? clamp((t - reach.tail) / tail, 0.0, 1.0) : 0.0;
    return vec2(pw, cw);
}

// Returns the incremental rotation (equations 15-17) as a blend of quaternions; local rotations must have w >= 0.
vec4 irs_increment(vec2 weights, vec4 head_local, vec4 tail_local) {
    vec4 back = quat_fraction(quat_conjugate(head_local), 0.5 * weights.x);
    vec4 on = quat_fraction(tail_local, 0.5 * weights.y);
    if (weights.x > 0.0 && weights.y > 0.0) {
        return normalize(back * weights.x + on * weights.y);
    }
    return weights.x > 0.0 ? back : on;
}

// Returns the point of a segment nearest to x.
vec3 nearest_on_segment(vec3 head, vec3 span, vec3 x) {
    float square = dot(span, span);
    float t = square > 0.0 ? clamp(dot(x - head, span) / square, 0.0, 1.0) : 0.0;
    return head + t * span;
}
