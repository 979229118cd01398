// Force of the contact spring at each point.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/contact.glsl"
#include "lib/quaternion.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
layout(set = 0, binding = 2) uniform samplerBuffer places;
layout(set = 0, binding = 3, scalar) readonly buffer PlaceCells { uint place_cells[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Partners { uint partners[]; };
// Common normal; in w the distance to keep.
layout(set = 0, binding = 5, scalar) readonly buffer Pairs { vec4 pairs[]; };
// In w: the stiffness of the point's spring, in units of one spring; 0 without a partner.
layout(set = 0, binding = 6, scalar) writeonly buffer Pushes { vec4 pushes[]; };

layout(set = 0, binding = 7, scalar) readonly buffer Rotations { vec4 rotations[]; };
// Per point: the control vertex whose sculpt layers move it.
layout(set = 0, binding = 8, scalar) readonly buffer Vertices { uint vertices[]; };
// Per control vertex: offset of the sculpt layers in the bind pose.
layout(set = 0, binding = 9, scalar) readonly buffer Bulges { vec4 bulges[]; };
// Stiffness of each cube.
layout(set = 0, binding = 10, scalar) readonly buffer Weights { float weights[]; };

layout(push_constant, scalar) uniform Push {
    ContactPush push;
};

#include "lib/cube_place.glsl"

vec3 position(uint i) {
    uint cell = place_cells[i];
    vec3 bulge = quat_rotate(rotations[cell], bulges[vertices[i]].xyz);
    return cube_place(cell, texelFetch(places, int(i)).xyz) + bulge;
}

void press(uint i) {
    uint j = partners[i];
    if (j == NONE) {
        pushes[i] = vec4(0.0);
        return;
    }
    vec4 pair = pairs[i];
    float gap = dot(position(i) - position(j), pair.xyz);
    float factor = sqrt(weights[place_cells[i]] * weights[place_cells[j]]);
    pushes[i] = vec4(pair.xyz * (push.stiffness * factor * max(pair.w - gap, 0.0)), factor);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint i = span_element(k);
        if (i < push.count) {
            press(i);
        }
    }
}
