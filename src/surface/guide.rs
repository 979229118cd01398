//! Computes marks without drawing: a ring around a bone, or a line along a bone.

use super::limb::Limb;
use super::{SurfacePoint, SurfaceStroke};
use crate::base::math::{Quat, Vec3};
use crate::base::{BoneId, Error, MarkId, Result};
use crate::bind::{Attachments, Character, point_on};
use crate::deform::sculpt::front_of;
use crate::geom::{Place, Walk, ray_triangle};
use std::f32::consts::TAU;

/// Number of points sampled along a line.
const LINE_POINTS: usize = 24;
/// Number of ray directions tried to find a start point on the skin for a ring.
const TRIES: usize = 12;
/// Number of ray directions around the bone for a ring that lies on several shells.
const ROUND: usize = 72;
/// Maximum number of consecutive directions whose rays may miss the skin.
const GAP: usize = ROUND / 5;
/// Maximum distance of a ring's points from the bone, as a multiple of the median distance. The limit excludes props
/// such as a shield.
const FAR: f32 = 2.5;

/// Returns the ring in which the plane across a bone at parameter `t` intersects the skin. If the limb has several
/// shells, such as skin and sleeve, the ring lies on the outermost shell in every direction.
///
/// # Errors
/// The bone does not exist, its length is zero, or the skin does not enclose it at `t`.
pub fn ring_mark(
    character: &Character,
    attachments: &Attachments,
    id: MarkId,
    bone: BoneId,
    t: f32,
) -> Result<SurfaceStroke> {
    let guide = Guide::new(character, attachments, bone)?;
    let centre = guide.at(t);
    let round = |k: usize| {
        let hit = guide.hit(centre, TAU * k as f32 / TRIES as f32)?;
        // If a vertex lies exactly in the plane, the walk around the mesh is ambiguous; the next direction is tried.
        guide.walk.around(&hit, guide.axis, &character.control.positions)
    };
    let on_one = (0..TRIES).find_map(round);
    if let Some(mark) = guide.over_shells(centre, on_one.as_deref(), id) {
        return Ok(mark);
    }
    let places = on_one.ok_or_else(|| {
        Error::input(
            format!("the skin does not go round bone {} at {t}", bone.0),
            "try another place along it",
        )
    })?;
    Ok(mark(id, format!("Ring {}", id.0 + 1), &places, true))
}

/// Returns the line on the skin along a bone from parameter `span[0]` to `span[1]`. `angle` is the rotation about the
/// bone, radians; 0 is the side that faces the front (+Z in the bind pose).
///
/// # Errors
/// The bone does not exist, its length is zero, or fewer than two rays meet its skin.
pub fn line_mark(
    character: &Character,
    attachments: &Attachments,
    id: MarkId,
    bone: BoneId,
    span: [f32; 2],
    angle: f32,
) -> Result<SurfaceStroke> {
    let guide = Guide::new(character, attachments, bone)?;
    let at = |k: usize| span[0] + (span[1] - span[0]) * k as f32 / (LINE_POINTS - 1) as f32;
    let places: Vec<Place> = (0..LINE_POINTS).filter_map(|k| guide.hit(guide.at(at(k)), angle)).collect();
    if places.len() < 2 {
        let problem = format!("bone {} has no skin on that side", bone.0);
        return Err(Error::input(problem, "try another angle"));
    }
    Ok(mark(id, format!("Line {}", id.0 + 1), &places, false))
}

fn mark(id: MarkId, name: String, places: &[Place], closed: bool) -> SurfaceStroke {
    let last = places.len().max(2) - 1;
    let point = |(i, (triangle, barycentrics)): (usize, &Place)| SurfacePoint {
        triangle: *triangle,
        barycentrics: *barycentrics,
        pressure: 1.0,
        time: i as f64 / last as f64,
        lifted: false,
    };
    SurfaceStroke { id, name, points: places.iter().enumerate().map(point).collect(), closed, radius: 0.0 }
}

/// The shells of a limb around a point, with vertices at `positions`.
pub(super) struct Shells<'a> {
    pub character: &'a Character,
    pub positions: &'a [Vec3],
    pub limb: &'a Limb,
    /// Whether a triangle counts.
    pub visible: &'a dyn Fn(u32) -> bool,
    /// A point inside the limb.
    pub centre: Vec3,
    /// Normal of the plane in which the ring lies, unit length.
    pub axis: Vec3,
}

/// Returns the outermost skin of the limb around its centre, in the plane across the axis, and whether the ring changes
/// the shell before each place. `front` is the first direction. Returns `None` if the ring lies on the single shell of
/// `on_one`, or has too large a gap.
pub(super) fn outermost(
    shells: &Shells<'_>,
    front: Vec3,
    on_one: Option<&[Place]>,
) -> Option<Vec<(Place, bool)>> {
    let Shells { character, positions, limb, visible, centre, axis } = *shells;
    let control = &character.control;
    let corners = |place: &Place| control.triangles[place.0 as usize];
    let on_limb = |t: u32| visible(t) && limb.has_face(character, &control.triangles[t as usize]);
    let faces: Vec<u32> = (0..control.triangles.len() as u32).filter(|&t| on_limb(t)).collect();
    let hits = |k: usize| {
        let ray = Quat::from_axis_angle(axis, TAU * k as f32 / ROUND as f32) * front;
        let hit = |&t: &u32| {
            let corners = control.triangles[t as usize].map(|v| positions[v as usize]);
            ray_triangle(centre, ray, corners).map(|(d, weights)| (d, (t, weights)))
        };
        faces.iter().filter_map(hit).collect::<Vec<_>>()
    };
    let all: Vec<Vec<(f32, Place)>> = (0..ROUND).map(hits).collect();
    let farthest = |limit: f32| {
        let within = move |hits: &Vec<(f32, Place)>| {
            let near = hits.iter().filter(|h| h.0 <= limit);
            near.max_by(|a, b| a.0.total_cmp(&b.0)).copied()
        };
        all.iter().map(within)
    };
    let mut distances: Vec<f32> = farthest(f32::INFINITY).flatten().map(|h| h.0).collect();
    distances.sort_by(f32::total_cmp);
    let median = *distances.get(distances.len() / 2)?;
    let found: Vec<Option<Place>> = farthest(FAR * median).map(|h| h.map(|h| h.1)).collect();
    let missing = (0..ROUND).map(|k| (0..ROUND).take_while(|i| found[(k + i) % ROUND].is_none()).count());
    let shells = control.adjacency.shells();
    let shell = |place: &Place| shells[corners(place)[0] as usize];
    let one = on_one.and_then(|way| way.first()).map(shell);
    let places: Vec<Place> = found.iter().flatten().copied().collect();
    if missing.max()? > GAP || (one.is_some() && places.iter().all(|p| Some(shell(p)) == one)) {
        return None;
    }
    let changes = |k: usize| k > 0 && shell(&places[k]) != shell(&places[k - 1]);
    Some((0..places.len()).map(|k| (places[k], changes(k))).collect())
}

struct Guide<'a> {
    character: &'a Character,
    attachments: &'a Attachments,
    bone: BoneId,
    axis: Vec3,
    /// Unit vector across the bone, towards the front.
    front: Vec3,
    walk: Walk,
}

impl<'a> Guide<'a> {
    fn new(character: &'a Character, attachments: &'a Attachments, bone: BoneId) -> Result<Self> {
        let count = character.skeleton.bones.len();
        let segment = character.skeleton.bones.get(bone.index());
        let axis = segment.and_then(|b| (b.tail - b.head).try_normalize());
        let axis = axis.ok_or_else(|| {
            Error::input(
                format!("there is no bone {} with a length", bone.0),
                format!("name one below {count}"),
            )
        })?;
        let walk = Walk::new(&character.control.triangles);
        Ok(Self { character, attachments, bone, axis, front: front_of(axis), walk })
    }

    /// Finds the ring on the outermost shells of the limb around `centre`. Returns `None` if the ring lies on a single
    /// shell or has too large a gap.
    fn over_shells(&self, centre: Vec3, on_one: Option<&[Place]>, id: MarkId) -> Option<SurfaceStroke> {
        let control = &self.character.control;
        let angle = |k: usize| TAU * k as f32 / ROUND as f32;
        // The innermost skin around the bone determines the joints of the limb.
        let inner: Vec<Place> = (0..ROUND).step_by(3).filter_map(|k| self.hit(centre, angle(k))).collect();
        let corners = |place: &Place| control.triangles[place.0 as usize];
        let limb = Limb::at(self.character, inner.iter().flat_map(|p| corners(p).into_iter().zip(p.1)));
        let (character, positions) = (self.character, &control.positions);
        let shells =
            Shells { character, positions, limb: &limb, visible: &|_| true, centre, axis: self.axis };
        let places = outermost(&shells, self.front, on_one)?;
        let all: Vec<Place> = places.iter().map(|p| p.0).collect();
        let mut mark = mark(id, format!("Ring {}", id.0 + 1), &all, true);
        mark.points.iter_mut().zip(&places).for_each(|(point, place)| point.lifted = place.1);
        Some(mark)
    }

    fn at(&self, t: f32) -> Vec3 {
        point_on(&self.character.skeleton.bones[self.bone.index()], t)
    }

    /// Returns the first skin point hit by a ray from the bone; triangles attached to this bone take precedence.
    fn hit(&self, from: Vec3, angle: f32) -> Option<Place> {
        let control = &self.character.control;
        let ray = Quat::from_axis_angle(self.axis, angle) * self.front;
        let mut best: Option<((bool, f32), Place)> = None;
        for (t, corners) in control.triangles.iter().enumerate() {
            if corners.iter().any(|&v| control.rigid[v as usize]) {
                continue;
            }
            let Some((distance, weights)) =
                ray_triangle(from, ray, corners.map(|v| control.positions[v as usize]))
            else {
                continue;
            };
            let other = corners.iter().all(|&v| self.attachments.bone[v as usize] != self.bone);
            if best.is_none_or(|(key, _)| (other, distance) < key) {
                best = Some(((other, distance), (t as u32, weights)));
            }
        }
        best.map(|b| b.1)
    }
}
