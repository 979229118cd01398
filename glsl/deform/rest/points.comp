// Moves points that are linear in the rest positions, such as centres of rotation, into a rest shape that a cage has
// changed (Corda et al. 2020, equation 14). One invocation per point.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Coordinates { float coordinates[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Cage { vec4 cage[]; };
layout(set = 0, binding = 2, scalar) readonly buffer BasePoints { vec4 base_points[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer Points { vec4 points[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Number of vertices of the cage.
    uint cage;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 offset = vec3(0.0);
    for (uint k = 0u; k < push.cage; ++k) {
        offset += coordinates[k * push.count + i] * cage[k].xyz;
    }
    points[i] = vec4(base_points[i].xyz + offset, 0.0);
}
