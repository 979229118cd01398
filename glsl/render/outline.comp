// Draws a line of constant width around the marks of a mask over the picture, in all views. The line around visible marks may
// cover hidden marks. Pixels with a visible mark stay as they are.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 0) uniform sampler2DArray mask;
layout(set = 0, binding = 1, rgba8) uniform image2DArray picture;

layout(push_constant, scalar) uniform Push {
    vec4 color;
    // Size of the picture, pixels.
    uvec2 size;
    // Width of the line, pixels, at most MOST.
    float width;
} push;

const int TILE = 16;
const int MOST = 8;
const int SIDE = TILE + 2 * MOST;
// Visible marks are above, hidden marks below.
const float VISIBLE = 0.7;

// The marks of the tile and of a border as wide as the line.
shared float marks[SIDE * SIDE];
shared uint any;

void main() {
    int reach = min(int(ceil(push.width)), MOST);
    int side = TILE + 2 * reach;
    ivec2 corner = ivec2(gl_WorkGroupID.xy) * TILE - reach;
    if (gl_LocalInvocationIndex == 0u) {
        any = 0u;
    }
    barrier();
    for (int i = int(gl_LocalInvocationIndex); i < side * side; i += TILE * TILE) {
        ivec2 texel = corner + ivec2(i % side, i / side);
        bool inside = all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, ivec2(push.size)));
        marks[i] = inside ? texelFetch(mask, ivec3(texel, gl_WorkGroupID.z), 0).r : 0.0;
        if (marks[i] > 0.0) {
            any = 1u;
        }
    }
    barrier();
    ivec3 here = ivec3(gl_GlobalInvocationID);
    ivec2 at = ivec2(gl_LocalInvocationID.xy) + reach;
    float own = marks[at.y * side + at.x];
    if (any == 0u || here.x >= int(push.size.x) || here.y >= int(push.size.y) || own > VISIBLE) {
        return;
    }
    float strength = 0.0;
    for (int y = -reach; y <= reach; y++) {
        for (int x = -reach; x <= reach; x++) {
            float mark = marks[(at.y + y) * side + at.x + x];
            // The line begins at the border of the marked pixel, half a pixel from its centre.
            float covered = clamp(push.width + 1.0 - length(vec2(x, y)), 0.0, 1.0);
            strength = max(strength, mark > VISIBLE || own == 0.0 ? mark * covered : 0.0);
        }
    }
    strength *= push.color.a;
    if (strength > 1e-3) {
        vec4 below = imageLoad(picture, here);
        imageStore(picture, here, vec4(mix(below.rgb, push.color.rgb, strength), max(below.a, strength)));
    }
}
