// Convergence test in one group: after convergence all later dispatches of the frame get zero groups.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) buffer State { SpringState state; uint largest[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Works { float works[]; };
// Indirect dispatch arguments (three group counts) of each level, and of this stage.
layout(set = 0, binding = 2, scalar) buffer Arguments { uint arguments[]; };

layout(push_constant, scalar) uniform Push {
    uint iteration;
    // Number of stages with arguments.
    uint stages;
    float threshold;
    // Factor on the movement by a coarser level's correction.
    float correction;
    // Number of elements of `works`; zero if the largest movement or force is tested instead.
    uint work_count;
} push;

shared float sums[GROUP_SIZE];

void main() {
    uint t = gl_LocalInvocationID.x;
    float sum = 0.0;
    for (uint k = t; k < push.work_count; k += GROUP_SIZE) {
        sum += works[k];
    }
    sums[t] = sum;
    barrier();
    if (t != 0) {
        return;
    }
    float measure = max(
        uintBitsToFloat(largest[push.iteration]), uintBitsToFloat(state.corrected) * push.correction);
    if (push.work_count > 0) {
        measure = 0.0;
        for (uint k = 0; k < GROUP_SIZE; ++k) {
            measure += sums[k];
        }
    }
    state.corrected = 0;
    if (measure < push.threshold) {
        for (uint stage = 0; stage < push.stages; ++stage) {
            arguments[3 * stage] = 0;
        }
    }
}
