// Places a vertex of a divided triangle on the curved surface (Phong tessellation: Boubekeur, Alexa 2008, equation 1).
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"

// In the domain, Vulkan puts the origin at the upper left: its clockwise triangles are counter-clockwise on the surface.
layout(triangles, equal_spacing, cw) in;

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };

// The shape factor: 0 keeps the flat triangle. **Differs**: the paper takes 3/4. On a sphere, 3/4 lifts the middle of an
// edge 1.4 times as far as the sphere, and 1/2 lifts it 0.96 times as far.
const float SHAPE = 0.5;

layout(location = 0) in vec3 in_position[];
layout(location = 1) in vec3 in_normal[];
layout(location = 2) in vec4 in_uvs[];
layout(location = 3) in vec4 in_color[];
layout(location = 6) in vec4 in_paint[];
layout(location = 7) in float in_hard[];

layout(location = 0) centroid out vec3 out_position;
layout(location = 1) centroid out vec3 out_normal;
layout(location = 2) centroid out vec4 out_uvs;
layout(location = 3) centroid out vec4 out_color;
layout(location = 4) out vec3 out_centre;
layout(location = 5) out vec4 out_centre_uvs;
layout(location = 6) centroid out vec4 out_paint;

// Returns the displacement of p onto the tangent plane of a corner. A corner on a hard edge has none: its normals differ
// between the sides of the edge, so the sides would part.
vec3 to_plane(vec3 p, int corner) {
    float height = (1.0 - in_hard[corner]) * dot(in_position[corner] - p, in_normal[corner]);
    return height * in_normal[corner];
}

void main() {
    vec3 w = gl_TessCoord;
    vec3 p = w.x * in_position[0] + w.y * in_position[1] + w.z * in_position[2];
    out_position = p + SHAPE * (w.x * to_plane(p, 0) + w.y * to_plane(p, 1) + w.z * to_plane(p, 2));
    out_normal = w.x * in_normal[0] + w.y * in_normal[1] + w.z * in_normal[2];
    out_uvs = w.x * in_uvs[0] + w.y * in_uvs[1] + w.z * in_uvs[2];
    out_color = w.x * in_color[0] + w.y * in_color[1] + w.z * in_color[2];
    out_paint = w.x * in_paint[0] + w.y * in_paint[1] + w.z * in_paint[2];
    out_centre = out_position;
    out_centre_uvs = out_uvs;
    gl_Position = views[gl_ViewIndex].clip_from_world * vec4(out_position, 1.0);
}
