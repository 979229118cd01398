//! *Skeleton Driven Volumetric Deformation* (Tets), as printed, on the cubes of the volume: each cube is cut into five
//! tetrahedra with energy B ([`super::gold`]). Linear blend skinning places a few points of the skin, which the solver
//! holds there. Local steps (polar rotations) and global steps (one Cholesky factor) place all other nodes.
//!
//! **(differs)** The paper holds vertices of the skin. Sinew holds nodes of the cubes: the node nearest to each of
//! these vertices. The paper adds the terms of the held vertices to the linear system; Sinew subtracts them, which is
//! the correct sign. If the document has firm or soft regions, the tetrahedra of a cube have the cube's factor
//! ([`super::firm`]).

use super::cells::Cells;
use super::gold::{Elements, Gold};
use super::levels::Level;
use super::tissue::Tissue;
use crate::base::Result;
use crate::base::math::{DVec3, Vec3};
use crate::deform::Bound;
use crate::geom::{apart, root, unite};
use std::ops::RangeInclusive;

/// A vertex is held only if its weight for one joint is at least this fraction.
const SURE: f32 = 0.95;
/// Range of positions along a bone whose vertices are held. On a bone without child the range extends to the bone's
/// end.
const MIDDLE: RangeInclusive<f32> = 0.25..=0.75;
/// The solve ends after [`MOST`] steps, or when no node moves farther than this in a step, as a fraction of the
/// bounding box's diagonal.
const STILL: f64 = 1e-4;
/// See [`STILL`].
const MOST: usize = 400;
/// The five tetrahedra of a cube, and the mirrored five of its neighbours. Bit `k` of a corner's index gives its side
/// along axis `k`.
const CUTS: [[[usize; 4]; 5]; 2] = [
    [[0, 3, 5, 6], [0, 1, 3, 5], [0, 2, 3, 6], [0, 4, 5, 6], [3, 5, 6, 7]],
    [[1, 2, 4, 7], [0, 1, 2, 4], [1, 2, 3, 7], [1, 4, 5, 7], [2, 4, 6, 7]],
];

/// The tetrahedra of a character.
pub struct Tets {
    gold: Gold,
    held: Vec<bool>,
    diagonal: f64,
}

impl Tets {
    /// Cuts the cubes and factors the system; `None` without cubes.
    ///
    /// # Errors
    /// [`crate::base::Error::Input`] if memory is short.
    pub fn bind(tissue: &Tissue, bound: &Bound) -> Result<Option<Self>> {
        let cells = &*tissue.cells;
        let (Some(level), Some(own)) = (cells.levels.first(), tissue.levels.first()) else {
            return Ok(None);
        };
        let rest: Vec<DVec3> = cells.nodes.character.control.positions.iter().map(|x| x.as_dvec3()).collect();
        let held = held(cells, level, bound, &rest);
        let tetrahedra = tetrahedra(level, &rest);
        let factor = |t: usize| f64::from(own.weight[t / CUTS[0].len()]);
        let elements = Elements::tetrahedra(&rest, &tetrahedra)?;
        let elements = elements.stiffened((0..tetrahedra.len()).map(factor));
        let list: Vec<u32> = (0..rest.len() as u32).filter(|&n| held[n as usize]).collect();
        let diagonal = f64::from(bound.character.control.aabb.diagonal());
        Ok(Some(Self { gold: Gold::new(elements, &list)?, held, diagonal }))
    }

    /// Number of nodes that are held.
    pub fn held(&self) -> usize {
        self.held.iter().filter(|h| **h).count()
    }

    /// Solves a pose from `start`, where linear blend skinning puts the nodes. Returns the number of steps.
    pub fn solve(&mut self, start: &[Vec3], y: &mut [Vec3]) -> usize {
        let mut x: Vec<DVec3> = start.iter().map(|x| x.as_dvec3()).collect();
        let steps = self.gold.settle(&mut x, STILL * self.diagonal, MOST);
        y.iter_mut().zip(&x).for_each(|(y, x)| *y = x.as_vec3());
        steps
    }
}

/// The tetrahedra of all cubes. Neighbouring cubes use the two cuts alternately, so that the triangles on their common
/// faces agree.
fn tetrahedra(level: &Level, rest: &[DVec3]) -> Vec<[u32; 4]> {
    let odd = |cell: &[u32; 8]| {
        let at = (rest[cell[0] as usize] - rest[0]) / f64::from(level.size);
        at.round().to_array().iter().map(|v| *v as i64).sum::<i64>().rem_euclid(2) as usize
    };
    level.cells.iter().flat_map(|cell| CUTS[odd(cell)].map(|t| t.map(|corner| cell[corner]))).collect()
}

/// Returns which nodes are held: the nodes nearest to chosen vertices. A chosen vertex follows one joint, lies in the
/// middle of its bone or at a tip, and is at least a limb's radius from other chosen vertices.
fn held(cells: &Cells, level: &Level, bound: &Bound, rest: &[DVec3]) -> Vec<bool> {
    let (control, attachments) = (&bound.character.control, &bound.attachments);
    let skeleton = &bound.character.skeleton;
    let mut out = vec![false; rest.len()];
    let mut chosen: Vec<Vec<Vec3>> = vec![Vec::new(); skeleton.bones.len()];
    for (v, place) in cells.embedding.iter().enumerate() {
        let Some(place) = place else { continue };
        let (bone, t) = (attachments.bone[v].index(), attachments.t[v]);
        let reach = if skeleton.bones[bone].child.is_some() { *MIDDLE.end() } else { 1.0 };
        let sure = control.influences.of(v).next().is_some_and(|(_, weight)| weight >= SURE);
        let (x, spacing) = (control.positions[v], attachments.scale_vector[v].length());
        let alone = chosen[bone].iter().all(|other| other.distance(x) > spacing);
        if sure && (*MIDDLE.start()..=reach).contains(&t) && alone {
            chosen[bone].push(x);
            let near = |n: &u32| rest[*n as usize].distance_squared(x.as_dvec3());
            let nearest =
                level.cells[place.cell as usize].into_iter().min_by(|a, b| near(a).total_cmp(&near(b)));
            nearest.into_iter().for_each(|n| out[n as usize] = true);
        }
    }
    // In a connected part without such a vertex, the nodes on bones are held. If the part has no bones, all its nodes
    // are held and follow linear blend skinning.
    let mut part = apart(rest.len());
    level.cells.iter().for_each(|c| (1..8).for_each(|k| unite(&mut part, c[0], c[k])));
    let part: Vec<usize> = (0..rest.len() as u32).map(|n| root(&mut part, n) as usize).collect();
    for candidates in [&cells.held, &vec![true; rest.len()]] {
        let mut known = vec![false; rest.len()];
        (0..rest.len()).filter(|&n| out[n]).for_each(|n| known[part[n]] = true);
        (0..rest.len()).filter(|&n| !known[part[n]] && candidates[n]).for_each(|n| out[n] = true);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Quat;
    use crate::deform::testing::{RADIUS, cylinder, rest};
    use crate::deform::volume::{Exact, Firm, Params};
    use crate::deform::{CpuGraph, Recipe};
    use crate::rig::{Pose, PosedRig};
    use std::collections::HashMap;

    fn few() -> Params {
        Params { cubes: 800, ..Params::default() }
    }

    fn posed(bound: &Bound, graph: &mut CpuGraph, pose: &Pose) -> Vec<Vec3> {
        graph.evaluate(&PosedRig::new(&bound.character.skeleton, pose), &[], &mut Default::default());
        graph.control().to_vec()
    }

    #[test]
    fn tetrahedra_fill_the_cubes_and_share_their_faces() {
        let bound = cylinder(2, 16, 16);
        let cells = Cells::bind(&bound.character, 800);
        let level = &cells.levels[0];
        let x: Vec<DVec3> = cells.nodes.character.control.positions.iter().map(|x| x.as_dvec3()).collect();
        let all = tetrahedra(level, &x);
        let volume = |t: &[u32; 4]| {
            let [a, b, c, d] = t.map(|n| x[n as usize]);
            (b - a).cross(c - a).dot(d - a).abs() / 6.0
        };
        let cube = f64::from(level.size).powi(3);
        assert!(all.iter().all(|t| volume(t) > 0.16 * cube));
        assert!((all.iter().map(volume).sum::<f64>() / (cube * level.cells.len() as f64) - 1.0).abs() < 1e-5);
        let count = |faces: &mut dyn Iterator<Item = Vec<u32>>| {
            let mut counts = HashMap::<Vec<u32>, u32>::new();
            faces.for_each(|mut f| {
                f.sort_unstable();
                *counts.entry(f).or_default() += 1;
            });
            assert!(counts.values().all(|n| *n <= 2));
            counts.values().filter(|n| **n == 1).count()
        };
        let triangles = |t: &[u32; 4]| {
            (0..4).map(|k| (0..4).filter(|i| *i != k).map(|i| t[i]).collect()).collect::<Vec<_>>()
        };
        let squares = |c: &[u32; 8]| {
            let side =
                |axis: usize, far: usize| (0..8).filter(|k| k >> axis & 1 == far).map(|k| c[k]).collect();
            (0..6).map(|k| side(k / 2, k % 2)).collect::<Vec<_>>()
        };
        // Each outer square consists of two triangles, and every triangle on an inner square is shared by two
        // tetrahedra.
        let outer = count(&mut level.cells.iter().flat_map(squares));
        assert_eq!(count(&mut all.iter().flat_map(triangles)), 2 * outer);
    }

    #[test]
    fn tetrahedra_keep_the_bind_shape_move_rigidly_and_keep_the_core_of_a_twist() {
        let bound = cylinder(2, 16, 32);
        let mut graph = CpuGraph::exact(&bound, Exact::Tets, &few(), &Firm::default()).unwrap();
        let bind = &bound.character.control.positions;
        let off = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off(&posed(&bound, &mut graph, &rest(&bound)), bind) < 1e-5);
        let (turn, along) = (Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0), Vec3::new(1.0, -2.0, 0.5));
        let mut pose = rest(&bound);
        pose.local[0].rotation = turn.into();
        pose.local[0].translation = along.into();
        let moved: Vec<Vec3> = bind.iter().map(|x| turn * *x + along).collect();
        let limit = 2.0 * STILL as f32 * bound.character.control.aabb.diagonal();
        assert!(off(&posed(&bound, &mut graph, &pose), &moved) < limit);
        // The thinnest ring of a limb that is twisted by 150 degrees.
        let mut pose = rest(&bound);
        pose.local[1].rotation = Quat::from_rotation_y(150.0f32.to_radians()).into();
        let thinnest = |x: &[Vec3]| {
            let mean = |r: usize| x[r * 16..(r + 1) * 16].iter().map(|x| x.x.hypot(x.z)).sum::<f32>() / 16.0;
            (1..32).map(mean).fold(f32::INFINITY, f32::min) / RADIUS
        };
        let twisted = posed(&bound, &mut graph, &pose);
        let mut lbs = CpuGraph::new(&bound, &Recipe::from_name("lbs").unwrap()).unwrap();
        let linear = thinnest(&posed(&bound, &mut lbs, &pose));
        let kept = thinnest(&twisted);
        assert!(linear < 0.5 && kept > 0.85, "{linear} {kept}");
        // The same pose after another one gives the same bits.
        posed(&bound, &mut graph, &rest(&bound));
        assert_eq!(posed(&bound, &mut graph, &pose), twisted);
    }
}
