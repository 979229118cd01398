//! The ring of a stroke that crosses a limb in the picture: the ring lies in the plane through the stroke and the eye.

use super::SurfacePoint;
use super::guide::{Shells, outermost};
use super::limb::Limb;
use crate::base::math::Vec3;
use crate::bind::Character;
use crate::geom::{Place, Walk};

/// Returns the closed ring in which a plane cuts the limb that some points of the skin lie on; `None` if the skin does
/// not go around the limb in this plane. If the limb has several shells, such as skin and sleeve, the ring lies on the
/// outermost.
///
/// - `posed` has the position of each control vertex in the displayed pose, world space, metres.
/// - `points` are points of the skin near the plane, such as the samples of the stroke.
/// - `visible` tells whether a triangle is visible; the ring ignores the others.
/// - `plane` is a point on the plane and its normal, world space.
pub fn ring_across(
    character: &Character,
    walk: &Walk,
    posed: &[Vec3],
    points: &[SurfacePoint],
    visible: &dyn Fn(u32) -> bool,
    (origin, normal): (Vec3, Vec3),
) -> Option<Vec<SurfacePoint>> {
    let control = &character.control;
    let normal = normal.try_normalize()?;
    let at = |p: &SurfacePoint| walk.position(&(p.triangle, p.barycentrics), posed);
    let stroke: Vec<Vec3> = points.iter().filter_map(at).collect();
    let limb = Limb::under(character, points);
    let height = |v: u32| normal.dot(posed[v as usize] - origin);
    // The walk starts where the plane cuts the limb nearest to the stroke.
    let mut start: Option<(f32, Place)> = None;
    for (t, corners) in control.triangles.iter().enumerate() {
        let heights = corners.map(height);
        let above = heights.iter().filter(|h| **h >= 0.0).count();
        if above == 0 || above == 3 || !visible(t as u32) || !limb.has_face(character, corners) {
            continue;
        }
        let place = (t as u32, middle_of_cut(heights));
        let x = walk.position(&place, posed)?;
        let near = stroke.iter().map(|s| s.distance_squared(x)).fold(f32::INFINITY, f32::min);
        if start.is_none_or(|s| near < s.0) {
            start = Some((near, place));
        }
    }
    let start = start?.1;
    let on_one = walk.around(&start, normal, posed);
    let centre = {
        let places = on_one.as_deref().unwrap_or(std::slice::from_ref(&start));
        let cut: Vec<Vec3> = places.iter().filter_map(|p| walk.position(p, posed)).collect();
        let cut =
            if on_one.is_some() { cut } else { limb_cut(character, walk, posed, &limb, origin, normal) };
        cut.iter().sum::<Vec3>() / cut.len().max(1) as f32
    };
    let shells = Shells { character, positions: posed, limb: &limb, visible, centre, axis: normal };
    let front = normal.any_orthonormal_vector();
    let places: Vec<(Place, bool)> = match outermost(&shells, front, on_one.as_deref()) {
        Some(places) => places,
        None => on_one?.into_iter().map(|p| (p, false)).collect(),
    };
    let like = points.first()?;
    let point = |((triangle, barycentrics), lifted)| SurfacePoint { triangle, barycentrics, lifted, ..*like };
    (places.len() > 2).then(|| places.into_iter().map(point).collect())
}

/// Returns the barycentric weights of the middle of the segment in which a plane cuts a triangle. `heights` are the
/// signed distances of the corners from the plane, on both sides of it.
fn middle_of_cut(heights: [f32; 3]) -> [f32; 3] {
    let mut out = [0.0; 3];
    for k in 0..3 {
        let (a, b) = (k, (k + 1) % 3);
        let (p, q) = (heights[a], heights[b]);
        if (p >= 0.0) != (q >= 0.0) {
            let s = p / (p - q);
            out[a] += 0.5 * (1.0 - s);
            out[b] += 0.5 * s;
        }
    }
    out
}

/// Returns one point per triangle of the limb that the plane cuts.
fn limb_cut(
    character: &Character,
    walk: &Walk,
    posed: &[Vec3],
    limb: &Limb,
    origin: Vec3,
    normal: Vec3,
) -> Vec<Vec3> {
    let triangles = character.control.triangles.iter().enumerate();
    let cut = |(t, corners): (usize, &[u32; 3])| {
        let heights = corners.map(|v| normal.dot(posed[v as usize] - origin));
        let above = heights.iter().filter(|h| **h >= 0.0).count();
        let cuts = (1..3).contains(&above) && limb.has_face(character, corners);
        cuts.then(|| walk.position(&(t as u32, middle_of_cut(heights)), posed)).flatten()
    };
    triangles.filter_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Quat;
    use crate::bind::shapes::capsule;
    use crate::rig::{Pose, PosedRig};

    #[test]
    fn the_ring_lies_in_the_plane_and_goes_around_the_limb_in_any_pose() {
        let character = capsule(2, 40, 24, 0.2, 2.0);
        let walk = Walk::new(&character.control.triangles);
        let mut pose = Pose::rest(&character.skeleton);
        pose.local[1].rotation = Quat::from_rotation_z(1.0).into();
        let rig = PosedRig::new(&character.skeleton, &pose);
        let posed: Vec<Vec3> = (0..character.control.positions.len())
            .map(|v| {
                let x = character.control.positions[v];
                let of = character.control.influences.of(v);
                of.map(|(j, w)| rig.skinning[usize::from(j)].transform_point3(x) * w).sum()
            })
            .collect();
        // A point on the lower bone, in front; the plane leans.
        let near = |x: Vec3| {
            let d = |c: &[u32; 3]| c.iter().map(|&v| posed[v as usize].distance(x)).sum::<f32>();
            let all = &character.control.triangles;
            let triangle = (0..all.len()).min_by(|a, b| d(&all[*a]).total_cmp(&d(&all[*b]))).unwrap() as u32;
            let barycentrics = [1.0 / 3.0; 3];
            SurfacePoint { triangle, barycentrics, pressure: 1.0, time: 3.0, lifted: false }
        };
        let points = [near(Vec3::new(0.0, 0.4, 0.2))];
        for normal in [Vec3::Y, Vec3::new(0.3, 1.0, -0.2)] {
            let origin = Vec3::new(0.0, 0.4, 0.0);
            let ring = ring_across(&character, &walk, &posed, &points, &|_| true, (origin, normal)).unwrap();
            let at: Vec<Vec3> =
                ring.iter().map(|p| walk.position(&(p.triangle, p.barycentrics), &posed).unwrap()).collect();
            let mut angle = 0.0;
            for (a, b) in at.iter().zip(at.iter().cycle().skip(1)) {
                assert!((*a - origin).dot(normal.normalize()).abs() < 1e-3, "{a} is off the plane");
                angle += (a.z.atan2(a.x) - b.z.atan2(b.x) + 9.0 * std::f32::consts::PI)
                    .rem_euclid(std::f32::consts::TAU)
                    - std::f32::consts::PI;
            }
            assert!((angle.abs() - std::f32::consts::TAU).abs() < 1e-3, "once around: {angle}");
            assert!(ring.iter().all(|p| !p.lifted && p.time == 3.0));
        }
        // A plane that misses the character.
        let far = (Vec3::Y * 9.0, Vec3::Y);
        assert!(ring_across(&character, &walk, &posed, &points, &|_| true, far).is_none());
        assert!(
            ring_across(&character, &walk, &posed, &points, &|_| true, (Vec3::ZERO, Vec3::ZERO)).is_none()
        );
        assert!(ring_across(&character, &walk, &posed, &[], &|_| true, far).is_none());
    }
}
