// Pushes triangles open that are turned inside out: one invocation per vertex that may have such. Where the round before
// has found nothing to push, both halves are the same and nothing is left to do.
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
layout(set = 0, binding = 4, scalar) writeonly buffer Next { vec4 next[]; };
// Whether a round has pushed anything.
layout(set = 0, binding = 5, scalar) buffer Pushed { uint pushed[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint round;
    float open;
    float most;
    float relaxation;
} push;

void main() {
    uint k = gl_GlobalInvocationID.x;
    if (k >= push.count || (push.round > 0 && pushed[push.round - 1] == 0)) {
        return;
    }
    uvec4 own = texelFetch(soft, int(k));
    vec3 x = texelFetch(positions, int(own.x)).xyz;
    vec3 sum = vec3(0.0);
    float sizes = 0.0;
    for (uint c = own.y; c < own.z; ++c) {
        uvec4 corner = texelFetch(corners, int(c));
        vec4 side = texelFetch(sides, int(corner.z));
        vec3 to_j = texelFetch(positions, int(corner.x)).xyz - x;
        vec3 to_l = texelFetch(positions, int(corner.y)).xyz - x;
        float lacking = push.open * side.w - dot(cross(to_j, to_l), side.xyz);
        if (lacking <= 0.0) {
            continue;
        }
        vec3 across = cross(side.xyz, to_l - to_j);
        vec3 at_l = cross(side.xyz, to_j);
        vec3 at_j = cross(side.xyz, to_l);
        float all = dot(across, across) + dot(at_j, at_j) + dot(at_l, at_l);
        vec3 asked = across * (lacking / (all + side.w * 1e-12));
        float size = length(asked);
        float most = push.most * sqrt(side.w);
        if (size > most) {
            asked *= most / size;
            size = most;
        }
        sum += asked * size;
        sizes += size;
    }
    if (sizes > 0.0) {
        x += sum * (push.relaxation / sizes);
        pushed[push.round] = 1;
    }
    next[own.x] = vec4(x, 1.0);
}
