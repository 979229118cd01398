// Start of a finer level: its own start moved by what the coarse vertices it follows have moved.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Seeds { uint seeds[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Parents { uvec4 parents[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Weights { vec4 weights[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 4, scalar) readonly buffer CoarsePositions { vec4 coarse_positions[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Moved { vec4 moved[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

vec3 change(uint c) {
    return coarse_positions[c].xyz - positions[seeds[c]].xyz;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    uvec4 p = parents[i];
    vec4 w = weights[i];
    vec3 sum = change(p.x) * w.x + change(p.y) * w.y + change(p.z) * w.z + change(p.w) * w.w;
    moved[i] = vec4(positions[i].xyz + sum, 0.0);
}
