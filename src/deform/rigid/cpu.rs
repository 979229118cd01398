//! CPU twin of the rigid attachment.

use crate::base::Result;
use crate::base::math::{Quat, Vec3};
use crate::deform::attach::Anchors;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;

/// Rigid attachment bound to a character.
pub struct Rigid {
    bound: Bound,
    anchors: Anchors,
}

impl Rigid {
    /// Binds; an error where attachments and character do not fit together.
    pub fn bind(bound: &Bound) -> Result<Self> {
        Ok(Self { bound: bound.clone(), anchors: Anchors::new(bound)? })
    }
}

impl Reference for Rigid {
    fn name(&self) -> &'static str {
        "rigid"
    }

    fn reads(&self) -> &'static [Stream] {
        &[]
    }

    fn writes(&self) -> &'static [Stream] {
        &[Stream::Position, Stream::Attachment]
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        let data = RigData::of(&self.bound.character.skeleton, rig);
        self.anchors.attachment_points(&data, &mut streams.attachment);
        let (anchors, attachment) = (&self.anchors, &streams.attachment);
        streams.position.resize(attachment.len(), Vec3::ZERO);
        streams.position.par_iter_mut().enumerate().for_each(|(i, out)| {
            *out = match anchors.bone(i) {
                Some(bone) => {
                    attachment[i] + Quat::from_array(data.bones[bone].rotation) * anchors.scale_vector(i)
                }
                None => attachment[i],
            };
        });
    }
}
