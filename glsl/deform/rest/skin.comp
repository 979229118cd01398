// Computes rest positions and scale vectors in a rest shape that a cage has changed (docs/internals.md, *Cages and the
// rest shape*). One invocation per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rest.glsl"
#include "types/rig.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Coordinates { float coordinates[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Cage { vec4 cage[]; };
layout(set = 0, binding = 2, scalar) readonly buffer RestBones { RestBone rest_bones[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 4, scalar) readonly buffer BasePositions { vec4 base_positions[]; };
layout(set = 0, binding = 5, scalar) readonly buffer BaseAnchors { Anchor base_anchors[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer RestAnchors { Anchor rest_anchors[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer Anchors { Anchor anchors[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Number of vertices of the cage.
    uint cage;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 offset = vec3(0.0);
    for (uint k = 0u; k < push.cage; ++k) {
        offset += coordinates[k * push.count + i] * cage[k].xyz;
    }
    bind_positions[i] = vec4(base_positions[i].xyz + offset, 0.0);
    Anchor anchor = base_anchors[i];
    uint target = targets[i];
    if ((target & ON_JOINT) == 0u) {
        RestBone bone = rest_bones[target];
        offset -= bone.head_offset + anchor.t * (bone.tail_offset - bone.head_offset);
    }
    anchor.scale_vector += offset;
    rest_anchors[i] = anchor;
    anchors[i] = anchor;
}
