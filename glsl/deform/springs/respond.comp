// How far vertices take part in growing: by the area of their triangles along the turned rest normals over that in
// bind. One invocation per vertex of triangles that may turn inside out; all others grow in full.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

// Vertex, first corner, end of its corners.
layout(set = 0, binding = 0) uniform usamplerBuffer soft;
// The triangle's other two vertices in its order, and its number.
layout(set = 0, binding = 1) uniform usamplerBuffer corners;
// Normal and twice the area in bind.
layout(set = 0, binding = 2) uniform samplerBuffer sides;
layout(set = 0, binding = 3) uniform samplerBuffer positions;
layout(set = 0, binding = 4, scalar) writeonly buffer Responses { float responses[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // The share from which they grow in full.
    float free;
} push;

void main() {
    uint k = gl_GlobalInvocationID.x;
    if (k >= push.count) {
        return;
    }
    uvec4 own = texelFetch(soft, int(k));
    vec3 x = texelFetch(positions, int(own.x)).xyz;
    vec2 sum = vec2(0.0);
    for (uint c = own.y; c < own.z; ++c) {
        uvec4 corner = texelFetch(corners, int(c));
        vec4 side = texelFetch(sides, int(corner.z));
        vec3 to_j = texelFetch(positions, int(corner.x)).xyz - x;
        vec3 to_l = texelFetch(positions, int(corner.y)).xyz - x;
        sum += vec2(dot(cross(to_j, to_l), side.xyz), side.w);
    }
    float t = clamp(sum.x / (sum.y * push.free), 0.0, 1.0);
    responses[own.x] = t * t * (3.0 - 2.0 * t);
}
