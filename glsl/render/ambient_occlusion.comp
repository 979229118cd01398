// Computes the share of ambient light that reaches the surface at every texel of a G-buffer, in all views.
#version 460
#include "types/view.glsl"
#include "lib/ambient_occlusion.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, scalar) readonly buffer Views { View views[]; };
layout(set = 0, binding = 1, rgba8) writeonly uniform image2DArray open;
layout(set = 0, binding = 2) uniform sampler2DArray position;
layout(set = 0, binding = 3) uniform sampler2DArray normal;

layout(push_constant, scalar) uniform Push {
    // Size of the G-buffer, texels.
    uvec2 size;
    // Distance from which a surface takes ambient light, metres.
    float radius;
} push;

void main() {
    ivec3 here = ivec3(gl_GlobalInvocationID);
    ivec2 size = ivec2(push.size);
    if (any(greaterThanEqual(here.xy, size))) {
        return;
    }
    vec4 p = texelFetch(position, here, 0);
    float sum = 0.0;
    if (p.w > 0.5) {
        vec3 n = normalize(texelFetch(normal, here, 0).xyz);
        mat4 clip_from_world = views[here.z].clip_from_world;
        for (uint i = 0u; i < OCCLUSION_SAMPLES; i++) {
            vec3 offset = occlusion_offset(i);
            vec4 clip = clip_from_world * vec4(p.xyz + push.radius * (offset - n * dot(offset, n)), 1.0);
            vec2 uv = vec2(0.5, -0.5) * clip.xy / max(clip.w, 1e-9) + 0.5;
            ivec2 texel = ivec2(floor(uv * vec2(size)));
            bool seen = clip.w > 0.0 && all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, size));
            vec4 q = texelFetch(position, ivec3(clamp(texel, ivec2(0), size - 1), here.z), 0);
            sum += seen && q.w > 0.5 ? occluded_by((q.xyz - p.xyz) / push.radius, n) : 0.0;
        }
    }
    imageStore(open, here, vec4(open_share(sum)));
}
