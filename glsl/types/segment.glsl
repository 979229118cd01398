// This struct and these constants are also defined in src/render/lines.rs.
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

// Flags of joined.
// The segment continues the previous segment of the list.
const uint SEGMENT_JOINED_BEFORE = 1u;
// The next segment of the list continues this segment.
const uint SEGMENT_JOINED_AFTER = 2u;
