// Draws a panel as a rectangle in the world, divided into cells for the reason in backdrop.vert.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "lib/grid.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };

layout(push_constant, scalar) uniform Push {
    // Upper left corner and the edge vectors from it, world, metres.
    vec3 corner;
    vec3 right;
    vec3 down;
    // Opacity of the panel where a surface occludes it, 0..1.
    float hidden;
    // Size of the rendered image, pixels.
    vec2 size;
} push;

// Columns and rows of cells (src/render/quad.rs).
const uint QUAD_CELLS = 16u;

layout(location = 0) out vec2 out_uv;

vec4 clip_at(vec2 uv) {
    return views[gl_ViewIndex].clip_from_world * vec4(push.corner + push.right * uv.x + push.down * uv.y, 1.0);
}

// Returns the width of a pixel as a fraction of the edge between two corners; 0 if a corner is behind the eye.
float margin(vec4 from, vec4 to) {
    if (min(from.w, to.w) <= 0.0) {
        return 0.0;
    }
    return min(1.0 / max(length((to.xy / to.w - from.xy / from.w) * 0.5 * push.size), 1e-3), 0.5);
}

void main() {
    vec2 uv = grid_corner(gl_VertexIndex, uvec2(QUAD_CELLS));
    // Enlarges the rectangle by a pixel, over which its edges fade out. Vertices inside it stay in place.
    vec4 here = clip_at(uv);
    vec2 more = vec2(margin(here, clip_at(vec2(1.0 - uv.x, uv.y))), margin(here, clip_at(vec2(uv.x, 1.0 - uv.y))));
    vec2 outwards = vec2(greaterThanEqual(uv, vec2(1.0))) - vec2(lessThanEqual(uv, vec2(0.0)));
    out_uv = uv + outwards * more;
    gl_Position = clip_at(out_uv);
}
