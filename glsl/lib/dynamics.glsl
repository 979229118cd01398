// The dynamics of a vertex; the CPU reference is src/deform/springs/dynamics/cpu.rs.

struct VertexMotion {
    vec4 position;
    vec4 velocity;
    // The equilibrium in the previous frame.
    vec4 target;
};

// The user's settings, and the time between two frames in seconds, divided into steps.
struct DynamicsSettings {
    float omega;
    float damping;
    float seconds;
    uint steps;
};

// Advances a vertex to a frame with the equilibrium `target`, by semi-implicit Euler. `haste` is the frequency
// relative to that of the thickest tissue, `reach` the maximum displacement.
VertexMotion advance(VertexMotion me, vec3 target, float haste, float reach, DynamicsSettings settings) {
    vec3 away = me.position.xyz - me.target.xyz;
    vec3 velocity = me.velocity.xyz;
    if (settings.steps > 0) {
        float h = settings.seconds / float(settings.steps);
        float omega = min(settings.omega * haste, 1.0 / h);
        vec3 carried = (target - me.target.xyz) / settings.seconds;
        vec3 speed = velocity - carried;
        float pull = h * omega * omega;
        float brake = 1.0 / (1.0 + 2.0 * settings.damping * omega * h);
        for (uint k = 0; k < settings.steps; ++k) {
            speed = (speed - away * pull) * brake;
            away += speed * h;
        }
        float span = length(away);
        if (span > reach) {
            vec3 along = away / span;
            away = along * reach;
            speed -= along * max(dot(speed, along), 0.0);
        }
        velocity = speed + carried;
    }
    return VertexMotion(vec4(target + away, 1.0), vec4(velocity, 0.0), vec4(target, 1.0));
}
