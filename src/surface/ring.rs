//! Rings: marks that go round a limb and come back to their start. What counts is the way about the bone, not how the
//! surface hangs together: the points of a stroke may lie on several shells.

use super::limb::Limb;
use super::{SurfacePoint, SurfaceStroke};
use crate::base::BoneId;
use crate::base::math::{DVec3, Vec3};
use crate::bind::Character;
use crate::geom::ray_triangle;
use crate::rig::Bone;
use std::f64::consts::TAU;

/// A ring's ends are at most this share of its length apart.
const OPEN: f64 = 0.15;
/// A jump between two points of a ring is at most this share of the turn,
const JUMP: f64 = 0.2;
/// and all of them with the way between its ends.
const JUMPS: f64 = 0.4;
/// Bones that are tried, the nearest first.
const TRIED: usize = 4;
/// A bone turns the skin of a ring where its joint has this share of the weights there.
const TURNS: f32 = 0.1;
/// A bridge has a point at every so many radians.
const STEP: f64 = 0.15;
/// Jumps shorter than this, radians, need no bridge.
const SHORT: f64 = 0.3;

/// A stroke that closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The bone that it goes round.
    pub bone: BoneId,
    /// Its last point; those after lie over its beginning.
    pub end: usize,
}

/// Finds out whether strokes close. Kept between frames so that nothing is allocated in them.
#[derive(Debug, Default)]
pub struct RingFinder {
    at: Vec<DVec3>,
    /// Per joint: its share of the weights at the stroke.
    weight: Vec<f32>,
}

impl RingFinder {
    /// The ring that a stroke is. `edge` is the mean length of the skin's edges, metres. All in bind space, so that the
    /// pose does not matter.
    pub fn find(&mut self, character: &Character, points: &[SurfacePoint], edge: f32) -> Option<Ring> {
        self.place(character, points)?;
        self.nearest(character).into_iter().flatten().find_map(|bone| {
            let end = closes(&self.at, points, &character.skeleton.bones[bone.index()], f64::from(edge))?;
            Some(Ring { bone, end })
        })
    }

    /// The bone that a closed mark goes round.
    pub fn bone_of(&mut self, character: &Character, mark: &SurfaceStroke) -> Option<BoneId> {
        self.place(character, &mark.points)?;
        let once = |b: &BoneId| {
            let about = About::new(&character.skeleton.bones[b.index()]);
            let ends = self.at.iter().zip(self.at.iter().cycle().skip(1));
            ((ends.map(|(a, b)| about.angle(*a, *b)).sum::<f64>() / TAU).abs() - 1.0).abs() < 1e-3
        };
        self.nearest(character).into_iter().flatten().find(once)
    }

    fn place(&mut self, character: &Character, points: &[SurfacePoint]) -> Option<()> {
        let control = &character.control;
        self.at.clear();
        self.weight.clear();
        self.weight.resize(character.skeleton.nodes.len(), 0.0);
        for point in points {
            let corners = control.triangles.get(point.triangle as usize)?;
            let mut x = Vec3::ZERO;
            for (&v, share) in corners.iter().zip(point.barycentrics) {
                x += *control.positions.get(v as usize)? * share;
                for (joint, w) in control.influences.of(v as usize) {
                    self.weight[character.skeleton.joints[usize::from(joint)].node.index()] += w * share;
                }
            }
            self.at.push(x.as_dvec3());
        }
        (self.at.len() > 2).then_some(())
    }

    /// The bones nearest to the stroke's middle; those that turn its skin come before all others.
    fn nearest(&self, character: &Character) -> [Option<BoneId>; TRIED] {
        let skeleton = &character.skeleton;
        let count = self.at.len() as f64;
        let centre = (self.at.iter().sum::<DVec3>() / count).as_vec3();
        let mut best = [(true, f32::INFINITY, None); TRIED];
        for (b, bone) in skeleton.bones.iter().enumerate().filter(|(_, b)| b.head.distance(b.tail) > 0.0) {
            let weight = self.weight[skeleton.joints[bone.parent.index()].node.index()];
            let key = (weight < TURNS * count as f32, distance_to_bone(centre, bone));
            if (key.0, key.1) < (best[TRIED - 1].0, best[TRIED - 1].1) {
                let at = best.partition_point(|n| (n.0, n.1) <= key);
                best[at..].rotate_right(1);
                best[at] = (key.0, key.1, Some(BoneId::from(b)));
            }
        }
        best.map(|b| b.2)
    }
}

fn distance_to_bone(x: Vec3, bone: &Bone) -> f32 {
    x.distance(crate::bind::point_on(bone, crate::bind::project(bone, x)))
}

/// The line through a bone.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The bone's head, bind space, metres.
    pub head: DVec3,
    /// Its direction, unit.
    pub axis: DVec3,
}

impl About {
    /// The line through a bone with a length.
    pub fn new(bone: &Bone) -> Self {
        let head = bone.head.as_dvec3();
        Self { head, axis: (bone.tail.as_dvec3() - head).normalize_or_zero() }
    }

    /// From the line to a point, across it.
    pub fn radial(&self, x: DVec3) -> DVec3 {
        (x - self.head) - self.axis * self.along(x)
    }

    /// How far along the line a point is, from the head.
    pub fn along(&self, x: DVec3) -> f64 {
        self.axis.dot(x - self.head)
    }

    /// From one point to another about the line, radians.
    pub fn angle(&self, a: DVec3, b: DVec3) -> f64 {
        let (a, b) = (self.radial(a), self.radial(b));
        self.axis.dot(a.cross(b)).atan2(a.dot(b))
    }
}

/// The last point of a stroke that goes once round a bone and comes back to its start; `None` if it does not.
fn closes(at: &[DVec3], points: &[SurfacePoint], bone: &Bone, edge: f64) -> Option<usize> {
    let about = About::new(bone);
    let last = at.len() - 1;
    let mut winding = 0.0;
    // Beyond a full turn the stroke lies over its own beginning.
    let mut end = None;
    for i in 1..=last {
        winding += about.angle(at[i - 1], at[i]);
        if end.is_none() && winding.abs() >= TAU {
            end = Some((i - 1).max(1));
        }
    }
    let once = (winding + about.angle(at[last], at[0])) / TAU;
    let end = end.unwrap_or(last);
    if (once.abs() - 1.0).abs() > 1e-3 || end < 2 {
        return None;
    }
    let radius = at[..=end].iter().map(|x| about.radial(*x).length()).sum::<f64>() / (end + 1) as f64;
    // Unrolled from the limb, so that steps from shell to shell do not count.
    let unrolled = |a: DVec3, b: DVec3| (radius * about.angle(a, b)).hypot(about.along(b) - about.along(a));
    let (mut length, mut flat, mut jumps) = (0.0, 0.0, 0.0);
    let mut lifted = false;
    for i in 1..=end {
        length += at[i - 1].distance(at[i]);
        flat += unrolled(at[i - 1], at[i]);
        if points[i].lifted {
            lifted = true;
            let jump = about.angle(at[i - 1], at[i]).abs();
            jumps += jump;
            if jump > JUMP * TAU {
                return None;
            }
        }
    }
    let joined = !lifted && at[end].distance(at[0]) <= (OPEN * length).max(3.0 * edge);
    let gap = about.angle(at[end], at[0]).abs();
    let near = unrolled(at[end], at[0]) <= OPEN * flat && jumps + gap <= JUMPS * TAU;
    (joined || near).then_some(end)
}

/// Closes a stroke that is a ring: what lies over its beginning is cut off, and where it jumps, and between its ends,
/// points on the outermost shell of the limb are added. `back` is the way over the skin from its end to its start, where
/// there is a short one.
pub fn close_ring(
    character: &Character,
    ring: Ring,
    points: &mut Vec<SurfacePoint>,
    back: Option<Vec<SurfacePoint>>,
) {
    points.truncate(ring.end + 1);
    let time = points[ring.end].time;
    let about = About::new(&character.skeleton.bones[ring.bone.index()]);
    let place = |p: &SurfacePoint| {
        let corners = character.control.triangles[p.triangle as usize];
        let x: Vec3 = corners
            .iter()
            .zip(p.barycentrics)
            .map(|(&v, w)| character.control.positions[v as usize] * w)
            .sum();
        x.as_dvec3()
    };
    if back.is_none() || points.iter().any(|p| p.lifted) {
        let limb = Limb::under(character, points);
        let bridge = |a: &SurfacePoint, b: &SurfacePoint| {
            let ends = [place(a), place(b)];
            let short = about.angle(ends[0], ends[1]).abs() <= SHORT;
            if short { Vec::new() } else { bridge(character, &limb, &about, ends, a) }
        };
        let mut whole = vec![points[0]];
        for pair in points.windows(2) {
            if pair[1].lifted {
                whole.extend(bridge(&pair[0], &pair[1]));
            }
            whole.push(pair[1]);
        }
        if back.is_none() {
            whole.extend(bridge(&points[ring.end], &points[0]));
        }
        *points = whole;
    }
    points.extend(back.into_iter().flatten().map(|p| SurfacePoint { time, ..p }));
}

/// Points of the outermost shell between two places of a limb; `None` if it has no skin.
fn bridge(
    character: &Character,
    limb: &Limb,
    about: &About,
    ends: [DVec3; 2],
    like: &SurfacePoint,
) -> Vec<SurfacePoint> {
    let turn = about.angle(ends[0], ends[1]);
    let count = (turn.abs() / STEP).ceil() as usize;
    let from = about.radial(ends[0]);
    let far = 2.0 * from.length().max(about.radial(ends[1]).length());
    let along = ends.map(|x| about.along(x));
    let at = |k: usize| {
        let s = k as f64 / count as f64;
        let out = crate::base::math::DQuat::from_axis_angle(about.axis, turn * s) * from.normalize_or_zero();
        let middle = about.head + about.axis * (along[0] + (along[1] - along[0]) * s);
        let (eye, ray) = ((middle + out * far).as_vec3(), -out.as_vec3());
        let hit = |(t, corners): (usize, &[u32; 3])| {
            let (d, weights) =
                ray_triangle(eye, ray, corners.map(|v| character.control.positions[v as usize]))?;
            (f64::from(d) < far && limb.has_face(character, corners)).then_some((d, t as u32, weights))
        };
        let hits = character.control.triangles.iter().enumerate().filter_map(hit);
        let (_, triangle, barycentrics) = hits.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(SurfacePoint { triangle, barycentrics, lifted: true, ..*like })
    };
    (1..count).filter_map(at).collect()
}
