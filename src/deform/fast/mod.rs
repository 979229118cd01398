//! Fast automatic skinning transformations: some handles are placed, the others find their place.
//!
//! A. Jacobson, I. Baran, L. Kavan, J. Popović, O. Sorkine, *Fast Automatic Skinning Transformations*, 2012 (methods,
//! section 8): an as-rigid-as-possible energy in the space of linear blend skinning,
//! `min ½ tr(Tᵀ L̃ T) - tr(R K̃ T)` under `M_eq T = P_eq`, with a rotation per cluster of vertices. What an iteration costs
//! does not depend on the mesh.
//!
//! [`Reduced`] is bound once per character, [`Constrained`] made when the set of constraints changes, and a [`Solver`]
//! finds the transforms, frame by frame. Where this differs from the paper is said at the head of `bind.rs`,
//! `constrain.rs`, `polar.rs`, `solve.rs`, `cluster.rs`, `inside.rs` and `extra.rs`.
//!
//! Transforms are eliminated, so that an iteration multiplies the rotations by one matrix of `3r x 3r` and takes the
//! nearest rotations by Newton's method from the last ones, in vectors of the processor's width (`pulp`, chosen at run
//! time, no `unsafe`). Anderson acceleration is guarded by the exact gain of energy, two sums. Binding keeps a Laplacian
//! per cluster, so any pose can be made the rest shape without the mesh: a grab starts from the pose that is there.

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
pub use gpu::{FastPipeline, FastState};
pub use inside::Parts;
pub use node::Fast;
pub use solve::{Acceleration, Solved, Solver};
pub use weights::Weights;

use serde::{Deserialize, Serialize};

/// Iterations of a frame at most, whatever is asked for.
pub const MAX_ITERATIONS: u32 = 1000;

/// Authored settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Abstract handles, which let the shape bend between the given ones.
    pub extra: u32,
    /// Rotation clusters; 0 for twice as many as handles.
    pub clusters: u32,
    /// Iterations of a frame at most.
    pub iterations: u32,
    /// How strongly joints of handles keep together, in stiffnesses of a mean handle; 0 leaves that to the weights.
    pub hinge: f32,
    /// What is kept rigid; none for what fits the shape.
    pub energy: Option<Energy>,
    /// How iterations follow each other.
    pub acceleration: Acceleration,
    /// Of the choice of clusters and abstract handles.
    pub seed: u64,
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
        }
    }
}

impl Params {
    /// As a deformer of its own: some abstract handles.
    pub fn deformer() -> Self {
        Self { extra: 12, iterations: 30, ..Self::default() }
    }

    /// For hands: joints keep together, so that bones hardly change their lengths.
    pub fn grab() -> Self {
        Self { hinge: 0.3, ..Self::default() }
    }

    /// Sets a number by its field's name, in range, counts rounded; false where no field has that name.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
        let count = value.round().max(0.0) as u32;
        match name {
            "extra" => self.extra = count,
            "clusters" => self.clusters = count,
            "iterations" => self.iterations = count,
            "hinge" => self.hinge = value,
            "seed" => self.seed = u64::from(count),
            _ => return false,
        }
        self.bring_into_range();
        true
    }

    /// Whether what is bound to these is bound to the others too: iterations are of the frames alone.
    pub fn can_become(&self, other: &Self) -> bool {
        let Self { extra, clusters, iterations: _, hinge, energy, acceleration: _, seed } = self;
        (*extra, *clusters, *hinge, *seed) == (other.extra, other.clusters, other.hinge, other.seed)
            && *energy == other.energy
    }

    /// The same with everything in range, for what was read from a file.
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
