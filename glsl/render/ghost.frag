// Marks the pixels that a ghost covers, in the ghost's channel of a mask. The masks keep the largest mark.
#version 460
#extension GL_EXT_multiview : require
#include "render/around.glsl"

// Reversed depth of the picture.
layout(set = 0, binding = 2) uniform sampler2DArray depth;

layout(push_constant) uniform Push {
    // 0..=3: channel of the mask of the past; 4..=7: channel of the mask of the future, plus 4.
    uint channel;
} push;

layout(location = 0) out vec4 out_past;
layout(location = 1) out vec4 out_future;

// Mark of a ghost behind the body or at its surface. In front of the body, the mark is 1.
const float HIDDEN = 0.4;
// A ghost nearer to the body than this share of the distance counts as hidden, so that parts that do not move keep their look.
const float MARGIN = 0.002;

void main() {
    // The pixel alone would let a ghost at the edge of the body show through in dots.
    float body = depths_around(depth, ivec3(gl_FragCoord.xy, gl_ViewIndex)).y;
    float mark = gl_FragCoord.z > body * (1.0 + MARGIN) ? 1.0 : HIDDEN;
    vec4 channels = vec4(equal(uvec4(push.channel & 3u), uvec4(0, 1, 2, 3))) * mark;
    bool later = push.channel > 3u;
    out_past = later ? vec4(0.0) : channels;
    out_future = later ? channels : vec4(0.0);
}
