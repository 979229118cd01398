// Draws a tapered capsule by its distance field; parts behind the surface are faint.
#version 460
#extension GL_EXT_multiview : require
#include "types/segment.glsl"

layout(set = 0, binding = 1, scalar) readonly buffer Segments { Segment segments[]; };

layout(push_constant, scalar) uniform Push {
    vec2 size;
    // Pixels per point.
    float scale;
} push;

layout(location = 0) flat in uint in_segment;
layout(location = 1) flat in vec4 in_ends;
layout(location = 2) flat in vec2 in_depths;
layout(location = 3) flat in vec3 in_start;
layout(location = 4) flat in vec3 in_end;
layout(location = 5) flat in vec3 in_widths;
layout(location = 0) out vec4 out_color;
#include "render/occlusion.glsl"

void main() {
    Segment s = segments[in_segment];
    vec2 p = gl_FragCoord.xy, a = in_ends.xy, ab = in_ends.zw - in_ends.xy;
    float t = clamp(dot(p - a, ab) / max(dot(ab, ab), 1e-8), 0.0, 1.0);
    float outside = distance(p, a + t * ab) - 0.5 * mix(in_widths.x, in_widths.y, t);
    float fill = clamp(0.5 - outside, 0.0, 1.0);
    float cover = clamp(0.5 - (outside - s.outline * push.scale), 0.0, 1.0);
    vec4 color = mix(unpackUnorm4x8(s.color_a), unpackUnorm4x8(s.color_b), t);
    // The outline, which is the covered part that is not filled, has a darker colour of the same hue.
    color.rgb = mix(color.rgb * 0.25, color.rgb, fill / max(cover, 1e-4));
    // Reversed depth is proportional to 1 / distance, so it is linear on the screen.
    float here = mix(in_depths.x, in_depths.y, t);
    float visible = mix(1.0, s.hidden, covered_share(here * 1.002));
    out_color = vec4(color.rgb, color.a * cover * visible * in_widths.z);
    // Each pixel of a polyline belongs to a single segment, so translucent lines show no joints.
    bool mine = dot(in_start.xy, p) + in_start.z >= 0.0 && dot(in_end.xy, p) + in_end.z <= 0.0;
    if (out_color.a <= 0.0 || !mine) {
        discard;
    }
}
