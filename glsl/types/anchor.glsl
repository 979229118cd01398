// Shared with Rust: render/anchors.rs.
#extension GL_EXT_scalar_block_layout : require

// A segment whose ends lie on the surface: per end a triangle and the weights of its corners.
struct Anchor {
    uint segment;
    uint triangle_a;
    uint triangle_b;
    vec3 weights_a;
    vec3 weights_b;
    float lift;
};
