//! FAST on the GPU: the CPU solves for the transforms, and the shader of linear blend skinning applies them.

use super::Params;
use super::node::{Kept, Node};
use crate::base::Result;
use crate::deform::Bound;
use crate::deform::lbs::PackedInfluences;
use crate::deform::rig_data::Rows;
use crate::gpu::{Buffer, Device, Frame};
use crate::rig::PosedRig;
use std::sync::Arc;

/// A character's solver and the GPU buffer with the transforms of its handles.
pub(in crate::deform) struct FastState {
    node: Node,
    kept: Kept,
    /// Whether the last pose had a solution.
    solved: bool,
    rows: Vec<Rows>,
    skinning: Buffer,
    has_tail: bool,
    bound: Bound,
}

impl FastState {
    /// Binds a character. Also returns buffers, by shader name, that replace its influences and transforms.
    ///
    /// # Errors
    /// The errors of [`super::Body::bind`], and an error if a buffer cannot be allocated.
    pub fn new(
        device: &Arc<Device>,
        bound: &Bound,
        params: &Params,
    ) -> Result<(Self, [(&'static str, Buffer); 5])> {
        let node = Node::bind(bound, params)?;
        let packed = PackedInfluences::new(&node.influences);
        let rows = vec![Rows::default(); node.handles(bound)];
        let skinning = Buffer::from_slice(device, "handles", &rows)?;
        let buffers = [
            ("influence_joints", Buffer::from_slice(device, "handle indices", &packed.joints)?),
            ("influence_weights", Buffer::from_slice(device, "handle weights", &packed.weights)?),
            ("tail_offset", Buffer::from_slice(device, "handle tail offsets", &packed.tail_offset)?),
            ("tail", Buffer::from_slice(device, "handle tail", &packed.tail)?),
            ("skinning", skinning.clone()),
        ];
        let (kept, has_tail) = (Kept::default(), packed.has_tail());
        Ok((Self { node, kept, solved: false, rows, skinning, has_tail, bound: bound.clone() }, buffers))
    }

    /// Returns whether any vertex has more than four influences.
    pub fn has_tail(&self) -> bool {
        self.has_tail
    }

    /// Sets parameters that need no new binding (see [`Params::can_become`]).
    pub fn set(&mut self, params: &Params) {
        self.node.set(params);
    }

    /// Solves a pose and uploads its transforms. If the set of posed joints changes, the constraints are factored
    /// again; otherwise it does not allocate.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) {
        // Cannot fail: all constraints refer to existing handles.
        self.solved = self
            .node
            .solve(&self.bound.character.skeleton, rig, &mut self.kept)
            .is_ok_and(|posed| posed.is_some());
        self.rows.iter_mut().zip(&self.kept.maps).for_each(|(row, map)| *row = map.into());
        frame.upload(&self.skinning, 0, &self.rows);
    }

    /// Returns the solved pose for the later nodes of the graph.
    pub fn posed(&self) -> Option<&PosedRig> {
        self.solved.then_some(&self.kept.posed)
    }
}
