// Mirrors of src/deform/surface/; layout(scalar).

// A source normal along tangent, bitangent and computed normal; NONE in toward keeps the computed one.
struct SourceNormal {
    vec3 components;
    uint toward;
};
