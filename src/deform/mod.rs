//! Deformation: a chain of nodes from bind positions to the drawn surface.
//!
//! Every method's folder has `mod.rs` (authored parameters, the paper) and `cpu.rs` (the CPU reference, which the tests
//! compare with). `bind.rs` (precompute on the CPU) and `gpu.rs` (data that changes per frame) exist where needed; the
//! geometric methods share the pipeline code in `skinning_gpu.rs`.
//!
//! A frame has these stages. A **geometric** node ([`Geometric`]) poses the control vertices by the skeleton. The
//! **spring** node ([`springs`]) relaxes them. The display stage ([`surface`]) copies positions and computes normals.

pub mod attach;
pub mod blend;
pub mod classic;
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
pub mod rig_buffers;
pub mod rig_data;
pub mod rigid;
pub mod sculpt;
pub mod skinning_cpu;
mod skinning_gpu;
pub mod springs;
pub mod stb;
pub mod surface;
pub mod volume;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use geometric::Geometric;
pub use graph::{Graph, Kernels};
pub use recipe::Recipe;
pub use reference::CpuGraph;

use crate::base::math::Vec3;
use crate::bind::{Attachments, Character};
use crate::rig::PosedRig;
use std::sync::Arc;

/// Input of every node's binding: the character and the attachment of its skin to its bones.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The character to deform.
    pub character: Arc<Character>,
    /// One entry per control vertex.
    pub attachments: Arc<Attachments>,
}

/// What goes from node to node on the CPU, per control vertex.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    /// World positions, metres.
    pub position: Vec<Vec3>,
    /// World attachment points `a'`, metres.
    pub attachment: Vec<Vec3>,
}

/// The CPU reference of a node. Clarity over speed.
pub trait Reference: Send + Sync {
    /// The name on the command line and in reports, e.g. `lbs`.
    fn name(&self) -> &'static str;
    /// Evaluates one frame.
    fn reference(&self, rig: &PosedRig, streams: &mut Streams);
    /// As [`Reference::reference`]; returns the pose for later nodes if it differs from the given one.
    fn evaluate(&self, rig: &PosedRig, streams: &mut Streams) -> Option<PosedRig> {
        self.reference(rig, streams);
        None
    }
    /// Takes the offsets of edits into account on its own, where it turns scale vectors: those of the vertices `before`
    /// are set back first. False for a method that does not; its positions should be moved.
    fn set_offsets(&mut self, _before: &[u32], _field: &sculpt::Field) -> bool {
        false
    }
}
