// Conversion from scene light to display values.

// Keeps colours below the shoulder exactly as authored and moves brighter colours towards white (the idea and the
// constants are those of Khronos' PBR Neutral, 2024).
vec3 tone_map(vec3 c) {
    const float start = 0.8 - 0.04, desaturation = 0.15;
    float least = min(c.r, min(c.g, c.b));
    c -= least < 0.08 ? least - 6.25 * least * least : 0.04;
    float peak = max(c.r, max(c.g, c.b));
    if (peak < start) {
        return c;
    }
    float d = 1.0 - start;
    float new_peak = 1.0 - d * d / (peak + d - start);
    c *= new_peak / peak;
    float g = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
    return mix(c, vec3(new_peak), g);
}

vec3 srgb_from_linear(vec3 c) {
    c = clamp(c, 0.0, 1.0);
    return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, greaterThan(c, vec3(0.0031308)));
}
