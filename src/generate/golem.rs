//! A horned creature with a tail and a bumpy hide, 1.9 m: a dense mesh with few joints, for benchmarks.

use super::body::Body;
use super::implicit::Cone;
use super::model::{Motion, Paint};
use super::noise::noise;
use crate::base::math::Vec3;

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

const TORSO: u16 = 0;
const HEAD: u16 = 1;
const TAIL: u16 = 2;
const ARM: u16 = 10;
const LEG: u16 = 20;

const HIPS: Vec3 = v(0.0, 0.86, -0.06);
const SPINE: Vec3 = v(0.0, 1.02, -0.07);
const CHEST: Vec3 = v(0.0, 1.22, -0.04);
const NECK: Vec3 = v(0.0, 1.46, 0.06);
const HEAD_AT: Vec3 = v(0.0, 1.57, 0.16);
const SHOULDER: Vec3 = v(0.27, 1.36, 0.0);
const ELBOW: Vec3 = v(0.50, 1.12, -0.04);
const WRIST: Vec3 = v(0.66, 0.88, 0.08);
const HIP: Vec3 = v(0.16, 0.82, -0.04);
const KNEE: Vec3 = v(0.24, 0.46, 0.10);
const ANKLE: Vec3 = v(0.24, 0.12, -0.04);
const EYE: Vec3 = v(0.088, 1.690, 0.268);
const TAIL_AT: Vec3 = v(0.0, 0.78, -0.24);
const TAIL_MID: Vec3 = v(0.0, 0.46, -0.52);
const TAIL_END: Vec3 = v(0.0, 0.20, -0.98);

fn mirror(p: Vec3, side: f32) -> Vec3 {
    v(p.x * side, p.y, p.z)
}

/// Returns height and gradient of the hide's relief: coarse bumps, smaller bumps and a fine grain.
fn hide(p: Vec3) -> (f32, Vec3) {
    let mut sum = (0.0, Vec3::ZERO);
    for (frequency, height) in [(14.0, 0.0060), (40.0, 0.0024), (90.0, 0.0007)] {
        let (value, gradient) = noise(p * frequency);
        // The added square enlarges high bumps and deep pits more than shallow ones.
        sum.0 += height * value * (1.0 + value.abs());
        sum.1 += gradient * (frequency * height * (1.0 + 2.0 * value.abs()));
    }
    sum
}

/// Describes the golem; `vertices` is the target number of vertices.
pub(super) fn body(vertices: usize) -> Body {
    // The contour's cells are slightly finer than the target edges.
    let cell = 2.5 / (vertices as f32).sqrt();
    let mut body = Body::new("Golem", vertices, cell.min(0.02));
    body.shape.relief = Some(hide);
    bones(&mut body);
    let layer = body.layer(Paint::srgb("Hide", [122, 128, 92], 0.8), 0.0);
    for cone in trunk().into_iter().chain([1.0, -1.0].into_iter().flat_map(limbs)) {
        body.add(layer, cone.size(0.012));
    }
    let horn = body.layer(Paint::srgb("Horn", [226, 214, 186], 0.5), 0.006);
    for cone in [1.0, -1.0].into_iter().flat_map(horns) {
        body.add(horn, cone.size(0.008));
    }
    let eyes = body.layer(Paint::srgb("Eye", [240, 190, 50], 0.15), 0.004);
    for s in [1.0, -1.0] {
        body.add(eyes, Cone::ball(mirror(EYE, s), 0.036).group(HEAD).size(0.006));
    }
    for smooth in [horn, eyes] {
        body.shape.layers[smooth].rough = 0.0;
    }
    body.decal(Paint::srgb("Belly", [196, 178, 128], 0.8), |p| {
        let (x, y) = (p.x / 0.17, (p.y - 1.04) / 0.33);
        ((x * x + y * y).sqrt() - 1.0).max(0.05 - p.z)
    });
    body.decal(Paint::srgb("Pupil", [18, 14, 12], 0.1), |p| {
        let q = v(p.x.abs(), p.y, p.z) - EYE;
        // The pupil is a slit across the front of the eyeball.
        (q.length() - 0.05).max((q.x - q.z * 0.35).abs() - 0.0085 + q.y * q.y * 6.0).max(-q.z)
    });
    body.motion = Some(Motion {
        name: "Breathe",
        channels: vec![
            (2, vec![(0.0, Vec3::ZERO), (1.5, v(-0.03, 0.0, 0.0)), (3.0, Vec3::ZERO)]),
            (17, vec![(0.0, v(0.0, 0.12, 0.0)), (1.5, v(0.0, -0.12, 0.0)), (3.0, v(0.0, 0.12, 0.0))]),
            (18, vec![(0.0, v(0.0, 0.16, 0.0)), (1.5, v(0.0, -0.16, 0.0)), (3.0, v(0.0, 0.16, 0.0))]),
        ],
    });
    body
}

fn bones(body: &mut Body) {
    let hips = body.bone("Hips", None, [HIPS, SPINE], TORSO, 0.07);
    let spine = body.bone("Spine", Some(hips), [SPINE, CHEST], TORSO, 0.07);
    let chest = body.bone("Chest", Some(spine), [CHEST, NECK], TORSO, 0.07);
    let neck = body.bone("Neck", Some(chest), [NECK, HEAD_AT], TORSO, 0.06);
    body.bone("Head", Some(neck), [HEAD_AT, HEAD_AT + v(0.0, 0.06, 0.16)], HEAD, 0.05);
    for (name, s, group) in [("Left", 1.0, 0), ("Right", -1.0, 1)] {
        let m = |p| mirror(p, s);
        let upper =
            body.bone(format!("{name}UpperArm"), Some(chest), [m(SHOULDER), m(ELBOW)], ARM + group, 0.06);
        let lower =
            body.bone(format!("{name}LowerArm"), Some(upper), [m(ELBOW), m(WRIST)], ARM + group, 0.055);
        let tip = m(WRIST + v(0.05, -0.12, 0.06));
        body.bone(format!("{name}Hand"), Some(lower), [m(WRIST), tip], ARM + group, 0.04);
        let upper = body.bone(format!("{name}UpperLeg"), Some(hips), [m(HIP), m(KNEE)], LEG + group, 0.07);
        let lower = body.bone(format!("{name}LowerLeg"), Some(upper), [m(KNEE), m(ANKLE)], LEG + group, 0.06);
        body.bone(format!("{name}Foot"), Some(lower), [m(ANKLE), m(v(0.26, 0.05, 0.18))], LEG + group, 0.05);
    }
    let tail = body.bone("Tail1", Some(hips), [TAIL_AT, TAIL_MID], TAIL, 0.07);
    body.bone("Tail2", Some(tail), [TAIL_MID, TAIL_END], TAIL, 0.06);
}

fn trunk() -> Vec<Cone> {
    vec![
        Cone::new(HIPS, 0.23, SPINE, 0.235).group(TORSO),
        Cone::new(SPINE, 0.23, CHEST + v(0.0, 0.06, 0.0), 0.255).blend(0.08).group(TORSO),
        Cone::ellipsoid(v(0.0, 1.00, 0.06), v(0.20, 0.25, 0.17)).blend(0.08).group(TORSO),
        Cone::new(v(-0.20, 1.34, -0.03), 0.13, v(0.20, 1.34, -0.03), 0.13).blend(0.1).group(TORSO),
        Cone::new(CHEST + v(0.0, 0.10, 0.0), 0.18, HEAD_AT, 0.125).blend(0.08).group(TORSO),
        // Plates along the creature's back.
        Cone::new(v(0.0, 1.40, -0.20), 0.06, v(0.0, 1.50, -0.32), 0.018)
            .scaled(Vec3::X, 0.6)
            .blend(0.05)
            .group(TORSO),
        Cone::new(v(0.0, 1.20, -0.26), 0.07, v(0.0, 1.28, -0.40), 0.018)
            .scaled(Vec3::X, 0.6)
            .blend(0.05)
            .group(TORSO),
        Cone::new(v(0.0, 0.98, -0.27), 0.06, v(0.0, 1.04, -0.40), 0.018)
            .scaled(Vec3::X, 0.6)
            .blend(0.05)
            .group(TORSO),
        // Head: skull, snout, jaw, brow.
        Cone::ellipsoid(HEAD_AT + v(0.0, 0.07, 0.01), v(0.15, 0.135, 0.16)).blend(0.05).group(HEAD),
        Cone::new(v(0.0, 1.60, 0.24), 0.105, v(0.0, 1.555, 0.40), 0.068).blend(0.06).group(HEAD),
        Cone::new(v(0.0, 1.53, 0.22), 0.085, v(0.0, 1.495, 0.36), 0.050).blend(0.03).group(HEAD),
        Cone::new(v(0.0, 1.555, 0.20), 0.095, v(0.0, 1.530, 0.365), 0.052).blend(0.02).group(HEAD),
        Cone::new(v(-0.09, 1.730, 0.262), 0.026, v(0.09, 1.730, 0.262), 0.026).blend(0.04).group(HEAD),
        Cone::new(v(-0.045, 1.540, 0.462), 0.010, v(0.045, 1.540, 0.462), 0.010)
            .carve()
            .blend(0.02)
            .group(HEAD),
        Cone::new(v(-0.09, 1.548, 0.28), 0.012, v(-0.03, 1.537, 0.47), 0.012).carve().blend(0.02).group(HEAD),
        Cone::new(v(0.09, 1.548, 0.28), 0.012, v(0.03, 1.537, 0.47), 0.012).carve().blend(0.02).group(HEAD),
        // Tail.
        Cone::new(HIPS + v(0.0, -0.02, -0.10), 0.19, TAIL_AT + v(0.0, 0.0, -0.04), 0.155)
            .blend(0.1)
            .group(TORSO),
        Cone::new(TAIL_AT, 0.15, TAIL_MID, 0.098).blend(0.08).group(TAIL),
        Cone::new(TAIL_MID, 0.098, TAIL_END, 0.035).blend(0.06).group(TAIL),
        Cone::ellipsoid(TAIL_END, v(0.055, 0.055, 0.075)).blend(0.05).group(TAIL),
    ]
}

fn limbs(s: f32) -> Vec<Cone> {
    let side = if s > 0.0 { 0 } else { 1 };
    let m = |p| mirror(p, s);
    let arm = |c: Cone| c.group(ARM + side);
    let leg = |c: Cone| c.group(LEG + side);
    let mut out = vec![
        arm(Cone::new(m(SHOULDER), 0.135, m(ELBOW), 0.088)).blend(0.07),
        arm(Cone::new(m(ELBOW), 0.088, m(WRIST), 0.095).bulge(0.018)).blend(0.05),
        arm(Cone::ellipsoid(m(WRIST + v(0.025, -0.06, 0.03)), v(0.065, 0.085, 0.095))).blend(0.05),
        leg(Cone::new(m(HIP), 0.155, m(KNEE), 0.105)).blend(0.08),
        leg(Cone::new(m(KNEE), 0.102, m(ANKLE), 0.082)).blend(0.06),
        leg(Cone::new(m(ANKLE + v(0.0, -0.03, 0.02)), 0.10, m(v(0.26, 0.065, 0.16)), 0.085)).blend(0.06),
        Cone::ball(m(EYE - v(0.004, 0.0, 0.016)), 0.043).blend(0.015).group(HEAD),
        Cone::new(m(v(0.13, 1.66, 0.14)), 0.045, m(v(0.255, 1.70, 0.07)), 0.018)
            .scaled(Vec3::Z, 0.6)
            .blend(0.03)
            .group(HEAD),
        Cone::ball(m(v(0.034, 1.595, 0.462)), 0.013).carve().blend(0.012).group(HEAD),
    ];
    // Three fingers and a thumb, three toes.
    for (across, reach) in [(-0.055, 0.115), (0.0, 0.135), (0.055, 0.115)] {
        let root = WRIST + v(0.035, -0.10, 0.035 + across);
        out.push(
            arm(Cone::new(m(root), 0.030, m(root + v(0.035, -reach, 0.02 + across * 0.5)), 0.020))
                .blend(0.02),
        );
        let toe = v(0.262 + across * 1.3, 0.045, 0.20);
        out.push(leg(Cone::new(m(toe), 0.046, m(toe + v(across * 0.4, -0.008, 0.085)), 0.034)).blend(0.025));
    }
    let thumb = WRIST + v(-0.015, -0.06, 0.085);
    out.push(arm(Cone::new(m(thumb), 0.030, m(thumb + v(-0.02, -0.06, 0.07)), 0.020)).blend(0.025));
    out
}

fn horns(s: f32) -> Vec<Cone> {
    let side = if s > 0.0 { 0 } else { 1 };
    let m = |p| mirror(p, s);
    let mut out = vec![
        Cone::new(m(v(0.075, 1.745, 0.16)), 0.036, m(v(0.135, 1.835, 0.10)), 0.027).group(HEAD),
        Cone::new(m(v(0.135, 1.835, 0.10)), 0.027, m(v(0.130, 1.925, 0.14)), 0.009).blend(0.015).group(HEAD),
    ];
    for (across, reach) in [(-0.055, 0.115), (0.0, 0.135), (0.055, 0.115)] {
        let root = WRIST + v(0.072, -0.10 - reach, 0.057 + across * 1.5);
        out.push(Cone::new(m(root), 0.0185, m(root + v(0.008, -0.050, 0.020)), 0.007).group(ARM + side));
        let toe = v(0.262 + across * 1.7, 0.042, 0.310);
        out.push(Cone::new(m(toe), 0.024, m(toe + v(across * 0.1, -0.018, 0.05)), 0.007).group(LEG + side));
    }
    out
}
