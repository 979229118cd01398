//! The geometric methods on the GPU behind one interface, as the graph uses them.

use super::attach::Anchors;
use super::blend::{BlendPipeline, BlendState, Factor};
use super::cor::{CorPipeline, CorState, centers};
use super::dqs::{DqsPipeline, DqsState};
use super::fast::{FastPipeline, FastState};
use super::irs::{self, IrsPipeline, IrsState};
use super::lbs::{LbsPipeline, LbsState};
use super::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use super::rigid::{RigidPipeline, RigidState};
use super::stb::{self, StbPipeline, StbState};
use super::{Bound, Geometric};
use crate::base::Result;
use crate::gpu::{Device, Frame};
use crate::rig::PosedRig;
use std::sync::Arc;

/// The pipelines of all geometric methods, created once per device.
pub struct GeometricPipelines {
    rigid: RigidPipeline,
    lbs: LbsPipeline,
    dqs: DqsPipeline,
    blend: BlendPipeline,
    irs: IrsPipeline,
    cor: CorPipeline,
    stb: StbPipeline,
    fast: FastPipeline,
}

/// A bound method with its character's bindings.
pub struct GeometricState(Method);

enum Method {
    Rigid(RigidState),
    Lbs(LbsState),
    Dqs(DqsState),
    Blend(BlendState),
    Irs(IrsState),
    Cor(CorState),
    Stb(StbState),
    Fast(Box<FastState>),
}

impl GeometricState {
    /// Uploads the method's own data, as copies: put a barrier or a phase after them. Returns the pose for
    /// later nodes if it differs from the given one.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) -> Option<&PosedRig> {
        match &mut self.0 {
            Method::Fast(state) => return state.update(frame, rig),
            Method::Blend(state) => state.update(frame),
            Method::Irs(state) => state.update(frame),
            _ => {}
        }
        None
    }

    /// Sets settings that need no new binding ([`Geometric::can_become`]).
    pub fn set(&mut self, method: &Geometric) {
        match (&mut self.0, method) {
            (Method::Blend(state), Geometric::Blend { factor }) => state.set(*factor),
            (Method::Irs(state), Geometric::Irs(params)) => state.set(params),
            (Method::Fast(state), Geometric::Fast(params)) => state.set(params),
            _ => {}
        }
    }
}

impl GeometricPipelines {
    /// Creates all pipelines.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self {
            rigid: RigidPipeline::new(device)?,
            lbs: LbsPipeline::new(device)?,
            dqs: DqsPipeline::new(device)?,
            blend: BlendPipeline::new(device)?,
            irs: IrsPipeline::new(device)?,
            cor: CorPipeline::new(device)?,
            stb: StbPipeline::new(device)?,
            fast: FastPipeline::new(device)?,
        })
    }

    /// Precomputes and binds a method that writes the position stream.
    pub fn bind(
        &self,
        method: &Geometric,
        bound: &Bound,
        control: &ControlBuffers,
        rig: &RigBuffers,
        out: &StreamBuffers,
    ) -> Result<GeometricState> {
        let position = &out.position;
        Ok(GeometricState(match method {
            Geometric::Rigid => Method::Rigid(self.rigid.bind(control, rig, position)?),
            Geometric::Lbs => Method::Lbs(self.lbs.bind(control, rig, position)?),
            Geometric::Dqs => Method::Dqs(self.dqs.bind(control, rig, position)?),
            Geometric::Blend { factor } => {
                Method::Blend(self.blend.bind(&Factor::Global(*factor), control, rig, position)?)
            }
            Geometric::Irs(params) => {
                let binding = irs::bind(bound, &Anchors::new(bound)?, params);
                Method::Irs(self.irs.bind(&binding, control, rig, position)?)
            }
            Geometric::Cor => {
                let centers = centers(&bound.character.control);
                Method::Cor(self.cor.bind(&centers, control, rig, position)?)
            }
            Geometric::Stb => Method::Stb(self.stb.bind(&stb::bind(bound), control, rig, position)?),
            Geometric::Fast(params) => {
                Method::Fast(Box::new(self.fast.bind(bound, params, control, position)?))
            }
        }))
    }

    /// Records the method's stage, which writes the position stream. The rig must be uploaded before it,
    /// with a barrier between.
    pub fn record(
        &self,
        state: &GeometricState,
        control: &ControlBuffers,
        rig: &RigBuffers,
        frame: &mut Frame,
    ) {
        match &state.0 {
            Method::Rigid(state) => self.rigid.record(state, control, frame),
            Method::Lbs(state) => self.lbs.record(state, control, frame),
            Method::Dqs(state) => self.dqs.record(state, control, rig, frame),
            Method::Blend(state) => self.blend.record(state, control, rig, frame),
            Method::Irs(state) => self.irs.record(state, frame),
            Method::Cor(state) => self.cor.record(state, control, rig, frame),
            Method::Stb(state) => self.stb.record(state, control, frame),
            Method::Fast(state) => self.fast.record(state, frame),
        }
    }
}
