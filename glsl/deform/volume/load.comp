// Force at each coarser node: the finer forces. Its load: these minus its cubes' own forces at zero displacement. On the
// coarsest level also the first step.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/volume.glsl"
#include "lib/quaternion.glsl"
#include "lib/volume.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0) uniform samplerBuffer nodes;
layout(set = 0, binding = 1) uniform usamplerBuffer node_corners;
layout(set = 0, binding = 2) uniform samplerBuffer corner_forces;
layout(set = 0, binding = 3, scalar) readonly buffer Contacts { float contacts[]; };
// The finer nodes that a node moves. The upper two bits are how often the weight is halved from 1.
layout(set = 0, binding = 4) uniform usamplerBuffer restrict_shares;
// Of the finer level.
layout(set = 0, binding = 5) uniform samplerBuffer residuals;
layout(set = 0, binding = 6, scalar) writeonly buffer Loads { vec4 loads[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer Displacements { vec4 displacements[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer Moves { vec4 moves[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer OwnResiduals { vec4 own_residuals[]; };

layout(push_constant, scalar) uniform Push {
    VolumePush push;
};

#include "lib/cube_force.glsl"
#include "lib/contact_stiffness.glsl"

void load(uint n) {
    vec3 own = cube_force(n);
    vec3 from = vec3(0.0);
    for (uint k = 0; k < push.share_quads; ++k) {
        uvec4 four = texelFetch(restrict_shares, int(push.share_quads * n + k));
        uvec4 nodes = four & 0x3fffffffu;
        // The bits of 2 to the power of minus the number of halvings.
        vec4 weight = uintBitsToFloat((127u - (four >> 30)) << 23);
        for (int i = 0; i < 4; ++i) {
            from += texelFetch(residuals, int(nodes[i])).xyz * weight[i];
        }
    }
    own_residuals[n] = vec4(from, 0.0);
    loads[n] = vec4(from - own, 0.0);
    // At zero displacement the force of the load, the spring and the cubes is `from`.
    VolumeNode node = node_of(texelFetch(nodes, int(n)));
    vec3 d = from * (push.step * inverse_bound(node, push, contact_stiffness(n)));
    displacements[n] = vec4(d, 0.0);
    moves[n] = vec4(d, 0.0);
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint n = span_element(k);
        if (n < push.count) {
            load(n);
        }
    }
}
