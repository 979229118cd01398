// Covers the pixels that the lenses of a headset hide, at the near plane, so that nothing else is shaded there.
#version 460
#extension GL_EXT_multiview : require
#extension GL_EXT_scalar_block_layout : require

// Corners of triangles in image coordinates (0..1, v down): first all corners of the left eye, then as many of the right.
layout(set = 0, binding = 0, scalar) readonly buffer Corners { vec2 corners[]; };

void main() {
    vec2 at = corners[gl_ViewIndex * (corners.length() / 2) + gl_VertexIndex];
    gl_Position = vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 1.0, 1.0);
}
