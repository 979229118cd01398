// One iteration of the springs (thesis, Algorithm 1): one invocation per control vertex.
// Reads one half of `iterates` and writes the other. What neighbours read comes as texels, which software devices
// fetch far faster than elements of storage buffers.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "types/springs.glsl"
#include "lib/angle.glsl"
#include "lib/span.glsl"
#include "lib/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Per half-edge: neighbour in the low 24 bits and coherence in steps of 1/255; bits of the rest length.
layout(set = 0, binding = 0) uniform usamplerBuffer edges;
layout(set = 0, binding = 1) uniform samplerBuffer anchors;
layout(set = 0, binding = 2) uniform samplerBuffer posed;
layout(set = 0, binding = 3) uniform samplerBuffer iterates;
layout(set = 0, binding = 4, scalar) writeonly buffer Next { vec4 next_iterates[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Loads { vec4 loads[]; };
// Forces over density, and whether they count.
layout(set = 0, binding = 6, scalar) buffer Residuals { vec4 residuals[]; };
// largest[k]: bits of the largest move or force of iteration k; positive floats order like their bits.
layout(set = 0, binding = 7, scalar) buffer State { SpringState state; uint largest[]; };
// SUBGROUPS per group: the work that each subgroup's springs did.
layout(set = 0, binding = 8, scalar) writeonly buffer Works { float works[]; };
layout(set = 0, binding = 9) uniform usamplerBuffer gains;

layout(push_constant, scalar) uniform Push {
    uint count;
    uint iteration;
    // The half that is read.
    uint half_read;
    uint flags;
    float weight;
    float surface;
    float length_gain;
    float torsion;
    float thesis_limit;
} push;

vec4 pose_of(uint i, int k) {
    return texelFetch(posed, int(i) * POSE_TEXELS + k);
}

float measure = 0.0;
float work = 0.0;

void iterate(uint i) {
    uint from = push.half_read * push.count;
    uint to = push.count - from;
    vec4 hold = pose_of(i, 0);
    vec4 axis = pose_of(i, 1);
    vec4 rest_turn = pose_of(i, 2);
    vec4 load = pose_of(i, 3);
    vec4 more = uintBitsToFloat(texelFetch(gains, int(i) * GAIN_TEXELS + 1));
    uvec4 last = texelFetch(gains, int(i) * GAIN_TEXELS + 2);
    vec4 anchor = texelFetch(anchors, int(i));
    vec3 x = texelFetch(iterates, int(from + i)).xyz;
    vec3 s = x - anchor.xyz;
    float s_length = length(s);
    float inverse_radius = anchor.w > 0.0 ? 1.0 / anchor.w : 0.0;
    bool free = s_length > anchor.w * 1e-3 && anchor.w > 0.0;

    vec3 surface = vec3(0.0);
    vec3 turn = vec3(0.0);
    vec3 shape = vec3(0.0);
    float length_sum = 0.0;
    uint first = last.x & 0xffffffu;
    uint end = first + (last.x >> 24);
    for (uint e = first; e < end; ++e) {
        uvec2 edge = texelFetch(edges, int(e)).xy;
        uint j = edge.x & 0xffffffu;
        float coherence = float(edge.x >> 24) * (1.0 / 255.0);
        vec4 other = texelFetch(anchors, int(j));
        vec3 xj = texelFetch(iterates, int(from + j)).xyz;
        vec3 along = xj - x;
        float span = length(along);
        surface += along * (span > 0.0 ? 1.0 - uintBitsToFloat(edge.y) / span : 0.0);
        vec3 sj = xj - other.xyz;
        float sj_length = length(sj);
        length_sum += ((sj_length - s_length) - (other.w - anchor.w)) * coherence;
        turn += turn_between(s, s_length, sj, sj_length)
            * (coherence * leverage(inverse_radius, min(other.w, sj_length)));
        shape += along * (1.0 - coherence);
    }
    vec3 force = surface * push.surface + shape * push.torsion + (hold.xyz - s) * more.y + load.xyz;
    vec3 radial = vec3(0.0);
    if (free) {
        radial = s / s_length;
        // Arc length per radian; the thesis's print has the inverse.
        float lever = push.thesis_limit > 0.0 ? min(1.0 / s_length, s_length * push.thesis_limit) : s_length;
        vec3 turning = cross(turn - rest_turn.xyz, radial) * push.torsion;
        turning += toward(s, axis.xyz) * (axis.w * (angle_between(s, axis.xyz) - rest_turn.w));
        turning += cross(turn_between(s, s_length, hold.xyz, anchor.w), radial) * hold.w;
        float stretching = length_sum * push.length_gain + load.w * (anchor.w - s_length);
        force += (turning * lever + radial * stretching) * more.x;
    }
    float density = uintBitsToFloat(last.y);
    if ((push.flags & SPRING_TAKE) != 0) {
        // The force that the finer level wants here; the load makes up the difference, and from here on the
        // finer level's equilibrium is this one's too.
        vec3 wanted = residuals[i].xyz * density;
        loads[i * POSE_TEXELS + 3] = vec4(load.xyz + wanted - force, load.w);
        force = wanted;
    }
    if ((push.flags & SPRING_KEEP) != 0) {
        residuals[i] = vec4(force, density);
    }
    float part = dot(force, radial);
    vec3 step = force * more.z + radial * (part * (more.w - more.z));
    vec3 past = x - texelFetch(iterates, int(to + i)).xyz;
    // A vertex that turns back has momentum from a shape that is gone: it starts again.
    float momentum = dot(step, past) < 0.0 ? 0.0 : push.weight - 1.0;
    vec3 next;
    if (free) {
        // On an arc about the attachment point: a chord would lengthen s at every step.
        past += radial * (s_length - length(s - past) - dot(past, radial));
        vec3 total = step + (step + past) * momentum;
        float along = dot(total, radial);
        vec3 turned = s + total - radial * along;
        next = anchor.xyz + turned * ((s_length + along) / length(turned));
    } else {
        next = x + step + (step + past) * momentum;
    }
    next_iterates[to + i] = vec4(next, 0.0);
    measure = max(measure, (push.flags & SPRING_FORCE) != 0 ? length(force) : distance(next, x));
    work += dot(force, next - x);
}

void main() {
    for (uint n = 0; n < SPAN; ++n) {
        uint i = span_element(n);
        if (i < push.count) {
            iterate(i);
        }
    }
    if ((push.flags & SPRING_WORK) != 0) {
        float sum = subgroupAdd(work);
        if (subgroupElect()) {
            works[gl_WorkGroupID.x * SPRING_SUBGROUPS + gl_SubgroupID] = sum;
        }
    } else if ((push.flags & SPRING_LARGEST) != 0) {
        float most = subgroupMax(measure);
        if (subgroupElect()) {
            atomicMax(largest[push.iteration], floatBitsToUint(most));
        }
    }
    if (gl_GlobalInvocationID.x == 0) {
        state.executed = push.iteration + 1;
    }
}
