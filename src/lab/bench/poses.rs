//! Full-body poses that rotate every joint.

use crate::base::Random;
use crate::base::math::{Quat, Vec3};
use crate::rig::{Pose, PosedRig, Skeleton};

/// Largest rotation of a joint, degrees.
const LARGEST: f32 = 60.0;

/// Rotates every joint about a random axis by a random angle; a seed always gives the same pose.
pub(super) fn bent(skeleton: &Skeleton, seed: u64) -> Pose {
    let mut random = Random::new(seed);
    let mut pose = Pose::rest(skeleton);
    for node in skeleton.nodes.iter().enumerate().filter(|(_, n)| n.joint.is_some()).map(|(i, _)| i) {
        let axis = Vec3::from_array(std::array::from_fn(|_| random.unit() * 2.0 - 1.0)).normalize_or(Vec3::X);
        let turn = Quat::from_axis_angle(axis, (random.unit() * LARGEST).to_radians());
        pose.local[node].rotation = (pose.local[node].rotation() * turn).to_array();
    }
    pose
}

/// Returns the two poses between which runs alternate.
pub(super) fn pair(skeleton: &Skeleton) -> [PosedRig; 2] {
    [1, 2].map(|seed| PosedRig::new(skeleton, &bent(skeleton, seed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::capsule;

    #[test]
    fn every_joint_is_bent_within_the_limit_and_the_same_every_time() {
        let skeleton = &capsule(4, 12, 8, 0.1, 1.0).skeleton;
        let (a, b) = (bent(skeleton, 1), bent(skeleton, 2));
        assert_eq!(a, bent(skeleton, 1));
        assert_ne!(a, b);
        let rest = Pose::rest(skeleton);
        let mut joints = 0;
        for (i, _) in skeleton.nodes.iter().enumerate().filter(|(_, n)| n.joint.is_some()) {
            let angle = a.local[i].rotation().angle_between(rest.local[i].rotation()).to_degrees();
            assert!(angle > 0.1 && angle <= LARGEST + 0.1, "{angle}");
            joints += 1;
        }
        assert_eq!(joints, 4);
    }
}
