// Expands a segment to a quad that covers its tapered capsule on the screen.
#version 460
#extension GL_EXT_multiview : require
#include "types/view.glsl"
#include "types/segment.glsl"

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Segments { Segment segments[]; };

layout(push_constant, scalar) uniform Push {
    vec2 size;
    // Pixels per point.
    float scale;
} push;

layout(location = 0) flat out uint out_segment;
layout(location = 1) flat out vec4 out_ends;
layout(location = 2) flat out vec2 out_depths;
// Lines through the ends that separate this segment's pixels from its neighbours' pixels: normal and offset.
layout(location = 3) flat out vec3 out_start;
layout(location = 4) flat out vec3 out_end;
// Width at each end, pixels, and opacity.
layout(location = 5) flat out vec3 out_widths;

vec2 pixel_of(vec4 clip) {
    return (vec2(clip.x, -clip.y) / clip.w * 0.5 + 0.5) * push.size;
}

vec2 direction(vec2 from, vec2 to) {
    float l = distance(from, to);
    return l > 1e-4 ? (to - from) / l : vec2(0.0);
}

// Returns the half-plane bounded by a line through p, on the side to which `along` points.
vec3 half_plane(vec2 p, vec2 along) {
    return dot(along, along) > 1e-6 ? vec3(along, -dot(along, p)) : vec3(0.0);
}

// Returns a width in pixels. A limit in metres covers fewer pixels the farther the point is.
float width_at(mat4 m, float w, float points, float limit) {
    float width = points * push.scale;
    if (limit > 0.0) {
        float per_metre = 0.5 * push.size.y * length(vec3(m[0][1], m[1][1], m[2][1])) / max(w, 1e-6);
        width = min(width, limit * per_metre);
    }
    return width;
}

void main() {
    uint index = gl_VertexIndex / 6;
    Segment s = segments[index];
    mat4 m = views[gl_ViewIndex].clip_from_world;
    vec4 a = m * vec4(s.a, 1.0), b = m * vec4(s.b, 1.0);
    // Clips at the plane through the eye (w is the distance along the view direction).
    float near = 1e-3 * max(max(abs(a.w), abs(b.w)), 1e-6);
    out_segment = index;
    out_start = vec3(0.0);
    out_end = vec3(0.0);
    if (max(a.w, b.w) <= near) {
        out_ends = vec4(0.0);
        out_depths = vec2(0.0);
        out_widths = vec3(0.0);
        gl_Position = vec4(0.0, 0.0, -1.0, 1.0);
        return;
    }
    if (a.w < near) {
        a = mix(a, b, (near - a.w) / (b.w - a.w));
    } else if (b.w < near) {
        b = mix(b, a, (near - b.w) / (a.w - b.w));
    }
    vec2 pa = pixel_of(a), pb = pixel_of(b);
    out_ends = vec4(pa, pb);
    out_depths = vec2(a.z / a.w, b.z / b.w);
    vec2 along = direction(pa, pb);
    if ((s.joined & SEGMENT_JOINED_BEFORE) != 0u) {
        vec4 before = m * vec4(segments[index - 1].a, 1.0);
        out_start = half_plane(pa, along + (before.w > near ? direction(pixel_of(before), pa) : vec2(0.0)));
    }
    if ((s.joined & SEGMENT_JOINED_AFTER) != 0u) {
        vec4 after = m * vec4(segments[index + 1].b, 1.0);
        out_end = half_plane(pb, along + (after.w > near ? direction(pb, pixel_of(after)) : vec2(0.0)));
    }
    along = dot(along, along) > 0.0 ? along : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);
    vec2 widths = vec2(width_at(m, a.w, s.width_a, s.limit), width_at(m, b.w, s.width_b, s.limit));
    float widest = max(widths.x, widths.y);
    out_widths = vec3(widths, s.limit > 0.0 ? smoothstep(1.0, 2.0, widest) : 1.0);
    float grow = 0.5 * widest + s.outline * push.scale + 1.5;
    uint corner = uint[](0u, 1u, 2u, 2u, 1u, 3u)[gl_VertexIndex % 6];
    vec2 end = (corner & 1u) == 0u ? pa - along * grow : pb + along * grow;
    vec2 pixel = end + across * ((corner & 2u) == 0u ? -grow : grow);
    vec2 ndc = pixel / push.size * 2.0 - 1.0;
    gl_Position = vec4(ndc.x, -ndc.y, 0.5, 1.0);
}
