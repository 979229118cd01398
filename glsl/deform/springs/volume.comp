// What each joint's prisms say of its flesh's volume: one group per joint.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Offsets { uint offsets[]; };
// Two per triangle and joint: its vertices and bits of its share; bits of weight and rest volume.
layout(set = 0, binding = 1) uniform usamplerBuffer entries;
// Per joint: changes of volume that are none, and the least that it answers.
layout(set = 0, binding = 2, scalar) readonly buffer Bounds { vec2 bounds[]; };
layout(set = 0, binding = 3) uniform samplerBuffer positions;
layout(set = 0, binding = 4) uniform samplerBuffer anchors;
layout(set = 0, binding = 5, scalar) writeonly buffer Sums { vec4 joints[]; };
layout(set = 0, binding = 6, scalar) readonly buffer Responses { float responses[]; };

layout(push_constant, scalar) uniform Push {
    // A joint deforms by what its prisms change beyond this share.
    float idle;
} push;

shared vec4 sums[GROUP_SIZE];

void main() {
    uint joint = gl_WorkGroupID.x;
    uint t = gl_LocalInvocationID.x;
    vec4 sum = vec4(0.0);
    uint end = offsets[joint + 1];
    for (uint e = offsets[joint] + t; e < end; e += GROUP_SIZE) {
        uvec4 entry = texelFetch(entries, int(2 * e));
        vec2 more = uintBitsToFloat(texelFetch(entries, int(2 * e + 1)).xy);
        vec3 a0 = texelFetch(anchors, int(entry.x)).xyz;
        vec3 a1 = texelFetch(anchors, int(entry.y)).xyz;
        vec3 a2 = texelFetch(anchors, int(entry.z)).xyz;
        vec3 s0 = texelFetch(positions, int(entry.x)).xyz - a0;
        vec3 s1 = texelFetch(positions, int(entry.y)).xyz - a1;
        vec3 s2 = texelFetch(positions, int(entry.z)).xyz - a2;
        vec3 height = (s0 + s1 + s2) * (1.0 / 3.0);
        vec3 b1 = a1 - a0;
        vec3 b2 = a2 - a0;
        vec3 r1 = s1 - s0;
        vec3 r2 = s2 - s0;
        vec3 t1 = b1 + r1;
        vec3 t2 = b2 + r2;
        vec3 area = (cross(b1, b2) + cross(t1, t2)) * (1.0 / 3.0) + (cross(b1, t2) + cross(t1, b2)) * (1.0 / 6.0);
        vec3 growth = (cross(r1, t2) + cross(t1, r2)) * (1.0 / 3.0) + (cross(b1, r2) + cross(r1, b2)) * (1.0 / 6.0);
        float volume = 0.5 * dot(height, area);
        float grown = (volume + 0.5 * dot(height, growth))
            * ((responses[entry.x] + responses[entry.y] + responses[entry.z]) * (1.0 / 3.0));
        float own = uintBitsToFloat(entry.w);
        float lost = own * (more.y - volume);
        sum += vec4(lost, more.x * grown, abs(lost), own * abs(more.y));
    }
    sums[t] = sum;
    for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (t < half_size) {
            sums[t] += sums[t + half_size];
        }
    }
    if (t == 0) {
        float dead = bounds[joint].x;
        float lost = sums[0].x - clamp(sums[0].x, -dead, dead);
        float moving = sums[0].z > dead ? clamp(sums[0].z / sums[0].w - push.idle, 0.0, 1.0) : 0.0;
        joints[joint] = vec4(lost, sums[0].y, moving, max(sums[0].y, bounds[joint].y));
    }
}
