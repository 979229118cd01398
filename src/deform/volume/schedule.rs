//! The stages of a frame's solve and their order, for the CPU reference and the GPU.
//!
//! A step is a Chebyshev semi-iteration on `y + f / D`, with the elastic force `f` and a bound `D` of the stiffness at a
//! node. A coarser level is a full approximation scheme: its unknowns are displacements that start at zero, its cubes have
//! the mean deformation of the finer cubes in them, and its forces are corrected so that they begin as the finer forces.

use super::contact::{self, Search};
use super::levels::{LEVELS, Node};
use super::motion::Step;
use super::{Params, Rest};

/// Steps on each level in a cycle, finest first; the coarsest level makes the last number.
const STEPS: [usize; LEVELS] = [2, 4, 8];
/// Factor of the correction that a coarser level gives to this level, finest first. Coarse cubes are stiffer than the finer
/// cubes in them, so their corrections are too small.
const CORRECTION: [f32; LEVELS - 1] = [1.35, 1.2];
/// Ratio of the largest eigenvalue to the smallest one that the steps damp.
const RATIO: f32 = 40.0;
/// Rotation updates of a cube at the start of a frame and, on coarser levels, of a cycle.
pub const START_TURNS: u32 = 8;
/// See [`START_TURNS`].
const COARSE_TURNS: u32 = 3;

/// Number of rotation updates of a cube before its forces, at zero displacement if `zero`. With [`Rest::Pose`] the rotations
/// stay, so the energy of the displacements is convex, however much the method before has crushed the cubes.
pub fn turns(rest: Rest, zero: bool) -> u32 {
    match rest {
        Rest::Pose => 0,
        Rest::Bind if zero => COARSE_TURNS,
        Rest::Bind => 1,
    }
}

/// Stiffnesses in units of `μ`.
#[derive(Clone, Copy, Debug)]
pub struct Stiffness {
    /// `λ/μ`.
    pub lambda: f32,
    /// Of the springs on nodes around bones.
    pub firmness: f32,
    /// Of the springs to the targets of the dynamics, per unit of [`Node::cubes`].
    pub inertia: f32,
}

impl Stiffness {
    /// The stiffnesses of these parameters.
    pub fn new(params: &Params) -> Self {
        Self { lambda: params.lambda(), firmness: params.firmness, inertia: 0.0 }
    }

    /// The stiffnesses of a level in a frame that continues the last one.
    pub fn moving(self, step: Option<&Step>, level: usize) -> Self {
        // A coarse cube has eight times the mass of the finer cubes but twice their stiffness.
        Self { inertia: step.map_or(0.0, |s| s.inertia) * 4.0f32.powi(level as i32), ..self }
    }

    /// Spring stiffness at a node: the pull to zero displacement, or on the finest level to the start and to the target of
    /// the dynamics.
    pub fn spring(&self, node: &Node) -> f32 {
        self.hold(node) + node.cubes * self.inertia
    }

    /// As [`Stiffness::spring`], without the target of the dynamics.
    pub fn hold(&self, node: &Node) -> f32 {
        node.brace * (1.5 + 0.28 * self.lambda) + node.core * self.firmness
    }

    /// The inverse of the stiffness bound `D` at a node with contact springs of this stiffness; 0 if the node is held.
    pub fn inverse_bound(&self, node: &Node, contact: f32) -> f32 {
        if node.cubes > 0.0 {
            1.0 / (node.cubes * (1.5 + 3.0 / 16.0 * self.lambda) + self.spring(node) + contact)
        } else {
            0.0
        }
    }

    /// Bound of the eigenvalues of `D⁻¹ A`; `A` is the stiffness matrix. With fixed rotations it would be that of one cube, the
    /// larger of `2` and `(1 + 1.5 λ/μ) / (1.5 + 3/16 λ/μ)`; the rest is for rotations that follow, as measured on characters.
    fn largest(&self) -> f32 {
        (1.0 + self.lambda).max(3.0)
    }
}

/// A stage of the solve. Level 0 is the finest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Puts the finest nodes to their start, or to where the joints carry them from the last frame, and sets their load.
    Start,
    /// Lets the finest cubes be at rest where they are: subtracts their forces from the load.
    Rest,
    /// Finds how far the skin lies from its places in the cubes.
    Follow,
    /// Finds the rotation of each finest cube, beginning with that of its joint or of the last frame.
    Orient,
    /// Updates the rotations and computes the forces of each cube on its corners; at zero displacement if `zero`.
    Forces {
        /// The level.
        level: usize,
        /// Whether the displacements count as zero.
        zero: bool,
    },
    /// Sums the forces at each node.
    Residual(usize),
    /// Takes the deformation of each cube of this level from the finer cubes in it.
    Coarsen(usize),
    /// Sets the force at each node of this level to the finer forces, its load to the finer forces minus the forces of its
    /// own cubes, its displacement to zero.
    Load(usize),
    /// Moves each node: `d = keep d + step f / D`, `y += d`.
    Step {
        /// The level.
        level: usize,
        /// Factor of the previous move.
        keep: f32,
        /// Factor of the force.
        step: f32,
    },
    /// Adds the displacements of the next coarser level, times a factor.
    Prolong {
        /// The level that moves.
        level: usize,
        /// The factor.
        factor: f32,
    },
    /// Pairs the points or vertices that are in contact.
    Touch(Touch),
    /// Computes the forces of the contact springs and adds them to the load of the finest nodes.
    Press,
    /// Takes the stiffness of the contact springs at each node of this level from the finer nodes.
    Brace(usize),
    /// Places the skin.
    Skin,
    /// Parts vertices of the skin that overlap, by one step.
    Part,
}

impl Op {
    /// Whether this is a stage of contact. Contact has distances of the bind shape, so scaled frames leave it out.
    pub fn is_contact(&self) -> bool {
        matches!(self, Self::Touch(_) | Self::Press | Self::Brace(_) | Self::Part)
    }
}

/// What [`Op::Touch`] pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// Points on the skin, for springs that part the cubes.
    Flesh,
    /// Vertices of the skin near those pairs.
    Skin,
}

impl Touch {
    /// How pairs are judged.
    pub fn search(self) -> Search {
        match self {
            Self::Flesh => contact::FLESH,
            Self::Skin => contact::SKIN,
        }
    }
}

/// The stages of a frame in order; none without levels.
pub fn schedule(params: &Params, levels: usize) -> Vec<Op> {
    let mut out = Vec::new();
    reschedule(&mut out, params, levels);
    out
}

/// As [`schedule`], in place; allocates only if the frame has more stages than any before.
pub fn reschedule(out: &mut Vec<Op>, params: &Params, levels: usize) {
    out.clear();
    if levels > 0 {
        out.extend([Op::Start, Op::Orient]);
        if params.rest == Rest::Pose {
            out.extend([Op::Forces { level: 0, zero: false }, Op::Residual(0), Op::Rest, Op::Follow]);
        }
        for c in 0..params.cycles + params.contact {
            let touching = c >= params.cycles;
            if touching && (c - params.cycles).is_multiple_of(contact::CYCLES_PER_SEARCH) {
                out.push(Op::Touch(Touch::Flesh));
            }
            if touching {
                out.push(Op::Press);
                out.extend((1..levels).map(Op::Brace));
            }
            cycle(out, params, 0, levels, touching);
        }
        if params.contact > 0 {
            out.extend([Op::Skin, Op::Touch(Touch::Skin)]);
            out.extend((0..contact::STEPS).map(|_| Op::Part));
        } else {
            out.push(Op::Skin);
        }
    }
}

fn cycle(out: &mut Vec<Op>, params: &Params, level: usize, levels: usize, touching: bool) {
    let coarsest = level + 1 == levels;
    if !coarsest {
        let coarse = level + 1;
        // Other levels know their forces: they are at zero displacement.
        if level == 0 {
            out.extend([Op::Forces { level, zero: false }, Op::Residual(level)]);
        }
        out.extend([Op::Coarsen(coarse), Op::Forces { level: coarse, zero: true }, Op::Load(coarse)]);
        cycle(out, params, coarse, levels, touching);
        out.push(Op::Prolong { level, factor: CORRECTION[level] });
    }
    let steps = if coarsest { STEPS[LEVELS - 1] } else { STEPS[level] };
    let high = Stiffness::new(params).largest();
    let low = high / RATIO;
    // The three-term recurrence for eigenvalues in low..=high.
    let (theta, delta) = (0.5 * (high + low), 0.5 * (high - low));
    let sigma = theta / delta;
    let (mut rho, mut keep, mut step) = (1.0 / sigma, 0.0, 1.0 / theta);
    for k in 0..steps {
        if k > 0 || level == 0 || !coarsest {
            out.push(Op::Forces { level, zero: false });
        }
        if touching && level == 0 {
            out.push(Op::Press);
        }
        out.push(Op::Step { level, keep, step });
        let next = 1.0 / (2.0 * sigma - rho);
        (keep, step) = (next * rho, 2.0 * next / delta);
        rho = next;
    }
}
