// Marks the pixels that a ghost covers, in the ghost's channel of a mask. The masks keep the largest mark.
#version 460
#extension GL_EXT_multiview : require

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

// Returns the depth of the nearest surface at a pixel and at the pixels beside it. At an edge of the body, the depth of a
// pixel is that of one of its samples, so the pixel alone would let a ghost at the edge show through in dots.
float nearest_around(ivec2 here) {
    ivec2 last = textureSize(depth, 0).xy - 1;
    float body = 0.0;
    for (int i = 0; i < 5; i++) {
        ivec2 off = i == 0 ? ivec2(0) : ivec2((i & 1) * (i - 2), (1 - (i & 1)) * (i - 3));
        ivec2 texel = clamp(here + off, ivec2(0), last);
        body = max(body, texelFetch(depth, ivec3(texel, gl_ViewIndex), 0).r);
    }
    return body;
}

void main() {
    float body = nearest_around(ivec2(gl_FragCoord.xy));
    float mark = gl_FragCoord.z > body * (1.0 + MARGIN) ? 1.0 : HIDDEN;
    vec4 channels = vec4(equal(uvec4(push.channel & 3u), uvec4(0, 1, 2, 3))) * mark;
    bool later = push.channel > 3u;
    out_past = later ? vec4(0.0) : channels;
    out_future = later ? channels : vec4(0.0);
}
