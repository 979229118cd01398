// Mirrors of src/deform/rig_data.rs, attach.rs and irs/bind.rs; layout(scalar).

// An affine map as the first three rows of its matrix.
struct Rows {
    vec4 rows[3];
};

// A rigid motion as a unit dual quaternion.
struct DualQuat {
    vec4 real;
    vec4 dual;
};

// A posed bone: its head, the way to its tail, its rotation from bind space.
struct BoneFrame {
    vec3 head;
    float pad0;
    vec3 span;
    float pad1;
    vec4 rotation;
};

// A vertex's anchor: scale vector and parameter along its bone; on a joint the bind position.
struct Anchor {
    vec3 scale_vector;
    float t;
};

// An influence beyond a vertex's fourth.
struct TailEntry {
    uint joint;
    float weight;
};

// Reach of the joints at both ends of a bone, and where the list of bones near it lies.
struct BoneReach {
    uint parent;
    uint child;
    float head;
    float tail;
    uint near_offset;
    uint near_count;
};

// How a posed bone is strained: way of its tail from where its joint carries it, and its child's twist.
struct Strain {
    vec3 stretch;
    float twist;
};

// A bone in bind.
struct BoneRest {
    vec3 head;
    uint joint;
    vec3 direction;
    float pad;
};

// One bone's share in a vertex, with its endpoint weight.
struct StbEntry {
    uint bone;
    float weight;
    float end;
};

// Push constants of the geometric stages and of the display copy.
struct GeometricPush {
    // Number of vertices.
    uint count;
    // Whether some vertex has more than four influences.
    uint has_tail;
    // Whether some joint's scale part is not the identity; for IRS: whether lengths are corrected.
    uint flag;
    // Distances below this have no direction, metres (IRS).
    float on_bone;
};

// Set in an anchor's target where the rest is a joint, not a bone.
const uint ON_JOINT = 0x80000000u;
