//! The geometric methods on the GPU, behind the common interface that the graph uses.

use super::attach::Anchors;
use super::blend::BlendFactors;
use super::cor::CorCenters;
use super::fast::FastState;
use super::irs::{self, IrsReaches};
use super::rest::SkinCage;
use super::rest::gpu::Followers;
use super::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use super::skinning_gpu::{SkinningPipeline, SkinningState};
use super::stb::{self, StbRests};
use super::swing_twist::{SwingTwistBinding, SwingTwistState};
use super::{Bound, Geometric};
use crate::base::Result;
use crate::gpu::{Buffer, Device, Frame};
use crate::rig::PosedRig;
use crate::spv;
use std::sync::Arc;

/// The pipelines of all geometric methods, created once per device. FAST uses the pipeline of linear blend skinning.
pub struct GeometricPipelines {
    rigid: SkinningPipeline,
    lbs: SkinningPipeline,
    dqs: SkinningPipeline,
    blend: SkinningPipeline,
    irs: SkinningPipeline,
    cor: SkinningPipeline,
    stb: SkinningPipeline,
    swing_twist: SkinningPipeline,
}

/// A method bound to a character, with its descriptor bindings.
pub struct GeometricState {
    skinning: SkinningState,
    method: Method,
}

/// The method and its own buffers.
enum Method {
    /// A method without buffers of its own.
    Fixed(Kind),
    Blend(BlendFactors),
    Irs(IrsReaches),
    SwingTwist(SwingTwistState),
    Cor(CorCenters),
    Stb(StbRests),
    Fast(Box<FastState>),
}

/// Methods that consist of a single shader without buffers of their own.
#[derive(Clone, Copy)]
enum Kind {
    Rigid,
    Lbs,
    Dqs,
}

impl GeometricState {
    /// Uploads the method's own data as copy commands: the caller adds a barrier or a phase.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) {
        match &mut self.method {
            Method::Fixed(_) => {}
            Method::Blend(factors) => factors.update(frame),
            Method::Irs(reaches) => reaches.update(frame),
            Method::SwingTwist(state) => state.update(frame, rig),
            Method::Cor(_) => {}
            Method::Stb(rests) => rests.update(frame, rig),
            Method::Fast(state) => state.update(frame, rig),
        }
    }

    /// Returns the pose of the last update for later nodes, if the method changes the pose.
    pub fn posed(&self) -> Option<&PosedRig> {
        if let Method::Fast(state) = &self.method { state.posed() } else { None }
    }

    /// What of the method follows a change of the rest shape, apart from what it reads of every pose.
    pub fn followers(&self, bound: &Bound, skin: &SkinCage) -> Followers {
        match &self.method {
            Method::Cor(centers) => centers.followers(&bound.character.control, skin),
            Method::Irs(reaches) => reaches.followers(),
            _ => Followers::Nothing,
        }
    }

    /// The weights of swing-twist deformers; `None` for other methods.
    pub fn swing_twist(&self) -> Option<&SwingTwistBinding> {
        if let Method::SwingTwist(state) = &self.method { Some(state.binding()) } else { None }
    }

    /// Changes the settings that need no new binding ([`Geometric::can_become`]).
    pub fn set(&mut self, method: &Geometric) {
        match (&mut self.method, method) {
            (Method::Blend(factors), Geometric::Blend { factor, painted }) => {
                factors.set(painted, *factor);
            }
            (Method::Irs(reaches), Geometric::Irs(params)) => reaches.set(params),
            (Method::SwingTwist(state), Geometric::SwingTwist(params)) => state.set(params),
            (Method::Fast(state), Geometric::Fast(params)) => state.set(params),
            _ => {}
        }
    }
}

impl GeometricPipelines {
    /// Creates the pipelines of all methods.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let new = |spv| SkinningPipeline::new(device, spv);
        Ok(Self {
            rigid: new(spv!("deform/rigid.comp"))?,
            lbs: new(spv!("deform/lbs.comp"))?,
            dqs: new(spv!("deform/dqs.comp"))?,
            blend: new(spv!("deform/blend.comp"))?,
            irs: new(spv!("deform/irs.comp"))?,
            cor: new(spv!("deform/cor.comp"))?,
            stb: new(spv!("deform/stb.comp"))?,
            swing_twist: new(spv!("deform/swing_twist.comp"))?,
        })
    }

    /// Returns the compute pipeline that a method runs.
    fn stage(&self, method: &Method) -> &SkinningPipeline {
        match method {
            Method::Fixed(Kind::Rigid) => &self.rigid,
            Method::Fixed(Kind::Dqs) => &self.dqs,
            Method::Cor(_) => &self.cor,
            Method::Stb(_) => &self.stb,
            Method::Fixed(Kind::Lbs) | Method::Fast(_) => &self.lbs,
            Method::Blend(_) => &self.blend,
            Method::SwingTwist(_) => &self.swing_twist,
            Method::Irs(_) => &self.irs,
        }
    }

    /// Precomputes and binds a method. Its shader writes the position stream.
    ///
    /// # Errors
    /// Same errors as the CPU binding of the method; also if memory is short.
    pub fn bind(
        &self,
        method: &Geometric,
        bound: &Bound,
        control: &ControlBuffers,
        rig: &RigBuffers,
        out: &StreamBuffers,
    ) -> Result<GeometricState> {
        let device = out.position.device();
        // The method's own buffers, with their names in its shader.
        let mut own: Vec<(&'static str, Buffer)> = Vec::new();
        let mut correction = None;
        let method = match method {
            Geometric::Rigid => Method::Fixed(Kind::Rigid),
            Geometric::Lbs => Method::Fixed(Kind::Lbs),
            Geometric::Dqs => Method::Fixed(Kind::Dqs),
            Geometric::Blend { factor, painted } => {
                let factors = BlendFactors::new(device, painted, *factor, control.vertices)?;
                own.push(("factors", factors.buffer().clone()));
                Method::Blend(factors)
            }
            Geometric::Irs(params) => {
                let binding = irs::bind(bound, &Anchors::new(bound)?, params);
                let reaches = IrsReaches::new(device, &binding)?;
                own.extend(reaches.named().map(|(name, buffer)| (name, buffer.clone())));
                correction = Some((binding.on_bone, binding.length_correction));
                Method::Irs(reaches)
            }
            Geometric::Cor => {
                let centers = CorCenters::new(device, &bound.character.control)?;
                own.push(("centers", centers.buffer().clone()));
                Method::Cor(centers)
            }
            Geometric::Stb => {
                let binding = stb::bind(bound);
                own.push(("offsets", Buffer::from_slice(device, "bone weight offsets", &binding.offset)?));
                own.push(("entries", Buffer::from_slice(device, "bone weights", &binding.entries)?));
                let rests = StbRests::new(device, &bound.character.skeleton, &binding)?;
                own.push(("rests", rests.buffer().clone()));
                Method::Stb(rests)
            }
            Geometric::SwingTwist(params) => {
                let (state, buffers) = SwingTwistState::new(device, bound, params)?;
                own.extend(buffers);
                Method::SwingTwist(state)
            }
            Geometric::Fast(params) => {
                let (state, buffers) = FastState::new(device, bound, params)?;
                own.extend(buffers);
                Method::Fast(Box::new(state))
            }
        };
        let named: Vec<_> = own.iter().map(|(name, buffer)| (*name, buffer)).collect();
        let mut skinning = self.stage(&method).bind(&named, control, rig, &out.position)?;
        let push = skinning.push_mut();
        if let Some((on_bone, length_correction)) = correction {
            (push.on_bone, push.flag) = (on_bone, length_correction.into());
        }
        if let Method::Fast(state) = &method {
            push.has_tail = state.has_tail().into();
        }
        Ok(GeometricState { skinning, method })
    }

    /// Records the method's dispatch, which writes the position stream. Before it, the rig and the method's own data
    /// must be uploaded, followed by a barrier.
    pub fn record(&self, state: &GeometricState, rig: &RigBuffers, frame: &mut Frame) {
        self.stage(&state.method).record(&state.skinning, rig, frame);
    }
}
