// Adds the change of the rest shape to the posed skin, x' = x + Q φ δ, for methods that pose the file's rest shape. `φ
// δ` is the vertex's offset in the rest shape, and `Q` is the blended rotation of the vertex's joints. One invocation
// per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 4, scalar) readonly buffer Coordinates { float coordinates[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Cage { vec4 cage[]; };
layout(set = 0, binding = 6, scalar) readonly buffer Dual { DualQuat dual[]; };
layout(set = 0, binding = 7, scalar) buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint has_tail;
    // Number of vertices of the cage.
    uint cage;
} push;

#define ADD_TURN(joint, weight) turn += quat_side(heaviest, dual[joint].real) * weight * dual[joint].real;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 offset = vec3(0.0);
    for (uint k = 0u; k < push.cage; ++k) {
        offset += coordinates[k * push.count + i] * cage[k].xyz;
    }
    vec4 heaviest = dual[influence_joints[i].x & 0xffffu].real;
    vec4 turn = vec4(0.0);
    FOR_INFLUENCES(i, push.has_tail, ADD_TURN)
    float size = length(turn);
    positions[i].xyz += quat_rotate(size < 1e-6 ? heaviest : turn / size, offset);
}
