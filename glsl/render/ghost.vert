// Projects a display vertex of a ghost for each view.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 1, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };

void main() {
    gl_Position = views[gl_ViewIndex].clip_from_world * vec4(positions[gl_VertexIndex].xyz, 1.0);
}
