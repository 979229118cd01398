//! Rings: marks that wind once around a limb. A stroke is a ring by its angle around the bone. The connectivity of the
//! mesh does not matter, so the points of a stroke may lie on several shells.

use super::limb::Limb;
use super::{SurfacePoint, SurfaceStroke};
use crate::base::BoneId;
use crate::base::math::{DVec3, Vec3};
use crate::bind::Character;
use crate::geom::ray_triangle;
use crate::rig::Bone;
use std::f64::consts::TAU;

/// Maximum gap between the ends of a ring, as a fraction of its length. Strokes without jumps may also have a gap of
/// three mesh edges.
const OPEN: f64 = 0.15;
/// Maximum angle of one jump, as a fraction of a full rotation. A jump is a place where a new piece of the stroke
/// starts.
const JUMP: f64 = 0.2;
/// Maximum sum of the angles of all jumps and of the gap between the ends, as a fraction of a full rotation.
const JUMPS: f64 = 0.4;
/// Number of bones tried, nearest first.
const TRIED: usize = 4;
/// A bone is preferred if its joint has at least this fraction of the stroke's skin weights.
const TURNS: f32 = 0.1;
/// Maximum angle between neighbouring points of a bridge (the points that fill a gap), radians.
const STEP: f64 = 0.15;
/// Maximum angle of a jump that needs no bridge, radians.
const SHORT: f64 = 0.3;

/// A stroke that forms a closed ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The bone that the ring encloses.
    pub bone: BoneId,
    /// Index of the ring's last point. Later points of the stroke overlap its beginning.
    pub end: usize,
}

/// Detects strokes that form rings. It keeps its buffers between frames to avoid allocations.
#[derive(Debug, Default)]
pub struct RingFinder {
    at: Vec<DVec3>,
    /// Per node: the skin weights of its joint, summed over the points of the stroke.
    weight: Vec<f32>,
}

impl RingFinder {
    /// Returns the ring that a stroke forms, if any. `edge` is the mean edge length of the skin mesh, metres. The
    /// test runs in bind space, so that it does not depend on the pose.
    pub fn find(&mut self, character: &Character, points: &[SurfacePoint], edge: f32) -> Option<Ring> {
        self.place(character, points)?;
        self.nearest(character).into_iter().flatten().find_map(|bone| {
            let end = closes(&self.at, points, &character.skeleton.bones[bone.index()], f64::from(edge))?;
            Some(Ring { bone, end })
        })
    }

    /// Returns the bone that a closed mark encloses.
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

    /// Returns the bones nearest to the stroke's centroid. Bones with enough skin weight at the stroke come first.
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

/// The infinite line through a bone.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The bone's head, bind space, metres.
    pub head: DVec3,
    /// Direction of the bone, unit length.
    pub axis: DVec3,
}

impl About {
    /// Creates the line through a bone of non-zero length.
    pub fn new(bone: &Bone) -> Self {
        let head = bone.head.as_dvec3();
        Self { head, axis: (bone.tail.as_dvec3() - head).normalize_or_zero() }
    }

    /// Returns the vector from the line to a point, perpendicular to the line.
    pub fn radial(&self, x: DVec3) -> DVec3 {
        (x - self.head) - self.axis * self.along(x)
    }

    /// Returns the signed distance from the head to the projection of a point onto the line, metres.
    pub fn along(&self, x: DVec3) -> f64 {
        self.axis.dot(x - self.head)
    }

    /// Returns the signed angle from point `a` to point `b` around the line, radians.
    pub fn angle(&self, a: DVec3, b: DVec3) -> f64 {
        let (a, b) = (self.radial(a), self.radial(b));
        self.axis.dot(a.cross(b)).atan2(a.dot(b))
    }
}

/// Returns the index of the ring's last point if the stroke winds once around a bone; `None` otherwise.
fn closes(at: &[DVec3], points: &[SurfacePoint], bone: &Bone, edge: f64) -> Option<usize> {
    let about = About::new(bone);
    let last = at.len() - 1;
    let mut winding = 0.0;
    // Beyond a full rotation the stroke overlaps its own beginning.
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
    // Lengths are measured on a cylinder unrolled around the bone, so that radial steps between shells do not count.
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

/// Closes a stroke that forms a ring. The part that overlaps its beginning is cut off. Jumps and the gap between the
/// ends are filled with points on the limb's outermost shell. `back` is the path over the skin from the last point to
/// the first, if a short one exists.
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

/// Returns points on the outermost shell of the limb between two positions, skipping directions without skin.
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
