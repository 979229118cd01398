//! The character of the grab tests: the MakeHuman man with 163 joints if present, else the project's own human.

use sinew::base::NodeId;
use sinew::base::math::Vec3;
use sinew::base::testing::shared;
use sinew::bind::BindOptions;
use sinew::rig::{Pose, PosedRig};
use sinew::scene::Model;
use std::path::{Path, PathBuf};

/// Joint names of both wrists, both feet and the hips, one row per supported character.
const NAMES: [[&str; 5]; 2] = [
    ["wrist.L", "wrist.R", "foot.L", "foot.R", "root"],
    ["LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips"],
];

/// The character and the joints that the tests grab or pin.
pub struct Man {
    pub file: PathBuf,
    pub model: Model,
    /// Both wrists, both feet, hips. In each pair, the joint on the left as seen from the front comes first.
    pub nodes: [NodeId; 5],
}

impl Man {
    pub fn load() -> Self {
        let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/human.glb");
        let file = shared("derived/makehuman_male_8infl.glb").unwrap_or_else(own);
        let model = Model::load(&file, &BindOptions::default()).unwrap();
        let known = |names: &[&str; 5]| {
            let nodes = names.map(|n| model.skeleton().find(n));
            nodes.iter().all(Option::is_some).then(|| nodes.map(Option::unwrap))
        };
        let mut nodes = NAMES.iter().find_map(known).expect("a character with hands and feet");
        let [a, b, ..] = places(&model, &model.rest(), &nodes);
        if a.x > b.x {
            nodes.swap(0, 1);
            nodes.swap(2, 3);
        }
        Self { file, model, nodes }
    }

    /// Returns the positions of the five joints in the rest pose, world space, metres.
    pub fn places(&self) -> [Vec3; 5] {
        places(&self.model, &self.model.rest(), &self.nodes)
    }

    /// Returns the world positions of the joints in `pose`. Checks that every joint except the hips only rotates.
    pub fn checked(&self, pose: &Pose) -> [Vec3; 5] {
        let rest = self.model.rest();
        for (id, node) in self.model.skeleton().nodes.iter().enumerate() {
            let moved = rest.local[id].translation().distance(pose.local[id].translation());
            assert!(pose.local[id].rotation().is_finite());
            assert!(
                moved < 1e-4 || NodeId::from(id) == self.nodes[4],
                "\"{}\" was torn off by {moved}",
                node.name
            );
        }
        places(&self.model, pose, &self.nodes)
    }
}

fn places(model: &Model, pose: &Pose, nodes: &[NodeId; 5]) -> [Vec3; 5] {
    let rig = PosedRig::new(model.skeleton(), pose);
    nodes.map(|n| rig.world[n.index()].translation.into())
}
