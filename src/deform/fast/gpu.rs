//! The method on the GPU: the CPU solves for transforms, and the stage of linear blend skinning applies
//! them.

use super::Params;
use super::node::{Kept, Node};
use crate::base::Result;
use crate::deform::Bound;
use crate::deform::lbs::PackedInfluences;
use crate::deform::rig_buffers::{ControlBuffers, GeometricPush};
use crate::deform::rig_data::Rows;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::rig::PosedRig;
use crate::spv;
use std::sync::Arc;

/// The pipeline, created once per device.
pub struct FastPipeline {
    stage: Compute,
}

/// A character's solver and bindings.
pub struct FastState {
    node: Node,
    kept: Kept,
    rows: Vec<Rows>,
    skinning: Buffer,
    bindings: Bindings,
    push: GeometricPush,
    bound: Bound,
}

impl FastPipeline {
    /// Creates the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/lbs.comp"), &[])? })
    }

    /// Binds a character; the stage writes posed positions to `position`.
    ///
    /// # Errors
    /// As [`super::Body::bind`], and if memory is short.
    pub fn bind(
        &self,
        bound: &Bound,
        params: &Params,
        control: &ControlBuffers,
        position: &Buffer,
    ) -> Result<FastState> {
        let device = position.device();
        let node = Node::bind(bound, params)?;
        let packed = PackedInfluences::new(&node.influences);
        let rows = vec![Rows::default(); node.handles(bound)];
        let skinning = Buffer::from_slice(device, "handles", &rows)?;
        let bindings = self.stage.bind(&[
            ("influence_joints", &Buffer::from_slice(device, "handle indices", &packed.joints)?),
            ("influence_weights", &Buffer::from_slice(device, "handle weights", &packed.weights)?),
            ("tail_offset", &Buffer::from_slice(device, "handle tail offsets", &packed.tail_offset)?),
            ("tail", &Buffer::from_slice(device, "handle tail", &packed.tail)?),
            ("bind_positions", &control.bind_positions),
            ("skinning", &skinning),
            ("positions", position),
        ])?;
        let push = GeometricPush {
            count: control.vertices,
            has_tail: packed.has_tail().into(),
            flag: 0,
            on_bone: 0.0,
        };
        Ok(FastState { node, kept: Kept::default(), rows, skinning, bindings, push, bound: bound.clone() })
    }

    /// Records the stage. The state must be updated before it, with a barrier between.
    pub fn record(&self, state: &FastState, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &state.push, state.push.count);
    }
}

impl FastState {
    /// Sets parameters that need no new binding ([`Params::can_become`]).
    pub fn set(&mut self, params: &Params) {
        self.node.set(params);
    }

    /// Solves a pose, uploads the transforms as a copy, and returns the solved pose for the nodes after
    /// this one. Allocates only if the set of placed joints has changed: then the constraints are factored
    /// again.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) -> Option<&PosedRig> {
        // The constraints name existing handles, so `constrain` accepts them.
        let solved = self.node.solve(&self.bound, rig, &mut self.kept).is_ok_and(|posed| posed.is_some());
        self.rows.iter_mut().zip(&self.kept.maps).for_each(|(row, map)| *row = map.into());
        frame.upload(&self.skinning, 0, &self.rows);
        solved.then_some(&self.kept.posed)
    }
}
