// Projects a deformed display vertex for the key light's shadow map.
#version 460
#extension GL_EXT_multiview : require
#include "types/material.glsl"
#include "types/lighting.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer LightingBlock { Lighting lighting; };
layout(set = 1, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 1, binding = 1, scalar) readonly buffer AttributeList { Attributes attributes[]; };

layout(location = 0) out vec4 out_uvs;
layout(location = 1) out float out_alpha;

void main() {
    uint v = gl_VertexIndex;
    Attributes a = attributes[v];
    out_uvs = vec4(a.uv0, a.uv1);
    out_alpha = unpackHalf2x16(a.color.y).y;
    gl_Position = lighting.shadow_from_world * vec4(positions[v].xyz, 1.0);
}
