//! Dynamics: flesh that lags behind a motion, overshoots and settles (thesis 4.2; methods, section 4).
//!
//! Every frame's equilibrium is where the flesh wants to be; a vertex is a mass that a damped spring ties to its own. With
//! the displacement `d` from the equilibrium `X`, which runs straight from one frame's place to the next one's,
//!
//! `d'' = -ω² d - 2 ζ ω d' - X''`
//!
//! is integrated by semi-implicit Euler (damping implicit) in sub-steps that are the same share of every frame:
//! `w <- (w - h ω² d) / (1 + 2 ζ ω h)`, `d <- d + h w`. The equilibrium's acceleration is the change of its velocity
//! between two frames, so that steady motion leaves no lag. Flesh is slower the thicker it is: `ω` falls as the inverse
//! of the distance to the bone, [`super::Params::dynamics`] is that of the thickest flesh. So fingers keep up, bellies swing,
//! and no threshold is in metres.
//!
//! `ω h` never exceeds one, below the bound of two at which the step would become unstable, and no displacement exceeds a
//! share of the distance to the bone: no setting explodes, and a cut in a motion leaves no more than a swing behind.
//! Neighbours are tied to each other through their equilibria only: waves along the surface are profiles of
//! [`crate::deform::sculpt`].

pub mod cpu;
pub mod gpu;

#[cfg(test)]
mod tests;

use super::bind::Binding;

/// Longest sub-step, seconds.
pub const STEP: f64 = 1.0 / 480.0;
/// A longer way from frame to frame is a cut, seconds.
pub const CUT: f64 = 1.0;
/// Displacements are no longer than this share of the distance to the bone.
pub const REACH: f32 = 0.5;

/// How a vertex swings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// How many times faster than the thickest flesh, >= 1; zero where it does not swing.
    pub haste: f32,
    /// Longest displacement, metres.
    pub reach: f32,
}

/// The way from one frame to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// There is no frame before: it starts at rest, in equilibrium.
    Start,
    /// So many seconds, in so many sub-steps; `None` if time stands still.
    Run(f32, u32),
}

/// Times of the frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    now: Option<f64>,
    last: Option<f64>,
}

impl Clock {
    /// Sets the time of the next frame, seconds; none: nothing moves, the next frame is the equilibrium.
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
        // Frames at a rate come a hair early or late.
        let steps = (passed / STEP - 1e-6).ceil().max(0.0);
        Some(Way::Run(passed as f32, steps as u32))
    }
}

/// Measures the bind pose. The thickest flesh is what nineteen in twenty vertices are nearer to their bone than.
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
