// The measures of the spring forces; those of src/deform/springs/cpu.rs (needs lib/angle.glsl).

// The turn from one scale vector to another as a rotation vector, radians; beyond two radians it falls to zero.
vec3 turn_between(vec3 s, vec3 sj) {
    vec3 normal = cross(s, sj);
    float sine = length(normal);
    float theta = atan2_positive(sine, dot(s, sj));
    float felt = theta > 2.0 ? (PI - theta) * (2.0 / (PI - 2.0)) : theta;
    return sine > 0.0 ? normal * (felt / sine) : vec3(0.0);
}

// How much a neighbour nearer to the bone counts in the torsion.
float leverage(float radius, float neighbor) {
    return radius > 0.0 ? min(neighbor / radius, 1.0) : 0.0;
}
