//! Contact of the flesh with itself, without friction.
//!
//! A point of the skin is in contact if it has passed through an opposing part of the skin. Each side pushes the other
//! along their common normal only, so both sides give way and can slide. Contact has two stages:
//!
//! 1. In the last cycles of the solve, springs separate points on the skin; the points have a spacing of 0.8 cubes. The
//!    springs move the cubes, so the flesh gives way and keeps its volume.
//! 2. Folds may be finer than cubes. [`STEPS`] steps on the skin itself therefore separate vertices that still overlap.
//!    A step moves a vertex by at most [`LARGEST_MOVE`] and spreads each move to the neighbours.
//!
//! Sculpt layers move the points of the first stage and displace the skin before the second stage. Contact therefore
//! acts on a sculpted bulge, too.
//!
//! An overlap deeper than half the thickness of the flesh below the point is ignored, so a pose may drive bones into
//! each other. Pairs that already overlap or touch in the bind pose keep their distance in the bind pose.

use super::levels::{Level, Lists, Share};
use super::place::Place;
use crate::base::math::{DVec3, Quat, Vec3};
use crate::geom::{Adjacency, Thickness};
use crate::shared_constants;
use rayon::prelude::*;
use std::collections::HashMap;

/// Number of multigrid cycles from one search for pairs to the next.
pub const CYCLES_PER_SEARCH: u32 = 2;
/// Steps on the skin.
pub const STEPS: u32 = 8;
/// Stiffness of a contact spring, in units of `μ h`. In firm and soft regions, the stiffness is multiplied by the
/// geometric mean of the two cubes' factors.
pub const STIFFNESS: f32 = 3.0;
/// Largest move of a vertex in one step on the skin, in edge lengths of a cube.
pub const LARGEST_MOVE: f32 = 0.075;
/// Spacing of the points on the skin, in edge lengths of a cube.
const SPACING: f64 = 0.8;
/// Maximum number of intervals between points along a triangle side.
const MOST_PER_SIDE: f64 = 64.0;
/// Deepest overlap that contact resolves, as a fraction of the thickness of the flesh.
const DEEPEST: f32 = 0.5;

shared_constants! {
    "deform/volume/contact_pair.comp" {
        /// Two points belong to different sheets of the skin if the dot product of their normals is less than this.
        const SAME_SHEET: f64 = 0.3;
        /// For facing pairs that are closer than this in the bind pose, in edge lengths of a cube, the distance to keep
        /// is at most their distance in the bind pose.
        const NEAR_AT_BIND: f32 = 4.0;
        /// Pairs that are closer than this in the bind pose, in edge lengths of a cube, are layers of one sheet, such
        /// as cloth and the skin below the cloth; contact does not separate them. For layers that face each other, this
        /// limits the distance along the common normal, and [`BESIDE`] limits the distance across the normal.
        const LAYERS: f32 = 0.5;
        /// See [`LAYERS`].
        const BESIDE: f32 = 2.5;
    }
}

/// Limits of a search for pairs. Lengths are in edge lengths of a cube.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Largest distance of a pair.
    pub reach: f32,
    /// Largest distance across the common normal.
    pub lateral: f32,
    /// Distance along the common normal that pairs keep.
    pub margin: f32,
    /// The search finds a pair if its distance along the normal is less than the distance to keep plus this.
    pub ahead: f32,
}

/// Limits of the search for pairs of points during the solve. The search also finds pairs that do not touch yet. These
/// pairs mark the parts of the skin that may need the second stage.
pub const FLESH: Search = Search { reach: 2.5, lateral: 1.8, margin: 0.3, ahead: 0.3 };
/// Limits of the search for pairs of skin vertices.
pub const SKIN: Search = Search { reach: 0.9, lateral: 0.8, margin: 0.05, ahead: 0.0 };

/// Points in the cubes.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Place of each point in its cube; `None` for a point that takes no part.
    pub place: Vec<Option<Place>>,
    /// Bind position.
    pub bind: Vec<Vec3>,
    /// Outward normal in the bind pose.
    pub normal: Vec<Vec3>,
    /// Control vertex whose sculpt layers move the point.
    pub vertex: Vec<u32>,
    /// Deepest overlap that contact resolves, metres.
    pub depth: Vec<f32>,
}

/// A character's data for contact.
#[derive(Clone, Debug, Default)]
pub struct Contact {
    /// Points on the skin whose contact springs move the cubes.
    pub points: Points,
    /// The control vertices.
    pub skin: Points,
    /// Per control vertex: the nearest point of `points`. The vertex takes part in the second stage if this point has a
    /// pair.
    pub owner: Vec<u32>,
    /// Per node of the finest level: the points that it moves.
    pub at_node: Lists<Share>,
    /// Neighbours of the control vertices.
    pub neighbors: Adjacency,
}

/// The skin in the bind pose, on which points are spread.
pub struct Shape<'a> {
    /// Place of each vertex in the flesh below it.
    pub flesh: &'a [Option<Place>],
    /// Places that the vertices follow. They differ from `flesh` in rigid parts, whose vertices contact does not part.
    pub skin: &'a [Option<Place>],
    /// Positions of the vertices.
    pub positions: &'a [DVec3],
    /// Normals of the vertices.
    pub normals: &'a [DVec3],
    /// Triangles of the closed parts.
    pub triangles: &'a [[u32; 3]],
    /// The same triangles, to measure thickness.
    pub surface: &'a Thickness,
}

/// Points already spread, by grid cell.
struct Spread {
    spacing: f64,
    at: HashMap<[i64; 3], Vec<u32>>,
    /// Position, normal, cube and nearest vertex of each point.
    points: Vec<(DVec3, DVec3, u32, u32)>,
}

impl Spread {
    fn key(&self, x: DVec3) -> [i64; 3] {
        (x / self.spacing).floor().to_array().map(|v| v as i64)
    }

    /// Returns the nearest point of the same sheet, if one is nearer than the spacing.
    fn nearest(&self, x: DVec3, normal: DVec3) -> Option<u32> {
        let around = around(self.key(x)).filter_map(|k| self.at.get(&k)).flatten();
        let near = around.map(|&p| (self.points[p as usize].0.distance(x), p));
        let same =
            near.filter(|(d, p)| *d < self.spacing && self.points[*p as usize].1.dot(normal) > SAME_SHEET);
        same.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|n| n.1)
    }

    fn offer(&mut self, x: DVec3, normal: DVec3, cell: u32, vertex: u32) {
        if self.nearest(x, normal).is_none() {
            self.at.entry(self.key(x)).or_default().push(self.points.len() as u32);
            self.points.push((x, normal, cell, vertex));
        }
    }
}

/// Iterates over a grid cell and its 26 neighbours.
fn around<T: Copy + std::ops::Add<Output = T> + From<i8>>(key: [T; 3]) -> impl Iterator<Item = [T; 3]> {
    let side = |k: i8| T::from(k - 1);
    (0..27i8).map(move |c| [key[0] + side(c % 3), key[1] + side(c / 3 % 3), key[2] + side(c / 9)])
}

impl Contact {
    /// Spreads points on the skin of a body that is filled with cubes of edge length `size`. Only skin in or near the
    /// cubes gets points.
    pub fn new(shape: &Shape, cells: &[[u32; 8]], nodes: &[DVec3], size: f64) -> Self {
        let close = |of: &[Option<Place>]| -> Vec<Option<Place>> {
            of.iter().map(|place| place.filter(|p| p.apart == 0.0)).collect()
        };
        let [below, embedding] = [shape.flesh, shape.skin].map(close);
        let mut spread = Spread { spacing: SPACING * size, at: HashMap::new(), points: Vec::new() };
        for t in shape.triangles {
            let x = t.map(|v| shape.positions[v as usize]);
            let longest = x[0].distance(x[1]).max(x[1].distance(x[2])).max(x[2].distance(x[0]));
            let steps = (longest / spread.spacing).ceil().clamp(1.0, MOST_PER_SIDE) as usize;
            for (i, j) in (0..=steps).flat_map(|i| (0..=steps - i).map(move |j| (i, j))) {
                let w = [steps - i - j, i, j].map(|k| k as f64 / steps as f64);
                let main = (0..3).fold(0, |best, k| if w[k] > w[best] { k } else { best });
                let at = |values: [DVec3; 3]| (0..3).map(|k| values[k] * w[k]).sum::<DVec3>();
                let normal = at(t.map(|v| shape.normals[v as usize])).normalize_or_zero();
                if let Some(place) = below[t[main] as usize] {
                    spread.offer(at(x), normal, place.cell, t[main]);
                }
            }
        }
        let (mut points, mut moved) = (Points::default(), Vec::new());
        for (i, &(x, normal, cell, vertex)) in spread.points.iter().enumerate() {
            let corners = cells[cell as usize];
            let place = Place::new(cell, ((x - nodes[corners[0] as usize]) / size).as_vec3());
            for (node, weight) in corners.into_iter().zip(place.weights()) {
                moved.push((node, Share { node: i as u32, weight }));
            }
            let thickness = shape.surface.below(x, normal, 0.02 * size).unwrap_or(size);
            points.place.push(Some(place));
            points.bind.push(x.as_vec3());
            points.normal.push(normal.as_vec3());
            points.vertex.push(vertex);
            points.depth.push((DEEPEST * thickness as f32).min(FLESH.reach * size as f32));
        }
        let count = shape.positions.len();
        let of = |v: usize| embedding[v].and(spread.nearest(shape.positions[v], shape.normals[v]));
        let owner: Vec<Option<u32>> = (0..count).map(of).collect();
        let skin = Points {
            place: embedding
                .iter()
                .zip(&owner)
                .map(|(place, owner)| place.filter(|_| owner.is_some()))
                .collect(),
            bind: shape.positions.iter().map(|x| x.as_vec3()).collect(),
            normal: shape.normals.iter().map(|n| n.as_vec3()).collect(),
            vertex: (0..count as u32).collect(),
            depth: owner.iter().map(|o| o.map_or(0.0, |o| points.depth[o as usize])).collect(),
        };
        Self {
            points,
            skin,
            owner: owner.into_iter().map(|o| o.unwrap_or(0)).collect(),
            at_node: Lists::new(nodes.len(), &moved),
            neighbors: Adjacency::of_triangles(count, shape.triangles),
        }
    }
}

/// The posed cubes of a level, and the sculpt layers' offsets in the bind pose.
pub struct Posed<'a> {
    /// Node positions.
    pub y: &'a [Vec3],
    /// Rotations of the cubes.
    pub rotation: &'a [Quat],
    /// Offset of the sculpt layers per control vertex; empty without layers.
    pub bulge: &'a [Vec3],
}

impl Posed<'_> {
    /// Returns the position of a point with its sculpt layers; zero for a point that takes no part.
    pub fn position(&self, level: &Level, points: &Points, i: usize) -> Vec3 {
        let Some(place) = points.place[i] else { return Vec3::ZERO };
        let bulge = self.bulge.get(points.vertex[i] as usize).copied().unwrap_or_default();
        place.position(&level.cells[place.cell as usize], self.y) + self.rotation[place.cell as usize] * bulge
    }
}

/// A point's partner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// The partner's index.
    pub partner: u32,
    /// The direction that the point is pushed in.
    pub normal: Vec3,
    /// The distance along the normal to keep, metres.
    pub keep: f32,
}

/// Posed points and their pairs, on the CPU.
#[derive(Clone, Default)]
pub struct Pairs {
    x: Vec<Vec3>,
    normal: Vec<Vec3>,
    /// The pair of each point.
    pub pair: Vec<Option<Pair>>,
}

impl Pairs {
    /// Places the points, then finds the partner of each active point. The partner is an active point of an opposing
    /// sheet that the point has passed or nearly touches; among several, the nearest one across and along the common
    /// normal.
    pub fn find(
        &mut self,
        points: &Points,
        posed: &Posed,
        level: &Level,
        search: Search,
        active: impl Fn(usize) -> bool,
    ) {
        let placed =
            points.place.iter().zip(&points.normal).enumerate().map(|(i, (place, normal))| match place {
                Some(p) => (posed.position(level, points, i), posed.rotation[p.cell as usize] * *normal),
                None => (Vec3::ZERO, *normal),
            });
        (self.x, self.normal) = placed.unzip();
        let (x, n, h) = (&self.x, &self.normal, level.size);
        let key = |x: Vec3| (x / (search.reach * h)).floor().as_ivec3().to_array();
        let mut grid: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        let takes_part = |i: &usize| points.place[*i].is_some() && active(*i);
        let taking: Vec<bool> = (0..x.len()).map(|i| takes_part(&i)).collect();
        (0..x.len()).filter(|&i| taking[i]).for_each(|i| grid.entry(key(x[i])).or_default().push(i as u32));
        let of = |i: usize| {
            let mut best = (f32::INFINITY, u32::MAX, Pair::default());
            for &partner in around(key(x[i])).filter_map(|k| grid.get(&k)).flatten() {
                let j = partner as usize;
                let apart = x[i] - x[j];
                let opposing = n[i].dot(n[j]) < -0.2;
                if !(opposing && apart.length_squared() < (search.reach * h).powi(2)) {
                    continue;
                }
                let normal = (n[j] - n[i]).normalize_or_zero();
                let gap = apart.dot(normal);
                let across = (apart - normal * gap).length();
                let deep = points.depth[i].min(points.depth[j]).min(search.reach * h);
                let score = across + 0.5 * gap.abs();
                if across < search.lateral * h && gap > -deep && (score, partner) < (best.0, best.1) {
                    let keep = keep(points, i, j, search.margin * h, h);
                    if gap < keep + search.ahead * h {
                        best = (score, partner, Pair { partner, normal, keep });
                    }
                }
            }
            (best.1 != u32::MAX).then_some(best.2)
        };
        self.pair = (0..x.len()).into_par_iter().map(|i| if taking[i] { of(i) } else { None }).collect();
    }
}

/// Returns the distance along the common normal that a pair keeps. The distance is `margin`, or less if the pair is
/// closer in the bind pose; it is negative infinity for layers of one sheet, which contact ignores.
fn keep(points: &Points, i: usize, j: usize, margin: f32, size: f32) -> f32 {
    let (apart, own, other) = (points.bind[i] - points.bind[j], points.normal[i], points.normal[j]);
    let normal = (other - own).normalize_or_zero();
    let gap = apart.dot(normal);
    let across = (apart - normal * gap).length();
    let facing = own.dot(other) < SAME_SHEET as f32;
    if apart.length() < LAYERS * size || (facing && gap.abs() < LAYERS * size && across < BESIDE * size) {
        f32::NEG_INFINITY
    } else if facing && apart.length() < NEAR_AT_BIND * size {
        margin.min(gap)
    } else {
        margin
    }
}

/// Runs one step that separates overlapping vertices of the skin.
pub fn part(
    contact: &Contact,
    pairs: &Pairs,
    active: impl Fn(usize) -> bool + Sync,
    size: f32,
    skin: &mut [Vec3],
) {
    let spread = |d: &[Vec3]| -> Vec<Vec3> {
        let of = |v: usize| {
            let near = contact.neighbors.of(v);
            if near.is_empty() || !active(v) {
                return d[v];
            }
            let mean = near.iter().map(|&n| d[n as usize]).sum::<Vec3>() / near.len() as f32;
            (d[v] + mean) * 0.5
        };
        (0..d.len()).into_par_iter().map(of).collect()
    };
    let push = |(v, pair): (usize, &Option<Pair>)| match pair {
        Some(pair) => {
            let gap = (skin[v] - skin[pair.partner as usize]).dot(pair.normal);
            pair.normal * (0.5 * (pair.keep - gap)).clamp(0.0, LARGEST_MOVE * size)
        }
        None => Vec3::ZERO,
    };
    let moves: Vec<Vec3> = pairs.pair.iter().enumerate().map(push).collect();
    let moves = spread(&spread(&moves));
    skin.iter_mut().zip(moves).for_each(|(x, d)| *x += d);
}
