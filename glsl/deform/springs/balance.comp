// Computes the joints' factors, in one group. The part of the mesh's volume loss that the joints' prisms do not
// explain is distributed over the joints by how much their tissue deforms.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

// Per joint: lost volume, its derivative, amount of deformation, derivative with lower bound.
layout(set = 0, binding = 0, scalar) readonly buffer Sums { vec4 joints[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Parts { float parts[]; };
layout(set = 0, binding = 2, scalar) writeonly buffer Factors { float factors[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Zero if the volume of the whole mesh is not preserved.
    uint part_count;
    float share;
    float limit;
    // Changes of the whole volume below this are ignored.
    float dead;
} push;

shared vec3 sums[GROUP_SIZE];

float own(vec4 joint) {
    return joint.w > 0.0 ? clamp(push.share * joint.x / joint.w, -push.limit, push.limit) : 0.0;
}

void main() {
    uint t = gl_LocalInvocationID.x;
    vec3 sum = vec3(0.0);
    for (uint k = t; k < push.part_count; k += GROUP_SIZE) {
        sum.x += parts[k];
    }
    for (uint k = t; k < push.count; k += GROUP_SIZE) {
        vec4 joint = joints[k];
        sum.yz += vec2(joint.y * own(joint), joint.w * joint.z);
    }
    sums[t] = sum;
    for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (t < half_size) {
            sums[t] += sums[t + half_size];
        }
    }
    barrier();
    vec3 all = sums[0];
    float rest = push.part_count > 0 ? push.share * (all.x - clamp(all.x, -push.dead, push.dead)) - all.y : 0.0;
    float more = all.z > 0.0 ? rest / all.z : 0.0;
    for (uint k = t; k < push.count; k += GROUP_SIZE) {
        vec4 joint = joints[k];
        factors[k] = clamp(own(joint) + more * joint.z, -push.limit, push.limit);
    }
}
