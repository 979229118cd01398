//! Sinew's own characters: rigged, coloured glTF files, generated from a few hundred numbers.
//!
//! The kinds follow the meshes of the thesis's Table 1. The characters are implicit bodies that are
//! contoured, remeshed to an exact number of vertices, and weighted by diffusion over the skin. In bind,
//! joints are aligned with the world axes; the left side is +X, the front +Z, the ground y = 0, and the
//! unit is a metre. The number of bones in the table is the number of joints of the skin.
//!
//! The bytes are the same on every machine: the code uses no hash order, no random seed, and only
//! arithmetic that IEEE 754 defines exactly (sums, products, quotients, square roots).

mod body;
mod chibi;
mod contour;
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

    /// The name on the command line and of the file, without `.glb`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Plus => "plus",
            Self::Chibi => "chibi",
            Self::Human => "human",
            Self::Golem => "golem",
        }
    }

    /// The kind with this name.
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

    /// The size of the file. A closed surface without holes has `2 * vertices - 4` triangles.
    pub fn counts(self) -> Counts {
        let (joints, vertices) = match self {
            Self::Box => (4, 1802),
            Self::Plus => (17, 5634),
            Self::Chibi => (36, 16314),
            // The table's 10774 and 21204 cannot be a single closed surface: this is within 1 % of both.
            Self::Human => (85, 10690),
            Self::Golem => (19, 90002),
        };
        Counts { joints, vertices, triangles: 2 * vertices - 4 }
    }
}

/// A character as a .glb file in memory.
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

/// A capsule with approximately this many vertices (within 1 % from 10,000 on) and four joints, as a .glb
/// file in memory.
///
/// # Errors
/// [`Error::Unsupported`] over 4 GiB.
pub fn tube(vertices: usize) -> Result<Vec<u8>> {
    glb::write(&lattice::capsule(vertices))
}

/// Writes a character to a file.
///
/// # Errors
/// As [`glb`], and [`Error::Io`] if the file cannot be written.
pub fn generate(kind: Kind, out: &Path) -> Result<()> {
    std::fs::write(out, glb(kind)?).map_err(|e| Error::io(out, e))
}

#[cfg(test)]
mod tests;
