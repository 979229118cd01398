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
    float loose;
    float grain;
    // First half-edge in the low 24 bits, number of half-edges in the high 8.
    uint first_and_degree;
};

// What a pose fixes for all iterations of a frame: as many texels of four words as POSE_TEXELS says.
struct SpringPose {
    vec3 hold;
    float hold_stiffness;
    vec3 axis;
    float bone_stiffness;
    vec3 turn;
    float phi;
    // A force that does not depend on the iterate.
    vec3 load;
    float girth_stiffness;
    float sense;
    float pull;
    float step_across;
    float step_along;
    uint first_and_degree;
    // What a force is divided by to compare levels; zero for a vertex without springs.
    float density;
    uvec2 unused;
};

const int POSE_TEXELS = 6;

// The largest eigenvalue of a triangle mesh's Laplacian is at most 5/3 of a vertex's degree, not twice it, so that
// steps may be longer by this (src/deform/springs/cpu.rs).
const float EDGE_BOUND = 0.8;

// How the iterations of a level went.
struct SpringState {
    // Iterations carried out.
    uint executed;
    // Bits of the largest move that a coarser level caused since the last test.
    uint corrected;
};
