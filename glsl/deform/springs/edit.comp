// The force of sculpt layers in the springs (thesis 5.2). k (target - x) with target = a' + Q (s + D) is a load k Q D
// plus a pull with stiffness k to a' + Q s. One invocation per vertex of a layer.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/springs.glsl"
#include "types/sculpt.glsl"
#include "lib/quaternion.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Edits { SpringEdit edits[]; };
layout(set = 0, binding = 1, scalar) buffer Gains { SpringGains gains[]; };
// The gains without the sculpt layers, indexed like `edits`.
layout(set = 0, binding = 2, scalar) buffer Plain { SpringGains plain[]; };
layout(set = 0, binding = 3, scalar) buffer Posed { vec4 posed[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Turns { vec4 turns[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint mode;
    float omega;
} push;

// Limits an iteration's step for the added stiffness: 1 / step grows by stiffness / omega. GPUs round divisions, so a
// layer without stiffness must leave the step as it is.
float shorter(float step, float stiffness) {
    return step > 0.0 && stiffness > 0.0 ? 1.0 / (1.0 / step + stiffness / push.omega) : step;
}

void main() {
    uint k = gl_GlobalInvocationID.x;
    if (k >= push.count) {
        return;
    }
    SpringEdit edit = edits[k];
    uint i = edit.vertex;
    if ((push.mode & SPRING_EDIT_LOAD) != 0) {
        posed[i * POSE_TEXELS + 3].xyz += quat_rotate(turns[i], edit.load);
        return;
    }
    if ((push.mode & SPRING_EDIT_FRESH) != 0) {
        plain[k] = gains[i];
    }
    SpringGains g = plain[k];
    float kept = 1.0 - edit.give;
    g.hold_stiffness *= kept;
    g.bone_stiffness *= kept;
    g.girth_stiffness *= kept;
    g.pull = g.pull * kept + edit.stiffness;
    g.step_across = shorter(g.step_across, edit.stiffness);
    g.step_along = shorter(g.step_along, edit.stiffness);
    gains[i] = g;
}
