//! Coordinates of the joints in the cage. By these coordinates, the joints follow the rest cage (SkelUp).
//!
//! *Real-time Deformation with Coupled Cages and Skeletons* (Corda et al. 2020), section 4.2, equations 9 to 13. K.
//! Hormann, N. Sukumar: *Maximum entropy coordinates for arbitrary polytopes*, SGP 2008.

use super::mean_value::mean_value;
use super::mesh::CageMesh;
use crate::asset::Influences;
use crate::base::math::{DMat3, DVec3, Vec3};
use crate::base::{Error, Progress, Result};
use crate::bind::Character;
use rayon::prelude::*;

/// The smallest localisation and the smallest weight; epsilon of equation 9.
const FLOOR: f64 = 0.01;

/// The exponent of the weights, kappa of equation 9.
const EXPONENT: f64 = 0.05;

/// The smallest mass of a cage vertex, as a fraction of the largest mass, if masses are clamped.
const LEAST_MASS: f64 = 1e-10;

/// Coordinates are large if their absolute values sum to more than this.
const LARGE: f64 = 3.0;

/// A row of coordinates is accepted if it misses its joint by at most this fraction of the cage's diagonal.
const PRECISION: f64 = 1e-12;

/// The longest step of Newton's method, in units of 1 / (the cage's diagonal).
const LONGEST: f64 = 20.0;

/// Number of joints whose masses are summed in one pass over the skin's coordinates.
const BLOCK: usize = 4;

/// The input of equation 10. All positions are in bind space.
pub(super) struct JointInput<'a> {
    /// Position of each joint (J).
    pub joints: &'a [DVec3],
    /// Parent of each joint (J).
    pub parents: &'a [Option<usize>],
    /// Position of each skin vertex (V).
    pub positions: &'a [DVec3],
    /// Triangles of the skin.
    pub triangles: &'a [[u32; 3]],
    /// Skinning weights of each skin vertex.
    pub influences: &'a Influences,
    /// Coordinates of the skin in the cage, V x C.
    pub skin: &'a [f64],
    /// The cage, with C vertices.
    pub cage: &'a CageMesh,
}

/// Returns the coordinates psi of the joints in the cage: one row per joint (J) with one number per cage vertex (C).
///
/// `skin` holds the coordinates phi of the control vertices in the cage, one row per vertex. Each returned row sums to
/// one and reproduces its joint in bind space to 1e-12 of the cage's diagonal. A number can be negative where
/// coordinates of the skin are negative. Joints outside the cage's convex hull get mean value coordinates. The work is
/// of order J V C.
///
/// Corda et al. 2020, equations 10 to 12. **Differs**: Sinew rejects a row that misses its joint. The authors' code
/// uses such rows, which displaces joints at rest.
///
/// # Errors
/// [`Error::Input`] if `skin` has a wrong length, or the work is cancelled.
pub fn joint_coordinates(
    character: &Character,
    cage: &CageMesh,
    skin: &[f64],
    progress: &Progress,
) -> Result<Vec<f64>> {
    let joints: Vec<DVec3> = joint_positions(character);
    let parents: Vec<_> = character.skeleton.joints.iter().map(|j| j.parent.map(|p| p.index())).collect();
    let positions: Vec<DVec3> = character.control.positions.iter().map(|p| p.as_dvec3()).collect();
    let input = JointInput {
        joints: &joints,
        parents: &parents,
        positions: &positions,
        triangles: &character.control.triangles,
        influences: &character.control.influences,
        skin,
        cage,
    };
    joint_rows(&input, progress)
}

/// Returns the position of each joint in bind space, metres.
pub(super) fn joint_positions(character: &Character) -> Vec<DVec3> {
    character.skeleton.joints.iter().map(|j| Vec3::from(j.bind_from_joint.translation).as_dvec3()).collect()
}

/// Computes psi from explicit input; see [`joint_coordinates`].
pub(super) fn joint_rows(input: &JointInput, progress: &Progress) -> Result<Vec<f64>> {
    let columns = input.cage.positions.len();
    if input.skin.len() != input.positions.len() * columns {
        return Err(Error::input(
            format!("the skin's cage coordinates have {} numbers", input.skin.len()),
            format!("give {} x {columns}", input.positions.len()),
        ));
    }
    let cage_triangles: Vec<_> = input.cage.triangles().collect();
    let blocks = input.joints.len().div_ceil(BLOCK);
    let rows: Vec<Vec<f64>> = (0..blocks)
        .into_par_iter()
        .map(|block| {
            if progress.is_cancelled() {
                return Vec::new();
            }
            let joints = block * BLOCK..((block + 1) * BLOCK).min(input.joints.len());
            let masses = masses_of(input, joints.clone());
            let row = |(j, masses): (usize, &[f64])| {
                let p = input.joints[j];
                projected(&input.cage.positions, masses, p)
                    .unwrap_or_else(|| mean_value(&input.cage.positions, &cage_triangles, &[p]))
            };
            joints.zip(masses.chunks(columns.max(1))).flat_map(row).collect()
        })
        .collect();
    if progress.is_cancelled() {
        return Err(Error::input("the joints' cage coordinates were cancelled", "bind the cage again"));
    }
    Ok(rows.concat())
}

/// Returns the masses of the cage vertices for a few joints, one row per joint (equation 10, before the clamp).
fn masses_of(input: &JointInput, joints: std::ops::Range<usize>) -> Vec<f64> {
    let columns = input.cage.positions.len();
    let vertices = input.positions.len();
    let mut prior = mean_value(input.positions, input.triangles, &input.joints[joints.clone()]);
    for (row, j) in prior.chunks_mut(vertices.max(1)).zip(joints.clone()) {
        let local = localisation(input.influences, j, input.parents[j]);
        row.iter_mut().zip(local).for_each(|(w, l)| *w *= l);
    }
    let mut masses = vec![0.0; joints.len() * columns];
    for (v, phi) in input.skin.chunks(columns.max(1)).enumerate() {
        for (k, sum) in masses.chunks_mut(columns.max(1)).enumerate() {
            let weight = prior[k * vertices + v];
            sum.iter_mut().zip(phi).for_each(|(m, p)| *m += weight * p);
        }
    }
    masses
}

/// Returns the localisation of a joint at every skin vertex, a weight that is large near the joint: about 0.93 where
/// the joint and its parent share the skin weight, 0.79 where one of the two has all of the skin weight, and 0.59 where
/// both have none. For a root, the localisation is 0.01 everywhere.
///
/// Corda et al. 2020, equation 9, with the authors' constants.
pub fn localisation(influences: &Influences, joint: usize, parent: Option<usize>) -> Vec<f64> {
    let floor = FLOOR.powf(EXPONENT);
    let least = -1.0 + floor * if parent.is_some() { 2.0 } else { 1.0 };
    let is_near = |j: u16| usize::from(j) == joint || Some(usize::from(j)) == parent;
    (0..influences.len())
        .map(|v| {
            let near = influences.of(v).filter(|&(j, w)| is_near(j) && f64::from(w) > FLOOR);
            let sum: f64 = near.map(|(_, w)| f64::from(w).powf(EXPONENT) - floor).sum();
            (least + sum).max(FLOOR)
        })
        .collect()
}

/// Returns the coordinates of `p` in `corners` (C) that are nearest to the masses: those of maximum entropy.
///
/// Like the skin's coordinates, masses can be negative. The coordinates keep the signs of the masses, as in the
/// authors' code, unless the solver finds no such coordinates or finds large ones. In that case, it clamps the masses
/// to a small positive number. Clamped masses give positive coordinates for every point inside the convex hull. Returns
/// `None` outside the hull.
fn projected(corners: &[DVec3], masses: &[f64], p: DVec3) -> Option<Vec<f64>> {
    let first = *corners.first()?;
    let (low, high) = corners.iter().fold((first, first), |(low, high), c| (low.min(*c), high.max(*c)));
    let size = low.distance(high);
    let at: Vec<DVec3> = corners.iter().map(|&c| (c - p) / size).collect();
    let sign = masses.iter().sum::<f64>().signum();
    let signed: Vec<f64> = masses.iter().map(|m| m * sign).collect();
    let kept = maximum_entropy(&at, &signed).filter(|w| w.iter().map(|w| w.abs()).sum::<f64>() <= LARGE);
    kept.or_else(|| {
        let largest = signed.iter().copied().fold(0.0, f64::max);
        // Without a positive mass, as can happen in an open skin, all cage vertices count the same.
        let positive = |&m: &f64| if largest > 0.0 { m.max(largest * LEAST_MASS) } else { 1.0 };
        maximum_entropy(&at, &signed.iter().map(positive).collect::<Vec<_>>())
    })
}

/// Returns the coordinates of the origin in the points `at` that have the form `m exp(-slope . v)`, or `None` if
/// Newton's method does not find them. With positive masses, these coordinates have the least cross entropy to the
/// masses, and the slope minimises the convex function `log sum m exp(-slope . v)`.
///
/// Corda et al. 2020, equation 11; Hormann, Sukumar 2008, section 3.
pub(super) fn maximum_entropy(at: &[DVec3], masses: &[f64]) -> Option<Vec<f64>> {
    let is_convex = masses.iter().all(|&m| m > 0.0);
    let mut slope = DVec3::ZERO;
    let (mut value, mut weights) = weights_at(at, masses, slope)?;
    let mut miss = centre(at, &weights);
    for _ in 0..200 {
        let mut spread = DMat3::ZERO;
        for (&v, &w) in at.iter().zip(&weights) {
            let r = v - miss;
            spread += DMat3::from_cols(r * (r.x * w), r * (r.y * w), r * (r.z * w));
        }
        let step = (spread.inverse() * miss).clamp_length_max(LONGEST);
        if !step.is_finite() {
            break;
        }
        // Halve the step until it makes progress. Near the solution, rounding hides the decrease of the value, so the
        // length of `miss` decides. The loop ends when rounding errors prevent progress.
        let by_value = is_convex && miss.length() > 1e-6;
        let trial = |part: f64| {
            let next = slope + step * part;
            let (found, weights) = weights_at(at, masses, next)?;
            let left = centre(at, &weights);
            let progress = if by_value {
                found < value - 1e-4 * part * step.dot(miss)
            } else {
                left.length() < (1.0 - 1e-4 * part) * miss.length()
            };
            progress.then_some((next, found, weights, left))
        };
        let Some(better) = (0..30).find_map(|k| trial(0.5f64.powi(k))) else { break };
        (slope, value, weights, miss) = better;
    }
    (miss.length() <= PRECISION).then_some(weights)
}

/// Returns the logarithm of the sum of `m exp(-slope . v)`, and these weights divided by their sum; `None` if the sum is
/// not a positive number.
fn weights_at(at: &[DVec3], masses: &[f64], slope: DVec3) -> Option<(f64, Vec<f64>)> {
    let top = at.iter().map(|v| -slope.dot(*v)).fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> =
        at.iter().zip(masses).map(|(v, m)| m * (-slope.dot(*v) - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    (sum > 0.0 && sum.is_finite()).then(|| (top + sum.ln(), weights))
}

/// Returns the sum of the points times their weights.
fn centre(at: &[DVec3], weights: &[f64]) -> DVec3 {
    at.iter().zip(weights).map(|(&v, &w)| v * w).sum()
}

/// Returns the coordinates of the bones' tails in the cage: one row per bone with one number per cage vertex (C). A bone
/// with a child joint has the child's row of `joints` (psi, J x C). The others have mean value coordinates, which can be
/// negative if the tail is outside of the cage.
pub fn tip_coordinates(character: &Character, cage: &CageMesh, joints: &[f64]) -> Vec<f64> {
    let columns = cage.positions.len();
    let bones = &character.skeleton.bones;
    let triangles: Vec<_> = cage.triangles().collect();
    let free = bones.iter().filter(|b| b.child.is_none());
    let tails: Vec<DVec3> = free.map(|b| b.tail.as_dvec3()).collect();
    let rows = mean_value(&cage.positions, &triangles, &tails);
    let mut free = rows.chunks(columns.max(1));
    let row = |bone: &crate::rig::Bone| match bone.child {
        Some(child) => &joints[child.index() * columns..][..columns],
        None => free.next().unwrap_or_default(),
    };
    bones.iter().flat_map(row).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;
    use crate::base::math::Affine3A;

    fn corners() -> Vec<DVec3> {
        (0..8)
            .map(|k| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0)
            .collect()
    }

    fn miss(corners: &[DVec3], row: &[f64], p: DVec3) -> f64 {
        let back: DVec3 = corners.iter().zip(row).map(|(&c, &w)| c * w).sum();
        back.distance(p).max((row.iter().sum::<f64>() - 1.0).abs())
    }

    #[test]
    fn projections_reproduce_every_point_of_the_hull() {
        let corners = corners();
        let mut random = Random::new(5);
        for round in 0..500 {
            let p = random.vector().as_dvec3() * if round % 2 == 0 { 0.9 } else { 0.999 };
            let masses: Vec<f64> = match round % 5 {
                0 => vec![1.0; 8],
                1 => vec![0.0; 8],
                2 => (0..8).map(|_| -f64::from(random.unit())).collect(),
                3 => (0..8).map(|_| f64::from(random.unit()) - 0.45).collect(),
                _ => (0..8).map(|k| if k == round / 5 % 8 { 1.0 } else { 0.0 }).collect(),
            };
            let row = projected(&corners, &masses, p).unwrap();
            let miss = miss(&corners, &row, p);
            assert!(miss < 1e-11, "{round}: {p} {masses:?} {miss:e}");
            assert!(row.iter().map(|w| w.abs()).sum::<f64>() < 3.001, "{row:?}");
        }
        assert!(projected(&corners, &[1.0; 8], DVec3::new(0.0, 0.0, 1.01)).is_none());
        assert!(projected(&[], &[], DVec3::ZERO).is_none());
    }

    #[test]
    fn coordinates_that_already_fit_are_kept() {
        let masses: Vec<f64> = corners().iter().map(|c| 0.125 + 0.05 * c.x - 0.15 * c.x * c.y).collect();
        let p: DVec3 = corners().iter().zip(&masses).map(|(&c, &m)| c * m).sum();
        let row = projected(&corners(), &masses, p).unwrap();
        assert!(row.iter().zip(&masses).all(|(a, b)| (a - b).abs() < 1e-14), "{row:?}");
        assert!(row.iter().any(|&w| w < 0.0));
    }

    #[test]
    fn localisation_is_largest_where_joint_and_parent_share_the_weight() {
        let mut influences = Influences::default();
        influences.push([(1, 0.5), (0, 0.5)]);
        influences.push([(1, 1.0)]);
        influences.push([(2, 1.0)]);
        influences.push([(2, 0.995), (1, 0.005)]);
        let found = localisation(&influences, 1, Some(0));
        let wanted = [2.0 * 0.5f64.powf(0.05) - 1.0, 0.01f64.powf(0.05), 2.0 * 0.01f64.powf(0.05) - 1.0];
        assert!(found.iter().zip([0, 1, 2, 2]).all(|(l, k)| (l - wanted[k]).abs() < 1e-14), "{found:?}");
        assert_eq!(localisation(&influences, 1, None), [0.01; 4]);
    }

    #[test]
    fn every_joint_gets_a_sound_row() {
        let (mut character, cage) = crate::cage::tests::tube();
        let precision = |character: &Character| {
            let triangles: Vec<_> = cage.triangles().collect();
            let points: Vec<DVec3> = character.control.positions.iter().map(|p| p.as_dvec3()).collect();
            let phi = mean_value(&cage.positions, &triangles, &points);
            let psi = joint_coordinates(character, &cage, &phi, &Progress::default()).unwrap();
            let rows = psi.chunks(cage.positions.len()).zip(joint_positions(character));
            rows.map(|(row, x)| miss(&cage.positions, row, x)).fold(0.0, f64::max)
        };
        let place = |character: &mut Character, joint: usize, x: Vec3| {
            character.skeleton.joints[joint].bind_from_joint = Affine3A::from_translation(x);
        };
        assert!(precision(&character) < 1e-11);
        let on_skin = character.control.positions[40];
        place(&mut character, 1, on_skin);
        place(&mut character, 2, on_skin);
        assert!(precision(&character) < 1e-11, "on a skin vertex, two in one place");
        place(&mut character, 3, Vec3::new(0.6, 2.0, 0.1));
        assert!(precision(&character) < 1e-11, "outside of the skin");
        place(&mut character, 4, Vec3::new(3.0, 9.0, -2.0));
        assert!(precision(&character) < 1e-11, "outside of the cage");
        character.skeleton.joints[3].parent = None;
        character.control.triangles.truncate(character.control.triangles.len() / 2);
        assert!(precision(&character) < 1e-11, "an open skin");
        character.control.triangles.clear();
        assert!(precision(&character) < 1e-11, "a skin without triangles");
    }
}
