//! SilSketch (thesis 7.3; docs/internals.md, *Sculpt layers*): a stroke over the image (the accent stroke) selects a
//! piece of the silhouette and gives its new shape. Zimmermann, Nealen, Alexa, "SilSketch: automated sketch-based
//! editing of surface meshes", 2007. As in the thesis, the ends of the stroke select the piece of silhouette. The paper
//! compares the shapes of stroke and silhouette instead.

use super::{Reach, Region, STIFFNESS, Sculpt, drawn};
use crate::base::math::Vec3;
use crate::base::{Error, Result, SculptId};
use crate::bind::Character;
use crate::query::SilhouettePoint;
use crate::query::chain;
use crate::render::View;
use crate::rig::PosedRig;
use std::collections::BTreeMap;

/// Smallest depth of a target, as a fraction of the vertex's depth: no vertex goes behind the eye.
const NEAREST: f32 = 0.05;

/// An accent stroke with the view that it was drawn over.
#[derive(Clone, Copy, Debug)]
pub struct Accent<'a> {
    /// Positions in the image, pixels from the upper left corner, at least two.
    pub stroke: &'a [[f32; 2]],
    /// The image's view.
    pub view: &'a View,
    /// Size of the image, pixels.
    pub size: [u32; 2],
    /// Depth of each position of the stroke, metres along the view's axis. With it, the silhouette follows the stroke
    /// in depth; without it, it keeps its depth.
    pub depths: Option<&'a [f32]>,
    /// Extent of the region beyond the silhouette.
    pub reach: Reach,
}

/// The interpretation of an accent stroke.
#[derive(Clone, Debug)]
pub struct SilSketch {
    /// The selected piece of silhouette, ordered from the beginning of the stroke to its end.
    pub chain: Vec<SilhouettePoint>,
    /// The region: the silhouette's vertices are kinematic, and passive vertices surround them.
    pub region: Region,
    /// Current positions of the kinematic vertices, world space, metres, in the order of [`Region::kinematic`].
    pub from: Vec<Vec3>,
    /// Target positions of the kinematic vertices.
    pub to: Vec<Vec3>,
}

/// Finds the silhouette that a stroke selects among `points` ([`crate::query::Silhouettes`]), and its targets.
///
/// Each silhouette pixel selects the nearest corner of its triangle. In the image, a selected vertex moves by the
/// vector from the silhouette's point to the stroke's point at the same fraction of arc length. Joints use the same
/// mapping (thesis 7.2). `posed` holds the positions of the control vertices in the pose, world space, metres.
///
/// A vertex keeps its depth, or follows the stroke in depth ([`Accent::depths`]). For that, the stroke is scaled about
/// the eye, which does not change its image, until its beginning has the depth of the silhouette's beginning. A vertex
/// then moves in depth, too, by the difference between the points of stroke and silhouette. The distance between hand
/// and skin therefore does not matter: a stroke parallel to the silhouette leaves the depth unchanged.
///
/// # Errors
/// Stroke or reach are invalid, no silhouette lies along the stroke ([`chain`]), or all of its vertices are rigid.
pub fn silsketch(
    character: &Character,
    posed: &[Vec3],
    points: &[SilhouettePoint],
    accent: &Accent<'_>,
) -> Result<SilSketch> {
    let control = &character.control;
    let (display, triangles) = (&character.display, control.triangles.len());
    if posed.len() != control.positions.len()
        || points.iter().any(|p| p.triangle as usize >= triangles.min(display.triangles.len()))
    {
        return Err(Error::input("the silhouettes are of another character", "look for them again"));
    }
    let chain = chain(points, accent.stroke, accent.view, accent.size)?;
    let baseline = Polyline::new(chain.iter().map(|p| p.pixel).collect());
    let stroke = Polyline::new(accent.stroke.to_vec());
    let depth = |x: Vec3| (accent.view.clip_from_world * x.extend(1.0)).w;
    let course: Vec<f32> = chain.iter().map(|p| depth(p.position.into())).collect();
    // Depths of the stroke, and their factor.
    let depths = match (accent.depths, course.first()) {
        (Some(depths), _) if depths.len() != accent.stroke.len() => {
            return Err(Error::input("the stroke has another number of depths", "give one per position"));
        }
        (Some(depths), Some(first)) => depths.first().map(|d| (depths, first / d)),
        _ => None,
    };
    // Per vertex: sums of the parameters and of the depths of the silhouette points that select it, and their number.
    let mut held: BTreeMap<u32, (f32, f32, f32)> = BTreeMap::new();
    for (i, point) in chain.iter().enumerate() {
        let b = point.barycentrics;
        let corner = (1..3).fold(0, |most, k| if b[k] > b[most] { k } else { most });
        let vertex = control.triangles[point.triangle as usize][corner];
        if !control.rigid[vertex as usize] {
            let entry = held.entry(vertex).or_default();
            *entry = (entry.0 + baseline.parameter(i), entry.1 + course[i], entry.2 + 1.0);
        }
    }
    let [width, height] = accent.size.map(|n| n as f32);
    let mut out = SilSketch { chain, region: Region::default(), from: Vec::new(), to: Vec::new() };
    for (vertex, (sum, depth_sum, count)) in held {
        let x = posed[vertex as usize];
        let Some([u, v]) = accent.view.project(x) else { continue };
        let t = (sum / count).clamp(0.0, 1.0);
        let (on, wanted) = (baseline.at(t), stroke.at(t));
        let pixel = [u * width + wanted[0] - on[0], v * height + wanted[1] - on[1]];
        let deeper = depths.map_or(0.0, |(d, factor)| stroke.of(d, t) * factor - depth_sum / count);
        let along = depth(x);
        let along = (along + deeper).max(NEAREST * along);
        let to = accent.view.eye + accent.view.ray(pixel[0] / width, pixel[1] / height) * along;
        if to.is_finite() {
            out.region.kinematic.push(vertex);
            out.region.t.push(t);
            out.from.push(x);
            out.to.push(to);
        }
    }
    if out.from.is_empty() {
        return Err(Error::input("the silhouette is of rigid parts only", "draw along the skin"));
    }
    out.region.softness = 1.0;
    out.region.reach = accent.reach;
    out.region = out.region.with_reach(character, accent.reach)?;
    Ok(out)
}

impl SilSketch {
    /// Returns a sculpt layer for the document. Its offsets are relative to the bones, whose pose during drawing is
    /// `rig`.
    pub fn sculpt(&self, id: SculptId, character: &Character, rig: &PosedRig) -> Sculpt {
        let form = drawn(character, rig, &self.region, &self.from, &self.to);
        let name = format!("Silhouette {}", id.0 + 1);
        Sculpt { name, stiffness: STIFFNESS, ..Sculpt::new(id, None, self.region.clone(), form) }
    }
}

/// A polyline in the image, parameterised by length.
struct Polyline {
    places: Vec<[f32; 2]>,
    /// Cumulative length up to each point.
    length: Vec<f32>,
}

impl Polyline {
    fn new(places: Vec<[f32; 2]>) -> Self {
        let mut length = Vec::with_capacity(places.len());
        let mut sum = 0.0;
        for (i, p) in places.iter().enumerate() {
            let before = places[i.saturating_sub(1)];
            sum += (p[0] - before[0]).hypot(p[1] - before[1]);
            length.push(sum);
        }
        Self { places, length }
    }

    fn whole(&self) -> f32 {
        self.length.last().copied().unwrap_or(0.0)
    }

    /// Returns the parameter of point `i`, 0..=1.
    fn parameter(&self, i: usize) -> f32 {
        if self.whole() > 0.0 { self.length[i] / self.whole() } else { 0.0 }
    }

    /// Returns the points before and after parameter `t`, and the fraction of the way between them.
    fn between(&self, t: f32) -> (usize, usize, f32) {
        let wanted = t * self.whole();
        let last = self.places.len() - 1;
        let after = self.length.partition_point(|l| *l < wanted).clamp(last.min(1), last);
        let before = after.saturating_sub(1);
        let step = self.length[after] - self.length[before];
        let s = if step > 0.0 { ((wanted - self.length[before]) / step).clamp(0.0, 1.0) } else { 0.0 };
        (before, after, s)
    }

    /// Returns the position at parameter `t`.
    fn at(&self, t: f32) -> [f32; 2] {
        let (before, after, s) = self.between(t);
        [0, 1].map(|k| self.places[before][k] + (self.places[after][k] - self.places[before][k]) * s)
    }

    /// Interpolates values of the points at parameter `t`.
    fn of(&self, values: &[f32], t: f32) -> f32 {
        let (before, after, s) = self.between(t);
        values[before] + (values[after] - values[before]) * s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::bar;
    use crate::render::Camera;

    const SIZE: [u32; 2] = [400, 400];

    /// Returns a bar seen from the front. Its right edge is the silhouette, with points one pixel apart.
    fn case() -> (Character, View, Vec<SilhouettePoint>) {
        let character = bar(1, 16, 4, 0.2, 1.0);
        let eye = Vec3::new(0.0, 0.5, 6.0);
        let view = Camera { eye, target: Vec3::Y * 0.5, up: Vec3::Y, fov_y: 0.3 }.view(1.0);
        let control = &character.control;
        let mut points: Vec<SilhouettePoint> = Vec::new();
        for (t, corners) in control.triangles.iter().enumerate() {
            let edge: Vec<usize> = (0..3)
                .filter(|k| {
                    let p = control.positions[corners[*k] as usize];
                    p.x > 0.199 && p.z > 0.199
                })
                .collect();
            let [a, b] = edge[..] else { continue };
            for step in 0..24 {
                let s = step as f32 / 24.0;
                let mut barycentrics = [0.0; 3];
                (barycentrics[a], barycentrics[b]) = (1.0 - s, s);
                let x: Vec3 = (0..3).map(|k| control.positions[corners[k] as usize] * barycentrics[k]).sum();
                let [u, v] = view.project(x).unwrap();
                points.push(SilhouettePoint {
                    pixel: [u * 400.0, v * 400.0],
                    part: 0,
                    triangle: t as u32,
                    barycentrics,
                    position: x.into(),
                    strength: 1.0,
                });
            }
        }
        (character, view, points)
    }

    fn pixel(view: &View, x: Vec3) -> [f32; 2] {
        view.project(x).unwrap().map(|c| c * 400.0)
    }

    #[test]
    fn the_silhouette_goes_onto_the_stroke_at_its_depth() {
        let (character, view, points) = case();
        let posed = &character.control.positions;
        let [a, b] = [0.1, 0.9].map(|y| pixel(&view, Vec3::new(0.2, y, 0.2)));
        // An arc to the right of the edge, drawn upwards.
        let stroke: Vec<[f32; 2]> = (0..=32)
            .map(|k| {
                let t = k as f32 / 32.0;
                [a[0] + 5.0 + 40.0 * (t * std::f32::consts::PI).sin(), a[1] + (b[1] - a[1]) * t]
            })
            .collect();
        let accent =
            Accent { stroke: &stroke, view: &view, size: SIZE, depths: None, reach: Reach::Edges(3) };
        let found = silsketch(&character, posed, &points, &accent).unwrap();
        assert!(found.chain[0].position[1] < 0.15 && found.chain[found.chain.len() - 1].position[1] > 0.85);
        assert!(found.region.kinematic.len() >= 12 && !found.region.passive.is_empty());
        assert!(!found.region.fixed.is_empty());
        let mut highest = 0.0f32;
        for ((&v, from), to) in found.region.kinematic.iter().zip(&found.from).zip(&found.to) {
            let x = posed[v as usize];
            assert_eq!(x, *from);
            assert!(x.x > 0.19 && x.z > 0.19, "a vertex of the edge");
            assert!((to.z - x.z).abs() < 1e-4, "as far from the eye as it was");
            let there = pixel(&view, *to);
            let off = stroke.windows(2).map(|s| {
                let t = ((there[1] - s[0][1]) / (s[1][1] - s[0][1])).clamp(0.0, 1.0);
                let on = [s[0][0] + (s[1][0] - s[0][0]) * t, s[0][1] + (s[1][1] - s[0][1]) * t];
                (there[0] - on[0]).hypot(there[1] - on[1])
            });
            assert!(off.fold(f32::INFINITY, f32::min) < 1.5, "{there:?} lies on the stroke");
            highest = highest.max(there[0] - a[0]);
        }
        assert!((highest - 45.0).abs() < 2.0, "{highest}");
        let rig = PosedRig::new(&character.skeleton, &crate::rig::Pose::rest(&character.skeleton));
        let sculpt = found.sculpt(SculptId(3), &character, &rig);
        assert_eq!(sculpt.region, found.region);
        sculpt
            .bind(&character, &crate::bind::bind_attachments(&character, &Default::default()).unwrap().0)
            .unwrap();
    }

    #[test]
    fn the_silhouette_follows_the_hand_in_depth_wherever_the_hand_is() {
        let (character, view, points) = case();
        let posed = &character.control.positions;
        // The stroke lies on the edge; in its middle, the hand comes 0.1 m towards the eye. It is drawn at the skin, or
        // half way between skin and eye: there, half the movement covers the same part of the way.
        for share in [1.0, 0.5] {
            let course = |k: i32| {
                let t = k as f32 / 40.0;
                let x = Vec3::new(0.2, 0.1 + 0.8 * t, 0.2);
                let depth = 5.8 - 0.1 * (t * std::f32::consts::PI).sin();
                (pixel(&view, x), depth * share)
            };
            let (stroke, depths): (Vec<[f32; 2]>, Vec<f32>) = (0..=40).map(course).unzip();
            let accent = Accent {
                stroke: &stroke,
                view: &view,
                size: SIZE,
                depths: Some(&depths),
                reach: Reach::Edges(3),
            };
            let found = silsketch(&character, posed, &points, &accent).unwrap();
            let mut most = 0.0f32;
            for (from, to) in found.from.iter().zip(&found.to) {
                let t = (from.y - 0.1) / 0.8;
                let wanted = 0.1 * (t.clamp(0.0, 1.0) * std::f32::consts::PI).sin();
                assert!((to.z - from.z - wanted).abs() < 0.01, "{share}: {from} {to}");
                let [a, b] = [*from, *to].map(|x| pixel(&view, x));
                assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1.5, "the picture stays: {a:?} {b:?}");
                most = most.max(to.z - from.z);
            }
            assert!((most - 0.1).abs() < 5e-3, "{share}: {most}");
        }
        let stroke = [0.2, 0.8].map(|y| pixel(&view, Vec3::new(0.2, y, 0.2)));
        let reach = Reach::Edges(3);
        let accent = Accent { stroke: &stroke, view: &view, size: SIZE, depths: Some(&[1.0]), reach };
        let refused = silsketch(&character, posed, &points, &accent).unwrap_err().to_string();
        assert!(refused.contains("number of depths"), "{refused}");
    }

    #[test]
    fn a_stroke_on_the_silhouette_itself_moves_nothing() {
        let (character, view, points) = case();
        let posed = &character.control.positions;
        let stroke = [0.2, 0.8].map(|y| pixel(&view, Vec3::new(0.2, y, 0.2)));
        let accent =
            Accent { stroke: &stroke, view: &view, size: SIZE, depths: None, reach: Reach::Edges(4) };
        let found = silsketch(&character, posed, &points, &accent).unwrap();
        for (from, to) in found.from.iter().zip(&found.to) {
            assert!(from.distance(*to) < 0.01, "within a pixel: {from} {to}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (character, view, mut points) = case();
        let posed = &character.control.positions;
        let stroke = [0.2, 0.8].map(|y| pixel(&view, Vec3::new(0.2, y, 0.2)));
        let accent =
            Accent { stroke: &stroke, view: &view, size: SIZE, depths: None, reach: Reach::Edges(4) };
        let says = |posed: &[Vec3], points: &[SilhouettePoint], accent: &Accent<'_>| {
            silsketch(&character, posed, points, accent).unwrap_err().to_string()
        };
        assert!(says(&posed[1..], &points, &accent).contains("another character"));
        assert!(says(posed, &[], &accent).contains("no silhouette"));
        assert!(says(posed, &points, &Accent { reach: Reach::Along(f32::NAN), ..accent }).contains("reach"));
        points[0].triangle = 1 << 30;
        assert!(says(posed, &points, &accent).contains("another character"));
    }
}
