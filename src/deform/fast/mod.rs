//! Fast automatic skinning transformations (FAST): the pose sets some bone transforms, a solver computes the others.
//!
//! A. Jacobson, I. Baran, L. Kavan, J. Popović, O. Sorkine, *Fast Automatic Skinning Transformations*, 2012
//! (docs/internals.md, *FAST*). The solver minimises an as-rigid-as-possible energy over the transforms `T` of
//! linear blend skinning: `min ½ tr(Tᵀ L̃ T) - tr(R K̃ T)` subject to `M_eq T = P_eq`, with one rotation per cluster of
//! vertices. The cost of an iteration does not depend on the size of the mesh.
//!
//! [`Reduced`] is bound once per character. [`Constrained`] is built when the set of constraints changes. A
//! [`Solver`] computes the transforms in every frame. `bind.rs`, `constrain.rs`, `polar.rs`, `solve.rs`,
//! `cluster.rs`, `inside.rs` and `extra.rs` begin with their deviations from the paper.
//!
//! The transforms are eliminated from the system, so an iteration only multiplies the rotations by a `3r x 3r`
//! matrix. Newton's method then finds the nearest rotations, in SIMD (`pulp`, instruction set chosen at run time, no
//! `unsafe`). Anderson acceleration rejects steps that raise the energy. Binding stores one Laplacian per cluster, so
//! any pose can become the rest shape without access to the mesh.

mod assemble;
mod bind;
mod body;
mod cluster;
mod constrain;
mod dense;
mod energy;
mod extra;
mod forms;
mod gpu;
mod gripped;
mod grips;
mod inside;
mod iterate;
mod kept;
mod lane;
mod node;
mod polar;
mod regular;
mod solve;
#[cfg(test)]
mod tests;
mod weights;

pub use bind::{Handle, MAX_HANDLES, Reduced, Shape};
pub use body::Body;
pub use constrain::{Constrained, Constraint, Target};
pub use energy::Energy;
pub(super) use gpu::FastState;
pub use gripped::{GripShape, Grips, MAX_GRIPS, is_bare};
pub use grips::bind_grips;
pub use inside::Parts;
pub(super) use inside::{Inside, middles};
pub use node::Fast;
#[cfg(test)]
pub(crate) use solve::forced::with_width;
pub use solve::{Acceleration, Solved, Solver};
pub use weights::Weights;
pub(super) use weights::own_weights;

use crate::base::JointId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the pose determines of a joint (Jacobson et al. 2012, section 3); the solver determines the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// `Full` for a root and for a joint that the pose moves relative to its parent, otherwise `Free`.
    #[default]
    Auto,
    /// Nothing.
    Free,
    /// The position.
    Position,
    /// The whole transform.
    Full,
}

impl Hold {
    /// All values, in the order of their numbers in documents and keys.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Free, Self::Position, Self::Full];
    /// The settings `joints.0`, `joints.1`, ... hold a number per joint: the index of the value in [`Hold::ALL`].
    pub const SETTING: &str = "joints.";

    /// Returns the joint of a setting's name.
    fn joint(setting: &str) -> Option<JointId> {
        setting.strip_prefix(Self::SETTING)?.parse::<u16>().ok().map(|j| JointId::from(usize::from(j)))
    }
}

/// Maximum value of [`Params::iterations`].
pub const MAX_ITERATIONS: u32 = 1000;

/// Authored settings of FAST.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Number of abstract handles (handles without a joint), which let the shape bend between joints; 0..=128.
    pub extra: u32,
    /// Number of rotation clusters, at most 1024; 0 means twice the number of handles.
    pub clusters: u32,
    /// Maximum iterations per frame, 1..=[`MAX_ITERATIONS`].
    pub iterations: u32,
    /// Stiffness that attaches a joint to its parent, relative to the mean stiffness of a handle; 0 disables it.
    pub hinge: f32,
    /// The energy; `None` chooses it from the shape of the mesh.
    pub energy: Option<Energy>,
    /// Whether the solver extrapolates from previous iterations.
    pub acceleration: Acceleration,
    /// Random seed for the choice of clusters and abstract handles.
    pub seed: u64,
    /// What the pose determines of single joints, for the deformer. All others are [`Hold::Auto`].
    pub joints: BTreeMap<JointId, Hold>,
    /// The grips on the skin, for the deformer. The poses hold where they are. Documents store grips themselves.
    #[serde(skip)]
    pub grips: Grips,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            extra: 0,
            clusters: 0,
            iterations: 15,
            hinge: 0.0,
            energy: None,
            acceleration: Acceleration::default(),
            seed: 1,
            joints: BTreeMap::new(),
            grips: Grips::default(),
        }
    }
}

impl Params {
    /// Returns the settings for use as a deformer, with abstract handles.
    pub fn deformer() -> Self {
        Self { extra: 12, iterations: 30, ..Self::default() }
    }

    /// Returns the settings for grabbing a character. Joints stay attached, so bones hardly change their lengths.
    pub fn grab() -> Self {
        Self { hinge: 0.3, ..Self::default() }
    }

    /// Sets a numeric field by name. Clamps the value and rounds counts. Returns false for an unknown name.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
        let count = value.round().max(0.0) as u32;
        match name {
            "extra" => self.extra = count,
            "clusters" => self.clusters = count,
            "iterations" => self.iterations = count,
            "hinge" => self.hinge = value,
            "seed" => self.seed = u64::from(count),
            _ => {
                let Some(joint) = Hold::joint(name) else { return false };
                let hold = Hold::ALL[(count as usize).min(Hold::ALL.len() - 1)];
                match self.joints.get_mut(&joint) {
                    Some(now) => *now = hold,
                    None if hold == Hold::Auto => {}
                    None => drop(self.joints.insert(joint, hold)),
                }
            }
        }
        self.bring_into_range();
        true
    }

    /// Returns whether both settings share a binding: they differ only in per-frame settings such as the iterations.
    pub fn can_become(&self, other: &Self) -> bool {
        let Self { extra, clusters, iterations: _, hinge, energy, acceleration: _, seed, joints: _, grips } =
            self;
        (*extra, *clusters, *hinge, *seed) == (other.extra, other.clusters, other.hinge, other.seed)
            && (energy, grips) == (&other.energy, &other.grips)
    }

    /// Returns what the pose determines of a joint.
    pub fn hold(&self, joint: JointId) -> Hold {
        self.joints.get(&joint).copied().unwrap_or_default()
    }

    /// Returns the settings with all values clamped to their ranges, for data read from a file.
    pub fn sane(mut self) -> Self {
        self.bring_into_range();
        self
    }

    fn bring_into_range(&mut self) {
        self.extra = self.extra.min(128);
        self.clusters = self.clusters.min(1024);
        self.iterations = self.iterations.clamp(1, MAX_ITERATIONS);
        self.hinge = if self.hinge.is_finite() { self.hinge.clamp(0.0, 1e3) } else { 0.0 };
    }
}
