//! Deformation of a character: a chain of nodes that computes the drawn surface from the bind pose.
//!
//! The folder of each method has `mod.rs` (authored parameters and the paper) and `cpu.rs` (the CPU reference for
//! tests). Where needed, `bind.rs` holds CPU precomputation and `gpu.rs` holds data that changes per frame. The
//! geometric methods share the pipeline code in `skinning_gpu.rs`.
//!
//! A frame has three stages. A **geometric** node ([`Geometric`]) poses the control vertices with the skeleton. The
//! **spring** node ([`springs`]) relaxes them. The display stage ([`surface`]) copies positions and computes normals.

pub mod attach;
pub mod blend;
mod bound;
pub mod classic;
pub mod clock;
pub mod cor;
pub mod dqs;
pub mod fast;
pub mod geometric;
pub mod geometric_gpu;
mod graph;
pub mod irs;
pub mod lbs;
mod recipe;
mod reference;
pub mod rest;
pub mod rig_buffers;
pub mod rig_data;
pub mod rigid;
pub mod sculpt;
pub mod skinning_cpu;
mod skinning_gpu;
pub mod springs;
pub mod stb;
pub mod surface;
pub mod swing_twist;
pub mod volume;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use bound::Bound;
pub use geometric::Geometric;
pub use graph::{Graph, Kernels};
pub use recipe::Recipe;
pub use reference::CpuGraph;

use crate::base::math::Vec3;
use crate::rig::PosedRig;

/// Data that each node passes to the next node on the CPU, per control vertex.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    /// World positions, metres.
    pub position: Vec<Vec3>,
    /// World attachment points `a'`, metres.
    pub attachment: Vec<Vec3>,
}

/// The CPU reference of a node. The code favours clarity over speed.
pub trait Reference: Send + Sync {
    /// Returns the node's name on the command line and in reports, e.g. `lbs`.
    fn name(&self) -> &'static str;
    /// Evaluates one frame: reads the posed skeleton and updates `streams`.
    fn reference(&self, rig: &PosedRig, streams: &mut Streams);
    /// Evaluates one frame like [`Reference::reference`]. Returns the pose for later nodes if this node changes the
    /// pose.
    fn evaluate(&self, rig: &PosedRig, streams: &mut Streams) -> Option<PosedRig> {
        self.reference(rig, streams);
        None
    }
    /// Applies sculpt offsets to the scale vectors, after it resets the scale vectors of the vertices `before`.
    /// Returns false if the method cannot do this; then the caller must displace the posed positions.
    fn set_offsets(&mut self, _before: &[u32], _field: &sculpt::Field) -> bool {
        false
    }
    /// Precomputes what [`Reference::set_rest`] needs. `bound` has the file's rest shape.
    fn set_cage(&mut self, _bound: &Bound, _skin: &rest::SkinCage) {}
    /// Sets the rest shape of the next frames. The scale vectors then have no sculpt offsets.
    fn set_rest(&mut self, rested: &rest::Rested);
}
