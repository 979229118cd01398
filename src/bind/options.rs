//! The settings of a binding: the rule that attaches the skin, its smoothing, turned planes and regions attached by
//! hand.

use super::Character;
use crate::base::math::Quat;
use crate::base::{Error, JointId, MAX_NAME, Result};
use crate::rig::Skeleton;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum smoothing rounds. More rounds would collapse the points on chains of leaf bones (thesis, 3.2).
pub const MAX_SMOOTH: u32 = 10;
/// Maximum number of regions attached by hand.
pub const MAX_REATTACHED: usize = 1024;
/// Maximum angle of a turned plane, degrees.
pub const MAX_TURN: f32 = 180.0;

/// The rule that chooses each vertex's bone and attachment point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    /// The nearest point on any bone (thesis, eq. 12).
    Direct,
    /// The nearest point on the bones at the joint with the largest skin weight (thesis, 3.2).
    #[default]
    Weights,
    /// Regions bounded by dividing planes at the joints (thesis, eq. 13).
    Planar,
}

impl Binding {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Direct, Self::Weights, Self::Planar];

    /// Name in files and on the command line.
    pub fn name(self) -> &'static str {
        ["direct", "weights", "planar"][self as usize]
    }

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Direct", "From weights", "Planar"][self as usize]
    }
}

/// How a round of smoothing moves the attachment points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Smoothing {
    /// Towards a mean that weights wide gaps more, along the vertex's own and adjacent bones. The widest gap between
    /// adjacent points never grows by more than the fraction 1e-4.
    #[default]
    Bounded,
    /// To the mean of the point and its neighbours, projected on the nearest bone (thesis, 3.2).
    Plain,
}

impl Smoothing {
    /// All kinds of smoothing.
    pub const ALL: [Self; 2] = [Self::Bounded, Self::Plain];

    /// Name in files and on the command line.
    pub fn name(self) -> &'static str {
        ["bounded", "plain"][self as usize]
    }

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Bounded", "Plain"][self as usize]
    }
}

/// A set of control vertices, as ascending runs `[first, count]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VertexRuns(Vec<[u32; 2]>);

impl VertexRuns {
    /// Collects vertices in any order.
    pub fn of(vertices: impl IntoIterator<Item = u32>) -> Self {
        let mut all: Vec<u32> = vertices.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        let mut runs: Vec<[u32; 2]> = Vec::new();
        for v in all {
            match runs.last_mut() {
                Some([first, count]) if *first + *count == v => *count += 1,
                _ => runs.push([v, 1]),
            }
        }
        Self(runs)
    }

    /// The vertices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&[first, count]| first..first.saturating_add(count))
    }

    /// Number of vertices.
    pub fn count(&self) -> usize {
        self.0.iter().map(|r| r[1] as usize).sum()
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the runs are ascending, disjoint and not empty.
    pub fn is_sound(&self) -> bool {
        self.end().is_some()
    }

    /// The index after the last vertex, if the runs are ascending, disjoint and not empty.
    fn end(&self) -> Option<u32> {
        let after = |end: u32, &[first, count]: &[u32; 2]| {
            if count == 0 || first < end { None } else { first.checked_add(count) }
        };
        self.0.iter().try_fold(0, after).filter(|end| *end > 0)
    }
}

/// A region that the user has attached by hand. It overrides the rule after smoothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reattached {
    /// Display name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The control vertices.
    pub vertices: VertexRuns,
    /// The joint whose bones get the vertices, each the nearest bone with its head at this joint; `None` keeps the
    /// vertices' bones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<JointId>,
    /// Position of the attachment points along their bones, 0 at the head, 1 at the tail; `None` keeps the nearest
    /// points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<f32>,
}

/// The settings of a binding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindOptions {
    /// The binding method, default [`Binding::Weights`].
    pub method: Binding,
    /// Smoothing rounds, default 6, at most [`MAX_SMOOTH`].
    pub smooth: u32,
    /// What a round of smoothing does, default [`Smoothing::Bounded`].
    #[serde(default)]
    pub smoothing: Smoothing,
    /// For [`Binding::Planar`]: rotation of the dividing planes about a joint, in bind space. Degrees about X, Y and Z,
    /// at most [`MAX_TURN`]; the rotation about X applies first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub planes: BTreeMap<JointId, [f32; 3]>,
    /// Regions attached by hand; where regions overlap, the later one counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reattached: Vec<Reattached>,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self {
            method: Binding::default(),
            smooth: 6,
            smoothing: Smoothing::default(),
            planes: BTreeMap::new(),
            reattached: Vec::new(),
        }
    }
}

impl BindOptions {
    /// Returns the rotation of the dividing planes at a joint, bind space.
    pub fn turn([x, y, z]: [f32; 3]) -> Quat {
        let [x, y, z] = [x, y, z].map(f32::to_radians);
        (Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x)).normalize()
    }

    /// Returns the last region with these vertices, which is new if there is none.
    pub fn region(&mut self, name: &str, vertices: VertexRuns) -> &mut Reattached {
        let at = self.reattached.iter().rposition(|r| r.vertices == vertices).unwrap_or_else(|| {
            self.reattached.push(Reattached { name: name.to_owned(), vertices, joint: None, t: None });
            self.reattached.len() - 1
        });
        &mut self.reattached[at]
    }

    /// Checks the settings against a skeleton.
    ///
    /// # Errors
    /// [`Error::Input`] for more than [`MAX_SMOOTH`] rounds, a joint that the skeleton lacks, an angle or a position
    /// outside its range, or vertices out of order.
    pub fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        if self.smooth > MAX_SMOOTH {
            let problem = format!("{} rounds of smoothing", self.smooth);
            return Err(Error::input(problem, format!("ask for at most {MAX_SMOOTH}")));
        }
        let count = skeleton.joints.len();
        let joints = self.planes.keys().chain(self.reattached.iter().filter_map(|r| r.joint.as_ref()));
        if let Some(joint) = joints.into_iter().find(|j| j.index() >= count) {
            let problem = format!("the binding names joint {}, which the skeleton does not have", joint.0);
            return Err(Error::input(problem, format!("name a joint below {count}")));
        }
        let fits = |degrees: &f32| degrees.abs() <= MAX_TURN;
        if let Some((joint, _)) = self.planes.iter().find(|(_, turn)| !turn.iter().all(fits)) {
            let problem = format!("the turn of the planes at joint {} is not possible", joint.0);
            return Err(Error::input(problem, format!("give angles from -{MAX_TURN} to {MAX_TURN} degrees")));
        }
        if self.reattached.len() > MAX_REATTACHED {
            let problem = format!("{} regions are attached by hand", self.reattached.len());
            return Err(Error::input(problem, format!("reset the binding; {MAX_REATTACHED} are possible")));
        }
        for (i, region) in self.reattached.iter().enumerate() {
            let problem = if region.vertices.end().is_none() {
                "has no vertices, or has them out of order"
            } else if region.t.is_some_and(|t| !(0.0..=1.0).contains(&t)) {
                "has no place along the bone from 0 to 1"
            } else if region.name.len() > MAX_NAME {
                "has too long a name"
            } else {
                continue;
            };
            let problem = format!("region {} of the binding {problem}", i + 1);
            return Err(Error::input(problem, "attach it again"));
        }
        Ok(())
    }

    /// Checks the settings against a character.
    ///
    /// # Errors
    /// As [`BindOptions::validate`], and if a region has a vertex that the character lacks.
    pub fn fits(&self, character: &Character) -> Result<()> {
        self.validate(&character.skeleton)?;
        let count = character.control.positions.len();
        let outside = |r: &Reattached| r.vertices.end().is_none_or(|end| end as usize > count);
        match self.reattached.iter().position(outside) {
            Some(i) => Err(Error::input(
                format!("region {} of the binding has vertices that the mesh does not have", i + 1),
                format!("use it with the file it was made for; this mesh has {count} vertices"),
            )),
            None => Ok(()),
        }
    }
}
