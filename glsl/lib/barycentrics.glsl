// Returns barycentrics of p in the triangle's plane, negative beyond an edge; (1, 0, 0) for zero area.
vec3 plane_barycentrics(vec3 p, vec3 a, vec3 b, vec3 c) {
    vec3 n = cross(b - a, c - a);
    float area = dot(n, n);
    if (!(area > 0.0)) {
        return vec3(1.0, 0.0, 0.0);
    }
    float u = dot(cross(c - b, p - b), n) / area, v = dot(cross(a - c, p - c), n) / area;
    return vec3(u, v, 1.0 - u - v);
}

// Returns the barycentrics of p, clamped to the triangle.
vec3 barycentrics_of(vec3 p, vec3 a, vec3 b, vec3 c) {
    vec3 w = max(plane_barycentrics(p, a, b, c), 0.0);
    return w / (w.x + w.y + w.z);
}
