// Measures the springs in a rest shape that a cage has changed (CPU reference: Binding::measure in
// src/deform/springs/bind.rs). One invocation per vertex of a level.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rest.glsl"
#include "types/rig.glsl"
#include "types/springs.glsl"
#include "lib/angle.glsl"
#include "lib/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Vertices of the finest level index the next four buffers. `seeds` maps a vertex of a coarser level to one of the
// finest.
layout(set = 0, binding = 0, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer RestAnchors { Anchor rest_anchors[]; };
layout(set = 0, binding = 2, scalar) readonly buffer FileAnchors { Anchor file_anchors[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 4, scalar) readonly buffer RestBones { RestBone rest_bones[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Seeds { uint seeds[]; };
// Rest measures in the file's rest shape, REST_TEXELS per vertex of the level.
layout(set = 0, binding = 6, scalar) readonly buffer FileRest { vec4 file_rest[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer Rest { vec4 rest[]; };
layout(set = 0, binding = 8, scalar) buffer Measures { SpringMeasure measures[]; };
layout(set = 0, binding = 9, scalar) buffer Edges { SpringEdge edges[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint coarse;
    // A bone that is not longer than this has no direction, metres.
    float on_bone;
} push;

uint finest(uint i) {
    return push.coarse != 0 ? seeds[i] : i;
}

// An attachment point may lie beside its bone (src/deform/springs/anchors.rs). It keeps its offset from the bone.
vec3 scale_vector(uint i) {
    uint v = finest(i);
    return file_rest[i * REST_TEXELS + 1].xyz + (rest_anchors[v].scale_vector - file_anchors[v].scale_vector);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 x = bind_positions[finest(i)].xyz;
    vec3 s = scale_vector(i);
    float radius = length(s);
    float inverse_radius = radius > 0.0 ? 1.0 / radius : 0.0;
    vec3 turn = vec3(0.0);
    vec3 shape = vec3(0.0);
    uint first = measures[i].first_and_degree & 0xffffffu;
    uint end = first + (measures[i].first_and_degree >> 24);
    for (uint k = first; k < end; ++k) {
        uint packed = edges[k].neighbor_and_coherence;
        uint j = packed & 0xffffffu;
        float coherence = float(packed >> 24) / 255.0;
        vec3 along = bind_positions[finest(j)].xyz - x;
        vec3 sj = scale_vector(j);
        float radius_j = length(sj);
        edges[k].rest_length = length(along);
        turn += turn_between(s, radius, sj, radius_j) * (coherence * leverage(inverse_radius, radius_j));
        shape += along * (1.0 - coherence);
    }
    float attached = file_rest[i * REST_TEXELS + 2].w;
    vec3 bone = attached != 0.0 ? rest_bones[targets[finest(i)]].span : vec3(0.0);
    float bone_length = length(bone);
    bool has_bone = bone_length > push.on_bone;
    measures[i].radius = radius;
    measures[i].phi = angle_between(s, bone);
    measures[i].has_bone = has_bone ? 1u : 0u;
    uint at = i * REST_TEXELS;
    rest[at] = vec4(x - s, radius);
    rest[at + 1] = vec4(s, 0.0);
    rest[at + 2] = vec4(has_bone ? bone / bone_length : vec3(0.0), attached);
    rest[at + 3] = vec4(turn, 0.0);
    rest[at + 4] = vec4(shape, 0.0);
}
