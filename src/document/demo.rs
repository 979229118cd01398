//! Demo strokes for any rigged character: a baseline along each prominent joint chain, and an offset stroke that
//! bends the chain, keyed over two seconds.

use super::{Document, Edit, Key};
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::base::{Error, NodeId, Result, StrokeId};
use crate::pose::{Sample, Stroke, StrokeLayer};
use crate::rig::{Chain, ChainKind, Limits, Pose, PosedRig, Skeleton, chains};
use std::f64::consts::TAU;

/// Key times, seconds.
const TIMES: [f64; 5] = [0.0, 0.5, 1.0, 1.5, 2.0];
/// Index into [`TIMES`] of the pose for still pictures.
const STILL: usize = 2;
/// Maximum number of demo strokes.
const MAX_STROKES: usize = 5;
/// Number of integration steps along an offset stroke.
const STEPS: usize = 32;
/// Number of integration steps between two knots of the offset stroke.
const STRIDE: usize = 4;

/// A baseline and its animated offset stroke.
#[derive(Clone, Debug, PartialEq)]
pub struct DemoStroke {
    /// Kind of the chain that the stroke bends.
    pub kind: ChainKind,
    /// Joints of the chain, in order.
    pub nodes: Vec<NodeId>,
    /// Baseline along the chain in the current pose.
    pub baseline: Stroke,
    /// Brush radius that reaches the chain's joints, metres.
    pub radius: f32,
    /// Offset strokes at increasing times, seconds; the first and the last equal the baseline.
    pub offsets: Vec<(f64, Stroke)>,
    /// Index into `offsets` of the pose for a still picture.
    pub still: usize,
}

/// Approximate fraction of an arm's length at which the hand begins.
const HAND: f64 = 0.65;

/// Parameters of a chain's bend.
#[derive(Clone, Copy)]
struct Bend {
    axis: DVec3,
    /// Largest rotation, radians.
    angle: f64,
    /// Rotation at the start of the chain, as a fraction of the largest.
    start: f64,
    /// Fraction of the chain at which the rotation reaches its largest value. Beyond it the rotation is constant, so
    /// that a hand stays aligned with the forearm.
    full: f64,
    /// Whether a wave runs along the chain; otherwise the bend is even.
    wave: bool,
    /// Factor of the rotation at each of [`TIMES`].
    strength: [f64; 5],
}

/// Returns demo strokes for a posed character. Each stroke applies to the pose that the strokes before it produce.
/// Empty if the character has no joint chain of positive length.
pub fn demo_strokes(skeleton: &Skeleton, pose: &Pose) -> Vec<DemoStroke> {
    layers(skeleton, (&Limits::new(), pose), 0).into_iter().map(|(_, stroke)| stroke).collect()
}

/// Returns the edits that add the demo to a document: first stroke layers in the still pose, then keys.
///
/// # Errors
/// The character has no joint chain.
pub fn demo_edits(skeleton: &Skeleton, document: &Document) -> Result<Vec<Edit>> {
    let (start, limits) = (document.posed(skeleton), document.limits());
    let layers = layers(skeleton, (limits, &start), document.unused_stroke_id().0);
    if layers.is_empty() {
        return Err(Error::input("the character has no chain of joints to pose", "give a rigged character"));
    }
    let with_offset = |(layer, stroke): &(StrokeLayer, DemoStroke), key: usize| {
        layer.clone().with_offset(stroke.offsets[key].1.clone())
    };
    let mut edits: Vec<Edit> = layers
        .iter()
        .map(|l| Edit::AddStroke { index: None, layer: Box::new(with_offset(l, l.1.still)) })
        .collect();
    for (k, &time) in TIMES.iter().enumerate() {
        let pose =
            layers.iter().fold(start.clone(), |pose, l| with_offset(l, k).applied(skeleton, limits, &pose));
        edits.push(Edit::SetKey(Key { time, pose }));
    }
    Ok(edits)
}

/// Returns demo strokes and their stroke layers, with ids from `first` on.
fn layers(
    skeleton: &Skeleton,
    (limits, start): (&Limits, &Pose),
    first: u32,
) -> Vec<(StrokeLayer, DemoStroke)> {
    let found = chains(skeleton);
    // Legs stay on the ground, unless the character has only leg chains.
    let standing = found.iter().any(|c| c.kind != ChainKind::Leg);
    let chosen = found.iter().filter(|c| !standing || c.kind != ChainKind::Leg).take(MAX_STROKES);
    let mut pose = start.clone();
    let mut out = Vec::new();
    for (i, chain) in chosen.enumerate() {
        let mut chain = chain.clone();
        // Rotated hips would lift the legs off the ground.
        if chain.kind == ChainKind::Spine && chain.nodes.len() > 2 {
            chain.nodes.remove(0);
        }
        let rig = PosedRig::new(skeleton, &pose);
        let Some(stroke) = stroke_for(&chain, &points_along(skeleton, &rig, &chain)) else { continue };
        let id = StrokeId(first + i as u32);
        let Ok(mut layer) =
            StrokeLayer::new(id, stroke.baseline.clone(), stroke.radius, (skeleton, &[]), &pose)
        else {
            continue;
        };
        layer.selection.retain(|s| stroke.nodes.contains(&s.node));
        layer.name = format!("{:?} {}", stroke.kind, i + 1);
        if layer.selection.is_empty() {
            continue;
        }
        pose = layer
            .clone()
            .with_offset(stroke.offsets[stroke.still].1.clone())
            .applied(skeleton, limits, &pose);
        out.push((layer, stroke));
    }
    out
}

/// Returns the posed positions of a chain's joints and of the last joint's tip.
fn points_along(skeleton: &Skeleton, rig: &PosedRig, chain: &Chain) -> Vec<Vec3> {
    let mut points: Vec<Vec3> =
        chain.nodes.iter().map(|n| Vec3::from(rig.world[n.index()].translation)).collect();
    let last = chain.nodes.last();
    let tip =
        skeleton.bones.iter().zip(&rig.bones).find(|(bone, _)| {
            bone.child.is_none() && Some(&skeleton.joints[bone.parent.index()].node) == last
        });
    points.extend(tip.map(|(_, posed)| posed.tail));
    points
}

fn stroke_for(chain: &Chain, points: &[Vec3]) -> Option<DemoStroke> {
    let length: f32 = points.windows(2).map(|p| (p[1] - p[0]).length()).sum();
    // Skip twist joints, which coincide with their parents, because knots must be distinct.
    let mut knots: Vec<Vec3> = Vec::new();
    for &p in points.iter().filter(|p| p.is_finite()) {
        if knots.last().is_none_or(|last| (p - *last).length() > 0.02 * length) {
            knots.push(p);
        }
    }
    let count = knots.len().max(2) - 1;
    let sample = |(i, p): (usize, &Vec3)| Sample::at(*p, i as f64 / count as f64);
    let baseline = Stroke::from_knots(knots.iter().enumerate().map(sample).collect()).ok()?;
    let reach = points.iter().map(|p| baseline.spline().closest(p.as_dvec3()).1).fold(0.0, f64::max) as f32;
    let bend = bend_of(chain, &knots);
    let offsets: Option<Vec<(f64, Stroke)>> =
        (0..TIMES.len()).map(|k| Some((TIMES[k], bent(&baseline, bend, k)?))).collect();
    Some(DemoStroke {
        kind: chain.kind,
        nodes: chain.nodes.clone(),
        baseline,
        radius: reach + 0.01 * length,
        offsets: offsets?,
        still: STILL,
    })
}

/// Returns the plane and angles of the bend. A spine or tail bends to the side, an arm upwards, and any other chain
/// in the direction of its current bend.
fn bend_of(chain: &Chain, knots: &[Vec3]) -> Bend {
    let along = (knots[knots.len() - 1] - knots[0]).as_dvec3().normalize_or(DVec3::X);
    let across = |to: DVec3| along.cross(to).try_normalize().unwrap_or(along.any_orthonormal_vector());
    let curl: DVec3 = knots.windows(3).map(|p| (p[1] - p[0]).cross(p[2] - p[1]).as_dvec3()).sum();
    let length: f32 = knots.windows(2).map(|p| (p[1] - p[0]).length()).sum();
    let steep = along.y.abs() > 0.95;
    let upwards = across(if steep { DVec3::Z } else { DVec3::Y });
    let natural = if curl.length() > 0.01 * f64::from(length).powi(2) { curl.normalize() } else { upwards };
    let raise = [0.0, 0.6, 1.0, 0.6, 0.0];
    let side = chain.side.as_dvec3();
    let degrees = |d: f64| d.to_radians();
    match chain.kind {
        ChainKind::Spine => Bend {
            axis: across(side),
            angle: degrees(45.0),
            start: 0.0,
            full: 1.0,
            wave: false,
            strength: [0.0, 0.6, 1.0, -0.5, 0.0],
        },
        ChainKind::Tail => Bend {
            axis: across(side),
            angle: degrees(45.0),
            start: 0.0,
            full: 1.0,
            wave: true,
            strength: [0.0, 1.0, 1.0, 1.0, 0.0],
        },
        // Raise the arm on the side opposite to the spine's lean.
        ChainKind::Arm if along.dot(side) > 0.0 => Bend {
            axis: upwards,
            angle: degrees(45.0),
            start: 0.4,
            full: HAND,
            wave: false,
            strength: [0.0, 1.0, 1.0, 0.3, 0.0],
        },
        ChainKind::Arm => {
            Bend { axis: upwards, angle: degrees(75.0), start: 0.4, full: HAND, wave: false, strength: raise }
        }
        ChainKind::Limb if knots.len() > 7 => Bend {
            axis: natural,
            angle: degrees(50.0),
            start: 0.0,
            full: 1.0,
            wave: true,
            strength: [0.0, 1.0, 1.0, 1.0, 0.0],
        },
        ChainKind::Limb | ChainKind::Leg => {
            Bend { axis: natural, angle: degrees(65.0), start: 0.0, full: 1.0, wave: false, strength: raise }
        }
    }
}

/// Bends the baseline step by step by rotating its tangents; keeps the length and the start.
fn bent(baseline: &Stroke, bend: Bend, key: usize) -> Option<Stroke> {
    let strength = bend.strength[key];
    if strength == 0.0 {
        return Some(baseline.clone());
    }
    let spline = baseline.spline();
    let step = spline.length() / STEPS as f64;
    let turn = |u: f64| {
        let shape = if bend.wave {
            // The wave's amplitude grows from the root of the tail, and the wave travels to the tip.
            (2.0 * u).min(1.0) * (TAU * (u - 0.25 * (key as f64 - STILL as f64))).sin()
        } else {
            bend.start + (1.0 - bend.start) * (u / bend.full).min(1.0)
        };
        DQuat::from_axis_angle(bend.axis, bend.angle * strength * shape)
    };
    let mut at = spline.position(0.0);
    let mut knots = vec![Sample::at(at.as_vec3(), 0.0)];
    for i in 0..STEPS {
        let (a, b) = (spline.at_length(i as f64 * step), spline.at_length((i + 1) as f64 * step));
        at += turn((i as f64 + 0.5) / STEPS as f64) * (spline.position(b) - spline.position(a));
        if (i + 1) % STRIDE == 0 {
            knots.push(Sample::at(at.as_vec3(), (i + 1) as f64 / STEPS as f64));
        }
    }
    Stroke::from_knots(knots).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing::{asset, session};
    use crate::rig::{chain, random};

    #[test]
    fn a_biped_is_bent_and_its_feet_stay() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let edits = demo_edits(s.skeleton(), s.document()).unwrap();
        let rest = s.posed().world(s.skeleton());
        for edit in edits {
            s.apply(edit).unwrap();
        }
        assert_eq!((s.document().strokes().len(), s.document().motion().key_times().len()), (3, 5));
        let posed = s.posed().world(s.skeleton());
        let moved = |n: &str| {
            let i = s.skeleton().find(n).unwrap().index();
            (posed[i].translation - rest[i].translation).length()
        };
        assert!(moved("head") > 0.1, "{}", moved("head"));
        assert!(moved("hand.R") > 0.3 && moved("hand.L") > 0.03, "{} {}", moved("hand.R"), moved("hand.L"));
        assert!(moved("foot.L") < 1e-5 && moved("hips") < 1e-5);
        // The still pose is the third key. The first and the last key are the pose before the demo strokes.
        let pose = |k: usize| s.document().state(s.skeleton(), Some(TIMES[k])).pose;
        assert_eq!(pose(2), s.posed());
        assert_eq!((&pose(0), &pose(4)), (s.document().base_pose(), s.document().base_pose()));
        for (a, b) in pose(1).local.iter().zip(&s.document().base_pose().local) {
            assert_eq!((a.scale, a.translation), (b.scale, b.translation));
        }
    }

    #[test]
    fn any_skeleton_with_length_gets_finite_strokes() {
        for seed in 1..60 {
            let (skeleton, pose) = random(seed, 1 + seed as usize % 30, seed % 2 == 0);
            for stroke in demo_strokes(&skeleton, &pose) {
                let length = stroke.baseline.length();
                for (_, offset) in &stroke.offsets {
                    assert!((offset.length() / length - 1.0).abs() < 0.2, "seed {seed}");
                }
            }
        }
        let (two, pose) = chain(2, 0.5);
        assert_eq!(demo_strokes(&two, &pose).len(), 1);
        let error = demo_edits(&Skeleton::default(), &Document::default()).unwrap_err().to_string();
        assert!(error.contains("no chain of joints"));
    }
}
