// Sum of the forces at each node.
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
layout(set = 0, binding = 1) uniform usamplerBuffer node_corners;
layout(set = 0, binding = 2) uniform samplerBuffer corner_forces;
layout(set = 0, binding = 3) uniform samplerBuffer loads;
layout(set = 0, binding = 4, scalar) readonly buffer Contacts { float contacts[]; };
layout(set = 0, binding = 5) uniform samplerBuffer displacements;
layout(set = 0, binding = 6, scalar) writeonly buffer Residuals { vec4 residuals[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/node_force.glsl"

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            VolumeNode node = node_of(texelFetch(nodes, int(n)));
            residuals[n] = vec4(node_force(n, node, texelFetch(displacements, int(n)).xyz), 0.0);
        }
    }
}
