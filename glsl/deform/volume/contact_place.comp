// Places the points that take part in contact in their cubes and enters them in the hash grid.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/contact.glsl"
#include "lib/quaternion.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
// Coordinates in the cube.
layout(set = 0, binding = 2) uniform samplerBuffer places;
layout(set = 0, binding = 3, scalar) readonly buffer PlaceCells { uint place_cells[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Rotations { vec4 rotations[]; };
// Outward, in the bind pose.
layout(set = 0, binding = 5, scalar) readonly buffer Normals { vec4 normals[]; };
// Per vertex: the point that tells whether contact is near.
layout(set = 0, binding = 6, scalar) readonly buffer Owners { uint owners[]; };
// Of the points.
layout(set = 0, binding = 7, scalar) readonly buffer OwnerPartners { uint owner_partners[]; };
// In w: whether the point takes part.
layout(set = 0, binding = 8, scalar) writeonly buffer PosedPoints { vec4 posed_points[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer PosedNormals { vec4 posed_normals[]; };
// First point in each bucket.
layout(set = 0, binding = 10, scalar) buffer Heads { uint heads[]; };
// Next point in the same bucket.
layout(set = 0, binding = 11, scalar) writeonly buffer Next { uint next[]; };
// Per point: the control vertex whose sculpt layers move it.
layout(set = 0, binding = 12, scalar) readonly buffer Vertices { uint vertices[]; };
// Per control vertex: offset of the sculpt layers in the bind pose.
layout(set = 0, binding = 13, scalar) readonly buffer Bulges { vec4 bulges[]; };

layout(push_constant, scalar) uniform Push {
    ContactPush push;
};

#include "lib/cube_place.glsl"
#include "lib/hash_grid.glsl"

void enter(uint i) {
    uint cell = place_cells[i];
    if (cell == NONE || (push.all == 0 && owner_partners[owners[i]] == NONE)) {
        posed_points[i] = vec4(0.0);
        return;
    }
    vec3 bulge = quat_rotate(rotations[cell], bulges[vertices[i]].xyz);
    vec3 x = cube_place(cell, texelFetch(places, int(i)).xyz) + bulge;
    posed_points[i] = vec4(x, 1.0);
    posed_normals[i] = vec4(quat_rotate(rotations[cell], normals[i].xyz), 0.0);
    next[i] = atomicExchange(heads[grid_bucket(grid_cell(x))], i);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint i = span_element(k);
        if (i < push.count) {
            enter(i);
        }
    }
}
