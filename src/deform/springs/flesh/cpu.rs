//! The corrections' CPU twin, in the arithmetic of the shaders (`glsl/deform/springs/{volume,inflate,sides,untangle}`).

use super::super::Params;
use super::super::cpu::PosedVertex;
use super::bind::{Face, Flesh, prism};
use super::{LIMIT, OPEN, PUSH, RELAXATION, ROUNDS};
use crate::base::math::{Quat, Vec3};
use rayon::prelude::*;

/// Corrects posed vertices in place.
pub fn correct(flesh: &Flesh, params: &Params, posed: &[PosedVertex], x: &mut [Vec3]) {
    if params.volume > 0.0 {
        for _ in 0..ROUNDS {
            inflate(flesh, params.volume, posed, x);
        }
    }
    untangle(flesh, params.untangle, posed, x);
}

fn inflate(flesh: &Flesh, share: f32, posed: &[PosedVertex], x: &mut [Vec3]) {
    let factors: Vec<f32> = flesh
        .offset
        .windows(2)
        .zip(&flesh.bounds)
        .map(|(w, &[dead, least])| {
            let (mut lost, mut growth) = (0.0f32, 0.0f32);
            for e in &flesh.entries[w[0] as usize..w[1] as usize] {
                let anchors = e.triangle.map(|v| posed[v as usize].attachment);
                let s = e.triangle.map(|v| x[v as usize] - posed[v as usize].attachment);
                let (volume, grown) = prism(anchors, s);
                lost += e.share * (e.rest - volume);
                growth += e.weight * grown;
            }
            let growth = growth.max(least);
            let lost = lost - lost.clamp(-dead, dead);
            if growth > 0.0 { (share * lost / growth).clamp(-LIMIT, LIMIT) } else { 0.0 }
        })
        .collect();
    for (v, w) in flesh.pull_offset.windows(2).enumerate() {
        let pulls = &flesh.pulls[w[0] as usize..w[1] as usize];
        let factor: f32 = pulls.iter().map(|&(j, w)| w * factors[j as usize]).sum();
        x[v] += (x[v] - posed[v].attachment) * factor.clamp(-LIMIT, LIMIT);
    }
}

/// The mean of the corners' rotations applied to the rest normal.
fn side(face: &Face, posed: &[PosedVertex]) -> Vec3 {
    let [a, b, c] = face.triangle.map(|v| posed[v as usize].rotation);
    let same = |q: Quat| if a.dot(q) < 0.0 { -q } else { q };
    let sum = a + same(b) + same(c);
    sum.normalize() * face.normal
}

/// Pushes triangles open, so often at most.
fn untangle(flesh: &Flesh, rounds: u32, posed: &[PosedVertex], x: &mut [Vec3]) {
    let sides: Vec<Vec3> = flesh.faces.par_iter().map(|f| side(f, posed)).collect();
    for _ in 0..rounds.next_multiple_of(2) {
        let pushes: Vec<Vec3> =
            (0..flesh.soft.len()).into_par_iter().map(|k| push(flesh, &sides, x, k)).collect();
        if pushes.iter().all(|p| *p == Vec3::ZERO) {
            break;
        }
        for (&v, push) in flesh.soft.iter().zip(pushes) {
            x[v as usize] += push;
        }
    }
}

/// The mean of what a vertex's triangles ask of it, each by its size, so that one that asks little changes little.
fn push(flesh: &Flesh, sides: &[Vec3], x: &[Vec3], k: usize) -> Vec3 {
    let at = x[flesh.soft[k] as usize];
    let (mut sum, mut sizes) = (Vec3::ZERO, 0.0f32);
    for &[j, l, face] in &flesh.corners[flesh.corner_offset[k] as usize..flesh.corner_offset[k + 1] as usize]
    {
        let (n, area) = (sides[face as usize], flesh.faces[face as usize].area);
        let (to_j, to_l) = (x[j as usize] - at, x[l as usize] - at);
        let lacking = OPEN * area - to_j.cross(to_l).dot(n);
        if lacking <= 0.0 {
            continue;
        }
        let own = n.cross(to_l - to_j);
        let all = own.length_squared() + n.cross(to_l).length_squared() + n.cross(to_j).length_squared();
        let asked = own * (lacking / (all + area * 1e-12));
        let size = asked.length();
        let most = PUSH * area.sqrt();
        let (asked, size) = if size > most { (asked * (most / size), most) } else { (asked, size) };
        sum += asked * size;
        sizes += size;
    }
    if sizes > 0.0 { sum * (RELAXATION / sizes) } else { Vec3::ZERO }
}
