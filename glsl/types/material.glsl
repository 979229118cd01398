// These structs are also defined in src/render/material.rs.
#extension GL_EXT_scalar_block_layout : require

struct Material {
    vec4 base_color;
    vec3 emissive;
    float metallic;
    float roughness;
    float normal_scale;
    float alpha_cutoff;
    uint flags;
};

// Attributes of a display vertex that deformation does not change. The colour is linear RGBA as four halves.
struct Attributes {
    vec2 uv0;
    vec2 uv1;
    uvec2 color;
    // 1 on hard edges, whose sides have different normals, else 0.
    float hard;
};
