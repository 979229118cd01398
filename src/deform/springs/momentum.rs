//! Weights of the Chebyshev semi-iteration (G. H. Golub and R. S. Varga, 1961). From the result `x^` of a Jacobi
//! step, the next iterate is `x^ + (w - 1) (x^ - x_previous)`.

use super::bind::Binding;
use super::cpu::{Bounds, fading};
use super::{Params, Solver};

/// The sequence of weights `w`. All weights are one for [`Solver::Jacobi`].
#[derive(Clone, Copy, Debug)]
pub struct Momentum {
    rho_squared: f32,
    weight: f32,
    count: u32,
}

impl Momentum {
    /// Computes the weights for a character. Takes time linear in the vertices, so call it at binding or when
    /// parameters change. `rates` is scratch memory.
    pub fn new(params: &Params, binding: &Binding, rates: &mut Vec<f32>) -> Self {
        let rho = match params.solver {
            Solver::Jacobi => 0.0,
            Solver::Chebyshev | Solver::Multigrid => spectral_radius(params, binding, rates),
        };
        Self { rho_squared: rho * rho, weight: 1.0, count: 0 }
    }

    /// Returns the weights for a given spectral radius of the Jacobi step.
    pub fn smoothing(rho: f32) -> Self {
        Self { rho_squared: rho * rho, weight: 1.0, count: 0 }
    }

    /// Returns a copy that is reset to the first weight.
    pub fn restarted(&self) -> Self {
        Self { weight: 1.0, count: 0, ..*self }
    }

    /// Returns the weight of the next iteration and advances the sequence.
    pub fn weight(&mut self) -> f32 {
        self.weight = match self.count {
            0 => 1.0,
            1 => 2.0 / (2.0 - self.rho_squared),
            _ => 4.0 / (4.0 - self.rho_squared * self.weight),
        };
        self.count += 1;
        self.weight
    }
}

/// Estimates the spectral radius of the Jacobi step from the slowest tenth of the vertices. The slowest mode is a
/// rotation about the bone. Only the hold spring opposes it, so it decays by `1 - step k_h` per iteration.
fn spectral_radius(params: &Params, binding: &Binding, rates: &mut Vec<f32>) -> f32 {
    let held = |&i: &usize| binding.degree(i) > 0 && binding.vertices[i].radius > binding.on_bone;
    rates.clear();
    rates.extend((0..binding.vertices.len()).filter(held).map(|i| {
        let v = &binding.vertices[i];
        let degree = binding.degree(i) as f32;
        let fade = |gain: f32, reach: f32| {
            gain * params.torsion * fading(v.mean_length, v.grain, degree, reach * v.radius)
        };
        let hold = fade(params.hold, params.hold_reach);
        let bone = fade(params.bone, params.bend_reach);
        hold * params.step(Bounds::new(params, degree, v.loose, [bone, hold, 0.0], 0.0).across)
    }));
    if rates.is_empty() {
        return 0.0;
    }
    let slow = rates.len() / 10;
    let (_, rate, _) = rates.select_nth_unstable_by(slow, f32::total_cmp);
    (1.0 - *rate).clamp(0.0, 0.999)
}
