// These structs are also defined in src/deform/springs/gpu/layout.rs; layout(scalar).

// Rest measures that determine the stiffness of a vertex.
struct SpringMeasure {
    float radius;
    float phi;
    float mean_length;
    float grain;
    float loose;
    // Whether the vertex's bone has a nonzero length.
    uint has_bone;
    // Index of the first half-edge in the low 24 bits, number of half-edges in the high 8 bits.
    uint first_and_degree;
};

// A half-edge.
struct SpringEdge {
    // The neighbour in the low 24 bits, the coherence in 1/255 in the high 8 bits.
    uint neighbor_and_coherence;
    float rest_length;
};

// Constants of a vertex that depend neither on the pose nor on the iterate, in GAIN_TEXELS texels of four words.
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
    // Divisor that makes forces comparable between levels; zero for a vertex without springs.
    float density;
    uvec2 unused;
};

const int GAIN_TEXELS = 3;

// Rest measures, bind space, a texel each: attachment point and radius, scale vector, bone direction and whether the
// vertex is attached to a bone, turn, shape.
const int REST_TEXELS = 5;

// The rest measures rotated by the pose, one texel each: scale vector and hold stiffness, bone direction and bone
// stiffness, turn and phi, load (a force that does not depend on the iterate) and girth stiffness.
const int POSE_TEXELS = 4;

// The largest eigenvalue of a triangle mesh's Laplacian is at most 5/3 of a vertex's degree instead of twice the
// degree, so steps may be longer by the inverse of this factor (src/deform/springs/cpu.rs).
const float EDGE_BOUND = 0.8;

// A triangle whose volume the corrections measure, and the volume of its cone at rest.
struct MeasuredSide {
    uvec3 corners;
    float cone;
};

// A triangle's contribution to a joint's tissue; `rest` is the volume of its prism at rest.
struct TissueEntry {
    uint side;
    float share;
    float weight;
    float rest;
};

// A triangle that may invert, with its unit normal and twice its area at rest.
struct RestFace {
    uvec3 corners;
    float area;
    vec3 normal;
    uint unused;
};

// Progress of the iterations of a level.
struct SpringState {
    // Number of iterations carried out.
    uint executed;
    // Bits of the largest movement by a coarser level's correction since the last convergence test.
    uint corrected;
};
