// Shades clay under the lamps of a sculptor's studio by a procedural matcap: the colour depends only on the normal
// relative to the viewer (Sloan, Martin, Gooch, Gooch, The Lit Sphere, 2001).

// Returns the normal n of the surface point p in the viewer's frame: x right, y up, z towards the viewer. Near the axis
// `head_up` the frame has no direction to the right, so x and y fade to 0 there.
//
// The usual matcap takes the axes of the camera. In a headset, its highlights would roll over the skin when the head
// rolls, and each eye would see them at another place, so the eyes could not fuse them. Here both eyes take the same
// frame: it points from p to the middle between the eyes, and its y axis leans to `head_up`, which ignores the roll of
// the head.
vec3 clay_normal(vec3 n, vec3 p, vec3 head, vec3 head_up) {
    vec3 back = normalize(head - p);
    vec3 side = cross(head_up, back);
    float size = length(side);
    vec3 right = side / max(size, 1e-4);
    float upright = smoothstep(0.05, 0.35, size);
    return vec3(upright * dot(n, right), upright * dot(n, cross(back, right)), dot(n, back));
}

// Returns the cosine between m and the direction to a broad lamp, which also reaches normals slightly behind its horizon.
float wrapped(vec3 m, vec3 lamp, float wrap) {
    return max((dot(m, lamp) + wrap) / (1.0 + wrap), 0.0);
}

// Returns the light that clay of this colour reflects, for a normal in the viewer's frame. `open` is the share of the
// surroundings that reaches the point.
vec3 clay_light(vec3 m, vec3 albedo, float open) {
    const vec3 key = vec3(-0.477, 0.668, 0.572), fill = vec3(0.880, 0.052, 0.472), gloss = vec3(-0.269, 0.377, 0.886);
    float lit = wrapped(m, key, 0.2);
    vec3 light = vec3(1.0, 0.95, 0.88) * (1.25 * lit * lit);
    light += vec3(0.60, 0.74, 1.0) * (0.22 * wrapped(m, fill, 0.2));
    vec3 surroundings = mix(vec3(0.13, 0.10, 0.08), vec3(0.14, 0.16, 0.19), 0.5 + 0.5 * m.y);
    // At grazing angles, the light of the room behind the figure draws its outline.
    float graze = pow(1.0 - clamp(m.z, 0.0, 1.0), 3.0);
    vec3 c = albedo * (light * mix(0.4, 1.0, open) + surroundings * open);
    c += vec3(0.95, 0.97, 1.0) * (0.10 * graze * (0.35 + 0.65 * smoothstep(-0.6, 0.8, m.y)) * open);
    return c + vec3(1.0, 0.97, 0.93) * (0.07 * pow(max(dot(m, gloss), 0.0), 36.0));
}
