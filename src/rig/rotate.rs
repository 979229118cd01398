//! Rotation of a joint about the world axes of the rest pose.

use super::named_node;
use super::names::unknown_node;
use super::world64::{turn_between, world, world_from_parent};
use crate::base::math::{DQuat, DVec3};
use crate::base::{Error, NodeId, Result};
use crate::rig::{Pose, Skeleton};

/// A world-space axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// To the character's left, in glTF's convention.
    X,
    /// Up.
    Y,
    /// Forward, in glTF's convention.
    Z,
}

impl Axis {
    /// Returns the axis as a unit vector.
    pub fn unit(self) -> DVec3 {
        match self {
            Self::X => DVec3::X,
            Self::Y => DVec3::Y,
            Self::Z => DVec3::Z,
        }
    }
}

/// Rotations of a joint: axis and angle in degrees. They are applied in list order, about fixed axes.
pub type Turns = Vec<(Axis, f32)>;

/// Rotates a node in addition to its pose. The axes are the world axes in the rest pose, and they move rigidly with
/// the node's parent. For example, after a rotation of the shoulder, an elbow rotates about the z axis of the rest
/// pose as moved by the upper arm.
///
/// # Errors
/// An error for an unknown node, an angle that is not finite, or a parent with a zero scale.
pub fn rotate_joint(skeleton: &Skeleton, pose: &mut Pose, node: NodeId, turns: &[(Axis, f32)]) -> Result<()> {
    let i = node.index();
    if i >= skeleton.nodes.len() || i >= pose.local.len() {
        return Err(unknown_node(skeleton, &format!("#{i}")));
    }
    let name = &skeleton.nodes[i].name;
    let rest = world(skeleton, &Pose::rest(skeleton));
    // In the parent's space, the axes do not depend on the parent's pose.
    let parent = world_from_parent(skeleton, node, &rest).matrix3;
    let mut rotation = pose.local[i].rotation().as_dquat().normalize();
    for &(axis, degrees) in turns {
        if !degrees.is_finite() {
            return Err(Error::input(
                format!("{name:?} is to turn by {degrees} degrees"),
                "give a finite angle",
            ));
        }
        let turn = DQuat::from_axis_angle(axis.unit(), f64::from(degrees).to_radians());
        let local = turn_between(parent, turn, parent).ok_or_else(|| {
            Error::input(
                format!("{name:?} cannot be turned: its parent has a scale of zero"),
                "scale the parent up, or turn another joint",
            )
        })?;
        rotation = local * rotation;
    }
    pose.local[i].rotation = rotation.normalize().as_quat().into();
    Ok(())
}

/// Parses `JOINT=x:90,y:-20` (degrees). [`named_node`] resolves the joint, whose name may contain `=`.
///
/// # Errors
/// An error for invalid syntax, an unknown name, or a name that several nodes share.
pub fn parse_rotation(skeleton: &Skeleton, text: &str) -> Result<(NodeId, Turns)> {
    let shape = "write JOINT=AXIS:DEGREES[,AXIS:DEGREES...], e.g. Elbow=x:90,y:-20";
    let (name, list) =
        text.rsplit_once('=').ok_or_else(|| Error::input(format!("rotation {text:?} has no '='"), shape))?;
    let node = named_node(skeleton, name)?;
    let turns = list.split(',').map(|turn| parse_turn(turn, shape)).collect::<Result<Turns>>()?;
    Ok((node, turns))
}

fn parse_turn(text: &str, shape: &str) -> Result<(Axis, f32)> {
    let (axis, degrees) = text
        .split_once(':')
        .ok_or_else(|| Error::input(format!("rotation part {text:?} has no ':'"), shape))?;
    let axis = match axis.trim() {
        "x" | "X" => Axis::X,
        "y" | "Y" => Axis::Y,
        "z" | "Z" => Axis::Z,
        other => return Err(Error::input(format!("{other:?} is no axis"), "use x, y or z")),
    };
    match degrees.trim().parse::<f32>() {
        Ok(degrees) if degrees.is_finite() => Ok((axis, degrees)),
        _ => Err(Error::input(format!("{degrees:?} is no angle"), shape)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Trs, Vec3};
    use crate::rig::testing::{skeleton, tree};

    #[test]
    fn turns_about_world_axes_in_the_order_given() {
        let (skeleton, mut pose) = skeleton(&[
            ("root", None, Trs::new(Vec3::Y, Quat::from_rotation_x(1.0), Vec3::new(-2.0, 2.0, 2.0))),
            ("arm", Some(0), Trs::new(Vec3::X, Quat::from_rotation_z(0.7), Vec3::ONE)),
            ("tip", Some(1), Trs::new(Vec3::new(0.5, 0.2, 0.1), Quat::IDENTITY, Vec3::ONE)),
        ]);
        let before = pose.world(&skeleton);
        rotate_joint(&skeleton, &mut pose, NodeId(1), &[(Axis::X, 90.0), (Axis::Y, -20.0)]).unwrap();
        let after = pose.world(&skeleton);
        let turn = Quat::from_rotation_y(-20f32.to_radians()) * Quat::from_rotation_x(90f32.to_radians());
        let arm = |w: &[crate::base::math::Affine3A]| Vec3::from(w[2].translation - w[1].translation);
        assert!((arm(&after) - turn * arm(&before)).length() < 1e-5);
    }

    #[test]
    fn axes_are_carried_along_with_the_parent() {
        let (skeleton, mut pose) = tree();
        let id = |name: &str| skeleton.find(name).unwrap();
        // The order in which shoulder and elbow are rotated does not matter.
        let mut other = pose.clone();
        rotate_joint(&skeleton, &mut pose, id("arm.L"), &[(Axis::Y, 90.0)]).unwrap();
        rotate_joint(&skeleton, &mut pose, id("elbow.L"), &[(Axis::Z, 90.0)]).unwrap();
        rotate_joint(&skeleton, &mut other, id("elbow.L"), &[(Axis::Z, 90.0)]).unwrap();
        rotate_joint(&skeleton, &mut other, id("arm.L"), &[(Axis::Y, 90.0)]).unwrap();
        assert_eq!(pose, other);
        let world = pose.world(&skeleton);
        let at = |name: &str| Vec3::from(world[id(name).index()].translation);
        // The upper arm points along -z; the forearm bends up, as it would in the rest pose.
        assert!((at("elbow.L") - at("arm.L") + Vec3::Z * 0.3).length() < 1e-5);
        assert!((at("hand.L") - at("elbow.L") - Vec3::Y * 0.25).length() < 1e-5);
    }

    #[test]
    fn parses_and_names_what_is_wrong() {
        let (skeleton, _) = tree();
        let (node, turns) = parse_rotation(&skeleton, "elbow.L=x:90, y:-20").unwrap();
        assert_eq!(
            (node, turns),
            (skeleton.find("elbow.L").unwrap(), vec![(Axis::X, 90.0), (Axis::Y, -20.0)])
        );
        for (text, says) in [
            ("elbow.L", "no '='"),
            ("elbw.L=x:9", "elbow.L"),
            ("elbow.L=w:9", "no axis"),
            ("elbow.L=x:nan", "no angle"),
            ("elbow.L=x", "no ':'"),
            ("elbow.L=", "no ':'"),
        ] {
            let error = parse_rotation(&skeleton, text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
