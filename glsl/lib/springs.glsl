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
