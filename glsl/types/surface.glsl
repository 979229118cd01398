// This struct is also defined in src/deform/surface/; layout(scalar).

// A source normal along tangent, bitangent and computed normal. NONE in `toward` keeps the computed normal.
struct SourceNormal {
    vec3 components;
    uint toward;
};
