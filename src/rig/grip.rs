//! Grips in a pose: points and regions of the skin that the method FAST moves (docs/internals.md, *FAST*).

use crate::base::GripId;
use crate::base::math::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// What a grip determines of its part of the skin; the solver determines the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GripHold {
    /// Nothing: the grip follows the others.
    Free,
    /// The position.
    #[default]
    Position,
    /// The position and the rotation.
    Full,
}

impl GripHold {
    /// All values, in the order in which a button changes them.
    pub const ALL: [Self; 3] = [Self::Free, Self::Position, Self::Full];

    /// The name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Position => "position",
            Self::Full => "full",
        }
    }

    /// Returns the value after this one, in a circle.
    pub fn next(self) -> Self {
        match self {
            Self::Free => Self::Position,
            Self::Position => Self::Full,
            Self::Full => Self::Free,
        }
    }
}

/// Where a grip is in a pose, relative to its place in the rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GripPose {
    /// The grip.
    pub id: GripId,
    /// What the grip determines.
    pub hold: GripHold,
    /// Translation from the rest shape, model space, metres. For a mesh without a skeleton, model space moves with the
    /// mesh's node.
    pub translation: [f32; 3],
    /// Rotation about the grip's centre, model space, a quaternion `x, y, z, w`. Read only if the hold is full.
    pub rotation: [f32; 4],
}

impl GripPose {
    /// Returns the translation.
    pub fn translation(&self) -> Vec3 {
        self.translation.into()
    }

    /// Returns the rotation as a unit quaternion.
    pub fn rotation(&self) -> Quat {
        let q = Quat::from_array(self.rotation);
        if q.length_squared() > 1e-12 && q.is_finite() { q.normalize() } else { Quat::IDENTITY }
    }
}
