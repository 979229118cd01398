//! Grips: points and regions of the skin that the method FAST moves (docs/internals.md, *FAST*).

use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, GripId, Result};
use crate::bind::{Character, VertexRuns};
use crate::deform::fast::GripShape;
use crate::geom::ControlMesh;
use crate::rig::{GripHold, GripPose};
use serde::{Deserialize, Serialize};

/// A stroke is closed if its ends are nearer than this fraction of its size.
const CLOSES: f32 = 0.35;
/// Minimum size of a closed stroke, in mean edge lengths.
const SMALL: f32 = 1.5;
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

/// Returns whether the ends of a stroke over the skin meet, so that it encloses an area. `places` are its points in
/// bind space, `edge` is the mean length of an edge, metres.
pub fn closes(places: &[Vec3], edge: f32) -> bool {
    let [first, .., last] = places else { return false };
    let size = Aabb::of(places.iter().copied()).diagonal();
    size >= SMALL * edge && first.distance(*last) <= CLOSES * size && places.len() >= 4
}

/// Returns the vertices that a closed path over triangles encloses, ascending, with those of the path. The path divides
/// the parts of the mesh that it meets; all pieces but the largest are inside.
pub fn enclosed(control: &ControlMesh, path: &[u32]) -> Vec<u32> {
    let count = control.positions.len();
    let mut on_path = vec![false; count];
    for t in path.iter().filter_map(|&t| control.triangles.get(t as usize)) {
        t.iter().for_each(|&v| on_path[v as usize] = true);
    }
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); count];
    for t in &control.triangles {
        for k in 0..3 {
            next[t[k] as usize].extend([t[(k + 1) % 3], t[(k + 2) % 3]]);
        }
    }
    let mut piece_of = vec![usize::MAX; count];
    let mut sizes: Vec<usize> = Vec::new();
    let beside = (0..count).filter(|&v| on_path[v]).flat_map(|v| next[v].iter().map(|&w| w as usize));
    for start in beside.filter(|&w| !on_path[w]) {
        if piece_of[start] != usize::MAX {
            continue;
        }
        let (piece, mut stack) = (sizes.len(), vec![start]);
        sizes.push(0);
        piece_of[start] = piece;
        while let Some(v) = stack.pop() {
            sizes[piece] += 1;
            for w in next[v].iter().map(|&w| w as usize).filter(|&w| !on_path[w]) {
                if piece_of[w] == usize::MAX {
                    piece_of[w] = piece;
                    stack.push(w);
                }
            }
        }
    }
    let largest = (0..sizes.len()).max_by_key(|&p| sizes[p]);
    let inside = |v: &usize| on_path[*v] || (piece_of[*v] != usize::MAX && Some(piece_of[*v]) != largest);
    (0..count).filter(inside).map(|v| v as u32).collect()
}
