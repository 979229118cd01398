//! The scale of a posed character's flesh.

use crate::rig::{PosedRig, mean_scale, median_scale};

/// Finds how much the joints scale most of the flesh.
#[derive(Clone, Debug, Default)]
pub struct Scale {
    /// Joints with the number of cubes that follow each.
    joints: Vec<(u32, u32)>,
    /// Scale of each of these joints, with its number of cubes.
    scales: Vec<(f32, u32)>,
}

impl Scale {
    /// Counts the cubes of each joint; `home` is the joint of each cube.
    pub fn new(home: &[u32]) -> Self {
        let mut home = home.to_vec();
        home.sort_unstable();
        let joints: Vec<(u32, u32)> = home.chunk_by(|a, b| a == b).map(|c| (c[0], c.len() as u32)).collect();
        Self { scales: Vec::with_capacity(joints.len()), joints }
    }

    /// The median over all cubes of the factor by which their joints scale the bind shape. Allocates nothing.
    pub fn of(&mut self, rig: &PosedRig) -> f32 {
        let scale = |joint: u32| mean_scale(&rig.skinning[joint as usize]);
        self.scales.clear();
        self.scales.extend(self.joints.iter().map(|&(joint, cubes)| (scale(joint), cubes)));
        median_scale(&mut self.scales)
    }
}
