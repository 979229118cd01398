//! Grips: points and regions of the skin that the method FAST moves (docs/internals.md, section 8).

use crate::base::math::{Quat, Vec3};
use crate::base::{Error, GripId, Result};
use crate::bind::{Character, VertexRuns};
use crate::deform::fast::GripShape;
use crate::rig::{GripHold, GripPose};
use serde::{Deserialize, Serialize};

/// Rotation of a grip at rest.
const UNTURNED: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// A point or a region of the skin, and where it goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grip {
    /// Id, unique in the document.
    pub id: GripId,
    /// Name to display.
    pub name: String,
    /// Vertices of the control mesh: one for a point, several for a region.
    pub vertices: VertexRuns,
    /// What the grip determines.
    #[serde(default, skip_serializing_if = "is_position")]
    pub hold: GripHold,
    /// Translation from the rest shape, see [`GripPose::translation`].
    #[serde(default, skip_serializing_if = "is_unmoved")]
    pub translation: [f32; 3],
    /// Rotation, see [`GripPose::rotation`].
    #[serde(default = "unturned", skip_serializing_if = "is_unturned")]
    pub rotation: [f32; 4],
}

fn is_position(hold: &GripHold) -> bool {
    *hold == GripHold::Position
}

fn is_unmoved(translation: &[f32; 3]) -> bool {
    *translation == [0.0; 3]
}

fn unturned() -> [f32; 4] {
    UNTURNED
}

fn is_unturned(rotation: &[f32; 4]) -> bool {
    *rotation == UNTURNED
}

impl Grip {
    /// Creates a grip at rest, which holds its position.
    pub fn new(id: GripId, vertices: impl IntoIterator<Item = u32>) -> Self {
        let vertices = VertexRuns::of(vertices);
        let kind = if vertices.count() > 1 { "Region" } else { "Point" };
        Self {
            id,
            name: format!("{kind} {}", u64::from(id.0) + 1),
            vertices,
            hold: GripHold::Position,
            translation: [0.0; 3],
            rotation: UNTURNED,
        }
    }

    /// Whether the grip is a region, which can rotate.
    pub fn is_region(&self) -> bool {
        self.vertices.count() > 1
    }

    /// Returns the grip in the edited pose.
    pub fn pose(&self) -> GripPose {
        let Self { id, hold, translation, rotation, .. } = *self;
        GripPose { id, hold, translation, rotation }
    }

    /// Returns the part of the skin that the grip moves.
    pub fn shape(&self) -> GripShape {
        GripShape { id: self.id, vertices: self.vertices.iter().collect() }
    }

    /// Checks an untrusted grip.
    ///
    /// # Errors
    /// [`Error::Input`] if the grip has no vertex or a number is not finite.
    pub fn validate(&self) -> Result<()> {
        let told = |problem: &str, remedy: &str| {
            Err(Error::input(format!("grip {:?}: {problem}", self.name), remedy))
        };
        if !self.vertices.is_sound() {
            return told("its vertices are none, or not in ascending runs", "draw it again");
        }
        let turns = self.rotation.iter().map(|v| v * v).sum::<f32>();
        let finite = self.translation.iter().chain(&self.rotation).all(|v| v.is_finite());
        if !finite || turns < 1e-12 {
            return told("its place is not finite or its rotation is zero", "move it again");
        }
        Ok(())
    }

    /// Checks the grip against its character.
    ///
    /// # Errors
    /// [`Error::Input`] if the control mesh does not have a vertex of the grip.
    pub fn fits(&self, character: &Character) -> Result<()> {
        let count = character.control.positions.len();
        if self.vertices.iter().all(|v| (v as usize) < count) {
            return Ok(());
        }
        let problem = format!("grip {:?} names a vertex that the mesh does not have", self.name);
        Err(Error::input(problem, format!("remove the grip; the mesh has {count} vertices")))
    }
}

/// The transform of a grip in a pose: where its centre goes from its place `at` in the rest shape, and how it rotates.
pub fn grip_place(grip: &GripPose, at: Vec3) -> (Vec3, Quat) {
    let turn = if grip.hold == GripHold::Full { grip.rotation() } else { Quat::IDENTITY };
    (at + grip.translation(), turn)
}
