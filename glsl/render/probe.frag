// Writes the G-buffer targets that queries read.
#version 460

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) flat in uvec2 in_ids;

layout(location = 0) out vec4 out_position;
layout(location = 1) out vec4 out_normal;
layout(location = 2) out uvec2 out_ids;

void main() {
    bool both_sides = (in_ids.y & 0x80000000u) != 0u;
    if (!gl_FrontFacing && !both_sides) {
        discard;
    }
    float l = dot(in_normal, in_normal);
    vec3 n = l > 1e-12 ? in_normal * inversesqrt(l) : vec3(0.0, 1.0, 0.0);
    out_position = vec4(in_position, 1.0);
    out_normal = vec4(gl_FrontFacing ? n : -n, 0.0);
    out_ids = uvec2(in_ids.x, in_ids.y & 0x7fffffffu);
}
