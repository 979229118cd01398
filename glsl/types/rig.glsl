// These structs are also defined in src/deform: rig_data.rs, attach.rs, irs, stb and swing_twist; layout(scalar).

// An affine map as the first three rows of its matrix.
struct Rows {
    vec4 rows[3];
};

// A rigid motion as a unit dual quaternion.
struct DualQuat {
    vec4 real;
    vec4 dual;
};

// A posed bone: its head, the vector from head to tail, and its rotation from bind space.
struct BoneFrame {
    vec3 head;
    float pad0;
    vec3 span;
    float pad1;
    vec4 rotation;
};

// A vertex's anchor: scale vector and parameter along its bone. If the target is a joint: the bind position.
struct Anchor {
    vec3 scale_vector;
    float t;
};

// An influence of a vertex after its fourth.
struct TailEntry {
    uint joint;
    float weight;
};

// Reach of the joints at both ends of a bone, and the range of the bone's neighbours in the list of near bones.
struct BoneReach {
    uint parent;
    uint child;
    float head;
    float tail;
    uint near_offset;
    uint near_count;
};

// Strain of a posed bone: its tail minus the tail as transformed by its joint, and its child's twist in radians.
struct Strain {
    vec3 stretch;
    float twist;
};

// A bone in the bind pose.
struct BoneRest {
    vec3 head;
    uint joint;
    vec3 direction;
    float pad;
};

// The influence of one bone on a vertex, with its endpoint weight.
struct StbEntry {
    uint bone;
    float weight;
    float end;
};

// The motion of a joint relative to its parent in bind space: first the twist about the axis, then the swing.
struct JointMotion {
    vec4 swing[3];
    vec3 axis;
    // Angle of the twist, radians.
    float angle;
    vec3 pivot;
    // 1 if the twist follows the swing weight.
    uint spherical;
};

// A joint that moves a vertex, with the fractions of its swing and twist.
struct ChainEntry {
    uint joint;
    float swing;
    float twist;
};

// Push constants of the geometric stages and of the copy to display vertices.
struct GeometricPush {
    // Number of vertices.
    uint count;
    // Whether any vertex has more than four influences.
    uint has_tail;
    // Whether any joint has a scale or shear; for IRS: whether the length correction is on.
    uint flag;
    // For IRS: distance below which a vertex lies on the bone and has no direction, metres.
    float on_bone;
};

// The base of a vertex that no joint moves rigidly.
const uint NO_JOINT = 0xffffffffu;

// Bit in an anchor's target that marks a joint instead of a bone.
const uint ON_JOINT = 0x80000000u;
