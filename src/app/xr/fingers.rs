//! Tracked fingers (XR_EXT_hand_tracking).

use crate::base::math::Vec3;
use crate::pose::{Fingers, HandPlaces};
use openxr as xr;

/// The trackers of both hands; `None` if the runtime or the headset tracks no fingers.
pub struct FingerTrackers(Option<[xr::HandTracker; 2]>);

impl FingerTrackers {
    /// Creates the trackers. A runtime that tracks no fingers, or refuses, gives none.
    pub fn new<G>(session: &xr::Session<G>, instance: &xr::Instance, system: xr::SystemId) -> Self {
        if !instance.supports_hand_tracking(system).unwrap_or(false) {
            return Self(None);
        }
        let tracker = |hand| session.create_hand_tracker(hand).ok();
        Self(tracker(xr::Hand::LEFT).zip(tracker(xr::Hand::RIGHT)).map(|(left, right)| [left, right]))
    }

    /// Measures the fingers of a hand (0 is the left one) at a time. `room` is any space.
    ///
    /// # Errors
    /// Fails if the session or the instance is lost.
    pub fn read(&self, hand: usize, room: &xr::Space, time: xr::Time) -> xr::Result<Option<Fingers>> {
        let Some(trackers) = &self.0 else { return Ok(None) };
        let joints = room.locate_hand_joints(&trackers[hand], time)?;
        Ok(joints.and_then(|joints| places(&joints)?.fingers(hand == 1)))
    }
}

/// Returns the places that matter of a tracked hand; `None` if one of them is invalid.
fn places(joints: &xr::HandJointLocations) -> Option<HandPlaces> {
    use xr::HandJoint as J;
    let place = |joint: xr::HandJoint| {
        let at = joints.get(joint.into_raw() as usize)?;
        let p = at.pose.position;
        let valid = at.location_flags.contains(xr::SpaceLocationFlags::POSITION_VALID);
        valid.then(|| Vec3::new(p.x, p.y, p.z))
    };
    let finger = |[a, b, c, d]: [xr::HandJoint; 4]| Some([place(a)?, place(b)?, place(c)?, place(d)?]);
    Some(HandPlaces {
        wrist: place(J::WRIST)?,
        fingers: [
            finger([J::THUMB_METACARPAL, J::THUMB_PROXIMAL, J::THUMB_DISTAL, J::THUMB_TIP])?,
            finger([J::INDEX_PROXIMAL, J::INDEX_INTERMEDIATE, J::INDEX_DISTAL, J::INDEX_TIP])?,
            finger([J::MIDDLE_PROXIMAL, J::MIDDLE_INTERMEDIATE, J::MIDDLE_DISTAL, J::MIDDLE_TIP])?,
            finger([J::RING_PROXIMAL, J::RING_INTERMEDIATE, J::RING_DISTAL, J::RING_TIP])?,
            finger([J::LITTLE_PROXIMAL, J::LITTLE_INTERMEDIATE, J::LITTLE_DISTAL, J::LITTLE_TIP])?,
        ],
    })
}
