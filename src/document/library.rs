//! The pose library: named poses in the document, blended in by a slider. Also mirrors poses.

use super::clip_layer::blend;
use super::contents::validate_pose;
use super::{Document, Edit};
use crate::base::math::{DQuat, DVec3, Quat};
use crate::base::{Error, NodeId, Result};
use crate::pose::StrokeLayer;
use crate::rig::{Mirror, Pose, PosedRig, Reflection, Skeleton};
use serde::{Deserialize, Serialize};

/// Maximum number of poses in a library.
const MAX_POSES: usize = 1024;
/// Maximum length of a pose name, bytes.
const MAX_NAME: usize = 256;

/// A named pose of the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptPose {
    /// Name, unique in the document.
    pub name: String,
    /// Pose of every node, strokes applied.
    pub pose: Pose,
}

impl Document {
    /// Returns the poses of the library, in insertion order.
    pub fn poses(&self) -> &[KeptPose] {
        &self.poses
    }

    /// Returns the edit that makes a final pose the base pose and disables all strokes.
    pub fn posing(&self, pose: Pose) -> Edit {
        let off = |l: &StrokeLayer| Edit::SetStroke(Box::new(StrokeLayer { enabled: false, ..l.clone() }));
        let mut edits: Vec<Edit> = self.strokes.iter().filter(|l| l.enabled).map(off).collect();
        edits.push(Edit::SetPose(pose));
        Edit::Group(edits)
    }

    /// Returns the edit that blends `from` towards a library pose; `amount` 0 gives `from`, 1 the library pose.
    /// Rotations use the shorter slerp.
    ///
    /// # Errors
    /// The library has no pose of this name.
    pub fn blending(&self, from: &Pose, name: &str, amount: f32) -> Result<Edit> {
        let kept = self.poses.iter().find(|p| p.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.poses.iter().map(|p| p.name.as_str()).collect();
            Error::input(
                format!("there is no pose {name:?} in the library"),
                format!("it has {}", known.join(", ")),
            )
        })?;
        let amount = if amount.is_finite() { amount.clamp(0.0, 1.0) } else { 0.0 };
        let mut out = kept.pose.clone();
        if amount < 1.0 {
            blend(from, &mut out, amount);
        }
        Ok(self.posing(out))
    }

    pub(super) fn validate_poses(&self, skeleton: &Skeleton) -> Result<()> {
        let mut names: Vec<&str> = self.poses.iter().map(|p| p.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        if names.len() < self.poses.len() || self.poses.len() > MAX_POSES {
            let remedy = format!("give each a name of its own, and keep {MAX_POSES} at most");
            return Err(Error::input("two poses of the library share a name, or there are too many", remedy));
        }
        for kept in &self.poses {
            if kept.name.is_empty() || kept.name.len() > MAX_NAME {
                return Err(Error::input("a pose of the library has no name, or too long a one", "name it"));
            }
            validate_pose(&kept.pose, skeleton)?;
        }
        Ok(())
    }

    /// Saves or replaces a named pose, or removes it if `pose` is `None`; returns the inverse edit.
    pub(super) fn keep_pose(
        &mut self,
        name: &str,
        pose: Option<&Pose>,
        at: Option<usize>,
        skeleton: &Skeleton,
    ) -> Result<Edit> {
        let old = self.poses.clone();
        let place = self.poses.iter().position(|p| p.name == name);
        let kept = |pose: &Pose| KeptPose { name: name.to_owned(), pose: pose.without_rest() };
        let inverse = |pose, at| Edit::KeepPose { name: name.to_owned(), pose, at };
        let undo = match (place, pose) {
            (Some(i), Some(pose)) => {
                let before = std::mem::replace(&mut self.poses[i], kept(pose));
                inverse(Some(Box::new(before.pose)), None)
            }
            (Some(i), None) => inverse(Some(Box::new(self.poses.remove(i).pose)), Some(i)),
            (None, Some(pose)) => {
                let i = at.unwrap_or(self.poses.len()).min(self.poses.len());
                self.poses.insert(i, kept(pose));
                inverse(None, None)
            }
            (None, None) => {
                return Err(Error::input(
                    format!("there is no pose {name:?} in the library"),
                    "keep it first",
                ));
            }
        };
        self.validate_poses(skeleton).inspect_err(|_| self.poses = old)?;
        Ok(undo)
    }
}

/// Returns a pose with left and right exchanged across the character's symmetry plane. Joints without a mirror partner,
/// such as the spine, are mirrored onto themselves. A joint gets its partner's change of location and scale since the
/// rest pose, so bones without such a change keep their lengths. Returns `None` for a skeleton without mirrored joints.
pub fn mirrored_pose(skeleton: &Skeleton, pose: &Pose) -> Option<Pose> {
    let mirror = Mirror::new(skeleton)?;
    let rest = Pose::rest(skeleton);
    let plane = mirror.plane(&PosedRig::new(skeleton, &rest));
    let reflection = Reflection::new(skeleton, &mirror);
    let (now, bind) = (pose.world(skeleton), rest.world(skeleton));
    let turned = |m: &glam::Affine3A| crate::base::math::rotation_of(m).as_dquat();
    let mut out = pose.clone();
    let mut world: Vec<DQuat> = now.iter().map(&turned).collect();
    for &id in &skeleton.order {
        let i = id.index();
        let node = &skeleton.nodes[i];
        let parent = node.parent.map_or(DQuat::IDENTITY, |p| world[p.index()]);
        if node.joint.is_none() || node.remainder.is_some() {
            world[i] = parent * out.local[i].rotation().as_dquat();
            continue;
        }
        let partner = mirror.partner(id).unwrap_or(id);
        let p = partner.index();
        // Mirror the partner's rotation relative to its rest pose and apply it to this joint's rest rotation.
        let turn = (turned(&now[p]) * turned(&bind[p]).inverse()).normalize();
        world[i] = (plane.turn(turn) * turned(&bind[i])).normalize();
        let mut local: Quat = (parent.inverse() * world[i]).normalize().as_quat();
        let root = node.parent.is_none_or(|p| skeleton.nodes[p.index()].joint.is_none());
        if let Some(reflected) = reflection.local(partner, &pose.local[p], id) {
            out.local[i].translation = reflected.translation;
            out.local[i].scale = reflected.scale;
            // Between mirrored parents, the local rotation is exact even if parents have a non-uniform scale.
            let above = skeleton.nodes[p].parent.map(|p| mirror.partner(p).unwrap_or(p));
            if !root && above == node.parent {
                local = reflected.rotation();
                world[i] = (parent * local.as_dquat()).normalize();
            }
        }
        let old = out.local[i].rotation();
        out.local[i].rotation = if local.dot(old) < 0.0 { -local } else { local }.to_array();
        if root {
            let moved = DVec3::from(glam::Vec3::from(now[p].translation))
                - DVec3::from(glam::Vec3::from(bind[p].translation));
            let there = glam::Vec3::from(bind[i].translation) + plane.direction(moved).as_vec3();
            let above = node.parent.map_or(glam::Affine3A::IDENTITY, |p| now[p.index()]);
            out.local[i].translation = above.inverse().transform_point3(there).into();
        }
    }
    for (i, weights) in pose.weights.iter().enumerate() {
        if let Some(partner) =
            mirror.partner(NodeId::from(i)).filter(|p| pose.weights[p.index()].len() == weights.len())
        {
            out.weights[i].clone_from(&pose.weights[partner.index()]);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;
    use crate::document::Operation;
    use crate::document::testing::{asset, session};
    use crate::rig::Axis;

    #[test]
    fn mirroring_exchanges_the_sides_and_twice_is_the_same() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        for (name, turns) in [
            ("arm.L", vec![(Axis::Z, 40.0), (Axis::Y, 15.0)]),
            ("elbow.L", vec![(Axis::Y, -60.0)]),
            ("leg.R", vec![(Axis::X, -35.0)]),
            ("chest", vec![(Axis::Y, 20.0)]),
        ] {
            let node = s.skeleton().find(name).unwrap();
            s.apply(Edit::RotateJoint { node, turns }).unwrap();
        }
        let skeleton = s.skeleton().clone();
        let pose = s.posed();
        let other = mirrored_pose(&skeleton, &pose).unwrap();
        let at = |pose: &Pose, name: &str| {
            let node = skeleton.find(name).unwrap();
            Vec3::from(pose.world(&skeleton)[node.index()].translation)
        };
        for (a, b) in [("hand.L", "hand.R"), ("hand.R", "hand.L"), ("foot.R", "foot.L"), ("head", "head")] {
            let (here, there) = (at(&pose, a), at(&other, b));
            assert!((here * Vec3::new(-1.0, 1.0, 1.0)).distance(there) < 1e-5, "{a} {here} {b} {there}");
        }
        let again = mirrored_pose(&skeleton, &other).unwrap();
        for (a, b) in pose.local.iter().zip(&again.local) {
            assert!(a.rotation().angle_between(b.rotation()) < 1e-3);
            assert!(a.translation().distance(b.translation()) < 1e-5);
        }
    }

    #[test]
    fn poses_are_kept_blended_replaced_and_forgotten_by_edits() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let rest = s.posed();
        let node = s.skeleton().find("arm.L").unwrap();
        s.apply(Edit::RotateJoint { node, turns: vec![(Axis::Z, 80.0)] }).unwrap();
        let raised = s.posed();
        let hash = s.document().hash();
        let keep = |name: &str, pose: Option<&Pose>| Edit::KeepPose {
            name: name.into(),
            pose: pose.map(|p| Box::new(p.clone())),
            at: None,
        };
        s.apply(keep("raised", Some(&raised))).unwrap();
        s.apply(keep("rest", Some(&rest))).unwrap();
        assert_ne!(s.document().hash(), hash);
        let json = serde_json::to_value(s.document()).unwrap();
        assert_eq!(Document::from_json(json, s.skeleton()).unwrap(), *s.document());
        let edit = s.document().blending(&rest, "raised", 0.25).unwrap();
        s.apply(edit).unwrap();
        let turned =
            s.posed().local[node.index()].rotation().angle_between(rest.local[node.index()].rotation());
        assert!((turned.to_degrees() - 20.0).abs() < 0.01, "{turned}");
        let whole = s.document().blending(&rest, "raised", 1.0).unwrap();
        s.apply(whole).unwrap();
        assert_eq!(s.posed(), raised);
        let before = s.document().clone();
        s.apply(keep("raised", None)).unwrap();
        assert_eq!(s.document().poses().len(), 1);
        s.run(Operation::Undo).unwrap();
        assert_eq!(*s.document(), before);
        assert!(s.apply(keep("jump", None)).unwrap_err().to_string().contains("jump"));
        assert!(s.apply(keep("", Some(&rest))).is_err());
        assert!(s.document().blending(&rest, "jump", 1.0).unwrap_err().to_string().contains("raised, rest"));
        assert_eq!(*s.document(), before);
    }
}
