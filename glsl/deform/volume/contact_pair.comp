// Finds the partner of each point: the point of an opposing sheet that has passed it and lies nearest across and
// along the common normal. The result does not depend on the order in a bucket, unless a bucket holds more than MOST
// points.
#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_GOOGLE_include_directive : require

#include "types/contact.glsl"
#include "lib/span.glsl"

layout(local_size_x = GROUP_SIZE) in;

// In w: whether the point takes part.
layout(set = 0, binding = 0) uniform samplerBuffer posed_points;
layout(set = 0, binding = 1) uniform samplerBuffer posed_normals;
// Bind positions; in w the deepest pass.
layout(set = 0, binding = 2, scalar) readonly buffer Binds { vec4 binds[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Normals { vec4 normals[]; };
layout(set = 0, binding = 4, scalar) readonly buffer Heads { uint heads[]; };
layout(set = 0, binding = 5, scalar) readonly buffer Next { uint next[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Partners { uint partners[]; };
// Common normal; in w the distance to keep.
layout(set = 0, binding = 7, scalar) writeonly buffer Pairs { vec4 pairs[]; };

layout(push_constant, scalar) uniform Push {
    ContactPush push;
};

#include "lib/hash_grid.glsl"

// Points with normals that agree less than this belong to different sheets of the skin.
const float SAME_SHEET = 0.3;
// Pairs that are closer than this in the bind pose, in cubes, keep the distance they have there.
const float NEAR_AT_BIND = 4.0;
// Pairs that are closer than this in the bind pose, in cubes, are layers of one sheet. Layers that face each other are closer
// along their common normal, and at most BESIDE cubes apart across it.
const float LAYERS = 0.5;
const float BESIDE = 2.5;
// Points that are tested per bucket, so that a collapsed pose ends.
const uint MOST = 4096;

vec3 unit_or_zero(vec3 v) {
    float size = length(v);
    return size > 1e-12 ? v / size : vec3(0.0);
}

float distance_to_keep(uint i, uint j) {
    vec3 apart = binds[i].xyz - binds[j].xyz;
    vec3 own = normals[i].xyz;
    vec3 other = normals[j].xyz;
    vec3 normal = unit_or_zero(other - own);
    float gap = dot(apart, normal);
    float across = length(apart - normal * gap);
    bool facing = dot(own, other) < SAME_SHEET;
    bool layers = facing && abs(gap) < LAYERS * push.size && across < BESIDE * push.size;
    if (layers || length(apart) < LAYERS * push.size) {
        return -1e30;
    }
    return facing && length(apart) < NEAR_AT_BIND * push.size ? min(push.margin, gap) : push.margin;
}

void pair(uint i) {
    uint best = NONE;
    vec4 found = vec4(0.0);
    vec4 own = texelFetch(posed_points, int(i));
    if (own.w > 0.0) {
        float least = 1e30;
        vec3 x = own.xyz;
        vec3 n = texelFetch(posed_normals, int(i)).xyz;
        ivec3 cell = grid_cell(x);
        for (int c = 0; c < 27; ++c) {
            ivec3 there = cell + ivec3(c % 3, c / 3 % 3, c / 9) - 1;
            uint j = heads[grid_bucket(there)];
            for (uint tested = 0; j != NONE && tested < MOST; ++tested) {
                vec3 apart = x - texelFetch(posed_points, int(j)).xyz;
                if (dot(apart, apart) < push.reach * push.reach) {
                    vec3 other = texelFetch(posed_normals, int(j)).xyz;
                    vec3 normal = unit_or_zero(other - n);
                    float gap = dot(apart, normal);
                    float across = length(apart - normal * gap);
                    float score = across + 0.5 * abs(gap);
                    bool nearer = score < least || (score == least && j < best);
                    if (dot(n, other) < -0.2 && across < push.lateral && nearer) {
                        float deep = min(min(binds[i].w, binds[j].w), push.reach);
                        float keep = distance_to_keep(i, j);
                        if (gap > -deep && gap < keep + push.ahead) {
                            least = score;
                            best = j;
                            found = vec4(normal, keep);
                        }
                    }
                }
                j = next[j];
            }
        }
    }
    partners[i] = best;
    pairs[i] = found;
}

void main() {
    for (uint k = 0; k < SPAN; ++k) {
        uint i = span_element(k);
        if (i < push.count) {
            pair(i);
        }
    }
}
