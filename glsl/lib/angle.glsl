// Angles without the device's own acos and atan, so that every device and the CPU twin agree.

const float PI = 3.14159265358979;

// atan(y, x) for y >= 0 by an odd polynomial on 0..1; the coefficients are those of springs/cpu.rs.
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

// Angle between two vectors, radians in 0..PI; zero where one of them is zero.
float angle_between(vec3 a, vec3 b) {
    return atan2_positive(length(cross(a, b)), dot(a, b));
}

// Unit vector orthogonal to s in the plane of both, towards target; zero where they are parallel.
vec3 toward(vec3 s, vec3 target) {
    vec3 v = cross(cross(s, target), s);
    float l = length(v);
    return l > 0.0 ? v / l : vec3(0.0);
}
