// The corrections after the springs; the CPU reference is src/deform/springs/corrections/cpu.rs.

// Returns the volume between a triangle and its attachment points, and the volume's derivative with respect to a
// factor on the scale vectors. `a` are the attachment points, `s` the scale vectors of the corners.
vec2 prism(vec3 a0, vec3 a1, vec3 a2, vec3 s0, vec3 s1, vec3 s2) {
    vec3 height = (s0 + s1 + s2) * (1.0 / 3.0);
    vec3 b1 = a1 - a0;
    vec3 b2 = a2 - a0;
    vec3 r1 = s1 - s0;
    vec3 r2 = s2 - s0;
    vec3 t1 = b1 + r1;
    vec3 t2 = b2 + r2;
    vec3 area = (cross(b1, b2) + cross(t1, t2)) * (1.0 / 3.0) + (cross(b1, t2) + cross(t1, b2)) * (1.0 / 6.0);
    vec3 growth = (cross(r1, t2) + cross(t1, r2)) * (1.0 / 3.0) + (cross(b1, r2) + cross(r1, b2)) * (1.0 / 6.0);
    float volume = 0.5 * dot(height, area);
    return vec2(volume, volume + 0.5 * dot(height, growth));
}

// Returns the signed volume of the cone from the origin over a triangle.
float cone(vec3 x0, vec3 x1, vec3 x2) {
    return dot(x0, cross(x1, x2)) * (1.0 / 6.0);
}

// Returns the displacement of a corner that opens its inverted triangle, and its length; zero if the triangle is
// open. `side` is the posed normal and twice the area in bind. `open` is the target area as a fraction of the area in
// bind, `most` the maximum displacement per edge length.
vec4 opening(vec3 to_j, vec3 to_l, vec4 side, float open, float most) {
    float lacking = open * side.w - dot(cross(to_j, to_l), side.xyz);
    if (lacking <= 0.0) {
        return vec4(0.0);
    }
    vec3 across = cross(side.xyz, to_l - to_j);
    vec3 at_l = cross(side.xyz, to_j);
    vec3 at_j = cross(side.xyz, to_l);
    float all = dot(across, across) + dot(at_j, at_j) + dot(at_l, at_l);
    vec3 asked = across * (lacking / (all + side.w * 1e-12));
    float size = length(asked);
    float longest = most * sqrt(side.w);
    return size > longest ? vec4(asked * (longest / size), longest) : vec4(asked, size);
}
