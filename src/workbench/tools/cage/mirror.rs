//! The cage with *Mirror*: partners of vertices, and symmetric motions.

use super::nearest;
use crate::base::math::DVec3;
use crate::cage::Cage;
use crate::rig::Mirror;

/// Returns the mirrored partner of each vertex: the vertex nearest to its mirror image, or `None` if none is near. A
/// vertex in the plane of symmetry is its own partner.
pub(super) fn partners(cage: &Cage, mirror: Option<&Mirror>) -> Vec<Option<u32>> {
    let Some(mirror) = mirror else { return vec![None; cage.vertices()] };
    let positions = &cage.mesh.positions;
    let low = positions.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = positions.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let within = 0.03 * low.distance(high);
    let of = |x: &DVec3| {
        let found = nearest(positions, mirror.reflect_bind(*x));
        found.filter(|f| f.1 <= within).map(|f| f.0 as u32)
    };
    positions.iter().map(of).collect()
}

/// Makes the motion of the cage symmetric: each vertex gets the mean of its own motion and of its partner's reflected
/// motion, weighted so that a hand that holds both partners in full moves both as far as one.
pub(super) fn mirrored(
    partners: &[Option<u32>],
    reflect: impl Fn(DVec3) -> DVec3,
    share: &[f32],
    own: &[DVec3],
    moved: &mut [DVec3],
) {
    for (v, partner) in partners.iter().enumerate() {
        if let Some(p) = partner.map(|p| p as usize) {
            let both = f64::from(share[v] + share[p]).max(1.0);
            moved[v] =
                if p == v { 0.5 * (own[v] + reflect(own[v])) } else { (own[v] + reflect(own[p])) / both };
        }
    }
}

/// Adds to each vertex the reflected motion of its partner, by the rules of takes before version 10: a hand that holds
/// both partners moves them twice as far.
pub(super) fn add_reflections(
    partners: &[Option<u32>],
    reflect: impl Fn(DVec3) -> DVec3,
    own: &[DVec3],
    moved: &mut [DVec3],
) {
    for (v, partner) in partners.iter().enumerate() {
        if let Some(p) = partner.filter(|p| *p as usize != v) {
            moved[p as usize] += reflect(own[v]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vertices 0 and 1 are partners, vertex 2 lies in the plane of symmetry, and vertex 3 has no partner.
    #[test]
    fn a_mirrored_motion_is_symmetric_and_as_long_as_the_hands() {
        let partners = [Some(1), Some(0), Some(2), None];
        let reflect = |d: DVec3| DVec3::new(-d.x, d.y, d.z);
        let hand = DVec3::new(0.2, 0.0, 0.4);
        for [left, right, middle] in [[1.0, 0.0, 0.0f32], [1.0, 1.0, 1.0], [1.0, 0.5, 0.75], [0.25, 0.5, 0.5]]
        {
            let share = [left, right, middle, left];
            let own = share.map(|s| hand * f64::from(s));
            let mut moved = own;
            mirrored(&partners, reflect, &share, &own, &mut moved);
            assert!(moved[1].distance(reflect(moved[0])) < 1e-12, "{share:?}: {moved:?}");
            let most = f64::from(left + right).min(1.0);
            assert!((moved[0].z - most * hand.z).abs() < 1e-12, "{share:?}: {moved:?}");
            assert!(moved[2].x == 0.0 && (moved[2].z - own[2].z).abs() < 1e-12, "{share:?}: {moved:?}");
            assert_eq!(moved[3], own[3]);
        }
    }
}
