// Marks the pixels of the outlined part: 1 where the part is visible, HIDDEN behind other surfaces. The mask keeps the largest
// mark.
#version 460
#extension GL_EXT_multiview : require
#include "render/around.glsl"

// Reversed depth of the picture.
layout(set = 0, binding = 1) uniform sampler2DArray depth;

layout(location = 0) in float in_share;
layout(location = 0) out float out_mark;

const float HIDDEN = 0.4;
// Difference of depth, as a share of the distance, that the picture's surface may have: it may be curved between the vertices.
const float MARGIN = 0.01;

void main() {
    vec2 around = depths_around(depth, ivec3(gl_FragCoord.xy, gl_ViewIndex));
    // In front of the picture's surface, the material is cut out.
    if (in_share < 0.5 || gl_FragCoord.z * (1.0 - MARGIN) > around.y) {
        discard;
    }
    out_mark = gl_FragCoord.z >= around.x * (1.0 - MARGIN) ? 1.0 : HIDDEN;
}
