// Sums up the volume change of each joint's tissue from its prisms: one group per joint.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Offsets { uint offsets[]; };
// Per triangle and joint: index of the prism, and bits of the fraction of its volume, its weight, its volume in bind.
layout(set = 0, binding = 1) uniform usamplerBuffer entries;
// Bits of each prism's volume and of its derivative with respect to a factor on the scale vectors.
layout(set = 0, binding = 2) uniform usamplerBuffer prisms;
// Per joint: ignored volume change, minimum derivative of the volume, sum of the absolute prism volumes in bind.
layout(set = 0, binding = 3, scalar) readonly buffer Bounds { vec3 bounds[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer Sums { vec4 joints[]; };

layout(push_constant, scalar) uniform Push {
    // A joint deforms only by the change of its prisms beyond this fraction.
    float idle;
} push;

shared vec3 sums[GROUP_SIZE];

void main() {
    uint joint = gl_WorkGroupID.x;
    uint t = gl_LocalInvocationID.x;
    vec3 sum = vec3(0.0);
    uint end = offsets[joint + 1];
    for (uint e = offsets[joint] + t; e < end; e += GROUP_SIZE) {
        uvec4 entry = texelFetch(entries, int(e));
        vec2 prism = uintBitsToFloat(texelFetch(prisms, int(entry.x)).xy);
        float lost = uintBitsToFloat(entry.y) * (uintBitsToFloat(entry.w) - prism.x);
        sum += vec3(lost, uintBitsToFloat(entry.z) * prism.y, abs(lost));
    }
    sums[t] = sum;
    for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (t < half_size) {
            sums[t] += sums[t + half_size];
        }
    }
    if (t == 0) {
        vec3 own = bounds[joint];
        float lost = sums[0].x - clamp(sums[0].x, -own.x, own.x);
        float moving = sums[0].z > own.x ? clamp(sums[0].z / own.z - push.idle, 0.0, 1.0) : 0.0;
        joints[joint] = vec4(lost, sums[0].y, moving, max(sums[0].y, own.y));
    }
}
