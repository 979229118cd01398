// Mirrors of src/deform/springs/gpu.rs; layout(scalar).

// Rest measures of a control vertex.
struct SpringVertex {
    vec3 attachment;
    vec3 scale_vector;
    float radius;
    vec3 bone_direction;
    float phi;
    vec3 turn;
    float mean_length;
    vec3 shape;
    // First half-edge in the low 24 bits, number of half-edges in the high 8.
    uint first_and_degree;
};

// Rest measures of a half-edge: neighbour in the low 24 bits, coherence in steps of 1/255 in the high 8.
struct SpringEdge {
    uint neighbor_and_coherence;
    float rest_length;
};

// What a pose fixes for all iterations of a frame.
struct SpringPose {
    vec3 hold;
    float hold_stiffness;
    vec3 axis;
    float bone_stiffness;
    vec3 turn;
    float phi;
    vec3 shape;
    float girth_stiffness;
    float sense;
    float pull;
    float time_step;
    uint first_and_degree;
};
