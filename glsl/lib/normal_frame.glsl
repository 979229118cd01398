// Normals of the source file in a frame that moves with the surface (needs types/surface.glsl).

// Returns the posed source normal. `normal` is the computed unit normal; `edge` leads to the frame's second vertex.
vec3 source_normal(SourceNormal source, vec3 normal, vec3 edge) {
    vec3 t = edge - normal * dot(normal, edge);
    float square = dot(t, t);
    // An edge along the normal defines no frame.
    if (!(square > 1e-8 * dot(edge, edge))) {
        return normal;
    }
    t *= inversesqrt(square);
    vec3 n = source.components.x * t + source.components.y * cross(normal, t) + source.components.z * normal;
    float size = length(n);
    return size > 0.0 ? n / size : normal;
}
