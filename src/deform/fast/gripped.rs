//! Grips of a character: points and regions of its skin that act as handles, in addition to its joints.
//!
//! A grip's weight is a bounded biharmonic weight: 1 at the grip, 0 at the other grips and along the bones. The skin
//! weights of the joints share the rest, so the artist's weights stay where no grip is near. A mesh without a skeleton
//! has no bones, so its grips share the whole mesh.
//!
//! Two grips may be so near that they need the same cubes, or one may lie inside the other. The smaller one then has
//! these cubes. A grip without any cube moves nothing. So every set of grips can be bound.
//!
//! (differs) The paper computes the weights of all handles together and has no skin weights of its own.

use super::grips::claim;
use crate::asset::Influences;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, GripId, JointId, Progress, Result};
use crate::bind::weights::{Flesh, biharmonic_weights};
use crate::bind::{Cache, Character, Key, kept_influences};
use crate::geom::{Cubes, Enclosure, weld};
use std::sync::Arc;

/// Approximate numbers of cubes in which the weights are computed. The next number is tried if two grips share a corner.
const CUBES: [usize; 3] = [4000, 12_000, 36_000];
/// Weights up to this size are dropped.
const NEGLIGIBLE: f64 = 1e-4;
/// Maximum number of grips.
pub const MAX_GRIPS: usize = 64;

/// The part of the skin that a grip moves.
#[derive(Clone, Debug, PartialEq)]
pub struct GripShape {
    /// The grip.
    pub id: GripId,
    /// Vertices of the control mesh: one for a point, several for a region.
    pub vertices: Vec<u32>,
}

impl GripShape {
    /// Returns the mean of the vertices, metres.
    pub fn center(&self, positions: &[Vec3]) -> Vec3 {
        let known = self.vertices.iter().filter_map(|&v| positions.get(v as usize));
        let sum: DVec3 = known.clone().map(|x| x.as_dvec3()).sum();
        (sum / known.count().max(1) as f64).as_vec3()
    }
}

/// The grips to which a character is bound, shared between copies of the settings.
#[derive(Clone, Debug, Default)]
pub struct Grips(Arc<[GripShape]>);

impl Grips {
    /// Shares a list.
    pub fn new(grips: Vec<GripShape>) -> Self {
        Self(grips.into())
    }
}

impl std::ops::Deref for Grips {
    type Target = [GripShape];

    fn deref(&self) -> &[GripShape] {
        &self.0
    }
}

impl PartialEq for Grips {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

/// Whether no mesh of the character has skin weights, so that grips move the mesh alone.
pub fn is_bare(character: &Character) -> bool {
    !character.skeleton.joints.iter().any(|j| j.skinned)
}

/// Returns the joint with the largest skin weight at a grip's first vertex.
pub(super) fn carrier(character: &Character, grip: &GripShape) -> Option<JointId> {
    let first = *grip.vertices.first()? as usize;
    let own = character.control.influences.of(first);
    own.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(joint, _)| JointId::from(usize::from(joint)))
}

/// Returns the weights of all vertices over the joints of the skeleton and the grips; the index of grip `k` is the
/// number of joints plus `k`. Reads them from the cache if it contains them.
///
/// # Errors
/// [`Error::Input`] if a grip has no vertex or a vertex that does not exist, or the work is cancelled; also the errors of
/// [`biharmonic_weights`].
pub(super) fn gripped(
    cache: Option<&Cache>,
    character: &Character,
    grips: &Grips,
    progress: &Progress,
) -> Result<Influences> {
    let control = &character.control;
    let vertices = control.positions.len();
    for (k, grip) in grips.iter().enumerate() {
        if grip.vertices.is_empty() {
            return Err(Error::input(format!("grip {} has no vertex", k + 1), "choose a larger region"));
        }
        if grip.vertices.iter().any(|&v| v as usize >= vertices) {
            let problem = format!("grip {} names no vertex of the mesh", k + 1);
            return Err(Error::input(problem, "choose points on the mesh"));
        }
    }
    if grips.len() > MAX_GRIPS {
        let problem = format!("{} grips", grips.len());
        return Err(Error::input(problem, format!("keep at most {MAX_GRIPS}")));
    }
    let skeleton = &character.skeleton;
    let ends: Vec<Vec3> = skeleton.bones.iter().flat_map(|b| [b.head, b.tail]).collect();
    let mut key = Key::new("grip weights 2")
        .bytes(&(skeleton.joints.len() as u64).to_le_bytes())
        .points(&control.positions)
        .bytes(bytemuck::cast_slice(&control.triangles))
        .bytes(bytemuck::cast_slice(&control.influences.offset))
        .bytes(bytemuck::cast_slice(&control.influences.joint))
        .bytes(bytemuck::cast_slice(&control.influences.weight))
        .bytes(&control.rigid.iter().map(|r| u8::from(*r)).collect::<Vec<_>>())
        .points(&ends);
    for grip in grips.iter() {
        key = key.bytes(bytemuck::cast_slice(&grip.vertices));
    }
    let owners: Vec<u16> = (0..skeleton.joints.len() + grips.len()).map(|j| j as u16).collect();
    let made = kept_influences(cache, &key, vertices, &owners, || made(character, grips, progress))?;
    made.ok_or_else(|| Error::input("the weights were cancelled", "choose the method again"))
}

/// Cubes around the mesh, with the cubes of its vertices.
struct Site {
    cubes: Cubes,
    place: Vec<Option<(usize, [f64; 8])>>,
    /// Whether a bone crosses a cube of the node.
    bony: Vec<bool>,
}

impl Site {
    fn new(character: &Character, count: usize) -> Option<Self> {
        let control = &character.control;
        let vertices = control.positions.len();
        let flesh = if is_bare(character) { None } else { Flesh::of(character, count) };
        if let Some(flesh) = flesh {
            let place = (0..vertices).map(|v| flesh.cube_of(v)).collect();
            let bony = flesh.claims.iter().map(|c| !c.is_empty()).collect();
            return Some(Self { cubes: flesh.enclosure.cubes, place, bony });
        }
        let x: Vec<DVec3> = control.positions.iter().map(|p| p.as_dvec3()).collect();
        let weld = weld(&control.positions, |_, _| true);
        let joined: Vec<[u32; 3]> = control.triangles.iter().map(|t| t.map(|v| weld.first_of(v))).collect();
        let enclosure = Enclosure::with_cubes(&x, &joined, &[], count)?;
        let place = (0..vertices).map(|v| enclosure.of_vertex(weld.first_of(v as u32) as usize)).collect();
        let bony = vec![false; enclosure.cubes.nodes.len()];
        Some(Self { cubes: enclosure.cubes, place, bony })
    }
}

fn made(character: &Character, grips: &Grips, progress: &Progress) -> Result<Option<Influences>> {
    let control = &character.control;
    let lists: Vec<Vec<u32>> = grips.iter().map(|g| g.vertices.clone()).collect();
    let mut tried = Vec::new();
    for count in CUBES {
        let Some(site) = Site::new(character, count) else { break };
        let (nodes, shared) = claim(&site.cubes, &lists, |v| site.place[v]);
        tried.push((site, nodes));
        if shared.is_none() {
            break;
        }
    }
    if tried.is_empty() {
        return Err(Error::input("the mesh has no triangles with area", "choose another mesh"));
    }
    // Smaller cubes that leave a grip without any help no more than large ones, and cost more.
    let pick = tried.iter().rposition(|(_, nodes)| nodes.iter().all(|own| !own.is_empty())).unwrap_or(0);
    let (site, nodes) = tried.swap_remove(pick);
    let mut taken = vec![false; site.cubes.nodes.len()];
    nodes.iter().flatten().for_each(|&n| taken[n as usize] = true);
    let bony: Vec<u32> =
        (0..taken.len() as u32).filter(|&n| site.bony[n as usize] && !taken[n as usize]).collect();
    let bare = is_bare(character);
    // The bones are one more handle, whose weight the joints share.
    let own = |k: &usize| !nodes[*k].is_empty();
    let moving: Vec<usize> = (0..grips.len()).filter(own).collect();
    let mut handles: Vec<Vec<u32>> = moving.iter().map(|&k| nodes[k].clone()).collect();
    if !bony.is_empty() {
        handles.push(bony);
    }
    let weights = if moving.is_empty() {
        Vec::new()
    } else {
        let Some(weights) = biharmonic_weights(&site.cubes, &handles, &|part| progress.report(part))? else {
            return Ok(None);
        };
        weights
    };
    let centers: Vec<Vec3> = grips.iter().map(|g| g.center(&control.positions)).collect();
    let nearest = |v: usize| {
        let away = |k: &usize| centers[*k].distance_squared(control.positions[v]);
        (0..centers.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0)
    };
    let first = character.skeleton.joints.len();
    let mut out = Influences::default();
    for v in 0..control.positions.len() {
        let at = |w: &Vec<f64>| {
            let of = |(cell, corner): (usize, [f64; 8])| {
                site.cubes.cells[cell].iter().zip(corner).map(|(&n, share)| w[n as usize] * share).sum()
            };
            site.place[v].map_or(0.0, of)
        };
        let all: Vec<f64> = weights.iter().map(at).collect();
        let sum: f64 = all.iter().sum();
        let mut own: Vec<(u16, f64)> = Vec::new();
        if sum > NEGLIGIBLE {
            let of_grips = moving.iter().zip(&all);
            own.extend(of_grips.map(|(k, w)| ((first + k) as u16, w / sum)).filter(|e| e.1 > NEGLIGIBLE));
        }
        let gripped: f64 = own.iter().map(|e| e.1).sum();
        if bare {
            match gripped > 0.0 {
                true => own.iter_mut().for_each(|e| e.1 /= gripped),
                // A part of the mesh without a grip follows the nearest one.
                false => own.push(((first + nearest(v)) as u16, 1.0)),
            }
        } else {
            let joints = || control.influences.of(v);
            let whole: f64 = joints().map(|(_, w)| f64::from(w)).sum();
            let left = (1.0 - gripped).max(0.0);
            if whole > 0.0 && left > NEGLIGIBLE {
                own.extend(joints().map(|(j, w)| (j, left * f64::from(w) / whole)).filter(|e| e.1 > 0.0));
            }
        }
        own.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let row: Vec<(u16, f32)> = own.iter().map(|e| (e.0, (e.1 as f32).min(1.0))).collect();
        out.push(row.into_iter().filter(|e| e.1 > 0.0));
    }
    Ok(Some(out))
}
