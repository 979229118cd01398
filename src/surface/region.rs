//! The region of the control mesh that a mark affects (thesis 7.4, figure 34; docs/internals.md, *Sculpt layers*). It
//! has **kinematic** vertices under the mark, **passive** vertices around them, and a **fixed** rim (static vertices in
//! the thesis), all in bind space.

mod build;
mod round;
#[cfg(test)]
mod tests;

pub(super) use build::nearest_in_triangle;
pub use build::{mirrored_mark, mirrored_points};
pub use round::Round;

use crate::base::{Error, MAX_NAME, Result};
use crate::bind::Character;
use serde::{Deserialize, Serialize};

/// Maximum number of vertices of a region.
const MAX_VERTICES: usize = 1 << 20;
/// Maximum number of edges from the kinematic vertices to the rim.
const MAX_EDGES: u32 = 256;
/// Maximum distance from the kinematic vertices to the rim that the interface sets, metres.
const MAX_DISTANCE: f32 = 1e6;

/// The extent of a region beyond its kinematic vertices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// A number of edges; the vertices at exactly this number form the rim.
    Edges(u32),
    /// Euclidean distance, metres in bind space. A vertex belongs to the region only if a path of vertices within this
    /// distance connects it to the mark.
    Euclidean(f32),
    /// Distance along the edges of the mesh (Dijkstra), metres in bind space.
    Along(f32),
}

impl Reach {
    /// Returns the reach in metres. `edge` is the mean length of an edge, metres.
    pub fn metres(self, edge: f32) -> f32 {
        match self {
            Self::Edges(n) => n as f32 * edge,
            Self::Euclidean(d) | Self::Along(d) => d,
        }
    }

    /// Returns the reach as a number of edges, at least 1. `edge` is the mean length of an edge, metres.
    pub fn edges(self, edge: f32) -> u32 {
        match self {
            Self::Edges(n) => n,
            Self::Euclidean(d) | Self::Along(d) if edge > 0.0 => {
                (d / edge).round().clamp(1.0, MAX_EDGES as f32) as u32
            }
            _ => 1,
        }
    }

    /// Clamps the reach to valid values; NaN counts as 0.
    #[must_use]
    pub fn sane(self) -> Self {
        let length = |d: f32| if d.is_nan() { 0.0 } else { d.clamp(0.0, MAX_DISTANCE) };
        match self {
            Self::Edges(n) => Self::Edges(n.min(MAX_EDGES)),
            Self::Euclidean(d) => Self::Euclidean(length(d)),
            Self::Along(d) => Self::Along(length(d)),
        }
    }
}

impl Default for Reach {
    fn default() -> Self {
        Self::Edges(4)
    }
}

/// The vertices of a sculpt layer, as indices of control vertices. Lists are ascending and disjoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Display name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Extent beyond the kinematic vertices.
    pub reach: Reach,
    /// Fraction of the way from the rim to the kinematic vertices over which the falloff rises from 0 to 1. Range
    /// 0..=1; 1 is softest.
    pub softness: f32,
    /// Vertices of the faces under the mark.
    pub kinematic: Vec<u32>,
    /// Vertices between the kinematic vertices and the rim.
    pub passive: Vec<u32>,
    /// Vertices of the rim. Empty if the region contains all of a connected piece of the mesh.
    pub fixed: Vec<u32>,
    /// Per passive vertex: its weight, from 0 at the rim to 1 at the kinematic vertices, smooth at both ends.
    pub falloff: Vec<f32>,
    /// Per vertex: its parameter along the mark, 0..=1. Kinematic vertices come first, then passive vertices.
    pub t: Vec<f32>,
    /// Plane and axis of a ring on several shells; `None` for other marks. If set, displacements are proportional to
    /// the distance from the bone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Round>,
}

impl Region {
    /// Checks that the lists are consistent. If `vertices` is given, also checks that all indices are below it.
    pub(super) fn validate(&self, vertices: Option<usize>) -> Result<()> {
        let moved = self.kinematic.len() + self.passive.len();
        let all = || self.kinematic.iter().chain(&self.passive).chain(&self.fixed);
        let unit = |v: &f32| (0.0..=1.0).contains(v);
        let reach = match self.reach {
            Reach::Edges(n) => n <= MAX_EDGES,
            Reach::Euclidean(d) | Reach::Along(d) => d.is_finite() && d >= 0.0,
        };
        let problem = if self.kinematic.is_empty() {
            "has no kinematic vertex".into()
        } else if moved + self.fixed.len() > MAX_VERTICES {
            format!("has more than {MAX_VERTICES} vertices")
        } else if self.falloff.len() != self.passive.len() || self.t.len() != moved {
            "has lists of different lengths".into()
        } else if !(self.falloff.iter().all(unit) && self.t.iter().all(unit) && unit(&self.softness)) {
            "has a falloff or parameter outside 0 to 1".into()
        } else if !reach {
            "reaches too far".into()
        } else if self.round.is_some_and(|r| !r.is_sound()) {
            "has no valid place of its ring".into()
        } else if self.name.len() > MAX_NAME {
            "has too long a name".into()
        } else if let Some(v) = all().find(|v| vertices.is_some_and(|n| **v as usize >= n)) {
            format!("has vertex {v}, which the mesh does not have")
        } else {
            let mut sorted: Vec<u32> = all().copied().collect();
            sorted.sort_unstable();
            let rising = |list: &[u32]| list.is_sorted_by(|a, b| a < b);
            if sorted.windows(2).all(|p| p[0] < p[1])
                && [&self.kinematic, &self.passive, &self.fixed].iter().all(|l| rising(l))
            {
                return Ok(());
            }
            "names a vertex twice or out of order".into()
        };
        Err(Error::input(format!("the region {problem}"), "make it again from a mark on this character"))
    }

    /// The vertices that the region moves, ascending, with their weights: 1 for kinematic vertices, the falloff for
    /// passive ones.
    pub fn weights(&self) -> Vec<(u32, f32)> {
        let kinematic = self.kinematic.iter().map(|&v| (v, 1.0));
        let passive = self.passive.iter().copied().zip(self.falloff.iter().copied());
        let mut out: Vec<(u32, f32)> = kinematic.chain(passive).collect();
        out.sort_unstable_by_key(|w| w.0);
        out
    }

    /// Returns the region with another reach.
    ///
    /// # Errors
    /// The reach is not a valid distance, or the region belongs to another character.
    pub fn with_reach(&self, character: &Character, reach: Reach) -> Result<Self> {
        self.validate(Some(character.control.positions.len()))?;
        let mut new = Self { reach, ..self.clone() };
        build::spread(&mut new, character, None)?;
        Ok(new)
    }

    /// Returns the region extended by a number of edge rings. A negative number shrinks the region.
    ///
    /// # Errors
    /// The errors of [`Region::with_reach`].
    pub fn grown(&self, character: &Character, rings: i32) -> Result<Self> {
        let step = build::mean_edge(character, &self.kinematic) * rings as f32;
        let reach = match self.reach {
            Reach::Edges(n) => Reach::Edges(n.saturating_add_signed(rings).clamp(1, MAX_EDGES)),
            Reach::Euclidean(d) => Reach::Euclidean((d + step).max(0.0)),
            Reach::Along(d) => Reach::Along((d + step).max(0.0)),
        };
        self.with_reach(character, reach)
    }

    /// Returns the mean length of the edges at the kinematic vertices, metres, in bind space.
    pub fn edge(&self, character: &Character) -> f32 {
        build::mean_edge(character, &self.kinematic)
    }

    /// Returns the region with another softness, clamped to 0..=1.
    ///
    /// # Errors
    /// The region belongs to another character.
    pub fn softened(&self, character: &Character, softness: f32) -> Result<Self> {
        self.validate(Some(character.control.positions.len()))?;
        let softness = if softness.is_nan() { 1.0 } else { softness.clamp(0.0, 1.0) };
        let mut new = Self { softness, ..self.clone() };
        new.falloff = build::falloff(&new, character);
        Ok(new)
    }
}
