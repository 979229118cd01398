//! A document for tests, and random operations on the document.

use crate::base::NodeId;
use crate::base::Random;
use crate::base::math::{Quat, Trs, Vec3};
use crate::rig::tree;

/// Returns a made-up asset reference for the skeleton [`tree`].
pub fn asset() -> super::AssetRef {
    super::AssetRef { path: "some folder/héro.glb".into(), hash: "00ff".repeat(16) }
}

/// Returns an empty session whose loader gives the skeleton [`tree`].
pub fn session() -> super::Session<'static> {
    let skeleton = std::sync::Arc::new(tree().0);
    super::Session::new(Box::new(move |_| Ok(skeleton.clone())))
}

/// Returns a random operation that applies to the session's document. Equal random seeds give equal operations.
pub fn operation(session: &super::Session, random: &mut Random) -> super::Operation {
    use super::{DeformerSettings, Edit, Key, Operation, StrokeLine};
    use crate::pose::{Sample, Stroke, StrokeLayer};
    use crate::rig::Axis;
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
        (0, _) => Edit::Rename(format!("name {}", random.bits() % 9)),
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
            Edit::MoveKnot {
                id: layer.id,
                line: StrokeLine::Baseline,
                knot,
                position: random.vector().into(),
            }
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
            let layer = StrokeLayer::new(id, stroke(random), 3.0, (skeleton, &[]), &session.posed()).unwrap();
            let index = (random.unit() < 0.3).then_some(0);
            Edit::AddStroke { index, layer: Box::new(layer.with_offset(stroke(random))) }
        }
    };
    Operation::Do(edit)
}

/// Runs `count` random operations, skipping those that fail because a changed baseline makes them impossible.
pub fn work(session: &mut super::Session, random: &mut Random, count: usize) -> Vec<super::Operation> {
    let mut done = Vec::new();
    while done.len() < count {
        let operation = operation(session, random);
        if session.run(operation.clone()).is_ok() {
            done.push(operation);
        }
    }
    done
}
