// Computes target = factor * source per element: a minimal stage that tests the pipeline from source to result.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Source { vec3 source[]; };
layout(set = 0, binding = 1, scalar) writeonly buffer Target { vec3 target[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    float factor;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < push.count) {
        target[i] = push.factor * source[i];
    }
}
