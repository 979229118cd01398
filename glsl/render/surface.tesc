// Chooses into how many pieces each edge of a triangle is divided (Phong tessellation: Boubekeur, Alexa 2008).
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "types/lighting.glsl"

layout(vertices = 3) out;

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, scalar) readonly buffer LightingBlock { Lighting lighting; };

// Largest distance, pixels, between the curve of an edge and its pieces.
const float TOLERANCE = 0.25;
// Largest number of pieces of an edge.
const float MOST = 12.0;

layout(location = 0) in vec3 in_position[];
layout(location = 1) in vec3 in_normal[];
layout(location = 2) in vec4 in_uvs[];
layout(location = 3) in vec4 in_color[];
layout(location = 6) in vec4 in_paint[];
layout(location = 7) in float in_hard[];

layout(location = 0) out vec3 out_position[];
layout(location = 1) out vec3 out_normal[];
layout(location = 2) out vec4 out_uvs[];
layout(location = 3) out vec4 out_color[];
layout(location = 6) out vec4 out_paint[];
layout(location = 7) out float out_hard[];

// Returns the number of pieces of the edge from a to b. Only the ends count and their order does not, so adjacent triangles
// get the same number. The curve's middle lies at most 1/8 of `rise` from the straight edge (surface.tese), and n
// pieces differ from the curve by 1 / n² of that.
float pieces(int a, int b) {
    vec3 edge = in_position[b] - in_position[a];
    float rise = (1.0 - in_hard[a]) * abs(dot(edge, in_normal[a])) + (1.0 - in_hard[b]) * abs(dot(edge, in_normal[b]));
    vec3 middle = 0.5 * (in_position[a] + in_position[b]);
    vec4 clip = views[gl_ViewIndex].clip_from_world * vec4(middle, 1.0);
    // Pixels per metre at the edge's middle.
    mat4 m = views[gl_ViewIndex].clip_from_world;
    float pixels = 0.5 * lighting.height * length(vec3(m[0].y, m[1].y, m[2].y)) / max(clip.w, 1e-6);
    return clamp(ceil(sqrt(0.125 * rise * pixels / TOLERANCE)), 1.0, MOST);
}

void main() {
    out_position[gl_InvocationID] = in_position[gl_InvocationID];
    out_normal[gl_InvocationID] = in_normal[gl_InvocationID];
    out_uvs[gl_InvocationID] = in_uvs[gl_InvocationID];
    out_color[gl_InvocationID] = in_color[gl_InvocationID];
    out_paint[gl_InvocationID] = in_paint[gl_InvocationID];
    out_hard[gl_InvocationID] = in_hard[gl_InvocationID];
    if (gl_InvocationID == 0) {
        vec3 outer = vec3(pieces(1, 2), pieces(2, 0), pieces(0, 1));
        gl_TessLevelOuter[0] = outer.x;
        gl_TessLevelOuter[1] = outer.y;
        gl_TessLevelOuter[2] = outer.z;
        gl_TessLevelInner[0] = max(outer.x, max(outer.y, outer.z));
    }
}
