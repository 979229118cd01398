// These structs are also defined in src/deform/sculpt/gpu.rs and src/deform/springs/edits.rs; layout(scalar).

// A vertex moved by sculpt layers, with its offset in bind orientation.
struct SculptOffset {
    vec3 offset;
    uint vertex;
};

// Effect of the sculpt layers on a vertex of the springs.
struct SpringEdit {
    // Stiffness times offset, in bind orientation.
    vec3 load;
    float stiffness;
    // Fraction by which the vertex's rest-shape forces are reduced, 0..1.
    float give;
    uint vertex;
    uvec2 unused;
};
