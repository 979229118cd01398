//! Substeps: a frame that does not continue the last one solves several poses on the way from the bind pose to its pose.
//!
//! A solve that starts from a geometric method starts with its deepest overlaps. There, contact can no longer tell on
//! which side a surface has passed another one. On the way from the bind pose, flesh meets flesh while the overlap is
//! still shallow. A twist of nearly half a turn also converges better. Every frame begins at the bind pose again, so its
//! shape does not depend on other frames.

use super::motion::{Motion, Step};
use super::{Params, Rest};
use crate::base::JointId;
use crate::base::math::Affine3A;
use crate::rig::{Pose, PosedRig, Skeleton};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

/// Largest angle by which a joint rotates relative to its parent between two solves, radians, if the pose determines the
/// number of solves. Without contact and with contact.
const ANGLES: [f32; 2] = [FRAC_PI_2, FRAC_PI_4];
/// Solves nearer to the bind pose than this fraction of the way between two solves are left out.
const LEAST: f32 = 1e-3;

/// The solves of a frame. They are equally far apart. If the pose determines their number, the first one may be nearer to
/// the bind pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of solves.
    pub count: u32,
    /// Fraction of the way from the bind pose to the frame's pose between two solves.
    part: f32,
}

impl Plan {
    const WHOLE: Self = Self { count: 1, part: 1.0 };

    /// Plans a frame, given the step from the last frame.
    pub fn of(params: &Params, step: Option<&Step>, skeleton: &Skeleton, rig: &PosedRig) -> Self {
        if step.is_some() || params.rest != Rest::Bind {
            return Self::WHOLE;
        }
        if params.substeps > 0 {
            return Self { count: params.substeps, part: 1.0 / params.substeps as f32 };
        }
        let parts = rig.largest_rotation(skeleton) / ANGLES[usize::from(params.contact > 0)];
        if parts > 1.0 + LEAST {
            Self { count: (parts - LEAST).ceil() as u32, part: 1.0 / parts }
        } else {
            Self::WHOLE
        }
    }

    /// Returns the fraction of the way at which solve `k`, 1..=`count`, is.
    fn fraction(&self, k: u32) -> f32 {
        (1.0 - (self.count - k) as f32 * self.part).max(0.0)
    }

    /// Returns [`Step::anchor`] of solve `k`. Where a pose begins to need one more solve, the first solve is in the bind
    /// pose. The second solve then starts from the start method, as the first one did before, so the shape does not jump.
    fn anchor(&self, k: u32) -> f32 {
        if k == 2 { (1.0 - self.fraction(1) / self.part).max(0.0) } else { 0.0 }
    }
}

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

    /// Poses solve `k` of a `plan`, on the way to `goal`. Returns the step from the previous solve, and writes the motion
    /// of the joints since then; `None` for the first solve, which starts at the geometric method's shape.
    pub fn pose(
        &mut self,
        skeleton: &Skeleton,
        goal: &PosedRig,
        (k, plan): (u32, Plan),
        motion: &mut Motion,
    ) -> Option<Step> {
        let now = if k < plan.count {
            goal.partway_into(skeleton, &self.order, plan.fraction(k), &mut self.rig);
            &self.rig.skinning
        } else {
            &goal.skinning
        };
        let step = (k > 1).then(|| {
            motion.carry_between(&self.before, now);
            Step { anchor: plan.anchor(k), ..Step::ONWARD }
        });
        self.before.clone_from(now);
        step
    }
}
