// These structs and constants are also defined in src/render/material.rs.
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

// Flags of a material.
// Fragments with alpha below the cutoff are discarded.
const uint MATERIAL_MASK = 1u;
// The material is alpha-blended.
const uint MATERIAL_BLEND = 2u;
// The base colour is shown without lighting.
const uint MATERIAL_UNLIT = 4u;
// The material has a base colour texture.
const uint MATERIAL_BASE_COLOR_TEXTURE = 8u;
// The material has a metallic-roughness texture.
const uint MATERIAL_METALLIC_ROUGHNESS_TEXTURE = 16u;
// The material has a normal map.
const uint MATERIAL_NORMAL_TEXTURE = 32u;
// The material has an emissive texture.
const uint MATERIAL_EMISSIVE_TEXTURE = 64u;
// The base colour texture uses the second set of texture coordinates.
const uint MATERIAL_BASE_COLOR_UV1 = 128u;
// The metallic-roughness texture uses the second set of texture coordinates.
const uint MATERIAL_METALLIC_ROUGHNESS_UV1 = 256u;
// The normal map uses the second set of texture coordinates.
const uint MATERIAL_NORMAL_UV1 = 512u;
// The emissive texture uses the second set of texture coordinates.
const uint MATERIAL_EMISSIVE_UV1 = 1024u;

// Attributes of a display vertex that deformation does not change. The colour is linear RGBA as four halves.
struct Attributes {
    vec2 uv0;
    vec2 uv1;
    uvec2 color;
    // 1 on hard edges, whose sides have different normals, else 0.
    float hard;
};
