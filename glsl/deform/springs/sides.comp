// Computes the normals that triangles should have in the pose, and their projected areas along these normals: one
// invocation per triangle that may invert.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/quaternion.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Two texels per triangle: its vertices and bits of twice its area; bits of its normal in bind.
layout(set = 0, binding = 0) uniform usamplerBuffer faces;
layout(set = 0, binding = 1) uniform samplerBuffer turns;
layout(set = 0, binding = 2) uniform samplerBuffer positions;
layout(set = 0, binding = 3, scalar) writeonly buffer Sides { vec4 sides[]; };
// Twice the area along the posed normal, and twice the area in bind.
layout(set = 0, binding = 4, scalar) writeonly buffer Seen { vec2 seen[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void pose(uint i) {
    uvec4 face = texelFetch(faces, int(2 * i));
    vec4 a = texelFetch(turns, int(face.x));
    vec4 b = texelFetch(turns, int(face.y));
    vec4 c = texelFetch(turns, int(face.z));
    vec4 q = normalize(a + b * quat_side(a, b) + c * quat_side(a, c));
    vec3 normal = quat_rotate(q, uintBitsToFloat(texelFetch(faces, int(2 * i + 1)).xyz));
    float area = uintBitsToFloat(face.w);
    vec3 x = texelFetch(positions, int(face.x)).xyz;
    vec3 to_y = texelFetch(positions, int(face.y)).xyz - x;
    vec3 to_z = texelFetch(positions, int(face.z)).xyz - x;
    sides[i] = vec4(normal, area);
    seen[i] = vec2(dot(cross(to_y, to_z), normal), area);
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint i = span_element(n);
        if (i < push.count) {
            pose(i);
        }
    }
}
