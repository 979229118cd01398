// This struct is also defined in src/render/anchors.rs.
#extension GL_EXT_scalar_block_layout : require

// A line segment with both ends on the surface; each end is a triangle and barycentric weights.
struct Anchor {
    uint segment;
    uint triangle_a;
    uint triangle_b;
    vec3 weights_a;
    vec3 weights_b;
    float lift;
};
