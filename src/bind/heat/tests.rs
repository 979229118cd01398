//! Tests of heat weights against known results.

use super::*;
use crate::bind::shapes::capsule;

/// Returns a capsule along +Y with one bone per metre.
pub(super) fn arm(bones: u16) -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<HeatSite>) {
    let character = capsule(usize::from(bones), 60, 16, 0.15, f32::from(bones));
    let at = |k: u16| Vec3::Y * f32::from(k);
    let sites = (0..bones).map(|k| HeatSite { owner: k, head: at(k), tail: at(k + 1) }).collect();
    (character.control.positions, character.control.triangles, sites)
}

fn weight(of: &Influences, v: usize, owner: u16) -> f32 {
    of.of(v).find(|e| e.0 == owner).map_or(0.0, |e| e.1)
}

#[test]
fn weights_follow_bones_and_cross_over_at_the_joints() {
    let (positions, triangles, sites) = arm(3);
    let weights = heat_weights(&positions, &triangles, &sites).unwrap();
    assert_eq!(weights.len(), positions.len());
    for (v, x) in positions.iter().enumerate() {
        let sum: f32 = weights.of(v).map(|e| e.1).sum();
        assert!((sum - 1.0).abs() < 1e-5 && weights.of(v).all(|e| e.1 > 0.0), "{sum}");
        let middle = (x.y - (x.y.clamp(0.0, 2.999).floor() + 0.5)).abs() < 0.2;
        let own = x.y.clamp(0.0, 2.999) as u16;
        assert!(!middle || weight(&weights, v, own) > 0.9, "{x}: {:?}", weights.of(v).collect::<Vec<_>>());
        // The weights of both bones are equal at the joint between them.
        if (x.y - 1.0).abs() < 1e-4 {
            assert!((weight(&weights, v, 0) - 0.5).abs() < 0.05);
        }
    }
    let mut line: Vec<(f32, f32)> =
        positions.iter().enumerate().map(|(v, x)| (x.y, weight(&weights, v, 2))).collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(line.windows(2).all(|w| w[1].1 >= w[0].1 - 0.02), "{line:?}");
}

#[test]
fn it_is_the_solution_of_its_equation() {
    let (positions, triangles, sites) = arm(2);
    let mesh = Mesh::new(&positions, &triangles);
    let near: Vec<Near> = (0..positions.len()).map(|v| mesh.nearest(v, &sites)).collect();
    let weights = heat_weights(&positions, &triangles, &sites).unwrap();
    // Checks each row of the system, except rows where weights of the vertex or of a neighbour were dropped.
    let whole = |v: usize| (0..2).all(|j| weight(&weights, v, j) > 0.0);
    let mut checked = 0;
    let mut row: Vec<f64> = vec![0.0; positions.len()];
    let mut all = vec![true; positions.len()];
    for (corners, w) in &mesh.triangles {
        for k in 0..3 {
            let (a, b) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
            let step = w[k] * f64::from(weight(&weights, a, 0) - weight(&weights, b, 0));
            row[a] += step;
            row[b] -= step;
            (all[a], all[b]) = (all[a] && whole(b), all[b] && whole(a));
        }
    }
    for v in (0..positions.len()).filter(|&v| all[v] && whole(v)) {
        let p = if near[v].owners.contains(&0) { 1.0 / near[v].owners.len() as f64 } else { 0.0 };
        let heat = mesh.uptake(v, &near[v]);
        let off = row[v] + heat * (f64::from(weight(&weights, v, 0)) - p);
        assert!(off.abs() < 1e-4 * (1.0 + heat), "vertex {v}: {off}");
        checked += 1;
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn a_limb_beside_another_keeps_to_its_own_bone() {
    // Two capsules are 0.1 apart. Skin that faces the other capsule gets no weight of the other capsule's bone.
    let (mut positions, mut triangles, mut sites) = arm(1);
    let n = positions.len() as u32;
    positions.extend(positions.clone().iter().map(|x| *x + Vec3::X * 0.4));
    triangles.extend(triangles.clone().iter().map(|t| t.map(|v| v + n)));
    let other = Vec3::X * 0.3;
    // The second bone is nearer to parts of the first capsule's skin than the first bone is.
    sites.push(HeatSite { owner: 1, head: other, tail: other + Vec3::Y });
    sites[0].head.x = -0.1;
    sites[0].tail.x = -0.1;
    let weights = heat_weights(&positions, &triangles, &sites).unwrap();
    for v in (0..n as usize).filter(|&v| (0.1..0.9).contains(&positions[v].y)) {
        assert!(weight(&weights, v, 0) > 0.99, "{}", positions[v]);
    }
}

#[test]
fn odd_meshes_are_weighed_and_nonsense_refused() {
    let (positions, triangles, sites) = arm(2);
    let all = |positions: &[Vec3], triangles: &[[u32; 3]]| {
        let weights = heat_weights(positions, triangles, &sites).unwrap();
        assert_eq!(weights.len(), positions.len());
        for v in 0..weights.len() {
            let sum: f32 = weights.of(v).map(|e| e.1).sum();
            assert!((sum - 1.0).abs() < 1e-5);
        }
    };
    all(&[], &[]);
    all(&positions, &[]);
    all(&[Vec3::ONE; 5], &[[0, 1, 2], [2, 3, 4]]);
    let flat: Vec<Vec3> = positions.iter().map(|x| Vec3::new(x.x, x.y, 0.0)).collect();
    all(&flat, &triangles);
    let line: Vec<Vec3> = positions.iter().map(|x| Vec3::Y * x.y).collect();
    all(&line, &triangles);
    let mut more = triangles.clone();
    more.extend([[0, 0, 1], [3, 3, 3]]);
    all(&positions, &more);
    assert!(heat_weights(&positions, &triangles, &[]).is_err());
    assert!(heat_weights(&[Vec3::NAN], &[], &sites).is_err());
    assert!(heat_weights(&positions, &[[0, 1, u32::MAX]], &sites).is_err());
}
