//! Joint-based deformers that blend swing and twist separately.
//!
//! L. Kavan, O. Sorkine, *Elasticity-Inspired Deformers for Character Articulation*, 2012. Each joint has a deformer
//! that moves the flesh around the joint. The joint's rotation relative to its parent is split into a swing of the bone
//! and a twist about the bone. A vertex follows the fraction `t` of the twist angle and the fraction `s` of the swing
//! (equation 6):
//!
//! `Γ(x) = ((1 - s) I + s Q_swing) Q_twist^t x`
//!
//! The weights `s` and `t` minimise an elastic energy ([`crate::bind::weights`]); the method needs no skin weights.
//!
//! **Differs** from the paper in how the deformers of several joints combine. The paper blends them linearly by a third
//! weight per joint (equation 5). Here, they follow each other: a vertex first takes the deformer of its deepest joint,
//! then those of the ancestors. Near a single joint, both combinations give the same result. Between joints, the linear
//! blend mixes deformers that do not include each other's rotation, and the shape collapses as with linear blend
//! skinning.
//!
//! A joint may also translate and scale. That part follows `s` linearly.

mod bind;
mod cpu;
mod gpu;
mod motion;

pub use bind::{ChainEntry, SwingTwistBinding, bind};
pub use cpu::SwingTwist;
pub(super) use gpu::SwingTwistState;
pub use motion::{JointMotion, Motions};

use crate::base::JointId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the flesh around a joint follows the joint's rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deformer {
    /// Swing linearly, twist by angle.
    #[default]
    SwingTwist,
    /// Swing and twist linearly, by the swing weight. A twisted joint becomes thin.
    Linear,
    /// Swing and twist by angle, by the swing weight. A bent joint bulges.
    Spherical,
}

/// Authored settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Approximate number of cubes in which the weights are computed, [`Params::MIN_CUBES`] to [`Params::MAX_CUBES`].
    pub cubes: u32,
    /// Deformers of individual joints. All others are [`Deformer::SwingTwist`].
    pub joints: BTreeMap<JointId, Deformer>,
}

impl Params {
    /// Smallest number of cubes.
    pub const MIN_CUBES: u32 = 500;
    /// Largest number of cubes.
    pub const MAX_CUBES: u32 = 60_000;
    /// Default settings.
    pub const DEFAULT: Self = Self { cubes: 16_000, joints: BTreeMap::new() };

    /// Returns the settings with every number in its range.
    pub fn sane(self) -> Self {
        Self { cubes: self.cubes.clamp(Self::MIN_CUBES, Self::MAX_CUBES), ..self }
    }

    /// Whether a bound method can take these settings without a new binding.
    pub fn can_become(&self, other: &Self) -> bool {
        self.cubes == other.cubes
    }

    /// The deformer of a joint.
    pub fn deformer(&self, joint: JointId) -> Deformer {
        self.joints.get(&joint).copied().unwrap_or_default()
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests;
