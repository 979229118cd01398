// Enters the offsets of the sculpt layers at their vertices; the buffer holds zeros before.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/contact.glsl"
#include "types/sculpt.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Offsets { SculptOffset offsets[]; };
layout(set = 0, binding = 1, scalar) writeonly buffer Bulges { vec4 bulges[]; };

layout(push_constant, scalar) uniform Push {
    ContactPush push;
};

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint i = span_element(k);
        if (i < push.count) {
            bulges[offsets[i].vertex] = vec4(offsets[i].offset, 0.0);
        }
    }
}
