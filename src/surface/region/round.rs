//! Regions of rings around limbs with several shells: skin, sleeve and armour that are not connected.
//!
//! The weight of a vertex depends only on its position, not on its shell. It is a function of the vertex's height: the
//! distance from the ring's plane, measured along the bone. The weight is 1 at the heights of the kinematic vertices.
//! Beyond them it falls to 0 over the reach. Displacements are proportional to the distance from the bone, so that
//! shells do not intersect. Skin weights ([`Limb`]) identify the vertices of the limb. The weight fades out on other
//! limbs and far from the bone.

use super::build::flood;
use crate::base::math::{DMat3, DVec3, Vec3};
use crate::bind::Character;
use crate::surface::limb::Limb;
use crate::surface::ring::About;
use crate::surface::{Reach, Region, RingFinder, SurfacePoint, SurfaceStroke};
use serde::{Deserialize, Serialize};

/// Distance from the bone, in radii of the ring, beyond which the weight of a vertex decreases.
const FADE: f32 = 2.0;
/// Distance from the bone, in radii of the ring, beyond which the weight of a vertex is 0.
const FAR: f32 = 3.0;
/// The weight of a vertex is reduced if less than this fraction of its skin weights is on the limb.
const WHOLE: f32 = 0.5;
/// Maximum slope of a ring's plane: change of height per distance from the bone.
const LEAN: f64 = 1.0;
/// Maximum length that one edge counts for in [`Reach::Edges`], as a fraction of the ring's radius. Coarse meshes, such
/// as boxes, have long edges.
const COARSE: f32 = 0.5;

/// Plane, axis and radius of a ring around a bone, bind space, metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Intersection of the ring's plane with the line through the bone.
    pub centre: [f32; 3],
    /// Direction of the bone, unit length.
    pub axis: [f32; 3],
    /// Normal of the plane, scaled so that its dot product with `axis` is 1.
    pub normal: [f32; 3],
    /// Mean distance of the ring from the line.
    pub radius: f32,
}

impl Round {
    /// Returns the vector from the line through the bone to a point, perpendicular to the line.
    pub fn radial(&self, x: Vec3) -> Vec3 {
        let (from, axis) = (x - Vec3::from(self.centre), Vec3::from(self.axis));
        from - axis * axis.dot(from)
    }

    /// Returns the signed distance of a point from the ring's plane, measured along the bone.
    pub fn height(&self, x: Vec3) -> f32 {
        Vec3::from(self.normal).dot(x - Vec3::from(self.centre))
    }

    /// Returns whether all values are valid.
    pub(super) fn is_sound(&self) -> bool {
        let axis = Vec3::from(self.axis);
        let finite = [self.centre, self.normal].iter().flatten().all(|v| v.is_finite());
        finite && axis.is_normalized() && self.radius.is_finite() && self.radius > 0.0
    }

    /// Fits a plane to a closed mark. Segments are weighted by their angle around the bone.
    fn of(about: &About, at: &[DVec3]) -> Option<Self> {
        let ends = || at.iter().zip(at.iter().cycle().skip(1));
        let weight = |a: &DVec3, b: &DVec3| about.angle(*a, *b).abs();
        let whole: f64 = ends().map(|(a, b)| weight(a, b)).sum();
        let mean = |f: &dyn Fn(DVec3) -> f64| {
            ends().map(|(a, b)| 0.5 * (f(*a) + f(*b)) * weight(a, b)).sum::<f64>() / whole
        };
        let radius = mean(&|x| about.radial(x).length());
        let middle = mean(&|x| about.along(x));
        let right = about.axis.any_orthonormal_vector();
        let up = about.axis.cross(right);
        // Least-squares fit: the height above the mean height as a linear function of the two coordinates across the
        // bone.
        let row =
            |x: DVec3| DVec3::new(1.0, about.radial(x).dot(right) / radius, about.radial(x).dot(up) / radius);
        let (mut square, mut side) = (DMat3::ZERO, DVec3::ZERO);
        for (a, b) in ends() {
            let (x, w) = (0.5 * (*a + *b), weight(a, b) / whole);
            let r = row(x);
            square += DMat3::from_cols(r * r.x, r * r.y, r * r.z) * w;
            side += r * ((about.along(x) - middle) * w);
        }
        let fit = if square.determinant() > 1e-4 { square.inverse() * side } else { DVec3::ZERO };
        let lean = DVec3::new(0.0, fit.y, fit.z).clamp_length_max(LEAN * radius);
        let rise = if lean.length() > 0.0 { fit.x } else { 0.0 };
        let out = Self {
            centre: (about.head + about.axis * (middle + rise)).as_vec3().into(),
            axis: about.axis.as_vec3().normalize_or_zero().into(),
            normal: (about.axis - (right * lean.y + up * lean.z) / radius).as_vec3().into(),
            radius: radius as f32,
        };
        out.is_sound().then_some(out)
    }
}

/// Returns the plane and the kinematic vertices of a ring on several shells; `None` if the limb has a single shell
/// there.
pub fn around(
    character: &Character,
    mark: &SurfaceStroke,
    under: &[u32],
    reach: Reach,
) -> Option<(Round, Vec<u32>)> {
    let control = &character.control;
    let bone = RingFinder::default().bone_of(character, mark)?;
    let about = About::new(&character.skeleton.bones[bone.index()]);
    let place = |p: &SurfacePoint| -> Vec3 {
        let corners = control.triangles[p.triangle as usize];
        corners.iter().zip(p.barycentrics).map(|(&v, w)| control.positions[v as usize] * w).sum()
    };
    let at: Vec<DVec3> = mark.points.iter().map(|p| place(p).as_dvec3()).collect();
    let round = Round::of(&about, &at)?;
    let limb = Limb::under(character, &mark.points);
    let shells = control.adjacency.shells();
    let mut own: Vec<u32> = under.iter().map(|&v| shells[v as usize]).collect();
    own.sort_unstable();
    own.dedup();
    // Faces that the ring's plane intersects near the bone.
    let distance = |v: u32| round.radial(control.positions[v as usize]).length();
    let cut = |corners: &&[u32; 3]| {
        let [a, b, c] = corners.map(|v| round.height(control.positions[v as usize]) >= 0.0);
        let near = corners.map(distance).iter().sum::<f32>() < 3.0 * FADE * round.radius;
        !(a == b && b == c) && near && limb.has_face(character, corners)
    };
    let on_limb = |v: &&u32| limb.near(character, **v) >= WHOLE && !control.rigid[**v as usize];
    let mut kinematic: Vec<u32> = under.iter().filter(on_limb).copied().collect();
    kinematic.extend(control.triangles.iter().filter(cut).flatten());
    kinematic.sort_unstable();
    kinematic.dedup();
    let region = Region { reach, kinematic, round: Some(round), ..Region::default() };
    let span = Span::new(&region, character)?;
    let other = |v: usize| {
        let x = control.positions[v];
        own.binary_search(&shells[v]).is_err()
            && !control.rigid[v]
            && round.radial(x).length() < FADE * round.radius
            && span.beyond(round.height(x)) < span.width
            && limb.own(character, v as u32) >= WHOLE
    };
    let several = own.len() > 1 || mark.points.iter().skip(1).any(|p| p.lifted);
    (several || (0..control.positions.len()).any(other)).then_some((round, region.kinematic))
}

/// The range of heights that a region affects.
struct Span {
    low: f32,
    high: f32,
    /// Distance in height from the kinematic vertices to the rim.
    width: f32,
}

impl Span {
    fn new(region: &Region, character: &Character) -> Option<Self> {
        let round = region.round.filter(|_| !region.kinematic.is_empty())?;
        let heights = region.kinematic.iter().map(|&v| round.height(character.control.positions[v as usize]));
        let (low, high) = heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        let width = match region.reach {
            Reach::Edges(n) => n as f32 * long_edge(character, &region.kinematic).min(COARSE * round.radius),
            Reach::Euclidean(d) | Reach::Along(d) => d,
        };
        Some(Self { low, high, width })
    }

    fn beyond(&self, height: f32) -> f32 {
        (self.low - height).max(height - self.high).max(0.0)
    }
}

/// Returns the mean edge length at some vertices, metres, weighted by length to favour the coarser shell.
fn long_edge(character: &Character, vertices: &[u32]) -> f32 {
    let control = &character.control;
    let (mut squares, mut sum) = (0.0, 0.0f32);
    for &v in vertices {
        for &n in control.adjacency.of(v as usize) {
            let square = control.positions[v as usize].distance_squared(control.positions[n as usize]);
            (squares, sum) = (squares + square, sum + square.sqrt());
        }
    }
    squares / sum.max(f32::MIN_POSITIVE)
}

fn smooth(u: f32) -> f32 {
    let u = u.clamp(0.0, 1.0);
    u * u * (3.0 - 2.0 * u)
}

/// Computes the weights of vertices in a ring's region over several shells.
struct Share<'a> {
    character: &'a Character,
    round: Round,
    span: Span,
    limb: Limb,
    softness: f32,
}

impl<'a> Share<'a> {
    fn new(region: &Region, character: &'a Character) -> Option<Self> {
        let limb = Limb::at(character, region.kinematic.iter().map(|&v| (v, 1.0)));
        let span = Span::new(region, character)?;
        Some(Self { character, round: region.round?, span, limb, softness: region.softness })
    }

    fn of(&self, v: u32) -> f32 {
        let control = &self.character.control;
        let x = control.positions[v as usize];
        let beyond = self.span.beyond(self.round.height(x));
        if control.rigid[v as usize] || (beyond >= self.span.width && beyond > 0.0) {
            return 0.0;
        }
        let place = if beyond > 0.0 { 1.0 - beyond / self.span.width } else { 1.0 };
        let raised = if self.softness > 0.0 { place / self.softness } else { 1.0 };
        let away = self.round.radial(x).length() / self.round.radius;
        let weight = self.limb.near(self.character, v) / WHOLE;
        smooth(raised) * smooth((FAR - away) / (FAR - FADE)) * smooth(weight)
    }
}

/// Finds the passive vertices and the rim of a ring's region over several shells.
pub fn spread(region: &mut Region, character: &Character) {
    region.passive.clear();
    region.fixed.clear();
    let Some(share) = Share::new(region, character) else { return };
    let control = &character.control;
    let goes = |v: u32| share.of(v) > 0.0;
    // The search starts at the vertices of the limb on all shells, so that separate pieces, such as a cuff, move with
    // the sleeve.
    let own = |v: &u32| share.limb.own(character, *v) >= WHOLE && goes(*v);
    let mut seeds = region.kinematic.clone();
    seeds.extend((0..control.positions.len() as u32).filter(own));
    let inside = flood(control, &seeds, goes, |_, _, so_far| so_far, 0.0);
    let passive = |v: &u32| region.kinematic.binary_search(v).is_err();
    region.passive = inside.keys().copied().filter(passive).collect();
    let about = inside.keys().flat_map(|&v| control.adjacency.of(v as usize));
    region.fixed = about.copied().filter(|v| !inside.contains_key(v)).collect();
    region.fixed.sort_unstable();
    region.fixed.dedup();
}

/// Returns the falloff of the passive vertices of a ring's region over several shells.
pub fn falloff(region: &Region, character: &Character) -> Vec<f32> {
    let Some(share) = Share::new(region, character) else { return vec![1.0; region.passive.len()] };
    region.passive.iter().map(|&v| share.of(v)).collect()
}
