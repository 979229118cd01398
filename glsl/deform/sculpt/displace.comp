// Moves the vertices of sculpt layers by their offsets, x' = x + Q D (docs/internals.md, *Sculpt layers*). For methods
// that rotate scale vectors, changes the scale vectors instead (thesis 5.1, equation 24). One invocation per moved
// vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "types/sculpt.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 4, scalar) readonly buffer Offsets { SculptOffset offsets[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Dual { DualQuat dual[]; };
layout(set = 0, binding = 6, scalar) buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer Anchors { Anchor anchors[]; };
// The anchors without sculpt layers.
layout(set = 0, binding = 8, scalar) readonly buffer RestAnchors { Anchor rest_anchors[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint has_tail;
    // Whether to change scale vectors instead of positions.
    uint radial;
} push;

#define ADD_TURN(joint, weight) turn += quat_side(heaviest, dual[joint].real) * weight * dual[joint].real;

void main() {
    uint k = gl_GlobalInvocationID.x;
    if (k >= push.count) {
        return;
    }
    SculptOffset o = offsets[k];
    uint i = o.vertex;
    if (push.radial != 0u) {
        Anchor anchor = rest_anchors[i];
        anchors[i] = Anchor(anchor.scale_vector + o.offset, anchor.t);
        return;
    }
    vec4 heaviest = dual[influence_joints[i].x & 0xffffu].real;
    vec4 turn = vec4(0.0);
    FOR_INFLUENCES(i, push.has_tail, ADD_TURN)
    float size = length(turn);
    positions[i].xyz += quat_rotate(size < 1e-6 ? heaviest : turn / size, o.offset);
}
