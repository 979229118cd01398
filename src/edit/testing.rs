//! Skeletons for this module's tests.

use crate::base::math::{Affine3A, Quat, Trs, Vec3};
use crate::base::{JointId, NodeId};
use crate::rig::{Joint, Pose, RigNode, Skeleton};

/// Builds a skeleton of nodes `(name, parent, local)`, parents first; nodes named `_...` are no joints.
pub fn skeleton(nodes: &[(&str, Option<usize>, Trs)]) -> (Skeleton, Pose) {
    let mut out = Skeleton::default();
    for (i, (name, parent, rest)) in nodes.iter().enumerate() {
        let is_joint = !name.starts_with('_');
        out.nodes.push(RigNode {
            name: (*name).into(),
            parent: parent.map(NodeId::from),
            rest: *rest,
            remainder: None,
            weights: Vec::new(),
            joint: is_joint.then(|| JointId::from(out.joints.len())),
        });
        out.order.push(NodeId::from(i));
        if is_joint {
            out.joints.push(Joint {
                node: NodeId::from(i),
                joint_from_bind: Affine3A::IDENTITY,
                bind_from_joint: Affine3A::IDENTITY,
                parent: None,
                skinned: true,
            });
        }
    }
    let pose = Pose::rest(&out);
    let world = pose.world(&out);
    for joint in &mut out.joints {
        joint.bind_from_joint = world[joint.node.index()];
        joint.joint_from_bind = world[joint.node.index()].inverse();
    }
    (out, pose)
}

/// At a place, unturned.
pub fn moved(x: f32, y: f32, z: f32) -> Trs {
    Trs::new(Vec3::new(x, y, z), Quat::IDENTITY, Vec3::ONE)
}

/// A straight chain of joints along +x from the origin.
pub fn chain(joints: usize, spacing: f32) -> (Skeleton, Pose) {
    let names: Vec<String> = (0..joints).map(|i| format!("j{i}")).collect();
    let nodes: Vec<_> = (0..joints)
        .map(|i| (names[i].as_str(), i.checked_sub(1), moved(if i == 0 { 0.0 } else { spacing }, 0.0, 0.0)))
        .collect();
    skeleton(&nodes)
}

/// A biped: hips with two legs, a chest with two arms, a head.
pub fn tree() -> (Skeleton, Pose) {
    skeleton(&[
        ("hips", None, moved(0.0, 1.0, 0.0)),
        ("chest", Some(0), moved(0.0, 0.4, 0.0)),
        ("neck", Some(1), moved(0.0, 0.2, 0.0)),
        ("head", Some(2), moved(0.0, 0.15, 0.0)),
        ("arm.L", Some(1), moved(0.2, 0.1, 0.0)),
        ("elbow.L", Some(4), moved(0.3, 0.0, 0.0)),
        ("hand.L", Some(5), moved(0.25, 0.0, 0.0)),
        ("arm.R", Some(1), moved(-0.2, 0.1, 0.0)),
        ("elbow.R", Some(7), moved(-0.3, 0.0, 0.0)),
        ("hand.R", Some(8), moved(-0.25, 0.0, 0.0)),
        ("leg.L", Some(0), moved(0.1, -0.05, 0.0)),
        ("knee.L", Some(10), moved(0.0, -0.45, 0.0)),
        ("foot.L", Some(11), moved(0.0, -0.45, 0.0)),
        ("leg.R", Some(0), moved(-0.1, -0.05, 0.0)),
        ("knee.R", Some(13), moved(0.0, -0.45, 0.0)),
        ("foot.R", Some(14), moved(0.0, -0.45, 0.0)),
    ])
}

/// A random rig: branching, turned rest poses, nodes between joints, uniform scales and mirrors; with
/// `shearing`, non-uniform scales too. The same seed gives the same rig.
pub fn random(seed: u64, nodes: usize, shearing: bool) -> (Skeleton, Pose) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let names: Vec<String> =
        (0..nodes).map(|i| if i % 4 == 3 { format!("_n{i}") } else { format!("j{i}") }).collect();
    let list: Vec<_> = (0..nodes)
        .map(|i| {
            let parent =
                (i > 0).then(|| if i % 3 == 0 { (random.unit() * i as f32) as usize } else { i - 1 });
            let mut scale = Vec3::splat(0.7 + 0.6 * random.unit());
            if random.unit() < 0.2 {
                scale.x = -scale.x;
            }
            if shearing {
                scale *= Vec3::new(0.7 + 0.6 * random.unit(), 1.0, 0.7 + 0.6 * random.unit());
            }
            (names[i].as_str(), parent, Trs::new(random.vector() * 0.3, random.rotation(), scale))
        })
        .collect();
    skeleton(&list)
}

/// Xorshift: random numbers for tests.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// In 0..1.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// In the cube -1..1.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    /// Any rotation.
    pub fn rotation(&mut self) -> Quat {
        Quat::from_scaled_axis(self.vector() * 3.0)
    }
}

/// The file of [`tree`], as far as documents know.
pub fn asset() -> crate::edit::AssetRef {
    crate::edit::AssetRef { path: "some folder/héro.glb".into(), hash: "00ff".repeat(16) }
}

/// A session on [`tree`].
pub fn session() -> crate::edit::Session<'static> {
    let skeleton = std::sync::Arc::new(tree().0);
    crate::edit::Session::new(Box::new(move |_| Ok(skeleton.clone())))
}

/// An operation that applies to the session's document; the same numbers give the same one.
pub fn operation(session: &crate::edit::Session, random: &mut Random) -> crate::edit::Operation {
    use crate::edit::{Axis, DeformerSettings, Edit, Key, Line, Operation, Sample, Stroke, StrokeLayer};
    let document = session.document();
    if document.asset().is_none() {
        return Operation::Do(Edit::Open { asset: asset() });
    }
    let skeleton = session.skeleton();
    let node = NodeId::from((random.unit() * skeleton.nodes.len() as f32) as usize);
    let pick = |n: usize, r: &mut Random| (r.unit() * n as f32) as usize;
    let stroke = |r: &mut Random| {
        let knots = (0..3 + pick(4, r)).map(|i| Sample::at(r.vector() + Vec3::Y, i as f64 * 0.1));
        Stroke::from_knots(knots.collect()).unwrap()
    };
    let layer = (!document.strokes().is_empty())
        .then(|| document.strokes()[pick(document.strokes().len(), random)].clone());
    let edit = match (pick(16, random), layer) {
        (0, _) => Edit::Rename(format!("name {}", random.next() % 9)),
        (1, _) => Edit::SetPose(session.posed()),
        (2, _) => Edit::SetLocal { node, local: Trs::new(random.vector(), random.rotation(), Vec3::ONE) },
        (3, _) => Edit::RotateJoint { node, turns: vec![(Axis::Y, random.unit() * 90.0), (Axis::X, 10.0)] },
        (4 | 5, _) => Edit::SetKey(Key { time: pick(6, random) as f64 * 0.25, pose: session.posed() }),
        (6, _) if document.moves() => match document.motion().key_times().first() {
            Some(time) => Edit::RemoveKey(*time),
            None => Edit::Rename("clips".into()),
        },
        (7, _) => Edit::SetDeformer(DeformerSettings {
            method: "springs".into(),
            parameters: [("surface".to_owned(), serde_json::json!(random.unit()))].into(),
        }),
        (8, Some(layer)) => Edit::RemoveStroke(layer.id),
        (9, Some(layer)) => Edit::RedrawOffset { id: layer.id, offset: Some(stroke(random)) },
        (10, Some(layer)) => {
            let knot = pick(layer.baseline.knots().len(), random);
            Edit::MoveKnot { id: layer.id, line: Line::Baseline, knot, position: random.vector().into() }
        }
        (11, Some(layer)) => Edit::RenameStroke { id: layer.id, name: "renamed".into() },
        (12, Some(layer)) => {
            Edit::Group(vec![Edit::Rename("in a group".into()), Edit::RemoveStroke(layer.id)])
        }
        (13, _) if session.history().0 > 1 => return Operation::Undo,
        (14, _) if session.history().0 < session.history().1 => return Operation::Redo,
        (15, _) => {
            return Operation::Continue(Edit::SetLocal {
                node,
                local: Trs::new(random.vector(), Quat::IDENTITY, Vec3::ONE),
            });
        }
        _ => {
            let id = document.unused_stroke_id();
            let layer = StrokeLayer::new(id, stroke(random), 3.0, skeleton, &session.posed()).unwrap();
            let index = (random.unit() < 0.3).then_some(0);
            Edit::AddStroke { index, layer: Box::new(layer.with_offset(stroke(random))) }
        }
    };
    Operation::Do(edit)
}

/// Runs `count` random operations; one that a changed baseline makes impossible is left out.
pub fn work(
    session: &mut crate::edit::Session,
    random: &mut Random,
    count: usize,
) -> Vec<crate::edit::Operation> {
    let mut done = Vec::new();
    while done.len() < count {
        let operation = operation(session, random);
        if session.run(operation.clone()).is_ok() {
            done.push(operation);
        }
    }
    done
}
