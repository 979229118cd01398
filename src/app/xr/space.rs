//! Reference spaces of the room (LOCAL_FLOOR or a replacement) and of the head. Also detects when the runtime recentres
//! the room.

use super::actions;
use super::error::{Result, failed};
use crate::base::math::{Quat, Vec3};
use crate::workbench::{Rigid, Tracked, Tracking};
use openxr as xr;

/// Assumed height of LOCAL's origin above the floor, metres. The value lies between the eye heights of a seated and a
/// standing person.
const GUESSED_HEIGHT: f32 = 1.5;

/// Source of the room space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomKind {
    /// The runtime's LOCAL_FLOOR space.
    Given,
    /// LOCAL, lowered to the floor of STAGE.
    FromStage,
    /// LOCAL, lowered by an assumed height.
    Guessed,
}

/// The reference spaces of a session.
pub struct Room {
    /// Room space, in which all poses and views are located: metres, +Y up, origin on the floor.
    pub space: xr::Space,
    /// Source of the room space.
    pub kind: RoomKind,
    head: xr::Space,
    /// STAGE, a space that recentring does not move. If the runtime has no STAGE, this field is `None` and the head
    /// replaces STAGE.
    anchor: Option<xr::Space>,
    /// Last known pose of the anchor (STAGE or head) in room space.
    anchored: Option<Rigid>,
    last_head: Tracked,
    /// Time at which the room's origin will move, and the transform from old to new room space; the transform is `None`
    /// if the runtime does not know it.
    pending: Option<(xr::Time, Option<Rigid>)>,
}

impl Room {
    /// Creates the spaces. `local_floor` states whether the runtime supports LOCAL_FLOOR.
    pub fn new<G>(session: &xr::Session<G>, local_floor: bool) -> Result<Self> {
        let kinds = session.enumerate_reference_spaces().map_err(failed("xrEnumerateReferenceSpaces"))?;
        let make =
            |kind, pose| session.create_reference_space(kind, pose).map_err(failed("xrCreateReferenceSpace"));
        let identity = xr::Posef::IDENTITY;
        let has = |kind| kinds.contains(&kind);
        let anchor = if has(xr::ReferenceSpaceType::STAGE) {
            Some(make(xr::ReferenceSpaceType::STAGE, identity)?)
        } else {
            None
        };
        let direct = local_floor && has(xr::ReferenceSpaceType::LOCAL_FLOOR);
        let (kind, space) = if direct {
            (RoomKind::Given, make(xr::ReferenceSpaceType::LOCAL_FLOOR, identity)?)
        } else {
            (RoomKind::Guessed, make(xr::ReferenceSpaceType::LOCAL, lowered(GUESSED_HEIGHT))?)
        };
        let head = make(xr::ReferenceSpaceType::VIEW, identity)?;
        Ok(Self { space, kind, head, anchor, anchored: None, last_head: Tracked::default(), pending: None })
    }

    /// Stores the runtime's announcement that the origin of the space `kind` will move at time `at`. `old_from_new` is
    /// the transform from new to old space, or `None` if it is unknown.
    pub fn will_change(&mut self, kind: xr::ReferenceSpaceType, at: xr::Time, old_from_new: Option<Rigid>) {
        let ours = match self.kind {
            RoomKind::Given => xr::ReferenceSpaceType::LOCAL_FLOOR,
            _ => xr::ReferenceSpaceType::LOCAL,
        };
        if kind == ours {
            self.pending = Some((at, old_from_new.map(|p| inverse(&p))));
        }
    }

    /// Returns the head pose at `time`, and the movement of the room's origin since the last call, as the transform
    /// from old to new room space. If the runtime lacks LOCAL_FLOOR, this call finds the floor as soon as the runtime
    /// can locate STAGE.
    pub fn locate<G>(
        &mut self,
        session: &xr::Session<G>,
        time: xr::Time,
    ) -> Result<(Tracked, Option<Rigid>)> {
        let mut moved = None;
        let due = self.pending.take_if(|(at, _)| time.as_nanos() >= at.as_nanos());
        if self.kind == RoomKind::Guessed || (due.is_some() && self.kind == RoomKind::FromStage) {
            self.find_floor(session, time)?;
        }
        let seen = actions::located(&self.head, &self.space, time).map_err(failed("xrLocateSpace"))?;
        self.last_head = seen.after(&self.last_head);
        let head = (self.last_head.tracking != Tracking::Lost).then_some(self.last_head.pose);
        let anchored = match &self.anchor {
            Some(anchor) => located(anchor, &self.space, time)?,
            None => head,
        };
        if let Some((_, known)) = due {
            moved = known.or_else(|| Some(compose(&anchored?, &inverse(&self.anchored?))));
        } else if self.anchor.is_some()
            && self.pending.is_none()
            && let (Some(now), Some(before)) = (&anchored, &self.anchored)
        {
            // Monado 25 recentres without an event. Without recentring, STAGE moves relative to the room only in small
            // steps, so a jump means that the runtime has recentred.
            let by = compose(now, &inverse(before));
            moved = jumped(&by).then_some(by);
        }
        if anchored.is_some() {
            self.anchored = anchored;
        }
        Ok((self.last_head, moved.map(|m| level(&m))))
    }

    fn find_floor<G>(&mut self, session: &xr::Session<G>, time: xr::Time) -> Result<()> {
        let Some(stage) = &self.anchor else { return Ok(()) };
        let local = session
            .create_reference_space(xr::ReferenceSpaceType::LOCAL, xr::Posef::IDENTITY)
            .map_err(failed("xrCreateReferenceSpace"))?;
        if let Some(stage_from_local) = located(&local, stage, time)? {
            self.space = session
                .create_reference_space(xr::ReferenceSpaceType::LOCAL, lowered(stage_from_local.position.y))
                .map_err(failed("xrCreateReferenceSpace"))?;
            self.kind = RoomKind::FromStage;
            self.anchored = None;
        }
        Ok(())
    }
}

fn lowered(height: f32) -> xr::Posef {
    let mut pose = xr::Posef::IDENTITY;
    pose.position.y = -height;
    pose
}

/// Returns the pose of `space` in `base`; `None` if the runtime cannot locate it.
pub fn located(space: &xr::Space, base: &xr::Space, time: xr::Time) -> Result<Option<Rigid>> {
    use xr::SpaceLocationFlags as F;
    let at = space.locate(base, time).map_err(failed("xrLocateSpace"))?;
    let valid = at.location_flags.contains(F::POSITION_VALID | F::ORIENTATION_VALID);
    Ok(if valid { rigid(&at.pose) } else { None })
}

/// Converts an OpenXR pose; `None` if it is not finite or not a unit quaternion.
pub fn rigid(pose: &xr::Posef) -> Option<Rigid> {
    let (p, q) = (pose.position, pose.orientation);
    let position = Vec3::new(p.x, p.y, p.z);
    let orientation = Quat::from_xyzw(q.x, q.y, q.z, q.w);
    let sane = position.is_finite() && orientation.is_finite() && (orientation.length() - 1.0).abs() < 0.1;
    sane.then(|| Rigid { position, orientation: orientation.normalize() })
}

/// Returns whether an origin moved by more than 1 cm or 1 degree. Tracking corrections are smaller than that in one
/// frame.
fn jumped(by: &Rigid) -> bool {
    by.position.length() > 0.01 || by.orientation.angle_between(Quat::IDENTITY) > 0.0175
}

fn compose(a: &Rigid, b: &Rigid) -> Rigid {
    Rigid { position: a.point(b.position), orientation: a.orientation * b.orientation }
}

fn inverse(a: &Rigid) -> Rigid {
    let orientation = a.orientation.inverse();
    Rigid { position: orientation * -a.position, orientation }
}

/// Removes pitch and roll from the movement. Old and new room space are both upright, so pitch and roll are measurement
/// errors.
fn level(moved: &Rigid) -> Rigid {
    let q = moved.orientation;
    let yaw = Quat::from_xyzw(0.0, q.y, 0.0, q.w);
    let orientation = if yaw.length_squared() > 1e-6 { yaw.normalize() } else { q };
    Rigid { position: moved.position, orientation }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_origin_is_the_difference_of_an_anchor_before_and_after() {
        let old_from_new =
            Rigid { position: Vec3::new(0.4, 0.0, -1.0), orientation: Quat::from_rotation_y(0.8) };
        let new_from_old = inverse(&old_from_new);
        let anchor_old =
            Rigid { position: Vec3::new(-0.2, 1.1, 2.0), orientation: Quat::from_rotation_y(-2.0) };
        let anchor_new = compose(&new_from_old, &anchor_old);
        let found = level(&compose(&anchor_new, &inverse(&anchor_old)));
        assert!((found.position - new_from_old.position).length() < 1e-6);
        assert!(found.orientation.angle_between(new_from_old.orientation) < 1e-3);
        let point = Vec3::new(0.3, 0.9, 0.1);
        assert!((new_from_old.point(old_from_new.point(point)) - point).length() < 1e-6);
    }

    #[test]
    fn what_is_no_pose_is_none() {
        let mut pose = xr::Posef::IDENTITY;
        assert!(rigid(&pose).is_some());
        pose.orientation.w = 0.0;
        assert_eq!(rigid(&pose), None);
        pose.orientation.w = 1.0;
        pose.position.x = f32::NAN;
        assert_eq!(rigid(&pose), None);
    }
}
