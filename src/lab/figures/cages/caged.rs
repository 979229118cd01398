//! A character with a cage in front of a camera, and edits of the rest cage and of the current cage.

use super::super::easel::Sitter;
use crate::asset::Property;
use crate::base::math::{Aabb, DMat3, DVec3, Mat3, Vec3};
use crate::base::{JointId, Progress, Result};
use crate::cage::{Cage, CageMesh, Coordinates, Coupling, Reverse};
use crate::document::{CageMove, Edit, KeyEdit, KeyValue, Target};
use crate::render::{JOINT, Lines};
use crate::rig::{Axis, Pose, PosedRig, rotate_joint};
use crate::scene::{CageSource, Cell, Evaluation, Model, PosedCage};
use std::sync::Arc;

/// Colours of a cage's edges and vertices, and of the vertices that an edit has moved.
const CAGE: [u8; 4] = [120, 220, 190, 220];
const MOVED: [u8; 4] = [255, 255, 255, 255];
/// A vertex counts as moved beyond this distance, metres.
const STILL: f32 = 1e-4;

/// Rotations of joints in degrees, applied in order. See [`rotate_joint`] for the axes.
pub(super) type Turns<'a> = &'a [(&'a str, Axis, f32)];

/// What a picture shows in addition to the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The cage.
    Cage,
    /// A dot for every joint.
    Joints,
}

/// An evaluated shape with lines and a caption.
pub(super) struct Look {
    shape: Evaluation,
    lines: Lines,
    caption: String,
}

/// A character with a cage.
pub(super) struct Caged {
    /// The character and its camera.
    pub sitter: Sitter,
    coupling: Arc<Coupling>,
}

/// Makes a cage of about `vertices` vertices around a model, and couples the model with it.
///
/// # Errors
/// As [`Model::new_cage`].
pub(super) fn made(model: &Model, vertices: usize) -> Result<Cage> {
    let made = model.new_cage(&CageSource::Made(vertices), Coordinates::MeanValue, &Progress::default())?;
    Ok(made.0.cage)
}

/// Couples a model with a cage of this mesh.
///
/// # Errors
/// As [`Model::couple`].
pub(super) fn around(model: &Model, mesh: CageMesh) -> Result<Cage> {
    let offsets = vec![[0.0; 3]; mesh.positions.len()];
    let cage = Cage { name: "Cage".to_owned(), mesh, offsets, ..Cage::default() };
    let coupling = model.couple(&cage, &Progress::default())?;
    let narrow = |values: &[f64]| values.iter().map(|w| *w as f32).collect();
    Ok(Cage { joints: narrow(coupling.psi()), tails: narrow(coupling.tips()), ..cage })
}

impl Caged {
    /// Gives a character a cage.
    ///
    /// # Errors
    /// If the cage does not fit the character.
    pub fn new(mut sitter: Sitter, cage: &Cage) -> Result<Self> {
        let coupling = sitter.model.couple(cage, &Progress::default())?;
        sitter.session.apply(Edit::SetCage(Some(Box::new(cage.clone()))))?;
        Ok(Self { sitter, coupling })
    }

    /// Number of vertices of the cage.
    pub fn vertices(&self) -> usize {
        self.coupling.cage_vertices()
    }

    /// Replaces the pose by the rest pose with these rotations.
    ///
    /// # Errors
    /// If a joint does not exist.
    pub fn pose(&mut self, turns: Turns) -> Result<()> {
        let pose = self.turned(turns)?;
        self.sitter.session.apply(Edit::SetPose(pose))
    }

    fn turned(&self, turns: Turns) -> Result<Pose> {
        let mut pose = self.sitter.model.rest();
        for &(joint, axis, degrees) in turns {
            let node = self.sitter.node(joint)?;
            rotate_joint(self.sitter.model.skeleton(), &mut pose, node, &[(axis, degrees)])?;
        }
        Ok(pose)
    }

    /// Keys the rotations of `joints` in a pose.
    ///
    /// # Errors
    /// If a joint does not exist.
    pub fn key_pose(&mut self, time: f64, joints: &[&str], turns: Turns) -> Result<()> {
        let pose = self.turned(turns)?;
        let key = |joint: &&str| {
            let node = self.sitter.node(joint)?;
            let value = pose.local[node.index()].rotation.to_vec();
            Ok(KeyValue { target: Target::node(node, Property::Rotation), value })
        };
        let keys = joints.iter().map(key).collect::<Result<Vec<_>>>()?;
        self.sitter.session.apply(Edit::Keys(KeyEdit::Insert { time, keys }))
    }

    /// Keys the present rest cage.
    ///
    /// # Errors
    /// If the time is out of range.
    pub fn key_cage(&mut self, time: f64) -> Result<()> {
        let value = self.offsets().iter().flat_map(|d| d.to_array()).collect();
        let target = Target::Cage(self.vertices() as u32);
        let keys = vec![KeyValue { target, value }];
        self.sitter.session.apply(Edit::Keys(KeyEdit::Insert { time, keys }))
    }

    /// Returns the offsets of the rest cage.
    fn offsets(&self) -> Vec<Vec3> {
        let cage = self.sitter.session.document().cage();
        cage.map_or_else(Vec::new, |cage| cage.offsets.iter().map(|d| Vec3::from(*d)).collect())
    }

    fn set_offsets(&mut self, offsets: &[Vec3]) -> Result<()> {
        let moved = |(v, d): (usize, &Vec3)| CageMove { vertex: v as u32, offset: d.to_array() };
        self.sitter.session.apply(Edit::MoveCage(offsets.iter().enumerate().map(moved).collect()))
    }

    /// Resets the rest cage.
    ///
    /// # Errors
    /// None for a character with a cage.
    pub fn reset(&mut self) -> Result<()> {
        self.set_offsets(&vec![Vec3::ZERO; self.vertices()])
    }

    /// Edits the rest cage. `change` maps a vertex and its position in bind space to a new position.
    ///
    /// # Errors
    /// If a new position is not finite.
    pub fn edit(&mut self, change: impl Fn(usize, DVec3) -> DVec3) -> Result<()> {
        let mut offsets = self.offsets();
        if let Some(cage) = self.sitter.session.document().cage() {
            for (v, (d, rest)) in offsets.iter_mut().zip(&cage.mesh.positions).enumerate() {
                *d = (change(v, *rest + d.as_dvec3()) - *rest).as_vec3();
            }
        }
        self.set_offsets(&offsets)
    }

    /// Edits the current cage through CageRev. `change` maps a vertex and its current position to a new position.
    ///
    /// # Errors
    /// As [`Reverse::new`].
    pub fn edit_current(&mut self, change: impl Fn(usize, DVec3) -> DVec3) -> Result<()> {
        let skeleton = self.sitter.model.skeleton();
        let rig = PosedRig::new(skeleton, &self.sitter.session.posed());
        let current = self.current(&rig);
        let linear: Vec<DMat3> = rig.skinning.iter().map(|m| Mat3::from(m.matrix3).as_dmat3()).collect();
        let reverse = Reverse::new(&self.coupling, &linear, &rig.carriers(skeleton))?;
        let moved: Vec<DVec3> = current.iter().enumerate().map(|(v, &x)| change(v, x) - x).collect();
        let mut rest = Vec::new();
        reverse.rest_offsets(&moved, &mut rest);
        let mut offsets = self.offsets();
        offsets.iter_mut().zip(&rest).for_each(|(d, more)| *d += more.as_vec3());
        self.set_offsets(&offsets)
    }

    /// Returns the current cage in a pose.
    fn current(&self, rig: &PosedRig) -> Vec<DVec3> {
        let mut posed = PosedCage::default();
        posed.follow(&self.sitter.model.bound.character, &self.coupling, rig);
        posed.positions
    }

    /// Returns the position of a joint in the file's rest pose.
    ///
    /// # Errors
    /// If the joint does not exist.
    pub fn joint(&self, name: &str) -> Result<DVec3> {
        self.joint_in(&self.sitter.model.rest(), name)
    }

    /// Returns the position of a joint in the edited pose.
    ///
    /// # Errors
    /// If the joint does not exist.
    pub fn posed_joint(&self, name: &str) -> Result<DVec3> {
        self.joint_in(&self.sitter.session.posed(), name)
    }

    fn joint_in(&self, pose: &Pose, name: &str) -> Result<DVec3> {
        let rig = PosedRig::new(self.sitter.model.skeleton(), pose);
        Ok(Vec3::from(rig.world[self.sitter.node(name)?.index()].translation).as_dvec3())
    }

    /// Returns for each cage vertex the share, 0 to 1, with which it follows a joint and everything below the joint: the
    /// skin weights of the nearest vertex of the skin.
    ///
    /// # Errors
    /// If the joint does not exist.
    pub fn share(&self, joint: &str) -> Result<Vec<f64>> {
        let node = self.sitter.node(joint)?;
        let joints = &self.sitter.model.skeleton().joints;
        let is_below = |j: usize| {
            let mut above = std::iter::successors(Some(JointId::from(j)), |j| joints[j.index()].parent);
            above.any(|j| joints[j.index()].node == node)
        };
        let below: Vec<bool> = (0..joints.len()).map(is_below).collect();
        let control = &self.sitter.model.bound.character.control;
        let of = |x: &DVec3| {
            let x = x.as_vec3();
            let apart = |v: &usize| control.positions[*v].distance_squared(x);
            let near = (0..control.positions.len()).min_by(|a, b| apart(a).total_cmp(&apart(b)));
            let weights = near.into_iter().flat_map(|v| control.influences.of(v));
            weights.filter(|(j, _)| below[usize::from(*j)]).map(|(_, w)| f64::from(w)).sum::<f64>().min(1.0)
        };
        let cage = self.sitter.session.document().cage();
        Ok(cage.map_or_else(Vec::new, |cage| cage.mesh.positions.iter().map(of).collect()))
    }

    /// Evaluates the document at a time of its motion, or the edited pose without a time.
    ///
    /// # Errors
    /// As [`Sitter::evaluate`].
    pub fn look(&mut self, time: Option<f64>, parts: &[Part], caption: &str) -> Result<Look> {
        let shape = self.sitter.evaluate(time)?;
        let skeleton = self.sitter.model.skeleton();
        let state = self.sitter.session.document().state(skeleton, time);
        let rig = PosedRig::new(skeleton, &state.pose);
        let mut lines = Lines::default();
        if parts.contains(&Part::Cage) {
            self.draw(&rig, &mut lines);
        }
        if parts.contains(&Part::Joints) {
            for joint in &skeleton.joints {
                lines.dot(rig.world[joint.node.index()].translation.into(), JOINT, 12.0);
            }
        }
        Ok(Look { shape, lines, caption: caption.to_owned() })
    }

    fn draw(&self, rig: &PosedRig, lines: &mut Lines) {
        let Some(cage) = self.sitter.session.document().cage() else { return };
        let current = self.current(rig);
        for [a, b] in cage.mesh.edges() {
            let ends = [a, b].map(|v| current[v as usize].as_vec3());
            lines.polyline(&ends, CAGE, 1.6, 0.0);
        }
        for (v, x) in current.iter().enumerate() {
            let moved = rig.rest.cage.get(v).is_some_and(|d| d.length() > STILL);
            let (color, width) = if moved { (MOVED, 6.0) } else { (CAGE, 4.5) };
            lines.dot(x.as_vec3(), color, width);
        }
    }

    /// Renders looks. All pictures frame the same bounds: the camera's own, or those of all shapes.
    ///
    /// # Errors
    /// As [`Sitter::picture`].
    pub fn pictures(&mut self, looks: &[Look]) -> Result<Vec<Cell>> {
        let given = self.sitter.frame;
        let points = looks.iter().flat_map(|look| look.shape.positions.iter().copied());
        self.sitter.frame = Some(given.unwrap_or_else(|| Aabb::of(points)));
        let cells =
            looks.iter().map(|look| self.sitter.picture(&look.shape, &look.lines, &look.caption)).collect();
        self.sitter.frame = given;
        cells
    }
}

/// Returns 0 below `from`, 1 above `to`, and a smooth value between.
pub(super) fn rise(from: f64, to: f64, x: f64) -> f64 {
    let u = ((x - from) / (to - from)).clamp(0.0, 1.0);
    u * u * (3.0 - 2.0 * u)
}

/// Scales a point about the nearest point of a segment. A `factor` of 1 leaves the point unchanged.
pub(super) fn thicken(x: DVec3, [a, b]: [DVec3; 2], factor: f64) -> DVec3 {
    let foot = a + (b - a) * along(x, [a, b]).clamp(0.0, 1.0);
    foot + (x - foot) * factor
}

/// Returns the parameter of a point along a segment: 0 at the segment's first end, 1 at its last.
pub(super) fn along(x: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    (x - a).dot(b - a) / (b - a).length_squared().max(1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_fall_off_smoothly_and_segments_thicken() {
        assert_eq!([0.0, 1.0, 1.5, 2.0, 3.0].map(|x| rise(1.0, 2.0, x)), [0.0, 0.0, 0.5, 1.0, 1.0]);
        let bone = [DVec3::ZERO, DVec3::Y * 2.0];
        assert_eq!(along(DVec3::new(3.0, 1.0, 0.0), bone), 0.5);
        assert_eq!(thicken(DVec3::new(1.0, 1.0, 0.0), bone, 2.0), DVec3::new(2.0, 1.0, 0.0));
        assert_eq!(thicken(DVec3::new(1.0, 3.0, 0.0), bone, 2.0), DVec3::new(2.0, 4.0, 0.0));
    }
}
