//! Deformation: a chain of nodes from bind positions to the drawn surface.
//!
//! Each method is a folder with the same four files: `mod.rs` (authored parameters, the paper), `bind.rs`
//! (precomputation on the CPU, if any), `gpu.rs` (pipelines once per device, state per character,
//! recording) and `cpu.rs` (the CPU reference that the tests compare with).
//!
//! A frame has these stages. A **geometric** node ([`Geometric`]) poses the control vertices by the
//! skeleton. The **spring** node ([`springs`]) relaxes them. The display stage ([`surface`]) copies
//! positions and computes normals.

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
pub mod springs;
pub mod stb;
pub mod surface;
pub mod twin;

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

/// A per-control-vertex data stream between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// World position of each control vertex, metres.
    Position,
    /// World attachment point `a'` of each control vertex, metres.
    Attachment,
}

/// The streams in CPU memory.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    /// Data of [`Stream::Position`].
    pub position: Vec<Vec3>,
    /// Data of [`Stream::Attachment`].
    pub attachment: Vec<Vec3>,
}

/// The CPU reference of a node: names its streams and evaluates a frame. It favours clarity over speed.
pub trait Reference: Send + Sync {
    /// The name on the command line and in reports, e.g. `lbs`.
    fn name(&self) -> &'static str;
    /// Streams that must hold this frame's data before [`Reference::reference`].
    fn reads(&self) -> &'static [Stream];
    /// Streams that hold this frame's data after [`Reference::reference`].
    fn writes(&self) -> &'static [Stream];
    /// Evaluates one frame into `streams`.
    fn reference(&self, rig: &PosedRig, streams: &mut Streams);
    /// As [`Reference::reference`]; returns the pose for later nodes if it differs from the given one.
    fn evaluate(&self, rig: &PosedRig, streams: &mut Streams) -> Option<PosedRig> {
        self.reference(rig, streams);
        None
    }
    /// Applies the offsets of sculpt layers in the method itself, if it rotates scale vectors; the vertices
    /// `before` are reset first. Returns false if the method does not: the caller must then move its
    /// positions.
    fn set_offsets(&mut self, _before: &[u32], _field: &sculpt::Field) -> bool {
        false
    }
}
