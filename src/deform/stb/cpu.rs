//! CPU twin of stretchable, twistable bones.

use super::bind::{StbBinding, bind};
use crate::base::Result;
use crate::base::math::{Quat, Vec3};
use crate::deform::attach::{Anchors, ON_JOINT};
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;

/// The method bound to a character.
pub struct Stb {
    bound: Bound,
    anchors: Anchors,
    binding: StbBinding,
}

impl Stb {
    /// Binds; an error where attachments and character do not fit together.
    pub fn bind(bound: &Bound) -> Result<Self> {
        Ok(Self { anchors: Anchors::new(bound)?, binding: bind(bound), bound: bound.clone() })
    }
}

impl Reference for Stb {
    fn name(&self) -> &'static str {
        "stb"
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
        let (positions, binding) = (&character.control.positions, &self.binding);
        streams.position.resize(positions.len(), Vec3::ZERO);
        streams.position.par_iter_mut().enumerate().for_each(|(i, out)| {
            let range = binding.offset[i] as usize..binding.offset[i + 1] as usize;
            let moved = |entry: &super::StbEntry| {
                if entry.bone & ON_JOINT != 0 {
                    return rig.skinning[(entry.bone & !ON_JOINT) as usize].transform_point3(positions[i]);
                }
                let (rest, strain) = (&binding.bones[entry.bone as usize], &data.strain[entry.bone as usize]);
                let (head, axis) = (Vec3::from(rest.head), Vec3::from(rest.direction));
                let angle = entry.end * strain.twist;
                let twist =
                    if axis == Vec3::ZERO { Quat::IDENTITY } else { Quat::from_axis_angle(axis, angle) };
                let x = head + twist * (positions[i] - head);
                rig.skinning[rest.joint as usize].transform_point3(x) + entry.end * Vec3::from(strain.stretch)
            };
            *out = binding.entries[range].iter().map(|e| e.weight * moved(e)).sum();
        });
    }
}
