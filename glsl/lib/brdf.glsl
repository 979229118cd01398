// The metallic-roughness BRDF of glTF 2.0, appendix B: GGX with height-correlated Smith masking (Heitz 2014) and
// Schlick's Fresnel term.

const float PI = 3.14159265358979;

struct Surface {
    vec3 diffuse;
    vec3 f0;
    float roughness;
};

Surface surface_of(vec3 albedo, float metallic, float roughness) {
    return Surface(albedo * (1.0 - metallic), mix(vec3(0.04), albedo, metallic), clamp(roughness, 0.06, 1.0));
}

vec3 fresnel(vec3 f0, float cosine) {
    return f0 + (1.0 - f0) * pow(1.0 - cosine, 5.0);
}

// Returns the reflected radiance for a light of unit irradiance from direction l, including the cosine factor.
vec3 reflect_light(Surface s, vec3 n, vec3 v, vec3 l) {
    float nl = dot(n, l);
    if (nl <= 0.0) {
        return vec3(0.0);
    }
    vec3 h = normalize(v + l);
    float nv = max(dot(n, v), 1e-3), nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0);
    float a = s.roughness * s.roughness, a2 = a * a;
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float distribution = a2 / (PI * d * d);
    float masking = 0.5 / (nl * sqrt(nv * nv * (1.0 - a2) + a2) + nv * sqrt(nl * nl * (1.0 - a2) + a2));
    vec3 f = fresnel(s.f0, vh);
    return ((1.0 - f) * s.diffuse + f * (distribution * masking * PI)) * nl;
}

// Returns the scale of ambient specular light: the split-sum integral in Karis's closed form (2014).
vec3 ambient_specular(Surface s, float nv) {
    vec4 r = s.roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a004 = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    vec2 ab = vec2(-1.04, 1.04) * a004 + r.zw;
    return s.f0 * ab.x + ab.y;
}
