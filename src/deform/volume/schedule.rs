//! The stages of a frame's solve and their order, for the CPU reference and the GPU.
//!
//! A step is a Chebyshev semi-iteration on `y + f / D`, with the elastic force `f` and a bound `D` of the stiffness at
//! a node. Coarser levels follow the full approximation scheme. The unknowns on a coarser level are displacements,
//! which start at zero. A coarser cube has the mean deformation of the finer cubes in it. A correction makes the
//! initial forces of a coarser level equal to the forces of the finer level.

use super::contact::{self, Search};
use super::levels::{LEVELS, Level};
use super::motion::Step;
use super::tissue::Node;
use super::{Params, Rest};

/// Number of steps on each level in a cycle, finest first, except on the coarsest level.
const STEPS: [usize; LEVELS - 1] = [3, 4];
/// Number of steps on the coarsest level in a cycle.
const COARSEST_STEPS: usize = 8;
/// As [`STEPS`] on the finest level, in the first cycle and in cycles with contact.
const FIRST_STEPS: usize = 2;
/// As [`COARSEST_STEPS`], in the first cycle, when most of the error is smooth, and in cycles with contact.
const FIRST_COARSEST_STEPS: usize = 12;
/// With fewer cubes on the second level, a solve without contact uses no third level: more steps on the second level
/// take less time, and converge as fast.
const FEWEST_WITHOUT_CONTACT: usize = 3000;
/// Per level, finest first: factor on the correction from the next coarser level. Coarse cubes are stiffer than the
/// finer cubes in them, so their corrections are too small without the factor.
const CORRECTION: [f32; LEVELS - 1] = [1.35, 1.2];
/// As [`CORRECTION`], on all levels in a time step of the dynamics. Coarse cubes have the right mass, so a larger factor
/// would move them too far, and swings would grow.
const SWINGING_CORRECTION: f32 = 1.1;
/// Ratio of the largest to the smallest eigenvalue in the range that the steps damp.
const RATIO: f32 = 20.0;
/// As [`RATIO`], in cycles with contact. Its springs raise the bounds of the nodes, and so lower the small
/// eigenvalues.
const TOUCHING_RATIO: f32 = 40.0;
/// As [`RATIO`], on the coarsest level, where the steps must damp everything.
const COARSEST_RATIO: f32 = 250.0;
/// As [`COARSEST_RATIO`], in a time step of the dynamics, whose inertia raises the small eigenvalues.
const SWINGING_RATIO: f32 = 100.0;
/// Number of rotation updates of each cube at the start of a frame.
pub const START_TURNS: u32 = 8;
/// Number of rotation updates of each coarser cube at the start of a cycle.
const COARSE_TURNS: u32 = 3;

/// Returns the number of rotation updates before the forces of a cube are computed. With [`Rest::Pose`] the rotations
/// are constant. The energy is then convex in the displacements, however much the preceding method has crushed the
/// cubes.
pub fn turns(rest: Rest) -> u32 {
    match rest {
        Rest::Pose => 0,
        Rest::Bind => 1,
    }
}

/// As [`turns`], for a cube of a coarser level at the start of a cycle.
pub fn coarse_turns(rest: Rest) -> u32 {
    COARSE_TURNS * turns(rest)
}

/// Stiffnesses in units of `μ h`, with the edge length `h` of a cube and the `μ` of flesh without regions.
#[derive(Clone, Copy, Debug)]
pub struct Stiffness {
    /// `λ/μ`.
    pub lambda: f32,
    /// Stiffness of the springs on nodes around bones.
    pub firmness: f32,
    /// Stiffness of the springs to the targets of the dynamics, per unit of [`Node::mass`].
    pub inertia: f32,
}

impl Stiffness {
    /// The stiffnesses of these parameters.
    pub fn new(params: &Params) -> Self {
        Self { lambda: params.lambda(), firmness: params.firmness, inertia: 0.0 }
    }

    /// The stiffnesses of a level in a frame that continues the last one.
    pub fn moving(self, step: Option<&Step>, level: usize) -> Self {
        // A coarse cube has eight times the mass of a cube on the next finer level, but only twice the stiffness.
        Self { inertia: step.map_or(0.0, |s| s.inertia) * 4.0f32.powi(level as i32), ..self }
    }

    /// Returns the spring stiffness at a node. On the finest level the springs pull to the start and to the target of
    /// the dynamics; on coarser levels they pull to zero displacement.
    pub fn spring(&self, node: &Node) -> f32 {
        self.hold(node) + node.mass * self.inertia
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

    /// Bound of the eigenvalues of `D⁻¹ A`; `A` is the stiffness matrix. With fixed rotations the bound of a single
    /// cube would suffice: the larger of `2` and `(1 + 1.5 λ/μ) / (1.5 + 3/16 λ/μ)`. The value here is larger because
    /// rotations change with the nodes; it was measured on characters.
    fn largest(&self) -> f32 {
        0.9 * (1.0 + self.lambda).max(3.0)
    }
}

/// A stage of the solve. Level 0 is the finest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Puts the finest nodes at their start positions, or where the joints carry them from the last frame. Also sets
    /// their loads.
    Start,
    /// Makes the present shape the rest shape of the finest cubes: subtracts their forces from the load.
    Rest,
    /// Computes the offset of each skin vertex from its place in the cubes.
    Follow,
    /// Computes the rotation of each finest cube, starting from its joint's rotation or from its rotation in the last
    /// frame.
    Orient,
    /// Updates the rotations and computes the forces of each cube on its corners.
    Forces(usize),
    /// Sums the forces at each node.
    Residual(usize),
    /// Sets the deformation of each cube of this level to the mean over the finer cubes in it. Computes the forces of
    /// each cube at zero displacement.
    Coarsen(usize),
    /// Sets three values at each node of this level. The force becomes the restricted force of the finer level. The load
    /// becomes this force minus the forces of the node's own cubes. The displacement becomes that of a first step from
    /// zero.
    Load {
        /// The level.
        level: usize,
        /// Factor of the force in the first step; 0 without this step.
        step: f32,
    },
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
    /// Sums the stiffness of the contact springs from the finer nodes at each node of this level.
    Brace(usize),
    /// Places the skin.
    Skin,
    /// Runs one step that separates overlapping vertices of the skin.
    Part,
}

impl Op {
    /// Whether this is a stage of contact. Contact uses distances of the bind shape, so frames with a scaled rig skip
    /// these stages.
    pub fn is_contact(&self) -> bool {
        matches!(self, Self::Touch(_) | Self::Press | Self::Brace(_) | Self::Part)
    }
}

/// What [`Op::Touch`] pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// Points on the skin, whose contact springs move the cubes.
    Flesh,
    /// Vertices of the skin near pairs of [`Touch::Flesh`].
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

/// The stages of a frame in order; `swinging` says that the frame is a time step of nodes with mass. Without levels, the
/// list is empty. The coarsest levels can remain unused.
pub fn schedule(params: &Params, levels: &[Level], swinging: bool) -> Vec<Op> {
    let mut out = Vec::new();
    reschedule(&mut out, params, levels, swinging);
    out
}

/// Like [`schedule`], but reuses the memory of the list. Allocates only if the frame has more stages than every frame
/// before it.
pub fn reschedule(out: &mut Vec<Op>, params: &Params, levels: &[Level], swinging: bool) {
    out.clear();
    let levels = depth(params, levels);
    if levels > 0 {
        out.extend([Op::Start, Op::Orient]);
        if params.rest == Rest::Pose {
            out.extend([Op::Forces(0), Op::Residual(0), Op::Rest, Op::Follow]);
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
            cycle(out, params, 0, levels, Cycle { rough: c == 0 || touching, touching, swinging });
        }
        if params.contact > 0 {
            out.extend([Op::Skin, Op::Touch(Touch::Skin)]);
            out.extend((0..contact::STEPS).map(|_| Op::Part));
        } else {
            out.push(Op::Skin);
        }
    }
}

/// Number of levels that the solve uses, finest first.
pub fn depth(params: &Params, levels: &[Level]) -> usize {
    let small = levels.get(1).is_some_and(|second| second.cells.len() < FEWEST_WITHOUT_CONTACT);
    if params.contact == 0 && small { 2 } else { levels.len() }
}

#[derive(Clone, Copy)]
struct Cycle {
    /// Whether the cycle takes more steps on the coarsest level and fewer on the finest.
    rough: bool,
    touching: bool,
    swinging: bool,
}

/// Adds the stages of a cycle from this level to the coarsest and back.
fn cycle(out: &mut Vec<Op>, params: &Params, level: usize, levels: usize, kind: Cycle) {
    let Cycle { rough, touching, swinging } = kind;
    let coarsest = level + 1 == levels;
    if !coarsest {
        let coarse = level + 1;
        // On other levels the forces are known already, because the displacements are zero there.
        if level == 0 {
            out.extend([Op::Forces(level), Op::Residual(level)]);
        }
        out.push(Op::Coarsen(coarse));
        if coarse + 1 < levels {
            out.push(Op::Load { level: coarse, step: 0.0 });
        }
        cycle(out, params, coarse, levels, kind);
        out.push(Op::Prolong {
            level,
            factor: if swinging { SWINGING_CORRECTION } else { CORRECTION[level] },
        });
    }
    let steps = match (coarsest, rough) {
        (true, true) => FIRST_COARSEST_STEPS,
        (true, false) => COARSEST_STEPS,
        (false, true) if level == 0 => FIRST_STEPS,
        (false, _) => STEPS[level],
    };
    let ratio = match (coarsest, swinging) {
        (true, true) => SWINGING_RATIO,
        (true, false) => COARSEST_RATIO,
        (false, _) if touching => TOUCHING_RATIO,
        (false, _) => RATIO,
    };
    let high = Stiffness::new(params).largest();
    let low = high / ratio;
    // Three-term Chebyshev recurrence for eigenvalues in `low..=high`.
    let (theta, delta) = (0.5 * (high + low), 0.5 * (high - low));
    let sigma = theta / delta;
    let (mut rho, mut keep, mut step) = (1.0 / sigma, 0.0, 1.0 / theta);
    for k in 0..steps {
        if k == 0 && level > 0 && coarsest {
            out.push(Op::Load { level, step });
        } else {
            out.push(Op::Forces(level));
            if touching && level == 0 {
                out.push(Op::Press);
            }
            out.push(Op::Step { level, keep, step });
        }
        let next = 1.0 / (2.0 * sigma - rho);
        (keep, step) = (next * rho, 2.0 * next / delta);
        rho = next;
    }
}
