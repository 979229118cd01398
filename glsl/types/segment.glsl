// This struct is also defined in src/render/lines.rs.
#extension GL_EXT_scalar_block_layout : require

// A tapered line between two points; widths in points, colours RGBA8 and sRGB-encoded.
struct Segment {
    vec3 a;
    float width_a;
    vec3 b;
    float width_b;
    uint color_a;
    uint color_b;
    float outline;
    float hidden;
    uint joined;
    // Largest width, metres; 0 for no limit.
    float limit;
};
