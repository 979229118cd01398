//! Builds clips from key poses.

use crate::asset::{Channel, Clip, Interpolation, Property};
use crate::base::{Error, NodeId, Result};
use crate::rig::{Pose, Skeleton};

/// Builds a LINEAR clip from key poses `(time in seconds, pose)`. Properties that equal the skeleton's rest pose at
/// all keys get no channel, and constant properties get one key.
///
/// A node with morph weights always gets a weights channel, because a skeleton does not store rest weights. The signs
/// of consecutive rotation keys are made to match, which changes no rotation.
///
/// # Errors
/// [`Error::Input`] if there is no key, if a time is negative, not finite or not greater than the previous time, or
/// if a pose belongs to another skeleton.
pub fn clip_from_poses(name: &str, keys: &[(f32, Pose)], skeleton: &Skeleton) -> Result<Clip> {
    check(keys, skeleton)?;
    let mut channels = Vec::new();
    for (index, node) in skeleton.nodes.iter().enumerate() {
        let id = NodeId::from(index);
        let mut add = |property, values: Vec<Vec<f32>>, rest: Option<&[f32]>| {
            channels.extend(channel(id, property, keys, values, rest));
        };
        let of =
            |f: fn(&crate::base::math::Trs) -> Vec<f32>| keys.iter().map(|k| f(&k.1.local[index])).collect();
        add(Property::Translation, of(|l| l.translation.to_vec()), Some(&node.rest.translation));
        add(
            Property::Rotation,
            hemisphere(of(|l| l.rotation().to_array().to_vec())),
            Some(&node.rest.rotation),
        );
        add(Property::Scale, of(|l| l.scale.to_vec()), Some(&node.rest.scale));
        if keys[0].1.weights.get(index).is_some_and(|w| !w.is_empty()) {
            add(Property::Weights, keys.iter().map(|k| k.1.weights[index].clone()).collect(), None);
        }
    }
    Ok(Clip { name: name.into(), channels })
}

fn check(keys: &[(f32, Pose)], skeleton: &Skeleton) -> Result<()> {
    let rising = keys.windows(2).all(|w| w[0].0 < w[1].0);
    if keys.is_empty() || !rising || keys.iter().any(|k| !k.0.is_finite() || k.0 < 0.0) {
        return Err(Error::input(
            "the key times of a clip are not finite, not negative and strictly rising",
            "give at least one key, and each key a later time than the one before",
        ));
    }
    let fits = |p: &Pose| {
        p.local.len() == skeleton.nodes.len()
            && p.weights.iter().map(Vec::len).eq(keys[0].1.weights.iter().map(Vec::len))
    };
    if !keys.iter().all(|k| fits(&k.1)) {
        return Err(Error::input(
            "a key pose belongs to another skeleton",
            "use poses of this character only",
        ));
    }
    Ok(())
}

/// Negates quaternions such that each has a non-negative dot product with its predecessor.
fn hemisphere(mut values: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    for i in 1..values.len() {
        if values[i - 1].iter().zip(&values[i]).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
            values[i].iter_mut().for_each(|v| *v = -*v);
        }
    }
    values
}

fn channel(
    node: NodeId,
    property: Property,
    keys: &[(f32, Pose)],
    values: Vec<Vec<f32>>,
    rest: Option<&[f32]>,
) -> Option<Channel> {
    let constant = values.iter().all(|v| *v == values[0]);
    let at_rest = |v: &[f32]| {
        rest.is_some_and(|rest| {
            let same =
                |sign: f32| v.iter().zip(rest).all(|(a, b)| (a - sign * b).abs() <= 1e-7 * b.abs().max(1.0));
            // q and -q represent the same rotation.
            same(1.0) || (property == Property::Rotation && same(-1.0))
        })
    };
    if constant && at_rest(&values[0]) {
        return None;
    }
    let used = if constant { 1 } else { keys.len() };
    Some(Channel {
        node,
        property,
        interpolation: Interpolation::Linear,
        times: keys[..used].iter().map(|k| k.0).collect(),
        values: values[..used].concat(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anim::sample;
    use crate::base::math::{Quat, Trs, Vec3};
    use crate::rig::RigNode;

    fn skeleton() -> Skeleton {
        let node = |name: &str, parent| RigNode {
            name: name.into(),
            parent,
            rest: Trs::new(Vec3::Y, Quat::IDENTITY, Vec3::ONE),
            remainder: None,
            weights: Vec::new(),
            targets: Vec::new(),
            joint: None,
        };
        let nodes = vec![node("a", None), node("b", Some(NodeId(0)))];
        Skeleton { nodes, order: vec![NodeId(0), NodeId(1)], ..Default::default() }
    }

    #[test]
    fn only_changed_channels_are_written_and_sampling_returns_the_poses() {
        let skeleton = skeleton();
        let rest = Trs::new(Vec3::Y, Quat::IDENTITY, Vec3::ONE);
        let pose = |angle: f32| Pose {
            local: vec![
                Trs { translation: [0.0, 2.0, 0.0], ..rest },
                Trs { rotation: Quat::from_rotation_z(angle).to_array(), ..rest },
            ],
            weights: vec![vec![], vec![angle]],
            ..Pose::default()
        };
        let keys = [(0.5, pose(0.0)), (1.0, pose(1.0)), (2.0, pose(4.0))];
        let clip = clip_from_poses("k", &keys, &skeleton).unwrap();
        let found: Vec<_> = clip.channels.iter().map(|c| (c.node.0, c.property, c.times.len())).collect();
        assert_eq!(
            found,
            [(0, Property::Translation, 1), (1, Property::Rotation, 3), (1, Property::Weights, 3)]
        );
        for (time, key) in &keys {
            let mut p = Pose { local: vec![rest; 2], weights: vec![vec![], vec![0.0]], ..Pose::default() };
            sample(&clip, f64::from(*time), &mut p);
            assert_eq!(p.local[0], key.local[0]);
            assert!(p.local[1].rotation().angle_between(key.local[1].rotation()) < 1e-3);
            assert_eq!(p.weights, key.weights);
        }
    }

    #[test]
    fn keys_out_of_order_and_foreign_poses_are_refused() {
        let skeleton = skeleton();
        let pose = Pose { local: vec![Trs::IDENTITY; 2], weights: vec![vec![], vec![]], ..Pose::default() };
        let late = [(1.0, pose.clone()), (1.0, pose.clone())];
        assert!(clip_from_poses("k", &late, &skeleton).is_err());
        assert!(clip_from_poses("k", &[], &skeleton).is_err());
        let foreign = Pose { local: vec![], weights: vec![], ..Pose::default() };
        assert!(clip_from_poses("k", &[(0.0, foreign)], &skeleton).is_err());
    }
}
