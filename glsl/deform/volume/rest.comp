// Lets the finest cubes be at rest where they are: subtracts the forces at their nodes from the load.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Residuals { vec4 residuals[]; };
layout(set = 0, binding = 1, scalar) writeonly buffer Loads { vec4 loads[]; };
layout(set = 0, binding = 2, scalar) buffer Pulls { vec4 pulls[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            vec4 pull = pulls[n] - residuals[n];
            pulls[n] = pull;
            loads[n] = pull;
        }
    }
}
