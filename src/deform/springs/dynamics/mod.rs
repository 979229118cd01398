//! Dynamics: soft tissue that lags behind a motion, overshoots and comes to rest (thesis 4.2; docs/internals.md,
//! section 4).
//!
//! The equilibrium of every frame is the target of the dynamics. Each vertex is a mass on a damped spring to its own
//! target. `d` is the displacement from the equilibrium `X`, which moves linearly between two frames. The equation
//!
//! `d'' = -ω² d - 2 ζ ω d' - X''`
//!
//! is integrated by semi-implicit Euler (damping implicit) in sub-steps that divide a frame evenly:
//! `w <- (w - h ω² d) / (1 + 2 ζ ω h)`, `d <- d + h w`. The equilibrium's acceleration is the change of its velocity
//! between two frames, so steady motion causes no lag. Thicker tissue is slower: `ω` is inversely proportional to the
//! distance to the bone, and [`super::Params::dynamics`] is the frequency of the thickest tissue. Fingers therefore
//! hardly swing but bellies do, at any size of the character.
//!
//! `ω h` never exceeds one (the step is unstable beyond two), and no displacement exceeds a fraction of the distance
//! to the bone. No setting is therefore unstable, and a cut in a motion at worst causes a swing. Neighbours are
//! coupled only through their equilibria. [`crate::deform::sculpt`] has profiles for waves that travel along the
//! surface.

pub mod cpu;
pub mod gpu;

#[cfg(test)]
mod tests;

use super::bind::Binding;

/// Longest sub-step, seconds.
pub const STEP: f64 = 1.0 / 480.0;
/// Maximum displacement relative to the distance to the bone.
pub const REACH: f32 = 0.5;

/// Dynamics constants of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Frequency relative to the frequency of the thickest tissue, >= 1; zero for a vertex without dynamics.
    pub haste: f32,
    /// Maximum displacement, metres.
    pub reach: f32,
}

/// Number of sub-steps in an interval.
fn steps(seconds: f64) -> u32 {
    // Times of frames at a fixed rate are slightly early or late.
    (seconds / STEP - 1e-6).ceil().max(0.0) as u32
}

/// Computes the constants from the bind pose. The reference thickness is the 95th percentile of bone distances.
pub fn rest(binding: &Binding) -> Vec<Rest> {
    let swings = |v: usize| binding.degree(v) > 0 && binding.vertices[v].radius > binding.on_bone;
    let mut radii: Vec<f32> =
        (0..binding.vertices.len()).filter(|&v| swings(v)).map(|v| binding.vertices[v].radius).collect();
    if radii.is_empty() {
        return vec![Rest { haste: 0.0, reach: 0.0 }; binding.vertices.len()];
    }
    let at = (radii.len() * 19 / 20).min(radii.len() - 1);
    let (_, thick, _) = radii.select_nth_unstable_by(at, f32::total_cmp);
    let thick = *thick;
    let one = |v: usize| {
        let radius = binding.vertices[v].radius;
        let haste = if swings(v) { (thick / radius).max(1.0) } else { 0.0 };
        Rest { haste, reach: if swings(v) { REACH * radius } else { 0.0 } }
    };
    (0..binding.vertices.len()).map(one).collect()
}
