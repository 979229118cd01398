// Runs one iteration of the springs (thesis, Algorithm 1): one invocation per control vertex. Reads one half of
// `iterates` and writes the other half. Neighbour data is in texel buffers, which software devices read far faster
// than storage buffers.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "types/springs.glsl"
#include "lib/angle.glsl"
#include "lib/span.glsl"
#include "lib/springs.glsl"

layout(local_size_x = GROUP_SIZE) in;

// Per half-edge: neighbour in the low 24 bits and coherence in steps of 1/255 above; bits of the rest length.
layout(set = 0, binding = 0) uniform usamplerBuffer edges;
layout(set = 0, binding = 1) uniform samplerBuffer anchors;
layout(set = 0, binding = 2) uniform samplerBuffer posed;
layout(set = 0, binding = 3) uniform samplerBuffer iterates;
layout(set = 0, binding = 4, scalar) writeonly buffer Next { vec4 next_iterates[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Loads { vec4 loads[]; };
// Force and density per vertex; on a coarse level first the mean force density of the finer level.
layout(set = 0, binding = 6, scalar) buffer Residuals { vec4 residuals[]; };
// largest[k]: bits of the largest movement or force of iteration k; positive floats order like their bits.
layout(set = 0, binding = 7, scalar) buffer State { SpringState state; uint largest[]; };
// The work of the spring forces, one sum per subgroup (SPRING_SUBGROUPS sums per group).
layout(set = 0, binding = 8, scalar) writeonly buffer Works { float works[]; };
layout(set = 0, binding = 9) uniform usamplerBuffer gains;

layout(push_constant, scalar) uniform Push {
    uint count;
    uint iteration;
    // Index of the half that is read.
    uint half_read;
    uint flags;
    float weight;
    float surface;
    float length_gain;
    float torsion;
    float thesis_unit;
    float omega;
} push;

vec4 pose_of(uint i, int k) {
    return texelFetch(posed, int(i) * POSE_TEXELS + k);
}

vec3 position_of(uint half_at, uint i) {
    return texelFetch(iterates, int(half_at + i)).xyz;
}

SpringVertex load_vertex(uint i, uint half_at) {
    vec4 anchor = texelFetch(anchors, int(i));
    vec4 hold = pose_of(i, 0);
    vec4 axis = pose_of(i, 1);
    vec4 rest_turn = pose_of(i, 2);
    vec4 load = pose_of(i, 3);
    vec4 more = uintBitsToFloat(texelFetch(gains, int(i) * GAIN_TEXELS + 1));
    SpringVertex me;
    me.x = position_of(half_at, i);
    me.attachment = anchor.xyz;
    me.radius = anchor.w;
    me.hold = hold.xyz;
    me.bone_direction = axis.xyz;
    me.rest_phi = rest_turn.w;
    me.rest_turn = rest_turn.xyz;
    me.stiffness = vec3(axis.w, hold.w, load.w);
    me.pull = more.y;
    me.load = load.xyz;
    me.sense = more.x;
    me.steps = more.zw;
    return me;
}

SpringSums load_sums(SpringVertex me, uint edge_range, uint half_at) {
    SpringSums sums = SpringSums(vec3(0.0), vec3(0.0), vec3(0.0), 0.0);
    uint first = edge_range & 0xffffffu;
    uint end = first + (edge_range >> 24);
    for (uint e = first; e < end; ++e) {
        uvec2 edge = texelFetch(edges, int(e)).xy;
        uint j = edge.x & 0xffffffu;
        float coherence = float(edge.x >> 24) * (1.0 / 255.0);
        add_neighbor(sums, me, position_of(half_at, j), texelFetch(anchors, int(j)), uintBitsToFloat(edge.y), coherence);
    }
    return sums;
}

float measure = 0.0;
float work = 0.0;

void iterate(uint i) {
    uint from = push.half_read * push.count;
    uint to = push.count - from;
    uvec2 last = texelFetch(gains, int(i) * GAIN_TEXELS + 2).xy;
    SpringVertex me = load_vertex(i, from);
    SpringSums sums = load_sums(me, last.x, from);
    UserGains user = UserGains(push.surface, push.length_gain, push.torsion, push.thesis_unit, push.omega);
    vec3 force = spring_force(me, sums, user);
    float density = uintBitsToFloat(last.y);
    if ((push.flags & SPRING_TAKE) != 0) {
        // The restricted force of the finer level replaces the force here. The load is changed by the difference, so
        // that both levels have the same equilibrium.
        vec3 wanted = residuals[i].xyz * density;
        loads[i * POSE_TEXELS + 3] = vec4(me.load + wanted - force, me.stiffness.z);
        force = wanted;
    }
    if ((push.flags & SPRING_KEEP) != 0) {
        residuals[i] = vec4(force, density);
    }
    vec3 step = plain_step(me, force, float(last.x >> 24), user);
    vec3 next = advance(me, position_of(to, i), step, push.weight);
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
