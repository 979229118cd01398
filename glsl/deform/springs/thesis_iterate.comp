// Runs one iteration of the springs of the thesis (Algorithm 1): one invocation per control vertex. Reads one half of
// `iterates` and writes the other half.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "types/springs.glsl"
#include "lib/angle.glsl"
#include "lib/quaternion.glsl"
#include "lib/span.glsl"
#include "lib/springs_thesis.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Per half-edge: neighbour in the low 24 bits; bits of the rest length.
layout(set = 0, binding = 0) uniform usamplerBuffer edges;
layout(set = 0, binding = 1) uniform samplerBuffer anchors;
layout(set = 0, binding = 2) uniform samplerBuffer posed;
layout(set = 0, binding = 3) uniform samplerBuffer iterates;
layout(set = 0, binding = 4, scalar) writeonly buffer Next { vec4 next_iterates[]; };
layout(set = 0, binding = 5) uniform samplerBuffer rest;
layout(set = 0, binding = 6) uniform samplerBuffer turns;
// largest[k]: bits of the largest movement or force of iteration k; positive floats order like their bits.
layout(set = 0, binding = 7, scalar) buffer State { SpringState state; uint largest[]; };
// The work of the forces, one sum per subgroup (SPRING_SUBGROUPS sums per group).
layout(set = 0, binding = 8, scalar) writeonly buffer Works { float works[]; };
layout(set = 0, binding = 9) uniform usamplerBuffer gains;

layout(push_constant, scalar) uniform Push {
    uint count;
    uint iteration;
    // Index of the half that is read.
    uint half_read;
    uint flags;
    float surface;
    float length_gain;
    float torsion;
    float unit;
    float dt;
    float omega;
    float on_bone;
} push;

vec4 pose_of(uint i, int k) {
    return texelFetch(posed, int(i) * POSE_TEXELS + k);
}

vec3 position_of(uint half_at, uint i) {
    return texelFetch(iterates, int(half_at + i)).xyz;
}

vec3 rest_scale_of(uint i) {
    return texelFetch(rest, int(i) * REST_TEXELS + 1).xyz;
}

ThesisVertex load_vertex(uint i, uint half_at, uint degree) {
    vec4 anchor = texelFetch(anchors, int(i));
    vec4 axis = pose_of(i, 1);
    ThesisVertex me;
    me.x = position_of(half_at, i);
    me.attachment = anchor.xyz;
    me.radius = anchor.w;
    me.rest_scale = rest_scale_of(i);
    me.turn = texelFetch(turns, int(i));
    me.bone_direction = axis.xyz;
    me.rest_phi = pose_of(i, 2).w;
    me.bone = axis.w;
    me.hold = pose_of(i, 0).xyz;
    me.pull = uintBitsToFloat(texelFetch(gains, int(i) * GAIN_TEXELS + 1).y);
    me.load = pose_of(i, 3).xyz;
    me.degree = float(degree);
    return me;
}

ThesisSums load_sums(ThesisVertex me, uint edge_range, uint half_at) {
    ThesisSums sums = ThesisSums(vec3(0.0), vec3(0.0), 0.0);
    uint first = edge_range & 0xffffffu;
    uint end = first + (edge_range >> 24);
    for (uint e = first; e < end; ++e) {
        uvec2 edge = texelFetch(edges, int(e)).xy;
        uint j = edge.x & 0xffffffu;
        add_neighbor(sums, me, position_of(half_at, j), texelFetch(anchors, int(j)), rest_scale_of(j),
            texelFetch(turns, int(j)), uintBitsToFloat(edge.y), push.on_bone);
    }
    return sums;
}

float measure = 0.0;
float work = 0.0;

void iterate(uint i) {
    uint from = push.half_read * push.count;
    uint to = push.count - from;
    uint edge_range = texelFetch(gains, int(i) * GAIN_TEXELS + 2).x;
    ThesisVertex me = load_vertex(i, from, edge_range >> 24);
    ThesisSums sums = load_sums(me, edge_range, from);
    ThesisGains user =
        ThesisGains(push.surface, push.length_gain, push.torsion, push.unit, push.dt, push.omega, push.on_bone);
    ThesisForces forces = thesis_forces(me, sums, user);
    vec3 next = thesis_advance(me, forces, user);
    vec3 force = forces.other + forces.turning;
    next_iterates[to + i] = vec4(next, 0.0);
    measure = max(measure, (push.flags & SPRING_FORCE) != 0 ? length(force) : distance(next, me.x));
    work += dot(force, next - me.x);
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
