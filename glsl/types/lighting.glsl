// This struct and these constants are also defined in src/render/look.rs.
#extension GL_EXT_scalar_block_layout : require

// The studio: three lights, a sky and a floor. Directions point from the subject to the light.
struct Lighting {
    mat4 shadow_from_world;
    vec3 key_direction;
    vec3 key_color;
    vec3 fill_direction;
    vec3 fill_color;
    vec3 rim_direction;
    vec3 rim_color;
    vec3 sky_color;
    vec3 floor_color;
    vec3 background_top;
    vec3 background_bottom;
    vec3 center;
    float radius;
    float floor_height;
    // Maps floor space to world: cosine and sine of the angle about +Y, and the offset along x and z.
    vec2 floor_turn;
    vec2 floor_shift;
    float grid_spacing;
    uint flags;
    // Pixels per point; line widths are in points.
    float scale;
    // Height of the picture, pixels.
    float height;
    // Factor on the brightness of all lights.
    float exposure;
    // The middle between the eyes, metres, and the upward direction of the head without its roll.
    vec3 head;
    vec3 head_up;
    // Distance from which a surface takes ambient light, metres.
    float occlusion_radius;
    // Texels of the ambient occlusion per pixel of the picture.
    vec2 occlusion_texels;
};

// Flags of the lighting.
// The key light casts shadows.
const uint LOOK_SHADOW = 1u;
// A floor is drawn.
const uint LOOK_FLOOR = 2u;
// The triangle edges are drawn.
const uint LOOK_WIRE = 4u;
// The surface is shaded as clay, without its materials.
const uint LOOK_CLAY = 8u;
// The surface receives less ambient light where other parts of it are near.
const uint LOOK_OCCLUSION = 16u;
// The backdrop is transparent.
const uint LOOK_CLEAR = 32u;
