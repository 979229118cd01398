//! Substeps: a frame that does not continue the last one solves several poses on the way from the bind pose to its pose.
//!
//! A solve that starts from a geometric method starts with its deepest overlaps. There, contact can no longer tell on
//! which side a surface has passed another one. On the way from the bind pose, flesh meets flesh while the overlap is
//! still shallow. Every frame begins at the bind pose again, so its shape does not depend on other frames.

use super::motion::{Motion, Step};
use super::{Params, Rest};
use crate::base::JointId;
use crate::base::math::Affine3A;
use crate::rig::{Pose, PosedRig, Skeleton};

/// The way of one character from the bind pose to a pose.
pub struct Substeps {
    order: Vec<JointId>,
    /// The pose of the current substep; not of the last one, which is the frame's own.
    pub rig: PosedRig,
    /// Skinning transforms of the previous substep.
    before: Vec<Affine3A>,
}

impl Substeps {
    /// Creates the state for a character. Frames then do not allocate.
    pub fn new(skeleton: &Skeleton) -> Self {
        let rig = PosedRig::new(skeleton, &Pose::rest(skeleton));
        Self { order: skeleton.joint_order(), before: rig.skinning.clone(), rig }
    }

    /// Returns the number of solves in a frame, given the step from the last frame.
    pub fn count(params: &Params, step: Option<&Step>) -> u32 {
        if step.is_none() && params.rest == Rest::Bind { params.substeps } else { 1 }
    }

    /// Poses substep `k` of `count`, 1..=`count`, on the way to `goal`. Returns the step from the previous substep, and writes
    /// the motion of the joints since then; `None` for the first substep, which starts at the geometric method's shape.
    pub fn pose(
        &mut self,
        skeleton: &Skeleton,
        goal: &PosedRig,
        [k, count]: [u32; 2],
        motion: &mut Motion,
    ) -> Option<Step> {
        let now = if k < count {
            goal.partway_into(skeleton, &self.order, k as f32 / count as f32, &mut self.rig);
            &self.rig.skinning
        } else {
            &goal.skinning
        };
        let step = (k > 1).then(|| {
            motion.carry_between(&self.before, now);
            Step::ONWARD
        });
        self.before.clone_from(now);
        step
    }
}
