// Vertex normals: the area-weighted mean of the faces chosen at bind, then the source normal's deviation from it.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/surface.glsl"
#include "lib/normal_frame.glsl"

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer DisplayPositions { vec4 display_positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Crosses { vec4 crosses[]; };
layout(set = 0, binding = 2, scalar) readonly buffer Ranges { uvec2 ranges[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Faces { uint faces[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Sources { SourceNormal sources[]; };
layout(set = 0, binding = 5, scalar) readonly buffer BindNormals { vec4 bind_normals[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Normals { vec4 normals[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void main() {
    uint d = gl_GlobalInvocationID.x;
    if (d >= push.count) {
        return;
    }
    uvec2 range = ranges[d];
    vec3 sum = vec3(0.0);
    for (uint k = 0u; k < range.y; ++k) {
        sum += crosses[faces[range.x + k]].xyz;
    }
    float size = length(sum);
    // Without faces, or if their normals cancel, the bind normal is used.
    vec3 n = bind_normals[d].xyz;
    if (size > 0.0) {
        n = sum / size;
        SourceNormal source = sources[d];
        if (source.toward != NONE) {
            n = source_normal(source, n, display_positions[source.toward].xyz - display_positions[d].xyz);
        }
    }
    normals[d] = vec4(n, 0.0);
}
