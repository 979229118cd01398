// Marks the texels of a G-buffer that lie on silhouettes, in all views (thesis 7.3).
#version 460
#include "types/view.glsl"
#include "render/edge.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, rgba8) writeonly uniform image2DArray mask;

layout(push_constant, scalar) uniform Push {
    // Size of the G-buffer, texels.
    uvec2 size;
    uint filter_over;
    float threshold;
} push;

void main() {
    ivec3 here = ivec3(gl_GlobalInvocationID);
    if (here.x >= int(push.size.x) || here.y >= int(push.size.y)) {
        return;
    }
    View view = views[here.z];
    float footprint = length(view.ray_right) / float(push.size.x);
    float strength = edge_strength(here, ivec2(push.size), view.eye, footprint, push.filter_over);
    imageStore(mask, here, vec4(strength > push.threshold ? 1.0 : 0.0));
}
