// Colours display vertices by the strain of the skin: per control vertex, the largest relative change of the length of its
// edges. The CPU computes the same strain in src/geom/distortion.rs.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer BindPositions { vec4 bind_positions[]; };
layout(set = 0, binding = 2, scalar) readonly buffer ControlOf { uint control_of[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Offsets { uint offsets[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Neighbors { uint neighbors[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Colors { uint colors[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    // Factor by which most joints scale the bind shape.
    float scale;
    // Strain of the last colour.
    float hot;
    // Opacity of the colours over the skin's own colour.
    float opacity;
} push;

// Linear colours of no strain, of half of `hot`, and of `hot`.
const vec3 COLD = vec3(0.35, 0.38, 0.42);
const vec3 WARM = vec3(0.9, 0.6, 0.02);
const vec3 HOT = vec3(0.7, 0.01, 0.01);

void main() {
    uint d = gl_GlobalInvocationID.x;
    if (d >= push.count) {
        return;
    }
    uint v = control_of[d];
    vec3 x = positions[v].xyz;
    vec3 rest = bind_positions[v].xyz;
    float strain = 0.0;
    for (uint k = offsets[v]; k < offsets[v + 1u]; ++k) {
        uint n = neighbors[k];
        float length_at_rest = push.scale * distance(rest, bind_positions[n].xyz);
        if (length_at_rest > 0.0) {
            strain = max(strain, abs(distance(x, positions[n].xyz) / length_at_rest - 1.0));
        }
    }
    float t = clamp(strain / push.hot, 0.0, 1.0);
    vec3 color = t < 0.5 ? mix(COLD, WARM, 2.0 * t) : mix(WARM, HOT, 2.0 * t - 1.0);
    colors[d] = packUnorm4x8(vec4(color, push.opacity));
}
