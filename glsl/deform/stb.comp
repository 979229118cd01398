// Stretchable, twistable bones (Jacobson & Sorkine 2011): LBS with twist and stretch distributed along each bone.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/rig.glsl"
#include "lib/quaternion.glsl"
#include "lib/skinning.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Offsets { uint offsets[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Entries { StbEntry entries[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Rests { BoneRest rests[]; };
layout(set = 0, binding = 3, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Skinning { Rows skinning[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Strains { Strain strains[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    GeometricPush push;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 x = bind_positions[i].xyz;
    vec3 sum = vec3(0.0);
    uint end = offsets[i + 1];
    for (uint k = offsets[i]; k < end; ++k) {
        StbEntry entry = entries[k];
        vec3 moved;
        if ((entry.bone & ON_JOINT) != 0u) {
            moved = rows_point(skinning[entry.bone & ~ON_JOINT], x);
        } else {
            BoneRest rest = rests[entry.bone];
            Strain strain = strains[entry.bone];
            vec3 turned = rest.head + twist_about(rest.direction, entry.end * strain.twist, x - rest.head);
            moved = rows_point(skinning[rest.joint], turned) + entry.end * strain.stretch;
        }
        sum += entry.weight * moved;
    }
    positions[i] = vec4(sum, 0.0);
}
