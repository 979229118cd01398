//! SilSketch (thesis 7.3; methods, section 6): one accent stroke over the picture says which silhouette is meant and how it
//! should run. Zimmermann, Nealen, Alexa, "SilSketch: automated sketch-based editing of surface meshes", 2007; as in the
//! thesis, the ends of the stroke choose the piece of silhouette, in place of a comparison of shapes.

use super::{Reach, Region, STIFFNESS, Sculpt, drawn};
use crate::base::math::Vec3;
use crate::base::{Error, Result, SculptId};
use crate::bind::Character;
use crate::query::SilhouettePoint;
use crate::query::chain;
use crate::render::View;
use crate::rig::PosedRig;
use std::collections::BTreeMap;

/// An accent stroke and the picture that it was drawn over.
#[derive(Clone, Copy, Debug)]
pub struct Accent<'a> {
    /// Places in the picture, pixels from the upper left corner, at least two.
    pub stroke: &'a [[f32; 2]],
    /// The picture's view.
    pub view: &'a View,
    /// The picture's pixels.
    pub size: [u32; 2],
    /// How far the region goes beyond the silhouette.
    pub reach: Reach,
}

/// What an accent stroke means.
#[derive(Clone, Debug)]
pub struct SilSketch {
    /// The silhouette that it affects, from its first end to its last.
    pub chain: Vec<SilhouettePoint>,
    /// The vertices of that silhouette as kinematic ones, with what is around them.
    pub region: Region,
    /// Where the kinematic vertices are, world, metres, in the order of [`Region::kinematic`].
    pub from: Vec<Vec3>,
    /// Where the stroke wants them: as far from the eye as they are.
    pub to: Vec<Vec3>,
}

/// Finds the silhouette that a stroke means among `points` ([`crate::query::Silhouettes`]) and where its vertices go.
///
/// At each of its pixels the silhouette affects the nearest corner of the triangle. A vertex keeps its distance from
/// the silhouette and goes along with the place of the same parameter on the stroke, both by length in the picture,
/// as joints follow theirs (thesis 7.2). `posed` are the control vertices in the pose, world, metres.
///
/// # Errors
/// The stroke is none, there is no silhouette along it ([`chain`]), it lies on rigid props only, or a reach that is none.
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
    // Sum of parameters and how many, per vertex.
    let mut held: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
    for (i, point) in chain.iter().enumerate() {
        let b = point.barycentrics;
        let corner = (1..3).fold(0, |most, k| if b[k] > b[most] { k } else { most });
        let vertex = control.triangles[point.triangle as usize][corner];
        if !control.rigid[vertex as usize] {
            let entry = held.entry(vertex).or_default();
            *entry = (entry.0 + baseline.parameter(i), entry.1 + 1.0);
        }
    }
    let [width, height] = accent.size.map(|n| n as f32);
    let mut out = SilSketch { chain, region: Region::default(), from: Vec::new(), to: Vec::new() };
    for (vertex, (sum, count)) in held {
        let x = posed[vertex as usize];
        let Some([u, v]) = accent.view.project(x) else { continue };
        let t = (sum / count).clamp(0.0, 1.0);
        let (on, wanted) = (baseline.at(t), stroke.at(t));
        let pixel = [u * width + wanted[0] - on[0], v * height + wanted[1] - on[1]];
        let along = (accent.view.clip_from_world * x.extend(1.0)).w;
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
    /// The same as an edit of the document: its vertices' targets, encoded relative to the bones of the pose it was drawn in.
    pub fn sculpt(&self, id: SculptId, character: &Character, rig: &PosedRig) -> Sculpt {
        let form = drawn(character, rig, &self.region, &self.from, &self.to);
        let name = format!("Silhouette {}", id.0 + 1);
        Sculpt { name, stiffness: STIFFNESS, ..Sculpt::new(id, None, self.region.clone(), form) }
    }
}

/// A line in the picture by length.
struct Polyline {
    places: Vec<[f32; 2]>,
    /// Length up to each place.
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

    /// Parameter of one of its places, 0..=1.
    fn parameter(&self, i: usize) -> f32 {
        if self.whole() > 0.0 { self.length[i] / self.whole() } else { 0.0 }
    }

    /// The place at a parameter.
    fn at(&self, t: f32) -> [f32; 2] {
        let wanted = t * self.whole();
        let last = self.places.len() - 1;
        let after = self.length.partition_point(|l| *l < wanted).clamp(last.min(1), last);
        let before = after.saturating_sub(1);
        let step = self.length[after] - self.length[before];
        let s = if step > 0.0 { ((wanted - self.length[before]) / step).clamp(0.0, 1.0) } else { 0.0 };
        [0, 1].map(|k| self.places[before][k] + (self.places[after][k] - self.places[before][k]) * s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::bar;
    use crate::render::Camera;

    const SIZE: [u32; 2] = [400, 400];

    /// A bar seen from the front, and its right edge as silhouette points, a pixel apart.
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
        let accent = Accent { stroke: &stroke, view: &view, size: SIZE, reach: Reach::Edges(3) };
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
    fn a_stroke_on_the_silhouette_itself_moves_nothing() {
        let (character, view, points) = case();
        let posed = &character.control.positions;
        let stroke = [0.2, 0.8].map(|y| pixel(&view, Vec3::new(0.2, y, 0.2)));
        let accent = Accent { stroke: &stroke, view: &view, size: SIZE, reach: Reach::Edges(4) };
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
        let accent = Accent { stroke: &stroke, view: &view, size: SIZE, reach: Reach::Edges(4) };
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
