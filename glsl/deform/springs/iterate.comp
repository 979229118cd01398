// One Jacobi or Chebyshev iteration of the springs (thesis, Algorithm 1): one invocation per control vertex.
// Reads one half of `iterates` and writes the other. An iteration after convergence returns at once.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "types/springs.glsl"
#include "lib/angle.glsl"
#include "lib/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Edges { SpringEdge edges[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Anchors { vec4 anchors[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Posed { SpringPose posed[]; };
layout(set = 0, binding = 3, scalar) buffer Iterates { vec4 iterates[]; };
// largest[k]: bits of the largest move of iteration k; positive floats order like their bits.
layout(set = 0, binding = 4, scalar) buffer State { uint executed; uint largest[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint iteration;
    float weight;
    float threshold;
    float surface;
    float length_gain;
    float torsion;
    float thesis_limit;
} push;

void main() {
    uint k = push.iteration;
    if (k > 0 && uintBitsToFloat(largest[k - 1]) < push.threshold) {
        return;
    }
    uint i = gl_GlobalInvocationID.x;
    float moved = 0.0;
    if (i < push.count) {
        uint from = (k & 1u) * push.count;
        uint to = push.count - from;
        SpringPose p = posed[i];
        vec4 anchor = anchors[i];
        vec3 x = iterates[from + i].xyz;
        vec3 s = x - anchor.xyz;
        float s_length = length(s);
        float inverse_radius = anchor.w > 0.0 ? 1.0 / anchor.w : 0.0;
        bool free = s_length > anchor.w * 1e-3 && anchor.w > 0.0;

        vec3 surface = vec3(0.0);
        vec3 turn = vec3(0.0);
        vec3 shape = vec3(0.0);
        float length_sum = 0.0;
        uint first = p.first_and_degree & 0xffffffu;
        uint end = first + (p.first_and_degree >> 24);
        for (uint e = first; e < end; ++e) {
            SpringEdge edge = edges[e];
            uint j = edge.neighbor_and_coherence & 0xffffffu;
            float coherence = float(edge.neighbor_and_coherence >> 24) * (1.0 / 255.0);
            vec4 other = anchors[j];
            vec3 xj = iterates[from + j].xyz;
            vec3 along = xj - x;
            float span = length(along);
            surface += along * (span > 0.0 ? 1.0 - edge.rest_length / span : 0.0);
            vec3 sj = xj - other.xyz;
            float sj_length = length(sj);
            length_sum += ((sj_length - s_length) - (other.w - anchor.w)) * coherence;
            turn += turn_between(s, s_length, sj, sj_length)
                * (coherence * leverage(inverse_radius, min(other.w, sj_length)));
            shape += along * (1.0 - coherence);
        }
        vec3 force = surface * push.surface + (shape - p.shape) * push.torsion + (p.hold - s) * p.pull;
        if (free) {
            vec3 radial = s / s_length;
            // Arc length per radian; the thesis's print has the inverse.
            float lever = push.thesis_limit > 0.0 ? min(1.0 / s_length, s_length * push.thesis_limit) : s_length;
            vec3 turning = cross(turn - p.turn, radial) * push.torsion;
            turning += toward(s, p.axis) * (p.bone_stiffness * (angle_between(s, p.axis) - p.phi));
            turning += cross(turn_between(s, s_length, p.hold, anchor.w), radial) * p.hold_stiffness;
            float stretching = length_sum * push.length_gain + p.girth_stiffness * (anchor.w - s_length);
            force += (turning * lever + radial * stretching) * p.sense;
        }
        vec3 step = force * p.time_step;
        vec3 past = x - iterates[to + i].xyz;
        // A vertex that turns back has momentum from a shape that is gone: it starts again.
        float momentum = dot(step, past) < 0.0 ? 0.0 : push.weight - 1.0;
        vec3 next;
        if (free) {
            // On an arc about the attachment point: a chord would lengthen s at every step.
            vec3 radial = s / s_length;
            past += radial * (s_length - length(s - past) - dot(past, radial));
            vec3 total = step + (step + past) * momentum;
            float along = dot(total, radial);
            vec3 turned = s + total - radial * along;
            next = anchor.xyz + turned * ((s_length + along) / length(turned));
        } else {
            next = x + step + (step + past) * momentum;
        }
        iterates[to + i] = vec4(next, 0.0);
        moved = distance(next, x);
    }
    float most = subgroupMax(moved);
    if (subgroupElect()) {
        atomicMax(largest[k], floatBitsToUint(most));
    }
    if (i == 0) {
        executed = k + 1;
    }
}
