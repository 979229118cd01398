//! The six structures of a coupled cage (skin, skeleton and cage, at rest and posed) agree after any edits.

use super::{CageSource, Model, NewCage, PosedCage};
use crate::asset::Asset;
use crate::base::math::{DAffine3, DMat3, DVec3, Mat3, Vec3};
use crate::base::{Progress, Random};
use crate::bind::BindOptions;
use crate::cage::{Coordinates, Coupling, Reverse};
use crate::document::{CageMove, Edit, Operation, Session};
use crate::generate::{self, Kind};
use crate::rig::{Axis, PosedRig, Skeleton, world};
use std::time::Duration;

fn model(kind: Kind) -> Model {
    let asset = Asset::from_slice(&generate::glb(kind).unwrap(), "test.glb").unwrap();
    Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap()
}

fn caged(model: &Model, vertices: usize) -> (Session<'static>, NewCage) {
    let source = CageSource::Made(vertices);
    let (new, report) = model.new_cage(&source, Coordinates::MeanValue, &Progress::default()).unwrap();
    assert!(report.outside.is_empty() && report.clearance > 0.0, "{report:?}");
    let mut session = model.start(None).unwrap();
    session.apply(Edit::SetCage(Some(Box::new(new.cage.clone())))).unwrap();
    (session, new)
}

/// The structures in f64, from the document and the definitions alone.
struct Six {
    rest_cage: Vec<DVec3>,
    rest_joints: Vec<DVec3>,
    skinning: Vec<DAffine3>,
    cage: Vec<DVec3>,
    /// Posed skin at the vertices that determine the cage.
    rows: Vec<DVec3>,
}

fn six(model: &Model, session: &Session, coupling: &Coupling) -> Six {
    let (skeleton, control) = (model.skeleton(), &model.bound.character.control);
    let document = session.document();
    let cage = document.cage().unwrap();
    let offsets: Vec<DVec3> = cage.offsets.iter().map(|o| Vec3::from(*o).as_dvec3()).collect();
    let rest_cage: Vec<DVec3> = cage.mesh.positions.iter().zip(&offsets).map(|(x, o)| *x + *o).collect();
    let count = rest_cage.len();
    let psi = |j: usize, of: &[DVec3]| -> DVec3 {
        cage.joints[j * count..(j + 1) * count].iter().zip(of).map(|(w, x)| *x * f64::from(*w)).sum()
    };
    let bind = |j: usize| Vec3::from(skeleton.joints[j].bind_from_joint.translation).as_dvec3();
    let joints = skeleton.joints.len();
    let rest_joints: Vec<DVec3> = (0..joints).map(|j| bind(j) + psi(j, &offsets)).collect();
    let world = world(skeleton, &document.posed(skeleton));
    let skinning: Vec<DAffine3> = (0..joints)
        .map(|j| {
            let joint = &skeleton.joints[j];
            let inverse = &joint.joint_from_bind;
            let linear = Mat3::from(inverse.matrix3).as_dmat3();
            let inverse = DAffine3::from_mat3_translation(linear, Vec3::from(inverse.translation).as_dvec3());
            world[joint.node.index()] * inverse * DAffine3::from_translation(-psi(j, &offsets))
        })
        .collect();
    let rows: Vec<DVec3> = coupling
        .rows()
        .iter()
        .map(|&v| {
            let v = v as usize;
            let phi = &coupling.phi()[v * count..(v + 1) * count];
            let x = control.positions[v].as_dvec3()
                + phi.iter().zip(&offsets).map(|(w, o)| *o * f64::from(*w)).sum::<DVec3>();
            let whole: f64 = control.influences.of(v).map(|e| f64::from(e.1)).sum();
            let posed = |(j, w): (u16, f32)| skinning[usize::from(j)].transform_point3(x) * f64::from(w);
            control.influences.of(v).map(posed).sum::<DVec3>() / whole
        })
        .collect();
    let mut out = Vec::new();
    coupling.cage_up(&rows, &mut Default::default(), &mut out);
    Six { rest_cage, rest_joints, skinning, cage: out, rows }
}

/// Offsets of the rest cage that give offsets of the posed cage.
fn reversed(
    session: &Session,
    skeleton: &Skeleton,
    coupling: &Coupling,
    posed: &Six,
    wanted: &[DVec3],
) -> Vec<DVec3> {
    let linear: Vec<DMat3> = posed.skinning.iter().map(|m| m.matrix3).collect();
    let rig = PosedRig::new(skeleton, &session.posed());
    let reverse = Reverse::new(coupling, &linear, &rig.carriers(skeleton)).unwrap();
    let mut out = Vec::new();
    reverse.rest_offsets(wanted, &mut out);
    out
}

#[test]
fn a_thousand_edits_of_bones_rest_cage_and_posed_cage_agree_and_undo_to_the_first_document() {
    let model = model(Kind::Chibi);
    let (mut session, new) = caged(&model, 40);
    let (skeleton, coupling) = (model.skeleton(), &*new.coupling);
    let diagonal = f64::from(model.bound.character.control.aabb.diagonal());
    let before = {
        session.run(Operation::Undo).unwrap();
        let hash = session.document().hash();
        session.run(Operation::Redo).unwrap();
        hash
    };
    let mut random = Random::new(11);
    let posable = crate::rig::posable(skeleton);
    let count = new.cage.vertices();
    let (mut kinds, mut worst) = ([0usize; 3], 0.0f64);
    for step in 0..1000 {
        let was = six(&model, &session, coupling);
        let kind = random.below(3);
        kinds[kind] += 1;
        let mut push = |size: f64| random.vector().as_dvec3() * size;
        match kind {
            0 => {
                let turn = push(25.0);
                let node = posable[step * 7 % posable.len()];
                let turns = vec![(Axis::X, turn.x as f32), (Axis::Z, turn.z as f32)];
                session.apply(Edit::RotateJoint { node, turns }).unwrap();
            }
            1 => {
                let cage = session.document().cage().unwrap();
                let vertex = (step * 13 % count) as u32;
                // Small steps back towards the start keep the shape sound.
                let old = Vec3::from(cage.offsets[vertex as usize]) * 0.8;
                let offset = (old.as_dvec3() + push(0.01 * diagonal)).as_vec3().to_array();
                session.apply(Edit::MoveCage(vec![CageMove { vertex, offset }])).unwrap();
            }
            _ => {
                let mut wanted = vec![DVec3::ZERO; count];
                wanted[step * 5 % count] = push(0.005 * diagonal);
                let rest = reversed(&session, skeleton, coupling, &was, &wanted);
                let cage = session.document().cage().unwrap();
                let moves = (0..count).map(|v| CageMove {
                    vertex: v as u32,
                    offset: (Vec3::from(cage.offsets[v]).as_dvec3() + rest[v]).as_vec3().to_array(),
                });
                session.apply(Edit::MoveCage(moves.collect())).unwrap();
                let now = six(&model, &session, coupling);
                for ((now, was), wanted) in now.cage.iter().zip(&was.cage).zip(&wanted) {
                    worst = worst.max(now.distance(*was + *wanted));
                }
            }
        }
        let now = six(&model, &session, coupling);
        // Joints of the rest skeleton are the centres of rotation of the posed one, and hang together.
        for (j, joint) in skeleton.joints.iter().enumerate() {
            let at = now.skinning[j].transform_point3(now.rest_joints[j]);
            if let Some(parent) = joint.parent {
                let by_parent = now.skinning[parent.index()].transform_point3(now.rest_joints[j]);
                worst = worst.max(at.distance(by_parent));
            }
        }
        // The posed cage gives the posed skin at its own vertices; at rest, the rest cage is the cage.
        for (m, &v) in coupling.rows().iter().enumerate() {
            let phi = &coupling.phi()[v as usize * count..(v as usize + 1) * count];
            let x: DVec3 = phi.iter().zip(&now.cage).map(|(w, c)| *c * f64::from(*w)).sum();
            worst = worst.max(x.distance(now.rows[m]));
        }
        assert!(now.rest_cage.iter().all(|x| x.is_finite()));
    }
    assert!(kinds.iter().all(|k| *k > 200), "{kinds:?}");
    assert!(worst < 1e-6 * diagonal, "{} of the diagonal", worst / diagonal);
    // What is displayed agrees in single precision.
    let rig = PosedRig::new(skeleton, &session.posed());
    let mut posed = PosedCage::default();
    posed.follow(&model.bound.character, coupling, &rig);
    let now = six(&model, &session, coupling);
    let far = posed.positions.iter().zip(&now.cage).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(far < 2e-4 * diagonal, "{}", far / diagonal);
    while session.history().0 > 1 {
        session.run(Operation::Undo).unwrap();
    }
    assert_eq!(session.document().hash(), before);
}
