//! Comparison with published results: the authors of the *hyperskinning* data set made its poses by LBS.

use super::*;
use crate::asset::Influences;
use crate::base::math::{Affine3A, Mat3};
use crate::base::{JointId, NodeId};
use crate::deform::testing;
use crate::rig::{Bone, Joint, RigNode, Skeleton};
use std::path::Path;

fn floats(text: &str) -> Vec<f32> {
    text.split_whitespace().map(|w| w.parse().unwrap()).collect()
}

fn obj(path: &Path) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let text = std::fs::read_to_string(path).unwrap();
    let positions = text.lines().filter_map(|l| l.strip_prefix("v ")).map(|l| Vec3::from_slice(&floats(l)));
    let index = |w: &str| w.split('/').next().unwrap().parse::<u32>().unwrap() - 1;
    let faces = text.lines().filter_map(|l| l.strip_prefix("f ")).map(|l| {
        let corners: Vec<u32> = l.split_whitespace().map(index).collect();
        [corners[0], corners[1], corners[2]]
    });
    (positions.collect(), faces.collect())
}

/// Creates a skeleton of joints at the origin without hierarchy, each with a bone.
fn handles(count: usize) -> Skeleton {
    let mut skeleton = Skeleton::default();
    for j in 0..count {
        skeleton.nodes.push(RigNode {
            name: format!("handle {j}"),
            parent: None,
            rest: crate::base::math::Trs::IDENTITY,
            remainder: None,
            joint: Some(JointId::from(j)),
            weights: Vec::new(),
            targets: Vec::new(),
        });
        skeleton.order.push(NodeId::from(j));
        skeleton.joints.push(Joint {
            node: NodeId::from(j),
            joint_from_bind: Affine3A::IDENTITY,
            bind_from_joint: Affine3A::IDENTITY,
            parent: None,
            skinned: true,
        });
        skeleton.bones.push(Bone { parent: JointId::from(j), child: None, head: Vec3::ZERO, tail: Vec3::Y });
    }
    skeleton
}

#[test]
fn published_wolf_poses_are_lbs() {
    let Some(folder) = shared_data("research/hyperskinning/wolf") else { return };
    let (positions, triangles) = obj(&folder.join("wolf.obj"));
    let matrix = std::fs::read_to_string(folder.join("wolf.DMAT")).unwrap();
    let (head, body) = matrix.split_once('\n').unwrap();
    let [columns, rows] = floats(head)[..] else { panic!("DMAT header: {head}") };
    let (columns, rows) = (columns as usize, rows as usize);
    let column_major = floats(body);
    assert_eq!((rows, column_major.len()), (positions.len(), rows * columns));
    let mut influences = Influences::default();
    for row in 0..rows {
        let mut list: Vec<(u16, f32)> =
            (0..columns).map(|c| (c as u16, column_major[c * rows + row])).filter(|e| e.1 > 0.0).collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        influences.push(list);
    }
    let bound = testing::bound(handles(columns), positions, triangles, influences);
    for name in ["wolf-1", "wolf-2"] {
        let transforms = floats(&std::fs::read_to_string(folder.join(format!("{name}.Tmat"))).unwrap());
        let skinning: Vec<Affine3A> = transforms
            .chunks_exact(12)
            .map(|block| {
                // The file has row vectors and 4x3 matrices, so its rows are the columns here.
                let [x, y, z, w] = [0, 3, 6, 9].map(|i| Vec3::from_slice(&block[i..i + 3]));
                Affine3A::from_mat3_translation(Mat3::from_cols(x, y, z), w)
            })
            .collect();
        assert_eq!(skinning.len(), columns);
        let mut rig = PosedRig::new(&bound.character.skeleton, &rest(&bound));
        rig.rotation = skinning.iter().map(crate::base::math::rotation_of).collect();
        rig.skinning = skinning;
        let mut streams = Streams::default();
        Geometric::Lbs.bind(&bound).unwrap().reference(&rig, &mut streams);
        let (published, _) = obj(&folder.join(format!("{name}.obj")));
        let worst = streams.position.iter().zip(&published).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        let moved = bound.character.control.positions.iter().zip(&published).map(|(a, b)| a.distance(*b));
        assert!(moved.fold(0.0, f32::max) > 0.5, "{name} is a pose");
        assert!(worst < 2e-5, "{name}: {worst}");
    }
}
