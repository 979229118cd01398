//! A cage as a document stores it, and the rest shape that the cage gives.

use super::{CageMesh, MAX_VERTICES};
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::rig::{RestShift, Skeleton};
use serde::{Deserialize, Serialize};

/// Largest length of a name, bytes.
const MAX_NAME: usize = 200;

/// How the coordinates of the skin in the cage are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coordinates {
    /// Mean value coordinates: smooth and global; they can be negative (Ju, Schaefer, Warren 2005).
    #[default]
    MeanValue,
    /// Local coordinates inside the cage: never negative.
    Local,
}

/// A cage around a character. A document has at most one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cage {
    /// Name that lists show.
    pub name: String,
    /// The mesh in the file's rest shape.
    pub mesh: CageMesh,
    /// The kind of coordinates of the skin.
    #[serde(default)]
    pub coordinates: Coordinates,
    /// Coordinates of the skeleton's joints in the cage: one row with a value per vertex of the cage for each joint.
    pub joints: Vec<f32>,
    /// Coordinates of the bones' tails, one row for each bone.
    pub tails: Vec<f32>,
    /// Offset of each vertex of the rest cage from `mesh`, bind space, metres.
    pub offsets: Vec<[f32; 3]>,
}

impl Cage {
    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.mesh.positions.len()
    }

    /// Whether the rest shape is the file's.
    pub fn is_at_rest(&self) -> bool {
        self.offsets.iter().flatten().all(|v| *v == 0.0)
    }

    /// Computes the offsets of joints and bone tails from the cage offsets in `out.cage` (SkelUp: Corda et al. 2020,
    /// equation 13). Clears `out` if all cage offsets are zero or their number is wrong. Does not allocate after the
    /// first call.
    pub fn follow(&self, skeleton: &Skeleton, out: &mut RestShift) {
        if out.cage.len() != self.vertices() || out.cage.iter().all(|v| *v == Vec3::ZERO) {
            out.clear();
            return;
        }
        let RestShift { cage, joints, tails, .. } = out;
        let of = |row: &[f32]| -> Vec3 { row.iter().zip(cage.iter()).map(|(w, d)| *w * *d).sum() };
        joints.clear();
        joints.extend(self.joints.chunks_exact(cage.len()).map(of));
        tails.clear();
        tails.extend(self.tails.chunks_exact(cage.len()).map(of));
        out.place(skeleton);
    }

    /// The rest shape that the cage's stored offsets give.
    pub fn rest(&self, skeleton: &Skeleton) -> RestShift {
        let mut out = RestShift::of_cage(self.offsets.iter().map(|v| (*v).into()).collect());
        self.follow(skeleton, &mut out);
        out
    }

    /// Checks a cage from a file or an edit.
    ///
    /// # Errors
    /// [`Error::Input`] if the cage has fewer than 4 or too many vertices, the lists do not fit the mesh or the
    /// skeleton, the name is too long or has control characters, a face is invalid, or a number is not finite.
    pub fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        let count = self.vertices();
        let fits = self.joints.len() == count * skeleton.joints.len()
            && self.tails.len() == count * skeleton.bones.len()
            && self.offsets.len() == count;
        let problem = if !(4..=MAX_VERTICES).contains(&count) {
            format!("the cage has {count} vertices")
        } else if !fits {
            "the cage was made for another character".to_owned()
        } else if self.name.len() > MAX_NAME || self.name.contains(char::is_control) {
            "the cage's name is too long or has control characters".to_owned()
        } else if self
            .mesh
            .faces
            .iter()
            .any(|f| !(3..=4).contains(&f.len()) || f.iter().any(|&v| v as usize >= count))
        {
            "a face of the cage is neither a triangle nor a quad of its vertices".to_owned()
        } else if !self.mesh.positions.iter().all(|x| x.is_finite())
            || !self
                .joints
                .iter()
                .chain(&self.tails)
                .chain(self.offsets.iter().flatten())
                .all(|v| v.is_finite())
        {
            "a number of the cage is not finite".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::input(problem, "make the cage again"))
    }
}
