// Mirrors of src/deform/volume/contact_gpu.rs; layout(scalar). Lengths in metres.

// Push constants of the contact stages.
struct ContactPush {
    // Number of points or vertices.
    uint count;
    // Whether all points take part, or only those near contact.
    uint all;
    // Number of hash buckets minus one; the number is a power of two.
    uint mask;
    // Whether moves are applied.
    uint apply;
    // Edge length of a cube.
    float size;
    // Largest distance of a pair, and edge length of a grid cell.
    float reach;
    // Largest distance across the common normal.
    float lateral;
    // Distance along the common normal that pairs keep.
    float margin;
    // A pair is found if it is closer than the distance to keep plus this.
    float ahead;
    // Stiffness of a contact spring, in units of mu h.
    float stiffness;
    // Largest move of a vertex in a step.
    float largest_move;
};
