//! CPU twin of incremental rotation skinning.

use super::IrsParams;
use super::bind::{BoneReach, IrsBinding, bind, nearest};
use crate::base::Result;
use crate::base::math::{Quat, Vec3};
use crate::deform::attach::Anchors;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;

/// Incremental rotation skinning bound to a character.
pub struct Irs {
    bound: Bound,
    anchors: Anchors,
    binding: IrsBinding,
}

impl Irs {
    /// Binds; an error where attachments and character do not fit together.
    pub fn bind(bound: &Bound, params: &IrsParams) -> Result<Self> {
        let anchors = Anchors::new(bound)?;
        let binding = bind(bound, &anchors, params);
        Ok(Self { bound: bound.clone(), anchors, binding })
    }

    /// Posed position of a vertex on a bone with attachment point `a`.
    fn vertex(&self, vertex: usize, bone: usize, a: Vec3, data: &RigData) -> Vec3 {
        let reach = &self.binding.bones[bone];
        let rigid = Quat::from_array(data.bones[bone].rotation) * self.anchors.scale_vector(vertex);
        let (pw, cw) = weights(reach, self.anchors.anchors[vertex].t);
        let x = a + increment(reach, pw, cw, data) * rigid;
        if !self.binding.length_correction {
            return x;
        }
        let foot = nearest(&self.binding, bone, x, |b| {
            let frame = &data.bones[b as usize];
            (frame.head.into(), frame.span.into())
        });
        let reached = foot.distance(x);
        // **(differs)** The bind distance from the same bones stands for |s|: where smoothing or weights moved
        // the attachment, |s| is longer, and the bind pose would not be kept.
        if reached > self.binding.on_bone {
            foot + (x - foot) * (self.binding.distance[vertex] / reached)
        } else {
            x
        }
    }
}

/// Equation 14: share of the head joint's and of the tail joint's rotation at parameter `t`.
pub(super) fn weights(reach: &BoneReach, t: f32) -> (f32, f32) {
    let pw = if reach.head > 0.0 { (1.0 - t / reach.head).clamp(0.0, 1.0) } else { 0.0 };
    let tail = 1.0 - reach.tail;
    let cw = if tail > 0.0 { ((t - reach.tail) / tail).clamp(0.0, 1.0) } else { 0.0 };
    (pw, cw)
}

/// Equations 15-17. **(differs)** The blend of both rotations is one of quaternions; the print adds matrices.
fn increment(reach: &BoneReach, pw: f32, cw: f32, data: &RigData) -> Quat {
    let local = |joint: u32| Quat::from_array(data.local[joint as usize]);
    let back = || fraction(local(reach.parent).conjugate(), 0.5 * pw);
    let on = || {
        if reach.child == BoneReach::NONE { Quat::IDENTITY } else { fraction(local(reach.child), 0.5 * cw) }
    };
    match (pw > 0.0, cw > 0.0) {
        (false, false) => Quat::IDENTITY,
        (true, false) => back(),
        (false, true) => on(),
        // Both turn by at most a quarter turn, so they cannot be opposed.
        (true, true) => (back() * pw + on() * cw).normalize(),
    }
}

/// The rotation by a fraction in 0..=1/2 of the angle of `q`, which has `w >= 0`, about the same axis.
fn fraction(q: Quat, f: f32) -> Quat {
    let sine = q.xyz().length();
    if sine < 1e-7 {
        return Quat::IDENTITY;
    }
    let half = sine.atan2(q.w) * f;
    Quat::from_vec4((q.xyz() * (half.sin() / sine)).extend(half.cos()))
}

impl Reference for Irs {
    fn name(&self) -> &'static str {
        "irs"
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
        let attachment = &streams.attachment;
        streams.position.resize(attachment.len(), Vec3::ZERO);
        streams.position.par_iter_mut().enumerate().for_each(|(i, out)| {
            *out = match self.anchors.bone(i) {
                Some(bone) => self.vertex(i, bone, attachment[i], &data),
                None => attachment[i],
            };
        });
    }
}
