//! Tests of properties that every method must have on real characters.

use super::*;
use crate::asset::Asset;
use crate::base::math::{Affine3A, rotation_of};
use crate::bind::{BindOptions, Character, bind_attachments};
use crate::deform::surface::{Crease, Display, bind};
use crate::deform::testing::methods;
use crate::rig::BonePose;
use std::path::Path;
use std::sync::Arc;

const FILES: [&str; 5] = [
    "characters/mannequiny.glb",
    "characters/lumberjack.glb",
    "characters/robot.glb",
    "characters/quaternius/animals_pack/Wolf.glb",
    "characters/webxr_hand_left.glb",
];

fn load(path: &Path) -> Bound {
    let character = Character::from_asset(&Asset::load(path).unwrap()).unwrap();
    let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
    Bound::new(Arc::new(character), Arc::new(attachments))
}

/// Returns the bind pose, rigidly moved as a whole. A file's rest pose may differ from its bind pose.
fn moved_bind(bound: &Bound, motion: Affine3A) -> PosedRig {
    let skeleton = &bound.character.skeleton;
    let rotation = rotation_of(&motion);
    let mut rig = PosedRig::new(skeleton, &Pose::rest(skeleton));
    rig.world.fill(motion);
    rig.skinning.fill(motion);
    rig.rotation.fill(rotation);
    for (bone, rest) in rig.bones.iter_mut().zip(&skeleton.bones) {
        let [head, tail] = [rest.head, rest.tail].map(|x| motion.transform_point3(x));
        *bone = BonePose { head, tail, rotation };
    }
    rig.scale = 1.0;
    rig
}

#[test]
fn bind_pose_is_exact_and_rigid_motion_passes_through() {
    for file in FILES {
        let Some(path) = shared_data(file) else { return };
        let bound = load(&path);
        let control = &bound.character.control;
        let size = control.aabb.diagonal();
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 2.5);
        let motion = Affine3A::from_rotation_translation(turn, 0.3 * size * Vec3::new(1.0, -1.0, 0.5));
        for (motion, tolerance) in [(Affine3A::IDENTITY, 1e-6), (motion, 5e-6)] {
            let rig = moved_bind(&bound, motion);
            for method in methods() {
                let mut streams = Streams::default();
                method.bind(&bound).unwrap().reference(&rig, &mut streams);
                for (i, (x, bind)) in streams.position.iter().zip(&control.positions).enumerate() {
                    let off = x.distance(motion.transform_point3(*bind)) / size;
                    assert!(off <= tolerance, "{file}, {}: vertex {i} is off by {off}", method.name());
                }
            }
        }
    }
}

#[test]
fn bind_pose_shows_the_files_normals() {
    for file in FILES {
        let Some(path) = shared_data(file) else { return };
        let bound = load(&path);
        let character = &bound.character;
        let mut out = Display::default();
        let rig = moved_bind(&bound, Affine3A::IDENTITY);
        bind(character, Crease::Source).reference(&rig, &character.control.positions, &[], &mut out);
        let used = |d: usize| character.display.triangles.iter().flatten().any(|&v| v as usize == d);
        let trusted = character.display.parts.iter().filter(|p| !p.computed_normals);
        for d in trusted.flat_map(|p| p.vertices.clone()).map(|d| d as usize) {
            let off = out.normals[d].distance(character.display.normals[d]);
            assert!(off < 2e-3 || !used(d), "{file}: vertex {d} is off by {off}");
        }
    }
}

#[test]
fn contorted_characters_stay_finite_and_near() {
    for file in FILES {
        let Some(path) = shared_data(file) else { return };
        let bound = load(&path);
        let skeleton = &bound.character.skeleton;
        let mut pose = Pose::rest(skeleton);
        for (k, joint) in skeleton.joints.iter().enumerate() {
            let local = &mut pose.local[joint.node.index()];
            let turn =
                Quat::from_euler(glam::EulerRot::XYZ, 0.9 * (k as f32).sin(), 0.8, 0.7 * (k as f32).cos());
            local.rotation = (local.rotation() * turn).into();
        }
        let posed = PosedRig::new(skeleton, &pose);
        let heads = posed.bones.iter().flat_map(|b| [b.head, b.tail]);
        let reach = crate::base::math::Aabb::of(heads).diagonal() + bound.character.control.aabb.diagonal();
        let center = posed.bones[0].head;
        for method in methods() {
            let streams = deform(&method, &bound, &pose);
            let far = streams.position.iter().map(|p| p.distance(center)).fold(0.0, f32::max);
            assert!(streams.position.iter().all(|p| p.is_finite()), "{file}, {}", method.name());
            assert!(far < 2.0 * reach, "{file}, {}: {far} of {reach}", method.name());
        }
    }
}
