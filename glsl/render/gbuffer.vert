// Fetches a deformed display vertex and projects it for each view.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "types/material.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 1, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 1, binding = 1, scalar) readonly buffer Normals { vec4 normals[]; };
layout(set = 1, binding = 2, scalar) readonly buffer AttributeList { Attributes attributes[]; };

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_uvs;
layout(location = 3) out float out_alpha;

void main() {
    uint v = gl_VertexIndex;
    Attributes a = attributes[v];
    out_position = positions[v].xyz;
    out_normal = normals[v].xyz;
    out_uvs = vec4(a.uv0, a.uv1);
    out_alpha = unpackHalf2x16(a.color.y).y;
    gl_Position = views[gl_ViewIndex].clip_from_world * vec4(out_position, 1.0);
}
