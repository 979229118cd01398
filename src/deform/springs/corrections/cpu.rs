//! The CPU reference of the corrections, with the arithmetic of the shaders
//! `glsl/deform/springs/{sides,respond,spread,measure,volume,balance,inflate,untangle}`.

use super::super::Params;
use super::super::cpu::PosedVertex;
use super::bind::{Corrections, Face, Side, cone, prism};
use super::{FREE, IDLE, LIMIT, OPEN, PUSH, RELAXATION, ROUNDS, SPREAD};
use crate::base::math::{Quat, Vec3};
use rayon::prelude::*;

/// Corrects the positions `x` in place: restores the volume and opens inverted triangles.
pub fn correct(corrections: &Corrections, params: &Params, posed: &[PosedVertex], x: &mut [Vec3]) {
    if params.volume <= 0.0 && params.untangle == 0 {
        return;
    }
    let sides: Vec<Vec3> = corrections.faces.par_iter().map(|f| side(f, posed)).collect();
    let response = response(corrections, &sides, x);
    let grow = |rounds: u32, x: &mut [Vec3]| {
        for _ in 0..rounds {
            if params.volume > 0.0 {
                let factors = factors(corrections, params.volume, posed, &response, x);
                inflate(corrections, &factors, posed, &response, x);
            }
        }
    };
    grow(ROUNDS, x);
    untangle(corrections, params.untangle, &sides, x);
    if params.untangle > 0 && !corrections.soft.is_empty() {
        grow(1, x);
        untangle(corrections, params.untangle.div_ceil(2), &sides, x);
    }
}

/// Returns the response to growth per vertex, from the area of its triangles along the rotated rest normals.
fn response(corrections: &Corrections, sides: &[Vec3], x: &[Vec3]) -> Vec<f32> {
    let mut out = vec![1.0; x.len()];
    for (k, &v) in corrections.soft.iter().enumerate() {
        let (mut seen, mut all) = (0.0, 0.0);
        for &[j, l, face] in &corrections.corners
            [corrections.corner_offset[k] as usize..corrections.corner_offset[k + 1] as usize]
        {
            let at = x[v as usize];
            seen += (x[j as usize] - at).cross(x[l as usize] - at).dot(sides[face as usize]);
            all += corrections.faces[face as usize].area;
        }
        let t = (seen / (all * FREE)).clamp(0.0, 1.0);
        out[v as usize] = t * t * (3.0 - 2.0 * t);
    }
    let mut next = out.clone();
    for _ in 0..SPREAD {
        for (k, &v) in corrections.soft.iter().enumerate() {
            let own = &corrections.corners
                [corrections.corner_offset[k] as usize..corrections.corner_offset[k + 1] as usize];
            // Each neighbour follows the vertex in one triangle, except at a border.
            let sum: f32 = own.iter().map(|&[j, _, _]| out[j as usize]).sum();
            next[v as usize] = out[v as usize].min(sum / own.len() as f32);
        }
        std::mem::swap(&mut out, &mut next);
    }
    out
}

/// Sums over the prisms of a joint.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Volume lost, cubic metres.
    lost: f32,
    /// Derivative of the volume with respect to the joint's growth factor.
    growth: f32,
    /// Degree to which the joint's tissue deforms; 0 if it does not deform.
    active: f32,
    /// `growth`, raised to its lower limit.
    firm: f32,
}

fn factors(
    corrections: &Corrections,
    share: f32,
    posed: &[PosedVertex],
    response: &[f32],
    x: &[Vec3],
) -> Vec<f32> {
    let prisms = corrections.sides[..corrections.prisms].par_iter().map(|side| {
        let anchors = side.triangle.map(|v| posed[v as usize].attachment);
        let s = side.triangle.map(|v| x[v as usize] - posed[v as usize].attachment);
        let (volume, grown) = prism(anchors, s);
        let [a, b, c] = side.triangle.map(|v| response[v as usize]);
        (volume, grown * ((a + b + c) * (1.0 / 3.0)))
    });
    let prisms: Vec<(f32, f32)> = prisms.collect();
    let joints = corrections.offset.windows(2).zip(&corrections.bounds);
    let sums: Vec<Sums> = joints
        .map(|(w, &[dead, least, size])| {
            let mut sums = Sums::default();
            for e in &corrections.entries[w[0] as usize..w[1] as usize] {
                let (volume, grown) = prisms[e.side as usize];
                sums.lost += e.share * (e.rest - volume);
                sums.growth += e.weight * grown;
                sums.active += e.share * (e.rest - volume).abs();
            }
            sums.firm = sums.growth.max(least);
            sums.lost -= sums.lost.clamp(-dead, dead);
            let active = if sums.active > dead { sums.active / size - IDLE } else { 0.0 };
            sums.active = active.clamp(0.0, 1.0);
            sums
        })
        .collect();
    let own = |s: &Sums| if s.firm > 0.0 { (share * s.lost / s.firm).clamp(-LIMIT, LIMIT) } else { 0.0 };
    let (mut told, mut room) = (0.0f32, 0.0f32);
    for s in &sums {
        told += s.growth * own(s);
        room += s.firm * s.active;
    }
    // The part of the whole mesh's loss that the joints' prisms do not explain.
    let rest = if corrections.closed { share * whole(corrections, posed, x) - told } else { 0.0 };
    let more = if room > 0.0 { rest / room } else { 0.0 };
    sums.iter().map(|s| (own(s) + more * s.active).clamp(-LIMIT, LIMIT)).collect()
}

/// Returns the volume that the whole mesh has lost, cubic metres.
fn whole(corrections: &Corrections, posed: &[PosedVertex], x: &[Vec3]) -> f32 {
    let Some(first) = posed.first() else { return 0.0 };
    let from = first.attachment + first.rotation * (corrections.middle - corrections.first_attachment);
    let lost = |s: &Side| f64::from(s.cone - cone(s.triangle.map(|v| x[v as usize] - from)));
    let lost = corrections.sides.iter().map(lost).sum::<f64>() as f32;
    lost - lost.clamp(-corrections.whole_dead, corrections.whole_dead)
}

fn inflate(
    corrections: &Corrections,
    factors: &[f32],
    posed: &[PosedVertex],
    response: &[f32],
    x: &mut [Vec3],
) {
    for (v, w) in corrections.pull_offset.windows(2).enumerate() {
        let pulls = &corrections.pulls[w[0] as usize..w[1] as usize];
        let factor: f32 = pulls.iter().map(|&(j, w)| w * factors[j as usize]).sum();
        x[v] += (x[v] - posed[v].attachment) * (response[v] * factor.clamp(-LIMIT, LIMIT));
    }
}

/// Returns the rest normal, rotated by the mean of the corners' rotations.
pub(super) fn side(face: &Face, posed: &[PosedVertex]) -> Vec3 {
    let [a, b, c] = face.triangle.map(|v| posed[v as usize].rotation);
    let same = |q: Quat| if a.dot(q) < 0.0 { -q } else { q };
    let sum = a + same(b) + same(c);
    sum.normalize() * face.normal
}

/// Pushes inverted triangles open in `rounds` rounds, and one more if `rounds` is odd.
pub(super) fn untangle(corrections: &Corrections, rounds: u32, sides: &[Vec3], x: &mut [Vec3]) {
    for _ in 0..rounds.next_multiple_of(2) {
        let pushes: Vec<Vec3> =
            (0..corrections.soft.len()).into_par_iter().map(|k| push(corrections, sides, x, k)).collect();
        if pushes.iter().all(|p| *p == Vec3::ZERO) {
            break;
        }
        for (&v, push) in corrections.soft.iter().zip(pushes) {
            x[v as usize] += push;
        }
    }
}

/// Returns the weighted mean of the displacements that a vertex's triangles require. Each weight is the
/// displacement's length, so that a small requirement has little effect.
fn push(corrections: &Corrections, sides: &[Vec3], x: &[Vec3], k: usize) -> Vec3 {
    let at = x[corrections.soft[k] as usize];
    let (mut sum, mut sizes) = (Vec3::ZERO, 0.0f32);
    for &[j, l, face] in
        &corrections.corners[corrections.corner_offset[k] as usize..corrections.corner_offset[k + 1] as usize]
    {
        let (n, area) = (sides[face as usize], corrections.faces[face as usize].area);
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
