// Computes face normals with a length of twice the face area.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer DisplayPositions { vec4 display_positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Triangles { uvec3 triangles[]; };
layout(set = 0, binding = 2, scalar) writeonly buffer Crosses { vec4 crosses[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void main() {
    uint f = gl_GlobalInvocationID.x;
    if (f < push.count) {
        uvec3 t = triangles[f];
        vec3 a = display_positions[t.x].xyz;
        vec3 n = cross(display_positions[t.y].xyz - a, display_positions[t.z].xyz - a);
        crosses[f] = vec4(n, 0.0);
    }
}
