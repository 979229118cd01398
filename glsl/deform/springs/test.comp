// The stop test, one group: where the springs have converged, every later dispatch of the frame gets zero groups.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) buffer State { SpringState state; uint largest[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Works { float works[]; };
// Three numbers of groups per level, and those of this stage.
layout(set = 0, binding = 2, scalar) buffer Arguments { uint arguments[]; };

layout(push_constant, scalar) uniform Push {
    uint iteration;
    // How many have numbers of groups.
    uint stages;
    float threshold;
    // What a coarser level's correction counts as a move.
    float correction;
    // Elements of `works`; zero where the largest move or force is tested.
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
