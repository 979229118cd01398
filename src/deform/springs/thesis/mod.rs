//! The springs as the thesis prints them (4.2, equations 21-23), as a reference for [`super::Variant::Sinew`].
//!
//! `a` is the attachment point, which stays on the bone, and `s = x - a` the scale vector. Both follow the bone without
//! skin weights. Every force is a stiffness times the difference of a measure from its bind value (21); a torque is
//! divided by `abs(s)`; the sum (22) moves the vertex by `dt` (23). All stiffnesses are constants. There are no hold,
//! girth, coherence, reach, momentum, coarse levels or corrections. The thesis leaves these points open; Sinew reads
//! them so:
//!
//! - **Constants.** The thesis names no stiffnesses. All four are 1 here.
//! - **Sign of the angle** (6.3: "the signed angle between si and sj for every edge"). The angle is negative where
//!   `(s_i x s_j) . R n0 < 0`: `n0 = s_i0 x s_j0`, and `R` is the mean of the rotations of both bones, so that both
//!   ends of an edge have the same angle. Then `(θ - θ0) u`, where `u` rotates `s_i` about `R n0`, moves a crossed
//!   vertex past its neighbour. With the angle's size, this force is `(abs(θ) - sign θ0) u` with `u` towards the
//!   neighbour.
//! - **Unit of length.** A torque divided by a length depends on the unit, and the thesis names none. It is
//!   [`Binding::unit`](super::bind::Binding::unit): half of the shortest side of the bind pose's box.
//! - **A vertex on the bone** has no direction from it: its torques are zero, and its neighbours get none from it.
//!
//! With these readings the forces are the negative gradient of a total energy,
//! `1/2 Σ_edges (k_s (l - l0)² + k_l (m - m0)² + k_t (θ - θ0)²) + 1/2 Σ_vertices k_b (φ - φ0)²`, so an equilibrium is a
//! stationary point of it.
//!
//! Two limits keep every setting stable. Neither acts on a limb whose radius is the unit, with the default parameters:
//!
//! - A step is at most `ω / K`, where `K` bounds the stiffness at the vertex. On thinner limbs the step across `s` is
//!   shorter than `dt`; the equilibrium stays.
//! - A step across `s` is straight and thereby lengthens `s`. It does so up to twice the bind length only.

pub mod cpu;
pub mod gpu;

#[cfg(test)]
mod tests;

use super::{Params, Solver, Stop, Torque, Variant};

/// The parameters of this variant, by name. All others belong to [`Variant::Sinew`].
pub const PARAMETERS: [&str; 11] = [
    "surface",
    "length",
    "torsion",
    "bone",
    "dt",
    "omega",
    "max_iterations",
    "stop",
    "frames",
    "dynamics",
    "damping",
];

impl Params {
    /// The parameters of the thesis (4.2.2): time step 1/30 s, at most 50 iterations, until no vertex moves by more
    /// than 1e-4 of the shortest side of the box. All stiffnesses are 1.
    pub fn thesis() -> Self {
        Self {
            surface: 1.0,
            length: 1.0,
            torsion: 1.0,
            bone: 1.0,
            hold: 0.0,
            girth: 0.0,
            dt: 1.0 / 30.0,
            omega: 0.7,
            max_iterations: 50,
            stop: Stop::Move(1e-4),
            volume: 0.0,
            untangle: 0,
            solver: Solver::Jacobi,
            torque: Torque::Thesis,
            variant: Variant::Thesis,
            ..Self::default()
        }
    }
}
