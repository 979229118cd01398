// This struct is also defined in src/render/view.rs.
#extension GL_EXT_scalar_block_layout : require

// The view of one eye. The ray through image coordinates uv (0..1, v down) is corner + u * right + v * down.
struct View {
    mat4 clip_from_world;
    vec3 eye;
    vec3 ray_corner;
    vec3 ray_right;
    vec3 ray_down;
};
