//! Dynamics: soft tissue that lags behind a motion, overshoots and settles (thesis 4.2; methods, section 4).
//!
//! Every frame's equilibrium is the target. Each vertex is a mass on a damped spring to its own target.
//! With the displacement `d` from the equilibrium `X`, which moves linearly from one frame to the next,
//!
//! `d'' = -ω² d - 2 ζ ω d' - X''`
//!
//! is integrated by semi-implicit Euler (damping implicit) in sub-steps that divide a frame evenly:
//! `w <- (w - h ω² d) / (1 + 2 ζ ω h)`, `d <- d + h w`. The equilibrium's acceleration is the change of its
//! velocity between two frames, so steady motion leaves no lag. Thicker tissue is slower: `ω` is inversely
//! proportional to the distance to the bone, and [`super::Params::dynamics`] is the frequency of the
//! thickest tissue. Fingers therefore keep up and bellies swing, and no threshold is in metres.
//!
//! `ω h` never exceeds one (the step is unstable beyond two), and no displacement exceeds a fraction of the distance to
//! the bone. No setting is therefore unstable, and a cut in a motion leaves no more than a swing behind. Neighbours are
//! coupled through their equilibria only: waves along the surface are profiles of [`crate::deform::sculpt`].

pub mod cpu;
pub mod gpu;

#[cfg(test)]
mod tests;

use super::bind::Binding;

/// Longest sub-step, seconds.
pub const STEP: f64 = 1.0 / 480.0;
/// A longer time between frames is a cut, seconds.
pub const CUT: f64 = 1.0;
/// Maximum displacement relative to the distance to the bone.
pub const REACH: f32 = 0.5;

/// Dynamics constants of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Frequency relative to that of the thickest tissue, >= 1; zero for a vertex without dynamics.
    pub haste: f32,
    /// Maximum displacement, metres.
    pub reach: f32,
}

/// The interval from one frame to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// There is no earlier frame: the vertex starts at rest, in equilibrium.
    Start,
    /// So many seconds, in so many sub-steps; `None` if time stands still.
    Run(f32, u32),
}

/// The times of the frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    now: Option<f64>,
    last: Option<f64>,
}

impl Clock {
    /// Sets the time of the next frame, seconds; with `None` nothing moves, and the next frame is the equilibrium.
    pub fn set(&mut self, seconds: Option<f64>) {
        self.now = seconds.filter(|t| t.is_finite());
    }

    /// The way to the frame that is now evaluated; `None` if nothing moves. `on` says whether dynamics are on.
    pub fn tick(&mut self, on: bool) -> Option<Way> {
        let now = self.now.filter(|_| on);
        let last = std::mem::replace(&mut self.last, now);
        let (now, Some(last)) = (now?, last) else { return Some(Way::Start) };
        let passed = now - last;
        if !(0.0..=CUT).contains(&passed) {
            return Some(Way::Start);
        }
        // Frames at a fixed rate come slightly early or late.
        let steps = (passed / STEP - 1e-6).ceil().max(0.0);
        Some(Way::Run(passed as f32, steps as u32))
    }
}

/// Measures the bind pose. The reference thickness is the 95th percentile of the distances to the bone.
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
