// Measures volumes, areas and normals in a rest shape that a cage has changed (CPU reference: Corrections::measure in
// src/deform/springs/corrections/bind.rs). Invocation k handles element k of each list: measured triangles,
// contributions to volumes, and triangles that may invert.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"
#include "lib/corrections.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
// Rest measures of the springs, REST_TEXELS per vertex.
layout(set = 0, binding = 1, scalar) readonly buffer Rest { vec4 rest[]; };
layout(set = 0, binding = 2, scalar) buffer Sides { MeasuredSide sides[]; };
layout(set = 0, binding = 3, scalar) buffer Entries { TissueEntry entries[]; };
layout(set = 0, binding = 4, scalar) buffer Faces { RestFace faces[]; };

layout(push_constant, scalar) uniform Push {
    uint sides;
    uint entries;
    uint faces;
    // Apex of the cones, bind space, metres.
    vec3 middle;
} push;

vec3 attachment(uint v) {
    return rest[v * REST_TEXELS].xyz;
}

vec3 scale_vector(uint v) {
    return rest[v * REST_TEXELS + 1].xyz;
}

void main() {
    uint k = gl_GlobalInvocationID.x;
    if (k < push.sides) {
        uvec3 c = sides[k].corners;
        sides[k].cone = cone(bind_positions[c.x].xyz - push.middle, bind_positions[c.y].xyz - push.middle,
            bind_positions[c.z].xyz - push.middle);
    }
    if (k < push.entries) {
        uvec3 c = sides[entries[k].side].corners;
        entries[k].rest = prism(attachment(c.x), attachment(c.y), attachment(c.z), scale_vector(c.x),
            scale_vector(c.y), scale_vector(c.z)).x;
    }
    if (k < push.faces) {
        uvec3 c = faces[k].corners;
        vec3 x = bind_positions[c.x].xyz;
        vec3 normal = cross(bind_positions[c.y].xyz - x, bind_positions[c.z].xyz - x);
        float area = length(normal);
        faces[k].area = area;
        // A triangle that the new shape flattens keeps its normal.
        if (area > 0.0) {
            faces[k].normal = normal / area;
        }
    }
}
