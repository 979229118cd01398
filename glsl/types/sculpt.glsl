// Mirrors of src/deform/sculpt/gpu.rs and src/deform/springs/edits.rs; layout(scalar).

// A vertex that edits of the surface move, with its offset in bind orientation.
struct SculptOffset {
    vec3 offset;
    uint vertex;
    // In bind, without the edits.
    vec3 scale_vector;
    float t;
};

// What edits do to a vertex of the springs.
struct SpringEdit {
    // Stiffness times offset, in bind orientation.
    vec3 load;
    float stiffness;
    // Share of its hold on the rest shape that it gives up.
    float give;
    uint vertex;
    uvec2 unused;
};
