// Start of a coarse level: positions of its vertices on the finer one.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Seeds { uint seeds[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 2, scalar) writeonly buffer CoarsePositions { vec4 coarse_positions[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void main() {
    uint c = gl_GlobalInvocationID.x;
    if (c < push.count) {
        coarse_positions[c] = positions[seeds[c]];
    }
}
