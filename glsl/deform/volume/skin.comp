// Places each control vertex in its cube; vertices without a cube stay.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform usamplerBuffer corners;
layout(set = 0, binding = 1) uniform samplerBuffer displacements;
// Coordinates in the cube.
layout(set = 0, binding = 2) uniform samplerBuffer places;
layout(set = 0, binding = 3, scalar) readonly buffer PlaceCells { uint place_cells[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

void skin(uint v) {
    uint cell = place_cells[v];
    if (cell == NONE) {
        return;
    }
    vec3 place = texelFetch(places, int(v)).xyz;
    uvec4 near = texelFetch(corners, int(2 * cell));
    uvec4 far = texelFetch(corners, int(2 * cell + 1));
    vec3 x[8];
    for (int i = 0; i < 4; ++i) {
        x[i] = texelFetch(displacements, int(near[i])).xyz;
        x[i + 4] = texelFetch(displacements, int(far[i])).xyz;
    }
    vec3 low = mix(mix(x[0], x[1], place.x), mix(x[2], x[3], place.x), place.y);
    vec3 high = mix(mix(x[4], x[5], place.x), mix(x[6], x[7], place.x), place.y);
    positions[v] = vec4(mix(low, high, place.z), 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint v = span_element(k);
        if (v < push.count) {
            skin(v);
        }
    }
}
