// Fetches a deformed display vertex. With PATCH it is a corner for the tessellation; without, it is projected for each view.
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "types/material.glsl"

#ifndef PATCH
layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
#endif
layout(set = 1, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 1, binding = 1, scalar) readonly buffer Normals { vec4 normals[]; };
layout(set = 1, binding = 2, scalar) readonly buffer AttributeList { Attributes attributes[]; };
// Linear RGBA over the material's colour, eight bits each.
layout(set = 1, binding = 5, scalar) readonly buffer Paints { uint paints[]; };

layout(location = 0) centroid out vec3 out_position;
layout(location = 1) centroid out vec3 out_normal;
layout(location = 2) centroid out vec4 out_uvs;
layout(location = 3) centroid out vec4 out_color;
layout(location = 6) centroid out vec4 out_paint;
#ifdef PATCH
// 1 on hard edges, else 0.
layout(location = 7) out float out_hard;
#else
layout(location = 4) out vec3 out_centre;
layout(location = 5) out vec4 out_centre_uvs;
#endif

void main() {
    uint v = gl_VertexIndex;
    Attributes a = attributes[v];
    out_position = positions[v].xyz;
    out_normal = normals[v].xyz;
    out_uvs = vec4(a.uv0, a.uv1);
    out_color = vec4(unpackHalf2x16(a.color.x), unpackHalf2x16(a.color.y));
    out_paint = unpackUnorm4x8(paints[v]);
#ifdef PATCH
    out_hard = a.hard;
#else
    out_centre = out_position;
    out_centre_uvs = out_uvs;
    gl_Position = views[gl_ViewIndex].clip_from_world * vec4(out_position, 1.0);
#endif
}
