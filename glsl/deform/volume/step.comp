// Moves each node along the force at it.
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
layout(set = 0, binding = 5, scalar) buffer Displacements { vec4 displacements[]; };
layout(set = 0, binding = 6, scalar) buffer Moves { vec4 moves[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/node_force.glsl"

void move(uint n) {
    VolumeNode node = nodes[n];
    if (node.cubes <= 0.0) {
        return;
    }
    vec3 y = displacements[n].xyz;
    vec3 force = node_force(n, node, y);
    float inverse = inverse_bound(node, push, push.contact * node.contact);
    vec3 d = moves[n].xyz * push.keep + force * (push.step * inverse);
    moves[n] = vec4(d, 0.0);
    displacements[n] = vec4(y + d, 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            move(n);
        }
    }
}
