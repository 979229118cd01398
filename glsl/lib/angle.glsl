// Angles by polynomials instead of the device's acos and atan, so that all devices agree with the CPU reference.

const float PI = 3.14159265358979;

// Returns atan(y, x) for y >= 0 by an odd polynomial on 0..1; springs/cpu.rs has the same coefficients.
float atan2_positive(float y, float x) {
    float ax = abs(x);
    float high = max(ax, y);
    float q = high > 0.0 ? min(ax, y) / high : 0.0;
    float q2 = q * q;
    float p = 0.00681175;
    p = p * q2 - 0.03360411;
    p = p * q2 + 0.07962359;
    p = p * q2 - 0.13233341;
    p = p * q2 + 0.19807817;
    p = p * q2 - 0.3331737;
    p = p * q2 + 0.9999961;
    float r = p * q;
    r = y > ax ? PI / 2.0 - r : r;
    return x < 0.0 ? PI - r : r;
}

// Returns the angle between two vectors, radians in 0..PI; zero if a vector is zero.
float angle_between(vec3 a, vec3 b) {
    return atan2_positive(length(cross(a, b)), dot(a, b));
}

// Returns the unit vector orthogonal to s in the plane of s and target, towards target; zero if they are parallel.
vec3 toward(vec3 s, vec3 target) {
    vec3 v = cross(cross(s, target), s);
    float l = length(v);
    return l > 0.0 ? v / l : vec3(0.0);
}
