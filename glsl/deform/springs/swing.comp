// Dynamics: moves every vertex from the last frame to this one, whose equilibrium is in the position stream, by
// semi-implicit Euler (src/deform/springs/swing). One invocation per vertex.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = GROUP_SIZE) in;

// How many times faster than the thickest flesh, zero where it does not swing; longest displacement.
layout(set = 0, binding = 0, scalar) readonly buffer Rests { vec2 rests[]; };
struct Swing {
    vec4 position;
    vec4 velocity;
    // The equilibrium in the last frame.
    vec4 target;
};
layout(set = 0, binding = 1, scalar) buffer Swings { Swing swings[]; };
layout(set = 0, binding = 2, scalar) buffer Positions { vec4 positions[]; };

layout(push_constant, scalar) uniform Push {
    uint count;
    uint start;
    uint steps;
    float seconds;
    float omega;
    float damping;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    vec3 target = positions[i].xyz;
    vec2 rest = rests[i];
    if (push.start != 0 || rest.x == 0.0) {
        swings[i] = Swing(vec4(target, 1.0), vec4(0.0), vec4(target, 1.0));
        return;
    }
    Swing me = swings[i];
    vec3 away = me.position.xyz - me.target.xyz;
    vec3 velocity = me.velocity.xyz;
    if (push.steps > 0) {
        float h = push.seconds / float(push.steps);
        float omega = min(push.omega * rest.x, 1.0 / h);
        vec3 carried = (target - me.target.xyz) / push.seconds;
        vec3 speed = velocity - carried;
        float pull = h * omega * omega;
        float brake = 1.0 / (1.0 + 2.0 * push.damping * omega * h);
        for (uint k = 0; k < push.steps; ++k) {
            speed = (speed - away * pull) * brake;
            away += speed * h;
        }
        float span = length(away);
        if (span > rest.y) {
            vec3 along = away / span;
            away = along * rest.y;
            speed -= along * max(dot(speed, along), 0.0);
        }
        velocity = speed + carried;
    }
    vec3 x = target + away;
    swings[i] = Swing(vec4(x, 1.0), vec4(velocity, 0.0), vec4(target, 1.0));
    positions[i] = vec4(x, 1.0);
}
