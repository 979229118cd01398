// Copies the control positions to the display vertices, for a character without active morph targets.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) readonly buffer Positions { vec4 positions[]; };
layout(set = 0, binding = 1, scalar) readonly buffer ControlOf { uint control_of[]; };
layout(set = 0, binding = 2, scalar) writeonly buffer DisplayPositions { vec4 display_positions[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
} push;

void main() {
    uint d = gl_GlobalInvocationID.x;
    if (d < push.count) {
        display_positions[d] = positions[control_of[d]];
    }
}
