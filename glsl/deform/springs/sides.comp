// The normals that triangles should have in a pose: one invocation per triangle.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "lib/quaternion.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Two per triangle: its vertices and bits of twice its area; bits of its normal in bind.
layout(set = 0, binding = 0) uniform usamplerBuffer faces;
layout(set = 0, binding = 1) uniform samplerBuffer turns;
layout(set = 0, binding = 2, scalar) writeonly buffer Sides { vec4 sides[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    uvec4 face = texelFetch(faces, int(2 * i));
    vec4 a = texelFetch(turns, int(face.x));
    vec4 b = texelFetch(turns, int(face.y));
    vec4 c = texelFetch(turns, int(face.z));
    vec4 q = normalize(a + b * quat_side(a, b) + c * quat_side(a, c));
    vec3 normal = uintBitsToFloat(texelFetch(faces, int(2 * i + 1)).xyz);
    sides[i] = vec4(quat_rotate(q, normal), uintBitsToFloat(face.w));
}
