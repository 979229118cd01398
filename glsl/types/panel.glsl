// This struct is also defined in src/render/panel.rs.
#extension GL_EXT_scalar_block_layout : require

// A vertex of the user interface: position in points from the upper left, texture coordinates, and an sRGB-encoded
// RGBA8 colour with premultiplied alpha (red in the low bits).
struct PanelVertex {
    vec2 position;
    vec2 uv;
    uint color;
};
