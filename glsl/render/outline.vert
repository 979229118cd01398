// Projects a display vertex of the outlined part for each view.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 1, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
// Share of each vertex in the outlined part, 0..1.
layout(set = 1, binding = 1, scalar) readonly buffer Shares { float shares[]; };

layout(location = 0) out float out_share;

void main() {
    out_share = shares[gl_VertexIndex];
    gl_Position = views[gl_ViewIndex].clip_from_world * vec4(positions[gl_VertexIndex].xyz, 1.0);
}
