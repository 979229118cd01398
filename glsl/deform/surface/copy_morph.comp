// Display positions with morph targets: control position plus A d, with A the linear part of the blended transform.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"
#include "deform/influences.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 4, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 6, scalar) readonly buffer ControlOf { uint control_of[]; };
layout(set = 0, binding = 7, scalar) readonly buffer Morph { vec4 morph[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer DisplayPositions { vec4 display_positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

#define ADD(joint, weight) rows_add(sum, skinning[joint], weight);

void main() {
    uint d = gl_GlobalInvocationID.x;
    if (d >= push.count) {
        return;
    }
    uint c = control_of[d];
    vec3 x = positions[c].xyz;
    vec3 delta = morph[d].xyz;
    if (delta != vec3(0.0)) {
        Rows sum = rows_zero();
        FOR_INFLUENCES(c, push.has_tail, ADD)
        x += rows_vector(sum, delta);
    }
    display_positions[d] = vec4(x, 0.0);
}
