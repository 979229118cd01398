// Shows a panel's picture where nothing stands before it.
#version 460
#extension GL_EXT_multiview : require
#extension GL_EXT_scalar_block_layout : require

layout(set = 0, binding = 1) uniform sampler2DArray depth;
layout(set = 1, binding = 0) uniform sampler2DArray panel;

layout(push_constant, scalar) uniform Push {
    vec3 corner;
    vec3 right;
    vec3 down;
    float hidden;
    uint samples;
} push;

layout(location = 0) in vec2 in_uv;
layout(location = 0) out vec4 out_color;

void main() {
    // The panel's picture has no mips: small print far away is the mean of as many taps as the pixel covers texels.
    vec2 size = vec2(textureSize(panel, 0).xy);
    vec2 dx = dFdx(in_uv), dy = dFdy(in_uv);
    float across = max(length(dx * size), length(dy * size));
    int taps = clamp(int(ceil(across)), 1, 8);
    vec4 c = vec4(0.0);
    for (int i = 0; i < taps; i++) {
        for (int k = 0; k < taps; k++) {
            vec2 t = (vec2(i, k) + 0.5) / float(taps) - 0.5;
            c += textureLod(panel, vec3(in_uv + dx * t.x + dy * t.y, 0.0), 0.0);
        }
    }
    c /= float(taps * taps);
    // Reversed depth: what is nearer is greater.
    float seen = 0.0;
    ivec2 first = ivec2(gl_FragCoord.xy) * int(push.samples);
    for (uint i = 0u; i < push.samples * push.samples; i++) {
        ivec2 at = first + ivec2(i % push.samples, i / push.samples);
        float surface = texelFetch(depth, ivec3(at, gl_ViewIndex), 0).r;
        seen += surface > gl_FragCoord.z * 1.0005 ? push.hidden : 1.0;
    }
    seen /= float(push.samples * push.samples);
    if (c.a * seen <= 0.0) {
        discard;
    }
    // Premultiplied picture, straight blending.
    out_color = vec4(c.rgb / c.a, c.a * seen);
}
