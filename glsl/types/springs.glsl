// These structs and constants are also defined in src/deform/springs; layout(scalar).

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

// A vertex nearer to its attachment point than this fraction of its bind distance has no direction.
const float FREE = 1e-3;

// Flags of an iteration.
// Changes the loads of this level's vertices so that their forces equal the restricted forces of the finer level.
const uint SPRING_TAKE = 1u;
// Stores the forces of this level's vertices, from which the coarser level computes its load.
const uint SPRING_KEEP = 2u;
// The convergence test uses the largest force or displacement of a vertex.
const uint SPRING_LARGEST = 4u;
// The convergence test uses forces instead of displacements.
const uint SPRING_FORCE = 8u;
// The convergence test uses the work of the springs.
const uint SPRING_WORK = 16u;
// Maximum number of subgroups per workgroup: GROUP_SIZE divided by the smallest possible subgroup size.
const uint SPRING_SUBGROUPS = 16u;

// Flags of the stage that applies edits.
// Adds the edit's load to the load of the posed vertex and leaves the vertex's stiffness unchanged.
const uint SPRING_EDIT_LOAD = 1u;
// The stiffness without edits was recomputed, so the stored copy must be replaced.
const uint SPRING_EDIT_FRESH = 2u;
