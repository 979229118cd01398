// Fetches a corner of a triangle listed by probe_cull.comp.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Normals { vec4 normals[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Triangles { uint triangles[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Visible { uint visible[]; };
// Part of each triangle; the top bit is set if the part's material is double-sided.
layout(set = 0, binding = 5, scalar) readonly buffer Parts { uint parts[]; };

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) flat out uvec2 out_ids;

void main() {
    uint t = visible[gl_VertexIndex / 3];
    uint v = triangles[t * 3u + gl_VertexIndex % 3];
    out_position = positions[v].xyz;
    out_normal = normals[v].xyz;
    out_ids = uvec2(t, parts[t]);
    gl_Position = views[gl_ViewIndex].clip_from_world * vec4(out_position, 1.0);
}
