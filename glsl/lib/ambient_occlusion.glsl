// Ambient occlusion from the visible surface (McGuire, Mara, Luebke, Scalable Ambient Obscurance, 2012). The CPU
// reference is in src/render/occlusion.rs.
//
// Differs: the paper takes samples in a disc of the screen, rotated by noise. Here they lie in a disc of the tangent
// plane, at offsets that are fixed in the world, so both eyes ask about the same places and no noise differs between
// them. All lengths are in units of the radius, so the result does not depend on the size of the character.

// Number of samples.
const uint OCCLUSION_SAMPLES = 16u;
// Factor on the sum of the samples.
const float OCCLUSION_STRENGTH = 4.0;
// Cosine-like height below which a sample does not count: curved surfaces do not occlude themselves.
const float OCCLUSION_BIAS = 0.05;
// Keeps samples at the point itself finite.
const float OCCLUSION_SOFTNESS = 0.02;

// Returns sample number i: a point of the unit ball. The directions are those of a Fibonacci sphere; the distances repeat
// after four samples.
vec3 occlusion_offset(uint i) {
    float turn = 2.3999632 * float(i), z = 1.0 - (2.0 * float(i) + 1.0) / float(OCCLUSION_SAMPLES);
    float across = sqrt(1.0 - z * z), far = (float((i * 5u) % 8u) + 1.0) / 8.0;
    return far * vec3(across * cos(turn), across * sin(turn), z);
}

// Returns what a visible surface point at the offset u from a point with normal n takes from its ambient light. u is in
// units of the radius.
float occluded_by(vec3 u, vec3 n) {
    float square = dot(u, u), fade = max(1.0 - square, 0.0);
    return fade * fade * fade * max(dot(u, n) - OCCLUSION_BIAS, 0.0) / (square + OCCLUSION_SOFTNESS);
}

// Returns the share of ambient light that remains, from the sum over all samples.
float open_share(float sum) {
    return max(1.0 - OCCLUSION_STRENGTH * sum / float(OCCLUSION_SAMPLES), 0.0);
}
