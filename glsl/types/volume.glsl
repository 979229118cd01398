// Mirrors of src/deform/volume/push.rs, tissue.rs and levels.rs; layout(scalar).

// Push constants of all stages.
struct VolumePush {
    // Number of nodes, cubes or vertices.
    uint count;
    // Rotation updates.
    uint turns;
    // Whether cubes have mean edges at zero displacement.
    uint has_base;
    // Edge length of a cube, metres.
    float size;
    // lambda / mu.
    float lambda;
    // Stiffness of the springs on nodes around bones.
    float firmness;
    // Factor of the previous move.
    float keep;
    // Factor of the force, or of a coarser level's displacement.
    float step;
    // Stiffness of one contact spring; 0 without contact.
    float contact;
    // Stiffness of the springs to the targets of the dynamics, per unit of VolumeNode.mass.
    float inertia;
    // Whether cubes begin with the rotation of their joint.
    uint from_joint;
    // Groups of four in each node's list of cube corners.
    uint corner_quads;
    // Groups of four in each node's list of finer nodes.
    uint share_quads;
};

// Push constants of a frame that continues the last one.
struct VolumeStep {
    // Number of nodes.
    uint count;
    // 1 if some node has more than four influences, otherwise 0.
    uint has_tail;
    float lambda;
    float firmness;
    float inertia;
    float a;
    float b;
    float span;
    float last_span;
    float seconds;
    float drag;
    float reach;
    float anchor;
};

// What a node keeps from frame to frame: position and velocity before the last frame, and where the last step coasted to.
// After a solve that starts from the start method, the position is that of the start method.
struct VolumePast {
    vec4 position;
    vec4 velocity;
    vec4 coasted;
};

// What holds a node.
struct VolumeNode {
    float cubes;
    float brace;
    float core;
    // Number of cubes, for the dynamics.
    float mass;
};

// How much a node of another level counts.
struct VolumeShare {
    uint node;
    float weight;
};
