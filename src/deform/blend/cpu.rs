//! CPU twin of the LBS-DQS blend.

use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::deform::attach::Anchors;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams, dqs, lbs};
use crate::rig::PosedRig;
use rayon::prelude::*;
use std::sync::Arc;

/// How much of DQS: 0 is LBS, 1 is DQS.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    /// The same everywhere.
    Global(f32),
    /// One per control vertex.
    PerVertex(Arc<[f32]>),
}

impl Factor {
    /// An error where there are factors for another number of vertices.
    pub fn check(&self, vertices: usize) -> Result<()> {
        match self {
            Self::PerVertex(factors) if factors.len() != vertices => Err(Error::input(
                format!("{} blend factors for {vertices} control vertices", factors.len()),
                "give one factor per control vertex",
            )),
            _ => Ok(()),
        }
    }

    /// The factor of one vertex, clamped to 0..=1; not-a-number counts as 0.
    pub fn of(&self, vertex: usize) -> f32 {
        let factor = match self {
            Self::Global(factor) => *factor,
            Self::PerVertex(factors) => factors[vertex],
        };
        factor.clamp(0.0, 1.0).max(0.0)
    }
}

/// The blend bound to a character.
pub struct Blend {
    bound: Bound,
    anchors: Anchors,
    factor: Factor,
}

impl Blend {
    /// Binds; an error where attachments, factors and character do not fit together.
    pub fn bind(bound: &Bound, factor: Factor) -> Result<Self> {
        factor.check(bound.character.control.positions.len())?;
        Ok(Self { bound: bound.clone(), anchors: Anchors::new(bound)?, factor })
    }
}

impl Reference for Blend {
    fn name(&self) -> &'static str {
        "blend"
    }

    fn reads(&self) -> &'static [Stream] {
        &[]
    }

    fn writes(&self) -> &'static [Stream] {
        &[Stream::Position, Stream::Attachment]
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        let character = &self.bound.character;
        let data = RigData::of(&character.skeleton, rig);
        self.anchors.attachment_points(&data, &mut streams.attachment);
        let control = &character.control;
        streams.position.resize(control.positions.len(), Vec3::ZERO);
        streams.position.par_iter_mut().enumerate().for_each(|(i, out)| {
            let x = control.positions[i];
            let linear = lbs::blend(&control.influences, i, &rig.skinning).transform_point3(x);
            let dual = dqs::skin(&control.influences, i, &data, x);
            *out = linear.lerp(dual, self.factor.of(i));
        });
    }
}
