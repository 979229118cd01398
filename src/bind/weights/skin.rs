//! Skin weights of a character by several methods.

use super::biharmonic::biharmonic_weights;
use super::empty::give_vertices_to_empty_joints;
use super::flesh::{Flesh, bones};
use super::quasi_harmonic::quasi_harmonic_weights;
use super::swing_twist::{NodeWeights, hash};
use crate::asset::Influences;
use crate::base::{Error, Result};
use crate::bind::heat::{kept_heat_weights, kept_influences};
use crate::bind::{Cache, Character, HeatSite};
use rayon::prelude::*;

/// Every weight is lowered by this value, and weights below it become 0, so that few joints move a vertex.
const LEAST: f64 = 0.005;
/// Maximum influences per vertex.
pub(super) const MOST: usize = 8;
/// Number of descent steps of quasi-harmonic weights.
const DESCENT: usize = 20;

/// How skin weights are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightMethod {
    /// Heat diffusion over the surface ([`crate::bind::heat_weights`]).
    Heat,
    /// Quasi-harmonic weights in the flesh.
    QuasiHarmonic,
    /// Bounded biharmonic weights in the flesh.
    Biharmonic,
    /// Weights that minimise the elastic energy of the flesh under swings of the joints.
    Elastic,
}

impl WeightMethod {
    /// All methods.
    pub const ALL: [Self; 4] = [Self::Heat, Self::QuasiHarmonic, Self::Biharmonic, Self::Elastic];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heat => "heat",
            Self::QuasiHarmonic => "quasi-harmonic",
            Self::Biharmonic => "biharmonic",
            Self::Elastic => "elastic",
        }
    }

    /// The name in panels.
    pub fn label(self) -> &'static str {
        match self {
            Self::Heat => "Heat",
            Self::QuasiHarmonic => "Quasi-harmonic",
            Self::Biharmonic => "Biharmonic",
            Self::Elastic => "Elastic",
        }
    }

    /// Returns the method of this name. Errors if the name is unknown.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::input(
                format!("\"{name}\" is not a method that computes weights"),
                format!("choose one of {known}"),
            )
        })
    }

    /// Returns the method of this name, for the command line. The error is text.
    ///
    /// # Errors
    /// The error of [`WeightMethod::from_name`], as text.
    pub fn parse(name: &str) -> std::result::Result<Self, String> {
        Self::from_name(name).map_err(|e| e.to_string())
    }

    /// Default number of cubes. The time grows with this number, fastest for biharmonic weights.
    pub fn cubes(self) -> usize {
        match self {
            Self::Heat | Self::Elastic => 16_000,
            Self::QuasiHarmonic => 8000,
            Self::Biharmonic => 4000,
        }
    }
}

/// Computes skin weights of a character's vertices in approximately `cubes` cubes, or reads them from the cache. The
/// weights refer to the joints of the skeleton. Vertices of props, and vertices without flesh near them, keep their
/// weights. A joint that would move no vertex takes the vertices nearest to its bones. `progress` receives the completed
/// fraction and returns false to cancel; then the result is `None`.
///
/// # Errors
/// [`Error::Input`] if the character has no bones or no skinned triangles, or a linear system cannot be factored.
pub fn skin_weights(
    cache: Option<&Cache>,
    character: &Character,
    method: WeightMethod,
    cubes: usize,
    progress: &(dyn Fn(f32) -> bool + Sync),
) -> Result<Option<Influences>> {
    let nothing = || Error::input("the mesh has no bones or no triangles", "give it a skeleton");
    let control = &character.control;
    if method == WeightMethod::Heat {
        let sites: Vec<HeatSite> = bones(character);
        if sites.is_empty() {
            return Err(nothing());
        }
        let made = kept_heat_weights(cache, &control.positions, &control.triangles, &sites)?;
        let made = with_props(character, |v| made.of(v).collect());
        return Ok(Some(give_vertices_to_empty_joints(character, made)));
    }
    let key = hash(&format!("{} weights", method.name()), character, cubes)
        .bytes(include_bytes!("skin.rs"))
        .bytes(include_bytes!("biharmonic.rs"));
    let owners: Vec<u16> = (0..character.skeleton.joints.len()).map(|j| j as u16).collect();
    let made = kept_influences(cache, &key, control.positions.len(), &owners, || {
        let flesh = Flesh::of(character, cubes).ok_or_else(nothing)?;
        let nodes = match method {
            WeightMethod::Biharmonic => {
                biharmonic_weights(&flesh.enclosure.cubes, &flesh.handles(&flesh.claims), progress)?
            }
            WeightMethod::QuasiHarmonic | WeightMethod::Heat => {
                let handles = flesh.handles(&flesh.claims);
                quasi_harmonic_weights(&flesh.enclosure.cubes, &handles, DESCENT, progress)?
            }
            WeightMethod::Elastic => elastic(&flesh, progress)?,
        };
        Ok(nodes.map(|nodes| sample(&flesh, character, &nodes)))
    })?;
    Ok(made.map(|made| give_vertices_to_empty_joints(character, made)))
}

/// Returns skin weights, per joint of the flesh and node. With them, linear blend skinning bends every joint as the
/// joint's swing weights do.
fn elastic(flesh: &Flesh, progress: &(dyn Fn(f32) -> bool + Sync)) -> Result<Option<Vec<Vec<f64>>>> {
    let Some(weights) = NodeWeights::of(flesh, progress)? else { return Ok(None) };
    let mut out: Vec<Vec<f64>> =
        weights.swing.iter().map(|w| w.iter().map(|w| f64::from(*w)).collect()).collect();
    // A swing weight includes all joints below the joint; a skin weight is for the joint alone.
    for (joint, swing) in flesh.joints.iter().zip(&weights.swing) {
        if let Some(parent) = joint.parent {
            out[parent].iter_mut().zip(swing).for_each(|(w, s)| *w -= f64::from(*s));
        }
    }
    Ok(Some(out))
}

/// Interpolates weights, given per joint of the flesh and node, at the vertices.
fn sample(flesh: &Flesh, character: &Character, nodes: &[Vec<f64>]) -> Influences {
    let row = |v: usize| -> Vec<(u16, f32)> {
        let Some((cell, shares)) = flesh.of_vertex(v, character.control.positions[v].as_dvec3()) else {
            return Vec::new();
        };
        let corners = &flesh.enclosure.cubes.cells[cell];
        let at = |weights: &Vec<f64>| -> f64 {
            corners.iter().zip(shares).map(|(&n, share)| share * weights[n as usize]).sum()
        };
        let of = nodes.iter().zip(&flesh.joints).map(|(w, joint)| (joint.joint.0 as u16, at(w)));
        // The weights fall to zero continuously, so that no step shows on the skin.
        let mut all: Vec<(u16, f64)> = of.filter(|e| e.1 > LEAST).map(|(j, w)| (j, w - LEAST)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(MOST);
        let sum: f64 = all.iter().map(|e| e.1).sum();
        all.into_iter().map(|(joint, w)| (joint, (w / sum) as f32)).collect()
    };
    let rows: Vec<Vec<(u16, f32)>> =
        (0..character.control.positions.len()).into_par_iter().map(row).collect();
    with_props(character, |v| rows[v].clone())
}

/// Returns influences with the given rows. Vertices of props, and vertices with an empty row, keep their influences.
fn with_props(character: &Character, row: impl Fn(usize) -> Vec<(u16, f32)>) -> Influences {
    let control = &character.control;
    let mut out = Influences::default();
    for v in 0..control.positions.len() {
        let new = if control.rigid[v] { Vec::new() } else { row(v) };
        if new.is_empty() {
            out.push(control.influences.of(v));
        } else {
            out.push(new);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::capsule;

    #[test]
    fn every_method_gives_weights_that_sum_to_one_and_follow_the_bones() {
        let character = capsule(3, 24, 12, 0.15, 3.0);
        for method in WeightMethod::ALL {
            assert_eq!(WeightMethod::from_name(method.name()).unwrap(), method);
            let weights = skin_weights(None, &character, method, 700, &|_| true).unwrap().unwrap();
            assert_eq!(weights.len(), character.control.positions.len());
            for (v, x) in character.control.positions.iter().enumerate() {
                let sum: f32 = weights.of(v).map(|e| e.1).sum();
                assert!((sum - 1.0).abs() < 1e-5, "{}: {sum}", method.name());
                // In the middle of a bone, its joint has almost all weight.
                let (bone, along) = (x.y.floor().clamp(0.0, 2.0), x.y - x.y.floor());
                let heaviest = weights.of(v).next().unwrap();
                let middle = (0.35..0.65).contains(&along);
                let right = f32::from(heaviest.0) == bone && heaviest.1 > 0.7;
                assert!(!middle || right, "{}, {x}: {heaviest:?}", method.name());
            }
        }
        let stop = skin_weights(None, &character, WeightMethod::QuasiHarmonic, 700, &|_| false).unwrap();
        assert!(stop.is_none());
        let bare = skin_weights(None, &Character::default(), WeightMethod::Elastic, 700, &|_| true);
        assert!(bare.unwrap_err().to_string().contains("no bones"));
        assert!(WeightMethod::from_name("magic").unwrap_err().to_string().contains("biharmonic"));
    }
}
