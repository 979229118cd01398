// Start of the finest nodes: positions of the start method, and the load that its springs pull with.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// A VolumeNode each.
layout(set = 0, binding = 0) uniform samplerBuffer nodes;
layout(set = 0, binding = 1) uniform samplerBuffer starts;
layout(set = 0, binding = 2, scalar) writeonly buffer Displacements { vec4 displacements[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer Loads { vec4 loads[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer Pulls { vec4 pulls[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Pasts { VolumePast pasts[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            vec3 x = texelFetch(starts, int(n)).xyz;
            displacements[n] = vec4(x, 0.0);
            pasts[n].position = vec4(x, 0.0);
            vec4 pull = vec4(x * hold(node_of(texelFetch(nodes, int(n))), push.lambda, push.firmness), 0.0);
            loads[n] = pull;
            pulls[n] = pull;
        }
    }
}
