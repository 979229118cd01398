// Sum of the forces at each node.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Nodes { VolumeNode nodes[]; };
layout(set = 0, binding = 1, scalar) readonly buffer NodeOffsets { uint node_offsets[]; };
layout(set = 0, binding = 2, scalar) readonly buffer NodeCorners { uint node_corners[]; };
layout(set = 0, binding = 3) uniform samplerBuffer corner_forces;
layout(set = 0, binding = 4, scalar) readonly buffer Loads { vec4 loads[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Displacements { vec4 displacements[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Residuals { vec4 residuals[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/node_force.glsl"

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            residuals[n] = vec4(node_force(n, nodes[n], displacements[n].xyz), 0.0);
        }
    }
}
