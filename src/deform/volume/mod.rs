//! The volume deformer: flesh solved inside the body (docs/internals.md, *The volume*).
//!
//! Binding fills the closed parts of the mesh with cubes ([`cells`]). In every frame a geometric method places the
//! nodes of the cubes. Nodes on bones keep these positions. The other nodes then move until the cubes are in elastic
//! equilibrium ([`solve`]). In the last step, each vertex of the skin follows its cube. Only the cost of this step
//! depends on the size of the mesh. [`contact`] separates flesh that meets itself. Contact also works after other
//! methods; the flesh is then at rest in the shape that the other method gives ([`Rest::Pose`]).
//!
//! The energy of a cube with edge length `h`, nodes `y` and the rotation `R` nearest to its deformation is
//!
//! `E / (μ h) = ¼ Σ_e |e' - R e|² + 3 λ/(2μ) h² |F - P|²`
//!
//! The sum is over the cube's twelve edges: `e` is an edge at rest, `e'` the deformed edge. The columns of the
//! deformation `F` are the means of the four deformed edges along each axis, over `h`. `P` is the matrix with
//! determinant 1 that is nearest to `F` (Bouaziz et al., *Projective Dynamics*, 2014, volume preservation). If `F` is
//! near a rotation, the energy equals co-rotated elasticity, `μ |F - R|² + λ/2 tr(Rᵀ F - I)²` (McAdams et al.,
//! *Efficient Elasticity for Character Skinning with Contact and Collisions*, 2011); the edges also resist deformations
//! that do not change the mean edges.
//!
//! **(differs)** The trace in co-rotated elasticity does not change if a cube becomes half as long along one axis and
//! half as long again along another, but a quarter of the cube's volume is lost. Bent flesh deforms so. With the trace,
//! no stiffness keeps the volume; with `P`, the equilibrium does. Only [`Rest::Pose`] uses the trace, because the
//! preceding method may have crushed the cubes.
//!
//! Regions of the skin can make the flesh below them firmer or softer ([`firm`]). The energy of a cube is then
//! multiplied by a factor ([`tissue`]).
//!
//! **(differs)** *Skeleton Driven Volumetric Deformation* holds every node on a bone. Sinew holds a node on a bone
//! only if almost all of the node's skin weight belongs to one joint, or to a head or hand with the joints below it.
//! In heads, hands and feet, Sinew also holds nodes beside the bones (`hubs.rs`). Elsewhere, the weights imply that
//! flesh slides along the bone. A spring with the stiffness [`Params::firmness`] pulls the remaining nodes on bones
//! to their start.

pub mod cells;
pub mod contact;
pub mod contact_gpu;
pub mod converge;
pub mod cover;
pub mod firm;
pub mod gold;
pub mod gpu;
mod hubs;
pub mod level_buffers;
pub mod levels;
pub mod motion;
pub mod place;
pub mod push;
mod rigid;
pub mod schedule;
pub mod settle;
pub mod solve;
pub mod substeps;
pub mod tets;
pub mod tissue;

#[cfg(test)]
mod tests;

pub use firm::{Firm, FirmRegion};

use super::clock::Frames;
use serde::{Deserialize, Serialize};

/// Authored parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Approximate number of cubes that fill the character, 200..=40000. A change needs a new binding.
    pub cubes: u32,
    /// Stiffness of the springs that pull nodes around bones to their start positions, relative to the stiffness of the
    /// flesh there, 0..=10. With a larger value, a bend or twist fades nearer to the joint.
    pub firmness: f32,
    /// Resistance to changes of volume, 0..=1: Poisson's ratio divided by [`LARGEST_POISSON`].
    pub volume: f32,
    /// Multigrid cycles per frame, 0..=64.
    pub cycles: u32,
    /// Natural frequency of the thickest flesh, hertz, 0..=30; 0 turns the dynamics off ([`motion`]).
    pub dynamics: f32,
    /// Damping ratio of the dynamics, 0..=4: 1 is critical damping.
    pub damping: f32,
    /// Whether a frame starts from the result of the previous frame. With dynamics, every frame does so, whatever this
    /// setting.
    pub frames: Frames,
    /// Number of additional multigrid cycles with contact, 0..=16. With 0, flesh can pass through flesh.
    pub contact: u32,
    /// Number of solves in a frame that does not continue the last frame, 1..=16; 0: as many as the pose needs
    /// ([`substeps::Plan`]). Each solve starts from the result of the previous one, in a pose that is nearer to the
    /// frame's pose. Flesh then meets flesh while the overlap is shallow. Only with [`Rest::Bind`].
    pub substeps: u32,
    /// The shape in which the flesh is at rest. A change needs a new binding.
    #[serde(skip_serializing_if = "Rest::is_bind")]
    pub rest: Rest,
}

/// The shape in which the flesh is at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rest {
    /// The bind shape: the flesh deforms the skin.
    #[default]
    Bind,
    /// The shape that the preceding nodes of the graph give. Only contact then deforms the skin: the displacements of
    /// the cubes are added to that shape.
    Pose,
}

impl Rest {
    fn is_bind(&self) -> bool {
        *self == Self::Bind
    }
}

/// Poisson's ratio of the flesh for a volume setting of 1.
pub const LARGEST_POISSON: f32 = 0.45;

/// Methods that solve to convergence on the CPU, for comparison. One pose takes up to some seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// The equilibrium of the volume ([`converge`]).
    Gold,
    /// *Skeleton Driven Volumetric Deformation*, as printed ([`tets`]).
    Tets,
}

impl Exact {
    /// Returns the exact solve of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "gold" => Some(Self::Gold),
            "tets" => Some(Self::Tets),
            _ => None,
        }
    }
}

/// Maximum of [`Params::cycles`].
const MOST_CYCLES: u32 = 64;
/// Maximum of [`Params::contact`].
const MOST_CONTACT: u32 = 16;

impl Default for Params {
    fn default() -> Self {
        Self {
            cubes: 5000,
            firmness: 0.5,
            volume: 2.0 / 3.0,
            cycles: 3,
            dynamics: 0.0,
            damping: 0.2,
            frames: Frames::Independent,
            contact: 0,
            substeps: 0,
            rest: Rest::Bind,
        }
    }
}

impl Params {
    /// Returns parameters that add only contact to a method without volume, with `cycles` cycles.
    pub fn only_contact(cycles: u32) -> Self {
        Self { cycles: 0, contact: cycles, rest: Rest::Pose, ..Self::default() }.sane()
    }

    /// The parameters with every field clamped to its documented range; non-finite values become defaults.
    pub fn sane(&self) -> Self {
        let d = Self::default();
        let clean =
            |v: f32, fallback: f32, high: f32| if v.is_finite() { v.clamp(0.0, high) } else { fallback };
        Self {
            cubes: self.cubes.clamp(200, 40_000),
            firmness: clean(self.firmness, d.firmness, 10.0),
            volume: clean(self.volume, d.volume, 1.0),
            cycles: self.cycles.min(MOST_CYCLES),
            dynamics: clean(self.dynamics, d.dynamics, 30.0),
            damping: clean(self.damping, d.damping, 4.0),
            frames: self.frames,
            contact: self.contact.min(MOST_CONTACT),
            substeps: self.substeps.min(16),
            rest: self.rest,
        }
    }

    /// Sets a number by its field's name; values are clamped, counts rounded. Returns false if no field has that name.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
        let count = value.round().max(0.0) as u32;
        match name {
            "cubes" => self.cubes = count,
            "firmness" => self.firmness = value,
            "volume" => self.volume = value,
            "cycles" => self.cycles = count,
            "dynamics" => self.dynamics = value,
            "damping" => self.damping = value,
            "contact" => self.contact = count,
            "substeps" => self.substeps = count,
            _ => return false,
        }
        *self = self.sane();
        true
    }

    /// Whether a deformer bound with these parameters can switch to the others without a new binding.
    pub fn can_become(&self, other: &Self) -> bool {
        self.sane().cubes == other.sane().cubes && self.rest == other.rest
    }

    /// As [`Params::can_become`], for nodes that may be absent.
    pub fn may_become(own: Option<&Self>, other: Option<&Self>) -> bool {
        match (own, other) {
            (Some(own), Some(other)) => own.can_become(other),
            (own, other) => own.is_some() == other.is_some(),
        }
    }

    /// `λ/μ`, from Poisson's ratio.
    pub fn lambda(&self) -> f32 {
        let poisson = LARGEST_POISSON * self.volume;
        2.0 * poisson / (1.0 - 2.0 * poisson)
    }
}
