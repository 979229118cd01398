// Computes the distance of every vertex to the nearest of its bone and that bone's neighbours, in a rest shape that a
// cage has changed. The length correction of incremental rotation skinning reads the distances. One invocation per
// vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rest.glsl"
#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "lib/irs.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer RestBones { RestBone rest_bones[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 2, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Reaches { BoneReach reaches[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Near { uint near[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Distances { float distances[]; };

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
    uint target = targets[i];
    if ((target & ON_JOINT) != 0u) {
        distances[i] = 0.0;
        return;
    }
    vec3 x = bind_positions[i].xyz;
    BoneReach reach = reaches[target];
    float shortest = 3.0e38;
    for (uint k = 0u; k < reach.near_count; ++k) {
        RestBone bone = rest_bones[near[reach.near_offset + k]];
        vec3 apart = x - nearest_on_segment(bone.head, bone.span, x);
        shortest = min(shortest, dot(apart, apart));
    }
    distances[i] = sqrt(shortest);
}
