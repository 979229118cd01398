//! Sinew's own characters: rigged, coloured glTF files, generated procedurally.
//!
//! The kinds correspond to the meshes of the thesis's Table 1. Characters are implicit bodies that are contoured,
//! remeshed to an exact number of vertices, and weighted by diffusion over the skin. In the bind pose, joints are
//! aligned with the world axes. The left side is +X, the front +Z, the ground y = 0, the unit a metre. The number of
//! bones in Table 1 is the number of joints of the skin.
//!
//! Every machine generates identical bytes: the code uses no hash order, no random seed, and only arithmetic that
//! IEEE 754 defines exactly (sums, products, quotients, square roots).

mod body;
mod chibi;
mod contour;
mod elephant;
mod glb;
mod golem;
mod hound;
mod human;
mod implicit;
mod lattice;
mod model;
mod noise;
mod paint;
mod remesh;
mod trimesh;
mod weights;

use crate::base::{Error, Result};
use std::path::Path;

pub use elephant::elephant;
pub use hound::hound;

/// The kinds of generated characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A checkered bar, 1 m high.
    Box,
    /// A checkered plus with four arms.
    Plus,
    /// A stylised child, 1.1 m.
    Chibi,
    /// An adult with fingers, 1.75 m.
    Human,
    /// A bumpy creature with a tail, dense enough for benchmarks.
    Golem,
}

/// Size of a generated file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Number of joints of the skin.
    pub joints: usize,
    /// Number of vertices, welded by position.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
}

impl Kind {
    /// Every kind, in the order of the thesis's Table 1, small ones first.
    pub const ALL: [Self; 5] = [Self::Box, Self::Plus, Self::Human, Self::Chibi, Self::Golem];

    /// Returns the kind's name on the command line. The file name is this name plus `.glb`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Plus => "plus",
            Self::Chibi => "chibi",
            Self::Human => "human",
            Self::Golem => "golem",
        }
    }

    /// Returns the kind with this name.
    ///
    /// # Errors
    /// [`Error::Input`] for an unknown name; it lists all names.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|k| k.name()).collect();
            Error::input(
                format!("there is no character {name:?}"),
                format!("choose one of {}", names.join(", ")),
            )
        })
    }

    /// Returns the size of the generated file. A closed surface without holes has `2 * vertices - 4` triangles.
    pub fn counts(self) -> Counts {
        let (joints, vertices) = match self {
            Self::Box => (4, 1802),
            Self::Plus => (17, 5634),
            Self::Chibi => (36, 16314),
            // No connected closed surface has the 10774 vertices and 21204 triangles of Table 1. Both counts here
            // differ by less than 1 %.
            Self::Human => (85, 10690),
            Self::Golem => (19, 90002),
        };
        Counts { joints, vertices, triangles: 2 * vertices - 4 }
    }
}

/// Generates a character as a `.glb` file in memory.
///
/// # Errors
/// [`Error::Input`] if a body is not a closed surface, which does not occur for these kinds.
pub fn glb(kind: Kind) -> Result<Vec<u8>> {
    let vertices = kind.counts().vertices;
    let model = match kind {
        Kind::Box => lattice::bar(),
        Kind::Plus => lattice::plus(),
        Kind::Chibi => chibi::body(vertices).build()?,
        Kind::Human => human::body(vertices).build()?,
        Kind::Golem => golem::body(vertices).build()?,
    };
    glb::write(&model)
}

/// Generates a capsule with four joints and about `vertices` vertices (within 1 % from 10,000 on), as a `.glb` file
/// in memory.
///
/// # Errors
/// [`Error::Unsupported`] if the file would exceed 4 GiB.
pub fn tube(vertices: usize) -> Result<Vec<u8>> {
    glb::write(&lattice::capsule(vertices))
}

/// Writes a character to a file.
///
/// # Errors
/// Any error of [`glb()`], and [`Error::Io`] if the file cannot be written.
pub fn generate(kind: Kind, out: &Path) -> Result<()> {
    std::fs::write(out, glb(kind)?).map_err(|e| Error::io(out, e))
}

#[cfg(test)]
mod tests;
