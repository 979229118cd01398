// A grid of cells over the whole image, at infinite distance. A single triangle would cover whole tiles of 64 x 64 pixels,
// and Mesa's software driver up to 22.3 draws such tiles of a multiview pass into the first view only.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "lib/grid.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };

layout(push_constant, scalar) uniform Push {
    // Columns and rows of the grid.
    uvec2 cells;
} push;

layout(location = 0) out vec3 out_ray;

void main() {
    vec2 uv = grid_corner(gl_VertexIndex, push.cells);
    View view = views[gl_ViewIndex];
    out_ray = view.ray_corner + uv.x * view.ray_right + uv.y * view.ray_down;
    gl_Position = vec4(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0);
}
