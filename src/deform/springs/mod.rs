//! The spring deformer (thesis 4.2; methods, section 4), the central method of Sinew.
//!
//! After the geometric node, Jacobi iterations move every control vertex along the sum of the spring forces
//! between it, its one-ring and its bone until the surface is in equilibrium. With the attachment point
//! `a`, the scale vector `s = x - a`, and bind values marked `0`:
//!
//! | force | rest measure | force on vertex i |
//! |---|---|---|
//! | surface | `l0 = abs(x_j - x_i)` | `Σ_j k_s (abs(x_j - x_i) - l0) dir(x_j - x_i)` |
//! | length | `m0 = abs(s_j) - abs(s_i)` | `Σ_j k_l (abs(s_j) - abs(s_i) - m0) dir(s_i)` |
//! | torsion | `θ0`, angle of `s_i` and `s_j` | `Σ_j k_t (θ - cos γ θ0) abs(s_i) u`, `u` towards `s_j` |
//! | bone | `φ0`, angle of `s_i` and the bone | `-k_b (φ - φ0) abs(s_i) u_b` |
//! | edit | `D`, see [`super::sculpt`] | `k_e (a' + Q (s_i0 + D) - x_i)` |
//! | hold | `h = R s_i0` | `k_h angle(s_i, h) abs(s_i) u_h`, `u_h` towards `h` |
//!
//! The method differs from the thesis in these points:
//!
//! - Torques act as arcs (times `abs(s)`) and are not divided by `abs(s)`, so that a step rotates by
//!   `dt k Δθ` at any scale ([`Torque::Thesis`] keeps the printed form).
//! - The sign of `θ` is a cosine: `γ` is the angle between the plane of `s_i, s_j` and its bind plane
//!   rotated by the mean of both attachment rotations. It is 1 uncrossed and -1 crossed, as in the thesis,
//!   and continuous in between, which avoids chatter.
//! - **Hold** is new. None of the four forces opposes a rotation about the bone, so the true equilibrium of
//!   a twisted limb is not twisted at all (a turned head would wind back); in the thesis only the iteration
//!   limit hides this. A weak spring to the rigid direction makes the equilibrium exist and be unique.
//! - Bone and hold stiffness are given as a **reach**: the length over which a joint's bend or twist fades
//!   into the surface, relative to the limb's thickness and to the bone's length. On a one-ring Laplacian a
//!   reach of `λ` needs the stiffness `k_t deg/4 (l/λ)²`, `l` the edge length. So a character looks the same
//!   whatever its tessellation, where a plain constant would reach a fixed number of edges.
//! - **Girth** is new: `k_g (abs(s_0) - abs(s))` along `s`. The length springs compare neighbours only, so that a
//!   whole region may thin without any of them noticing.
//! - Attachment points and the frames `Q` of the rest measures follow the skin weights, by dual quaternion skinning: a
//!   head does not wind up with its neck, a part that follows one joint stays rigid, and `a' + h` is where dual
//!   quaternions put the vertex. (`a' = Σ w_j T_j a` draws the points of a trunk to the axis of a limb that twists.)
//! - Where limbs leave a trunk, attachment points leave the bones, until neighbours' are no further apart than the
//!   neighbours are ([`anchors`]): scale vectors change smoothly all over the surface.
//! - Edges whose ends hang on unrelated bones, or whose scale vectors are far apart in bind, have no torsion and
//!   length springs but couple by shape, `k_t ((x_j - x_i) - Q (x_j0 - x_i0))` ([`bind::coherence`]); a vertex nearer
//!   to its bone than two of its edges is pulled to `a' + h` instead, in proportion.
//! - A step moves a vertex on an arc about its attachment point: chords would lengthen every scale vector a little at
//!   every iteration, without end where the girth does not hold it. Momentum is dropped at a vertex that turns back.
//! - Dynamics are an oscillation about the equilibrium, frame after frame ([`dynamics`]).
//! - After the iterations lost volume is restored and inverted triangles are opened ([`corrections`]).

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

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// Authored parameters. [`Params::default`] suits characters of any size and tessellation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// `k_s`, dimensionless, >= 0.
    pub surface: f32,
    /// `k_l`, dimensionless, >= 0.
    pub length: f32,
    /// `k_t`, dimensionless, >= 0.
    pub torsion: f32,
    /// `k_b`, factor on the stiffness that `bend_reach` gives, >= 0.
    pub bone: f32,
    /// `k_h`, factor on the stiffness that `hold_reach` gives, >= 0.
    pub hold: f32,
    /// `k_g`, factor on the stiffness that `girth_reach` gives, >= 0.
    pub girth: f32,
    /// Distance over which a change of thickness fades, in multiples of the distance to the bone, > 0.
    pub girth_reach: f32,
    /// Distance over which a bend fades, in multiples of the distance to the bone, > 0.
    pub bend_reach: f32,
    /// Distance over which a difference from the blended rotation fades, in multiples of the distance to the bone, > 0.
    pub hold_reach: f32,
    /// Time step, seconds, > 0; each vertex takes `min(dt, omega / K_i)`.
    pub dt: f32,
    /// Stability bound `ω` in (0, 1).
    pub omega: f32,
    /// Maximum iterations per frame.
    pub max_iterations: u32,
    /// Iterations on the coarsest level of [`Solver::Multigrid`], at each visit.
    pub coarse_iterations: u32,
    /// Fraction of the volume lost at joints that is restored after the iterations, 0..=1 ([`corrections`]).
    pub volume: f32,
    /// Maximum number of rounds that open inverted triangles, 0..=64 ([`corrections`]).
    pub untangle: u32,
    /// How fast the thickest flesh swings on its own, hertz, 0..=30; 0: flesh does not swing ([`dynamics`]).
    pub dynamics: f32,
    /// Damping ratio of the dynamics, 0..=4: 1 is critical damping.
    pub damping: f32,
    /// When to stop earlier.
    pub stop: Stop,
    /// Whether frames depend on each other.
    pub frames: Frames,
    /// The iteration scheme.
    pub solver: Solver,
    /// The conversion of a torque to a force.
    pub torque: Torque,
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
            untangle: corrections::MOST,
            dynamics: 0.0,
            damping: 0.2,
            stop: Stop::Move(1e-4),
            frames: Frames::Independent,
            solver: Solver::Multigrid,
            coarse_iterations: 8,
            torque: Torque::Arc,
        }
    }
}

/// Stop criteria (thesis 4.2.2), each relative to the shortest side of the bind box, the "thickness". The GPU tests
/// every [`schedule::TEST_EVERY`] iterations; after convergence the remaining iterations cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Runs all iterations.
    Never,
    /// Stops when an iteration's largest move is below this fraction of the thickness; moves of a coarser
    /// level count a tenth.
    Move(f32),
    /// Stops when the largest net force is below this fraction of the thickness (stiffness is dimensionless).
    Force(f32),
    /// Stops at the minimum of the springs' energy: when an iteration's work, force times move, is below
    /// the square of this fraction of the thickness per vertex.
    Energy(f32),
}

/// Whether frames depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frames {
    /// Starts at the geometric method's shape: equal poses give results equal bit for bit.
    Independent,
    /// Starts at the last frame's result, carried along by the change of every vertex's joints. Slow
    /// motions need fewer iterations, but the result depends on earlier frames as far as they did not
    /// converge. The first frame starts at the geometric method's shape.
    Dependent,
}

/// Iteration schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Plain Jacobi iteration, the thesis's scheme and the reference for the others.
    Jacobi,
    /// Chebyshev semi-iteration on the Jacobi step.
    Chebyshev,
    /// Coarser meshes ([`coarse`]) first, then alternating with the original mesh ([`schedule`]).
    #[serde(alias = "cascade")]
    Multigrid,
}

/// The conversion of a torque to a force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Torque {
    /// Multiplied by the length of the scale vector: independent of scale.
    Arc,
    /// Divided by that length, as printed in the thesis: for comparison in metres only.
    Thesis,
}

/// [`Torque::Thesis`] rotates by the inverse square of the distance to the bone, limited to this many times
/// the rate of [`Torque::Arc`]; the step is smaller by the same factor.
const THESIS_LIMIT: f32 = 64.0;

impl Params {
    /// Limit on the rate of the torques relative to [`Torque::Arc`].
    pub(crate) fn turning(&self) -> f32 {
        match self.torque {
            Torque::Arc => 1.0,
            Torque::Thesis => THESIS_LIMIT,
        }
    }

    /// The step of a vertex with this stiffness bound. The accelerated solvers ignore `dt` and use the stability bound.
    pub(crate) fn step(&self, bound: f32) -> f32 {
        if bound > 0.0 { self.largest_step().min(self.omega / bound) } else { 0.0 }
    }

    /// The largest step of an iteration.
    pub(crate) fn largest_step(&self) -> f32 {
        match self.solver {
            Solver::Jacobi => self.dt,
            Solver::Chebyshev | Solver::Multigrid => f32::MAX,
        }
    }

    /// The value that the stop test's measure must fall below, metres, or square metres for the energy of
    /// this many vertices; negative if the test never succeeds.
    pub(crate) fn threshold(&self, thickness: f32, vertices: usize) -> f32 {
        match self.stop {
            Stop::Never => -1.0,
            Stop::Move(fraction) | Stop::Force(fraction) => fraction * thickness,
            Stop::Energy(fraction) => (fraction * thickness).powi(2) * vertices as f32,
        }
    }

    /// Sets a number by its field's name; values are clamped, counts rounded. Returns false if no numeric
    /// field has that name.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
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

    /// The parameters with every field clamped to its documented range; non-finite values become defaults.
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
            max_iterations: self.max_iterations.min(100_000),
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
