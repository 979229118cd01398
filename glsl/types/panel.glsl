// Shared with Rust: render/panel.rs.
#extension GL_EXT_scalar_block_layout : require

// A corner of a painted triangle: points from the upper left, texture coordinates, RGBA8 sRGB encoded with
// premultiplied alpha (first component in the low bits).
struct PanelVertex {
    vec2 position;
    vec2 uv;
    uint color;
};
