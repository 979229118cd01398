//! Incremental rotation skinning (thesis section 4.1, equations 14-18).
//!
//! The first step is rigid attachment. Then scale vectors (from attachment point to vertex) near a joint rotate by up
//! to half of the joint's rotation. On its child bones they rotate back, on its parent bone forward. Both sides of a
//! bend therefore meet halfway. The method needs no skin weights.

mod bind;
mod cpu;
mod gpu;

use crate::base::JointId;
use std::collections::BTreeMap;

pub use bind::{BoneReach, IrsBinding, bind};
pub use cpu::Irs;
pub(super) use gpu::IrsReaches;

/// How far a joint's rotation extends along its bones, as fractions of bone length in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Reach {
    /// `p_i`: on each bone that starts at the joint, the parameter below which vertices rotate.
    pub as_parent: f32,
    /// `c_i`: on the bone that ends at the joint, the parameter above which vertices rotate.
    pub as_child: f32,
}

impl Default for Reach {
    fn default() -> Self {
        Self::HALF
    }
}

impl Reach {
    /// Half of each bone, the default of the thesis.
    pub const HALF: Self = Self { as_parent: 0.5, as_child: 0.5 };

    /// Returns the reach clamped to 0..=1. NaN counts as 0.
    pub fn sane(self) -> Self {
        let sane = |v: f32| if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) };
        Self { as_parent: sane(self.as_parent), as_child: sane(self.as_child) }
    }
}

/// Authored settings of incremental rotation skinning.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct IrsParams {
    /// Reach of all joints without an entry in `joints`.
    pub reach: Reach,
    /// Reach of individual joints.
    pub joints: BTreeMap<JointId, Reach>,
    /// Whether vertices keep their bind distance from the skeleton (thesis figure 13). Off by default.
    pub length_correction: bool,
}

impl IrsParams {
    /// Settings with a reach of half of each bone, without length correction.
    pub const DEFAULT: Self = Self { reach: Reach::HALF, joints: BTreeMap::new(), length_correction: false };

    /// Returns the reach of a joint, clamped to 0..=1.
    pub fn reach_of(&self, joint: JointId) -> Reach {
        self.joints.get(&joint).unwrap_or(&self.reach).sane()
    }
}
