// Moves each node along the force at it.
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
// The stage reads and writes both: an invocation reads its own element before it writes it.
layout(set = 0, binding = 5) uniform samplerBuffer displacements;
layout(set = 0, binding = 6) uniform samplerBuffer moves;
layout(set = 0, binding = 7, scalar) writeonly buffer Moved { vec4 moved[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer LastMoves { vec4 last_moves[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/node_force.glsl"

void move(uint n) {
    VolumeNode node = node_of(texelFetch(nodes, int(n)));
    if (node.cubes <= 0.0) {
        return;
    }
    vec3 y = texelFetch(displacements, int(n)).xyz;
    vec3 force = node_force(n, node, y);
    float inverse = inverse_bound(node, push, contact_stiffness(n));
    vec3 d = texelFetch(moves, int(n)).xyz * push.keep + force * (push.step * inverse);
    last_moves[n] = vec4(d, 0.0);
    moved[n] = vec4(y + d, 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            move(n);
        }
    }
}
