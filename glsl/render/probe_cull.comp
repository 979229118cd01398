// Lists the triangles visible in a probe's small views. Nearly all the cost of a 16 x 16 image is vertex work, so
// triangles outside the views are culled one by one before drawing.
#version 460
#include "types/view.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Triangles { uvec3 triangles[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer Visible { uint visible[]; };
// A VkDrawIndirectCommand; its vertex count grows by three per triangle.
layout(set = 0, binding = 4, scalar) buffer Draw { uint draw[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint views;
} push;

// Returns one bit per plane that the point lies outside of: four sides and the near plane (z > w).
uint outside(vec4 c) {
    return (c.x < -c.w ? 1u : 0u) | (c.x > c.w ? 2u : 0u) | (c.y < -c.w ? 4u : 0u) | (c.y > c.w ? 8u : 0u)
        | (c.z > c.w ? 16u : 0u);
}

void main() {
    uint t = gl_GlobalInvocationID.x;
    if (t >= push.count) {
        return;
    }
    uvec3 corners = triangles[t];
    vec4 a = vec4(positions[corners.x].xyz, 1.0);
    vec4 b = vec4(positions[corners.y].xyz, 1.0);
    vec4 c = vec4(positions[corners.z].xyz, 1.0);
    bool seen = false;
    for (uint i = 0u; i < push.views; i++) {
        mat4 m = views[i].clip_from_world;
        // If all corners lie outside the same plane, the triangle is outside too.
        seen = seen || (outside(m * a) & outside(m * b) & outside(m * c)) == 0u;
    }
    if (seen) {
        visible[atomicAdd(draw[0], 3u) / 3u] = t;
    }
}
