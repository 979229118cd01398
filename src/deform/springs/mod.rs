//! The spring deformer (thesis 4.2; docs/internals.md, *The springs*), the main deformation method of Sinew.
//!
//! After the geometric node, Jacobi iterations move every control vertex along the sum of its spring forces until the
//! surface is in equilibrium. The springs connect a vertex to its one-ring neighbours and to its bone. `a` is the
//! attachment point on the bone, `s = x - a` is the scale vector, and `0` marks bind values:
//!
//! | force | rest measure | force on vertex i |
//! |---|---|---|
//! | surface | `l0 = abs(x_j - x_i)` | `Σ_j k_s (abs(x_j - x_i) - l0) dir(x_j - x_i)` |
//! | length | `m0 = abs(s_j) - abs(s_i)` | `Σ_j k_l (abs(s_j) - abs(s_i) - m0) dir(s_i)` |
//! | torsion | `r0 = θ0 n0`, rotation from `s_i` to `s_j` | `Σ_j k_t (r - Q_i r0) x dir(s_i) abs(s_i)` |
//! | bone | `φ0`, angle of `s_i` and the bone | `-k_b (φ - φ0) abs(s_i) u_b` |
//! | sculpt layer | `D`, see [`super::sculpt`] | `k_e (a' + Q (s_i0 + D) - x_i)` |
//! | hold | `h = Q s_i0` | `k_h angle(s_i, h) abs(s_i) u_h`, `u_h` towards `h` |
//!
//! The method differs from the thesis in these points:
//!
//! - Torques act as arc lengths: they are multiplied by `abs(s)`, not divided by it. A step therefore rotates by
//!   `dt k Δθ` at any scale ([`Torque::Thesis`] divides).
//! - Torsion compares rotation vectors, not signed angles: `r = θ n` rotates `s_i` to `s_j` about the unit normal `n`
//!   of their plane, and the vertex's own rotation `Q_i` rotates the bind value `r0`. In the plane of `s_i` and `s_j`
//!   this is `θ - cos γ θ0`, where `γ` is the angle between `n` and `Q_i n0`. Like the sign in the thesis, `cos γ` is 1
//!   for uncrossed and -1 for crossed vectors. Unlike the sign, `cos γ` is continuous, which avoids chatter. The part
//!   of `Q_i r0` in that plane rotates the plane back. `r` falls to zero from two radians to π ([`cpu::turn_between`]),
//!   and a neighbour near the bone counts less ([`cpu::leverage`]).
//! - **Hold** is new. None of the thesis's four forces (surface, length, torsion, bone) opposes a rotation about the
//!   bone, so the true equilibrium of a twisted limb has no twist: a rotated head would wind back. In the thesis only
//!   the iteration limit hides this. A weak spring towards `h`, the rotated bind vector, makes the equilibrium unique.
//! - Bone and hold stiffness are given as a **reach**: the length over which a joint's bend or twist fades out,
//!   relative to the limb's thickness. On a one-ring Laplacian with edge length `l`, a reach of `λ` needs the
//!   stiffness `k_t deg/4 (l/λ)²`. The result is therefore independent of the tessellation. A constant stiffness
//!   would act over a fixed number of edges instead.
//! - **Girth** is new: the force `k_g (abs(s_0) - abs(s))` along `s`. The length springs only compare neighbours, so
//!   they would let a whole region get thinner.
//! - Attachment points and the rotations `Q` of the rest measures follow the skin weights by dual quaternion
//!   skinning. A head does not wind up with its neck, and a part that follows one joint stays rigid. `a' + h` is the
//!   vertex as dual quaternion skinning places it. (Linear blending, `a' = Σ w_j T_j a`, would pull the attachment
//!   points of a trunk to the axis of a twisting limb.)
//! - Where limbs leave a trunk, attachment points leave the bones until the points of neighbouring vertices are no
//!   further apart than the vertices ([`anchors`]). Scale vectors then change smoothly over the whole surface.
//! - Edges get no torsion and length springs if their ends are attached to unrelated bones or if their bind scale
//!   vectors differ by a large angle. Such edges keep their shape by `k_t ((x_j - x_i) - Q (x_j0 - x_i0))`
//!   ([`bind::coherence`]). The nearer a vertex is to its bone (within two edge lengths), the more a pull to `a' + h`
//!   replaces the forces that depend on the direction from the bone.
//! - A step moves a vertex on an arc about its attachment point. A straight step would lengthen every scale vector a
//!   little, without bound where girth has no stiffness. Momentum restarts at a vertex that reverses its direction.
//! - Dynamics are an oscillation about the equilibrium that advances from frame to frame ([`dynamics`]).
//! - After the iterations, corrections restore lost volume and open inverted triangles ([`corrections`]).
//!
//! [`Variant::Thesis`] has none of these differences: it is the method as printed, for comparison ([`thesis`]).

pub mod anchors;
pub mod bind;
pub mod coarse;
pub mod corrections;
pub mod cpu;
pub mod dynamics;
pub mod edits;
pub mod edits_gpu;
pub mod gpu;
pub mod levels;
pub mod momentum;
pub mod schedule;
pub mod solve;
pub mod thesis;

#[cfg(test)]
mod tests;

use super::clock::Frames;
use serde::{Deserialize, Serialize};

/// Authored parameters of the springs. [`Params::default`] suits characters of any size and tessellation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Stiffness `k_s` of the surface springs, dimensionless, >= 0.
    pub surface: f32,
    /// Stiffness `k_l` of the length springs, dimensionless, >= 0.
    pub length: f32,
    /// Stiffness `k_t` of the torsion springs, dimensionless, >= 0.
    pub torsion: f32,
    /// `k_b`, a factor >= 0 on the bone springs' stiffness that follows from `bend_reach`.
    pub bone: f32,
    /// `k_h`, a factor >= 0 on the hold springs' stiffness that follows from `hold_reach`.
    pub hold: f32,
    /// `k_g`, a factor >= 0 on the girth springs' stiffness that follows from `girth_reach`.
    pub girth: f32,
    /// Distance over which a change of thickness fades, in multiples of the distance to the bone, > 0.
    pub girth_reach: f32,
    /// Distance over which a bend fades, in multiples of the distance to the bone, > 0.
    pub bend_reach: f32,
    /// Distance over which a deviation from the blended rotation fades, in multiples of the distance to the bone, >
    /// 0.
    pub hold_reach: f32,
    /// Time step, seconds, > 0. The step of vertex `i` is `min(dt, omega / K_i)` with its stiffness bound `K_i`.
    pub dt: f32,
    /// Factor `ω` in the step `ω / K_i` of a vertex (see `dt`), between 0 and 1 (exclusive). With a smaller factor, the
    /// iterations converge more slowly and more smoothly.
    pub omega: f32,
    /// Maximum iterations per frame.
    pub max_iterations: u32,
    /// Iterations on the coarsest level of [`Solver::Multigrid`] in each V-cycle.
    pub coarse_iterations: u32,
    /// Fraction of the volume lost at joints that is restored after the iterations, 0..=1 ([`corrections`]).
    pub volume: f32,
    /// Number of rounds that open inverted triangles, 0..=4. Half as many follow the last correction of the volume. Both
    /// are rounded up to even numbers ([`corrections`]).
    pub untangle: u32,
    /// Natural frequency of the thickest flesh, hertz, 0..=30. 0 turns the dynamics off ([`dynamics`]).
    pub dynamics: f32,
    /// Damping ratio of the dynamics, 0..=4: 1 is critical damping.
    pub damping: f32,
    /// Criterion that ends the iterations before `max_iterations`.
    pub stop: Stop,
    /// Whether a frame starts from the result of the previous frame.
    pub frames: Frames,
    /// The iteration scheme.
    pub solver: Solver,
    /// The conversion of a torque to a force.
    pub torque: Torque,
    /// The forces and the step. The method's name determines it, so it is in no file.
    #[serde(skip)]
    pub variant: Variant,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            surface: 0.1,
            length: 0.3,
            torsion: 1.0,
            bone: 1.0,
            hold: 1.0,
            girth: 1.0,
            girth_reach: 0.2,
            bend_reach: 0.3,
            hold_reach: 0.6,
            dt: 1.0 / 30.0,
            omega: 0.9,
            max_iterations: 50,
            volume: 1.0,
            untangle: 2,
            dynamics: 0.0,
            damping: 0.2,
            stop: Stop::Move(1e-4),
            frames: Frames::Independent,
            solver: Solver::Multigrid,
            coarse_iterations: 8,
            torque: Torque::Arc,
            variant: Variant::Sinew,
        }
    }
}

/// The forces and the step of the springs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Sinew's forces.
    #[default]
    Sinew,
    /// The forces and the step of the thesis ([`thesis`]).
    Thesis,
}

/// Stop criteria (thesis 4.2.2), relative to the "thickness", the shortest side of the bind pose's bounding box. The
/// GPU tests every [`schedule::TEST_EVERY`] iterations. After convergence the remaining iterations do no work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Runs all iterations.
    Never,
    /// Stops when an iteration's largest move is below this fraction of the thickness. Moves on coarser levels count
    /// a tenth.
    Move(f32),
    /// Stops when the largest net force is below this fraction of the thickness (stiffness has no unit).
    Force(f32),
    /// Stops when the work of an iteration (the sum of force times move) is below `vertices * (fraction * thickness)²`.
    /// The forces of [`Variant::Thesis`] derive from a total energy ([`thesis`]), and the work is what an iteration
    /// takes from it. The forces of [`Variant::Sinew`] have no common energy.
    Energy(f32),
}

/// Iteration schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Plain Jacobi iteration: the scheme of the thesis, and the reference for the other schemes.
    Jacobi,
    /// Chebyshev semi-iteration, which adds momentum to the Jacobi step.
    Chebyshev,
    /// Multigrid: starts on coarser meshes ([`coarse`]), then alternates with the original mesh ([`schedule`]).
    #[serde(alias = "cascade")]
    Multigrid,
}

/// The conversion of a torque to a force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Torque {
    /// Multiplied by the length of the scale vector, hence independent of scale.
    Arc,
    /// Divided by the length of the scale vector in [`bind::Binding::unit`]s, as in the thesis. Only for comparison.
    /// [`Solver::Multigrid`] then has no coarser meshes and equals [`Solver::Chebyshev`].
    Thesis,
}

impl Params {
    /// Returns the step for a vertex with the stiffness bound `bound`. Only [`Solver::Jacobi`] uses `dt`.
    pub(crate) fn step(&self, bound: f32) -> f32 {
        if bound > 0.0 { self.largest_step().min(self.omega / bound) } else { 0.0 }
    }

    /// Returns the largest step of an iteration.
    pub(crate) fn largest_step(&self) -> f32 {
        match self.solver {
            Solver::Jacobi => self.dt,
            Solver::Chebyshev | Solver::Multigrid => f32::MAX,
        }
    }

    /// Returns the threshold that the measure of the stop test must fall below: metres, or square metres for
    /// [`Stop::Energy`]. Negative if the test never succeeds.
    pub(crate) fn threshold(&self, thickness: f32, vertices: usize) -> f32 {
        match self.stop {
            Stop::Never => -1.0,
            Stop::Move(fraction) | Stop::Force(fraction) => fraction * thickness,
            Stop::Energy(fraction) => (fraction * thickness).powi(2) * vertices as f32,
        }
    }

    /// Sets a number by its field's name. Clamps values, rounds counts. Returns false if there is no such number.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
        if self.variant == Variant::Thesis && !thesis::PARAMETERS.contains(&name) {
            return false;
        }
        let count = value.round().max(0.0) as u32;
        match name {
            "surface" => self.surface = value,
            "length" => self.length = value,
            "torsion" => self.torsion = value,
            "bone" => self.bone = value,
            "hold" => self.hold = value,
            "girth" => self.girth = value,
            "girth_reach" => self.girth_reach = value,
            "bend_reach" => self.bend_reach = value,
            "hold_reach" => self.hold_reach = value,
            "dt" => self.dt = value,
            "omega" => self.omega = value,
            "max_iterations" => self.max_iterations = count,
            "coarse_iterations" => self.coarse_iterations = count,
            "volume" => self.volume = value,
            "untangle" => self.untangle = count,
            "dynamics" => self.dynamics = value,
            "damping" => self.damping = value,
            _ => return false,
        }
        *self = self.sane();
        true
    }

    /// Returns the parameters with every field clamped to its range. Non-finite values become defaults.
    pub fn sane(&self) -> Self {
        let d = Self::default();
        let clean = |v: f32, fallback: f32, low: f32, high: f32| {
            if v.is_finite() { v.clamp(low, high) } else { fallback }
        };
        Self {
            surface: clean(self.surface, d.surface, 0.0, 1e6),
            length: clean(self.length, d.length, 0.0, 1e6),
            torsion: clean(self.torsion, d.torsion, 0.0, 1e6),
            bone: clean(self.bone, d.bone, 0.0, 1e6),
            hold: clean(self.hold, d.hold, 0.0, 1e6),
            girth: clean(self.girth, d.girth, 0.0, 1e6),
            girth_reach: clean(self.girth_reach, d.girth_reach, 1e-3, 1e3),
            bend_reach: clean(self.bend_reach, d.bend_reach, 1e-3, 1e3),
            hold_reach: clean(self.hold_reach, d.hold_reach, 1e-3, 1e3),
            dt: clean(self.dt, d.dt, 1e-6, 10.0),
            omega: clean(self.omega, d.omega, 1e-3, 0.99),
            max_iterations: self.max_iterations.min(gpu::MAX_ITERATIONS),
            coarse_iterations: self.coarse_iterations.min(1000),
            volume: clean(self.volume, d.volume, 0.0, 1.0),
            untangle: self.untangle.min(corrections::MOST),
            dynamics: clean(self.dynamics, d.dynamics, 0.0, 30.0),
            damping: clean(self.damping, d.damping, 0.0, 4.0),
            stop: match self.stop {
                Stop::Move(v) => Stop::Move(clean(v, 1e-4, 0.0, 1.0)),
                Stop::Force(v) => Stop::Force(clean(v, 1e-3, 0.0, 1.0)),
                Stop::Energy(v) => Stop::Energy(clean(v, 1e-4, 0.0, 1.0)),
                Stop::Never => Stop::Never,
            },
            ..*self
        }
    }
}
