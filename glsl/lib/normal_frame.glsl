// A source normal in a frame that moves with the surface (needs types/surface.glsl).

// The source normal over a posed surface with the computed unit normal; edge leads to the vertex of the frame.
vec3 source_normal(SourceNormal source, vec3 normal, vec3 edge) {
    vec3 t = edge - normal * dot(normal, edge);
    float square = dot(t, t);
    // Where the edge is along the normal there is no frame.
    if (!(square > 1e-8 * dot(edge, edge))) {
        return normal;
    }
    t *= inversesqrt(square);
    vec3 n = source.components.x * t + source.components.y * cross(normal, t) + source.components.z * normal;
    float size = length(n);
    return size > 0.0 ? n / size : normal;
}
