// Stiffness and step lengths of a vertex; the CPU reference is src/deform/springs/cpu.rs (needs types/springs.glsl).

// The user's settings that do not change between frames.
struct StiffnessSettings {
    float surface;
    float length_gain;
    float torsion;
    float bone;
    float hold;
    float girth;
    float bend_reach;
    float hold_reach;
    float girth_reach;
    float largest_step;
    float omega;
    float on_bone;
    float resolved;
    // Whether stiffnesses are constants and directions from the bone always count (src/deform/springs/thesis).
    uint plain;
};

// Returns the stiffness per unit at which a difference fades over `reach` metres: deg/4 (l/reach)^2.
float fading(float mean_length, float grain, float degree, float reach) {
    float ratio = grain > 0.0 ? mean_length / max(reach, grain) : 0.0;
    return degree * 0.25 * ratio * ratio;
}

float step_of(float bound, float largest_step, float omega) {
    return bound > 0.0 ? min(largest_step, omega / bound) : 0.0;
}

// Returns the gains of a vertex from its rest measures.
SpringGains stiffen(SpringMeasure v, StiffnessSettings user) {
    float degree = float(v.first_and_degree >> 24);
    bool free = v.radius > user.on_bone;
    SpringGains g;
    g.bone_stiffness = free && v.has_bone != 0u
        ? user.bone * fading(v.mean_length, v.grain, degree, user.bend_reach * v.radius) : 0.0;
    g.hold_stiffness =
        free ? user.hold * fading(v.mean_length, v.grain, degree, user.hold_reach * v.radius) : 0.0;
    g.girth_stiffness =
        free ? user.girth * fading(v.mean_length, v.grain, degree, user.girth_reach * v.radius) : 0.0;
    g.phi = v.phi;
    float blind = max(v.mean_length, user.resolved * v.grain);
    float ratio = free && blind > 0.0 ? min(v.radius / blind, 1.0) : 0.0;
    g.sense = ratio * ratio;
    g.pull = user.hold * degree * (1.0 - g.sense);
    if (user.plain != 0u) {
        g.bone_stiffness = free && v.has_bone != 0u ? user.bone : 0.0;
        g.hold_stiffness = 0.0;
        g.girth_stiffness = 0.0;
        g.sense = free ? 1.0 : 0.0;
        g.pull = 0.0;
    }
    float across = EDGE_BOUND * degree * (user.surface + user.torsion) + (g.bone_stiffness + g.hold_stiffness) + g.pull;
    float along = EDGE_BOUND * (degree * (user.surface + user.length_gain) + v.loose * user.torsion)
        + g.girth_stiffness + g.pull;
    // Near the bone a vertex has no direction, so steps across and along it are equal.
    float blunt = max(across, along);
    g.step_across = step_of(g.sense < 1.0 ? blunt : across, user.largest_step, user.omega);
    g.step_along = step_of(g.sense < 1.0 ? blunt : along, user.largest_step, user.omega);
    g.first_and_degree = v.first_and_degree;
    g.density = degree * 0.25 * v.mean_length * v.mean_length;
    g.unused = uvec2(0u);
    return g;
}
