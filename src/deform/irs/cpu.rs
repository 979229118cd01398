//! CPU reference of incremental rotation skinning.

use super::IrsParams;
use super::bind::{BoneReach, IrsBinding, bind, distances, nearest};
use crate::base::Result;
use crate::base::math::{Quat, Vec3};
use crate::deform::Bound;
use crate::deform::attach::Anchors;
use crate::deform::rest::Rested;
use crate::deform::rig_data::RigData;
use crate::deform::skinning_cpu::{Posed, Skinning};

/// Incremental rotation skinning with its precomputed data.
pub struct Irs {
    binding: IrsBinding,
}

impl Irs {
    /// Binds the method. Returns an error if the attachments do not fit the character.
    pub fn new(bound: &Bound, params: &IrsParams) -> Result<Self> {
        Ok(Self { binding: bind(bound, &Anchors::new(bound)?, params) })
    }
}

impl Skinning for Irs {
    fn name(&self) -> &'static str {
        "irs"
    }

    fn radial(&self) -> bool {
        // The length correction would undo a change of the scale vector's length.
        !self.binding.length_correction
    }

    fn set_rest(&mut self, rested: &Rested, anchors: &Anchors) {
        self.binding.distance = distances(&rested.bound, anchors, &self.binding);
    }

    fn vertex(&self, vertex: usize, a: Vec3, posed: &Posed<'_>) -> Vec3 {
        let Some(bone) = posed.anchors.bone(vertex) else { return a };
        let data = posed.data;
        let reach = &self.binding.bones[bone];
        let rigid = Quat::from_array(data.bones[bone].rotation) * posed.anchors.scale_vector(vertex);
        let (pw, cw) = weights(reach, posed.anchors.anchors[vertex].t);
        let x = a + increment(reach, pw, cw, data) * rigid;
        if !self.binding.length_correction {
            return x;
        }
        let foot = nearest(&self.binding, bone, x, |b| {
            let frame = &data.bones[b as usize];
            (frame.head.into(), frame.span.into())
        });
        let reached = foot.distance(x);
        // **(differs)** Uses the bind distance from the same bones instead of |s|. Smoothing or skin weights can move
        // the attachment point; |s| is then longer than this distance and would change the bind pose.
        if reached > self.binding.on_bone {
            foot + (x - foot) * (self.binding.distance[vertex] / reached)
        } else {
            x
        }
    }
}

/// Returns the weights of the head joint's and the tail joint's rotation at parameter `t` (equation 14).
pub(super) fn weights(reach: &BoneReach, t: f32) -> (f32, f32) {
    let pw = if reach.head > 0.0 { (1.0 - t / reach.head).clamp(0.0, 1.0) } else { 0.0 };
    let tail = 1.0 - reach.tail;
    let cw = if tail > 0.0 { ((t - reach.tail) / tail).clamp(0.0, 1.0) } else { 0.0 };
    (pw, cw)
}

/// Equations 15-17. **(differs)** Blends the two rotations as quaternions; the thesis adds matrices.
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
        // Both rotate by at most 90 degrees, so they cannot be opposite.
        (true, true) => (back() * pw + on() * cw).normalize(),
    }
}

/// Returns the rotation about the axis of `q` by the fraction `f` in 0..=1/2 of its angle; `q` must have `w >= 0`.
fn fraction(q: Quat, f: f32) -> Quat {
    let sine = q.xyz().length();
    if sine < 1e-7 {
        return Quat::IDENTITY;
    }
    let half = sine.atan2(q.w) * f;
    Quat::from_vec4((q.xyz() * (half.sin() / sine)).extend(half.cos()))
}
