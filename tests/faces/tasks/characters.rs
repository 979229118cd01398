//! The characters of the tasks.

use crate::window::stage::shape;
use sinew::asset::{Asset, Morph};
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::rig::{Pose, PosedRig};
use sinew::scene::Model;
use std::path::Path;

/// The project's own human, with a skeleton and a clip.
pub fn human() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/human.glb")).unwrap()
}

/// The model in a file.
pub fn load(path: &Path) -> Model {
    Model::load(path, &BindOptions::default()).unwrap()
}

/// Returns the positions of joints in a pose, world space, metres.
pub fn joints<const N: usize>(model: &Model, pose: &Pose, names: [&str; N]) -> [Vec3; N] {
    let rig = PosedRig::new(model.skeleton(), pose);
    names.map(|name| rig.world[model.skeleton().find(name).unwrap().index()].translation.into())
}

/// A capsule on four bones with three morph targets, each of which moves a band of its upper half to the front.
pub fn face() -> Vec<u8> {
    let mut asset: Asset = shape().capsule_asset();
    let names = ["smile", "blink", "jaw"];
    for primitive in asset.meshes.iter_mut().flat_map(|m| &mut m.primitives) {
        let swell = |k: usize, p: &Vec3| {
            let height = 1.7 - 0.3 * k as f32;
            let front = (p.z / shape().radius).max(0.0);
            Vec3::Z * 0.15 * front * (1.0 - (p.y - height).abs() / 0.2).max(0.0)
        };
        let morph = |(k, name): (usize, &&str)| Morph {
            name: (*name).into(),
            positions: primitive.positions.iter().map(|p| swell(k, p)).collect(),
            normals: Vec::new(),
        };
        primitive.morphs = names.iter().enumerate().map(morph).collect();
    }
    for node in asset.nodes.iter_mut().filter(|n| n.mesh.is_some()) {
        node.weights = vec![0.0; names.len()];
    }
    sinew::export::unedited(&asset).unwrap()
}
