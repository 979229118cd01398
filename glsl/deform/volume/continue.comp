// Start of a frame that continues the last one (src/deform/volume/motion.rs): each finest node goes where its joints carry
// it, and its load pulls it to its start on the bones and to the target of the dynamics.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

// A VolumeNode each.
layout(set = 0, binding = 4) uniform samplerBuffer nodes;
layout(set = 0, binding = 5) uniform samplerBuffer starts;
// Motion of each joint since the last frame.
layout(set = 0, binding = 6, scalar) readonly buffer Carry { Rows carry[]; };
layout(set = 0, binding = 7, scalar) buffer Pasts { VolumePast pasts[]; };
layout(set = 0, binding = 8, scalar) buffer Displacements { vec4 displacements[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer Loads { vec4 loads[]; };
layout(set = 0, binding = 10, scalar) writeonly buffer Pulls { vec4 pulls[]; };

layout(push_constant, scalar) uniform Push {
    VolumeStep push;
};

#define ADD(joint, weight) rows_add(sum, carry[joint], weight);

vec3 target(uint n, vec3 y, vec3 carried) {
    VolumePast past = pasts[n];
    vec3 with_bones = (carried - y) / push.seconds;
    vec3 velocity = push.last_span > 0.0 ? (y - past.coasted.xyz) / push.last_span : with_bones;
    vec3 coasted = y * push.a - past.position.xyz * push.b;
    vec3 free = coasted + (velocity * push.a - past.velocity.xyz * push.b) * push.span;
    vec3 damped = coasted + with_bones * push.span;
    vec3 away = (free + damped * push.drag) / (1.0 + push.drag) - carried;
    pasts[n] = VolumePast(vec4(y, 0.0), vec4(velocity, 0.0), vec4(coasted, 0.0));
    return carried + away * min(push.reach / max(length(away), 1e-12), 1.0);
}

void begin(uint n) {
    VolumeNode node = node_of(texelFetch(nodes, int(n)));
    vec3 start = texelFetch(starts, int(n)).xyz;
    vec3 pull = start * hold(node, push.lambda, push.firmness);
    vec3 x = start;
    if (node.cubes > 0.0) {
        vec3 y = displacements[n].xyz;
        Rows sum = rows_zero();
        FOR_INFLUENCES(n, push.has_tail, ADD)
        x = rows_point(sum, y);
        if (push.anchor > 0.0) {
            x += (start - rows_point(sum, pasts[n].position.xyz)) * push.anchor;
        }
        pull += target(n, y, x) * (node.mass * push.inertia);
    }
    displacements[n] = vec4(x, 0.0);
    loads[n] = vec4(pull, 0.0);
    pulls[n] = vec4(pull, 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            begin(n);
        }
    }
}
