// Mirrors of src/deform/springs/gpu/layout.rs; layout(scalar).

// What a vertex's stiffness comes from.
struct SpringMeasure {
    float radius;
    float phi;
    float mean_length;
    float grain;
    float loose;
    // Whether its bone has a direction.
    uint has_bone;
    // First half-edge in the low 24 bits, number of half-edges in the high 8.
    uint first_and_degree;
};

// What neither pose nor iterate changes: as many texels of four words as GAIN_TEXELS says.
struct SpringGains {
    float hold_stiffness;
    float bone_stiffness;
    float phi;
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

const int GAIN_TEXELS = 3;

// Rest measures in bind space, a texel each: attachment point and radius, scale vector, bone direction, turn, shape.
const int REST_TEXELS = 5;

// The same turned by the pose, a texel each: scale vector with the stiffness of the hold, bone direction with that of
// the bone, turn with phi, load (a force that does not depend on the iterate) with the stiffness of the girth.
const int POSE_TEXELS = 4;

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
