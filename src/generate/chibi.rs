//! A stylised child in a hooded jacket, 1.1 m, in A-pose, with a ponytail and four fingers on each hand.

use super::body::Body;
use super::implicit::Cone;
use super::model::{Motion, Paint};
use crate::base::math::Vec3;

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

const TORSO: u16 = 0;
const HEAD: u16 = 1;
const TAIL: u16 = 2;
/// First bone group of the left side; each side has [`SIDE`] groups.
const LEFT: u16 = 10;
const SIDE: u16 = 10;
const ARM: u16 = 0;
const LEG: u16 = 1;
/// Bone group of the thumb; the groups of the other fingers follow.
const FINGER: u16 = 2;

const SHOULDER: Vec3 = v(0.088, 0.548, -0.005);
const ELBOW: Vec3 = v(0.184, 0.452, -0.010);
const WRIST: Vec3 = v(0.268, 0.364, 0.006);
const HIP: Vec3 = v(0.062, 0.325, 0.0);
const KNEE: Vec3 = v(0.068, 0.200, 0.008);
const ANKLE: Vec3 = v(0.072, 0.068, -0.012);
const TOES: Vec3 = v(0.080, 0.030, 0.068);
const TIE: Vec3 = v(0.0, 0.935, -0.165);
const TAIL_END: Vec3 = v(0.0, 0.745, -0.275);

fn mirror(p: Vec3, side: f32) -> Vec3 {
    v(p.x * side, p.y, p.z)
}

/// Returns the name and the joint positions of each finger, the tip last.
fn fingers() -> Vec<(&'static str, Vec<Vec3>)> {
    let along = (WRIST - ELBOW).normalize();
    let across = (Vec3::Z - along * along.z).normalize();
    let back = along.cross(across);
    let at = |a: f32, c: f32, b: f32| WRIST + along * a + across * c + back * b;
    vec![
        ("Thumb", vec![at(0.020, 0.024, -0.006), at(0.044, 0.047, -0.012), at(0.064, 0.058, -0.014)]),
        ("Index", vec![at(0.060, 0.022, 0.0), at(0.084, 0.028, -0.004), at(0.104, 0.032, -0.011)]),
        ("Middle", vec![at(0.064, -0.002, 0.0), at(0.090, -0.002, -0.004), at(0.112, -0.002, -0.012)]),
        ("Pinky", vec![at(0.058, -0.025, 0.0), at(0.094, -0.036, -0.009)]),
    ]
}

/// Describes the chibi; `vertices` is the target number of vertices.
pub(super) fn body(vertices: usize) -> Body {
    let mut body = Body::new("Chibi", vertices, 0.0052);
    bones(&mut body);
    skin(&mut body);
    jacket(&mut body);
    legs(&mut body);
    hair(&mut body);
    trim(&mut body);
    face(&mut body);
    let joint = |name: &str| body.rig.joints.iter().position(|j| j.name == name).unwrap_or(0);
    body.motion = Some(idle([
        joint("Chest"),
        joint("Head"),
        joint("LeftUpperArm"),
        joint("RightUpperArm"),
        joint("Hair1"),
    ]));
    body
}

/// Creates an idle animation: the chest breathes; head, arms and ponytail follow.
fn idle([chest, head, left, right, hair]: [usize; 5]) -> Motion {
    let sway = |turn: Vec3| vec![(0.0, Vec3::ZERO), (1.0, turn), (2.0, Vec3::ZERO)];
    let channels = vec![
        (chest, sway(v(-0.025, 0.0, 0.0))),
        (head, vec![(0.0, v(0.0, 0.0, 0.03)), (1.0, v(0.03, 0.0, -0.03)), (2.0, v(0.0, 0.0, 0.03))]),
        (left, sway(v(0.0, 0.0, 0.04))),
        (right, sway(v(0.0, 0.0, -0.04))),
        (hair, sway(v(0.09, 0.0, 0.05))),
    ];
    Motion { name: "Idle", channels }
}

fn bones(body: &mut Body) {
    let neck_at = v(0.0, 0.600, -0.008);
    let head_at = v(0.0, 0.650, 0.0);
    let hips = body.bone("Hips", None, [v(0.0, 0.345, 0.0), v(0.0, 0.415, 0.0)], TORSO, 0.03);
    let spine = body.bone("Spine", Some(hips), [v(0.0, 0.415, 0.0), v(0.0, 0.490, 0.0)], TORSO, 0.03);
    let chest = body.bone("Chest", Some(spine), [v(0.0, 0.490, 0.0), neck_at], TORSO, 0.03);
    let neck = body.bone("Neck", Some(chest), [neck_at, head_at], TORSO, 0.018);
    let head = body.bone("Head", Some(neck), [head_at, v(0.0, 1.0, 0.0)], HEAD, 0.02);
    body.bone("Hair1", Some(head), [TIE, TAIL_END], TAIL, 0.03);
    for (name, s, group) in [("Left", 1.0, LEFT), ("Right", -1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, s);
        let label = |part: &str| format!("{name}{part}");
        let arm = group + ARM;
        let shoulder =
            body.bone(label("Shoulder"), Some(chest), [m(v(0.02, 0.552, -0.004)), m(SHOULDER)], arm, 0.026);
        let upper = body.bone(label("UpperArm"), Some(shoulder), [m(SHOULDER), m(ELBOW)], arm, 0.024);
        let lower = body.bone(label("LowerArm"), Some(upper), [m(ELBOW), m(WRIST)], arm, 0.022);
        let palm = WRIST + (WRIST - ELBOW).normalize() * 0.06;
        let hand = body.bone(label("Hand"), Some(lower), [m(WRIST), m(palm)], arm, 0.015);
        for (f, (finger, joints)) in fingers().into_iter().enumerate() {
            let mut parent = hand;
            for (i, ends) in joints.windows(2).enumerate() {
                let own = group + FINGER + f as u16;
                parent = body.bone(
                    label(&format!("{finger}{}", i + 1)),
                    Some(parent),
                    [m(ends[0]), m(ends[1])],
                    own,
                    0.0085,
                );
            }
        }
        let leg = group + LEG;
        let upper = body.bone(label("UpperLeg"), Some(hips), [m(HIP), m(KNEE)], leg, 0.03);
        let lower = body.bone(label("LowerLeg"), Some(upper), [m(KNEE), m(ANKLE)], leg, 0.026);
        let foot = body.bone(label("Foot"), Some(lower), [m(ANKLE), m(TOES)], leg, 0.018);
        body.bone(label("Toes"), Some(foot), [m(TOES), m(v(0.084, 0.030, 0.115))], leg, 0.014);
    }
}

fn skin(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Skin", [250, 209, 178], 0.6), 0.0);
    let mut add = |cone: Cone| body.add(layer, cone);
    let head = |c: Cone| c.group(HEAD).size(0.0075);
    add(Cone::new(v(0.0, 0.53, -0.010), 0.048, v(0.0, 0.67, -0.006), 0.050).group(TORSO).size(0.008));
    add(head(Cone::ellipsoid(v(0.0, 0.815, -0.010), v(0.186, 0.172, 0.172))).blend(0.02));
    // Full cheeks and a small chin.
    add(head(Cone::ellipsoid(v(0.0, 0.745, 0.020), v(0.160, 0.100, 0.136))).blend(0.06));
    for s in [1.0, -1.0] {
        add(head(Cone::ball(v(0.076 * s, 0.716, 0.060), 0.068)).blend(0.07));
        // Slightly bulging eyes, then the ears.
        add(head(Cone::ellipsoid(v(0.074 * s, 0.778, 0.138), v(0.036, 0.048, 0.022)))
            .blend(0.022)
            .size(0.0040));
        add(head(Cone::ellipsoid(v(0.190 * s, 0.762, -0.012), v(0.022, 0.042, 0.030)))
            .blend(0.010)
            .size(0.0060));
        add(head(Cone::ellipsoid(v(0.209 * s, 0.762, 0.002), v(0.012, 0.026, 0.017)))
            .carve()
            .blend(0.010)
            .size(0.0055));
    }
    add(head(Cone::ellipsoid(v(0.0, 0.655, 0.082), v(0.042, 0.026, 0.034))).blend(0.06).size(0.0060));
    add(head(Cone::ellipsoid(v(0.0, 0.734, 0.158), v(0.0125, 0.0105, 0.016))).blend(0.016).size(0.0042));
    add(head(Cone::ellipsoid(v(0.0, 0.696, 0.128), v(0.036, 0.018, 0.020))).blend(0.026).size(0.0042));
    for (s, group) in [(1.0, LEFT), (-1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, s);
        let along = (WRIST - ELBOW).normalize();
        let palm = |c: Cone| c.group(group + ARM).size(0.0058);
        let back = m(along.cross((Vec3::Z - along * along.z).normalize())).normalize();
        add(palm(Cone::new(m(WRIST - along * 0.02), 0.026, m(WRIST + along * 0.014), 0.026)).blend(0.01));
        add(palm(
            Cone::new(m(WRIST + along * 0.020), 0.031, m(WRIST + along * 0.042), 0.034).scaled(back, 0.66),
        )
        .blend(0.014));
        for (f, (_, joints)) in fingers().into_iter().enumerate() {
            let radius = if f == 0 { 0.0135 } else { 0.0122 };
            for (i, ends) in joints.windows(2).enumerate() {
                let cone = Cone::new(m(ends[0]), radius, m(ends[1]), radius - 0.0008);
                let blend = if i == 0 { 0.009 } else { 0.003 };
                add(cone.blend(blend).group(group + FINGER + f as u16).size(0.0050));
            }
        }
    }
}

fn jacket(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Jacket", [226, 92, 70], 0.85), 0.008);
    let mut add = |cone: Cone| body.add(layer, cone);
    let torso = |c: Cone| c.group(TORSO).size(0.0105);
    add(torso(Cone::new(v(0.0, 0.355, 0.0), 0.119, v(0.0, 0.52, -0.004), 0.088).scaled(Vec3::Z, 0.86))
        .cut(Vec3::NEG_Y, -0.312)
        .size(0.0085));
    add(torso(Cone::new(v(0.0, 0.322, 0.0), 0.117, v(0.0, 0.334, 0.0), 0.119).scaled(Vec3::Z, 0.86))
        .blend(0.006)
        .cut(Vec3::NEG_Y, -0.298)
        .size(0.0075));
    add(torso(Cone::new(v(-0.05, 0.545, -0.008), 0.052, v(0.05, 0.545, -0.008), 0.052)).blend(0.04));
    // The hood lies around the neck and down the back.
    let ring = [
        v(0.046, 0.572, 0.064),
        v(0.084, 0.584, 0.0),
        v(0.052, 0.592, -0.074),
        v(-0.052, 0.592, -0.074),
        v(-0.084, 0.584, 0.0),
        v(-0.046, 0.572, 0.064),
    ];
    for ends in ring.windows(2) {
        add(torso(Cone::new(ends[0], 0.0245, ends[1], 0.0245)).blend(0.012).size(0.009));
    }
    add(torso(Cone::new(v(0.0, 0.565, -0.085), 0.050, v(0.0, 0.500, -0.108), 0.022).scaled(Vec3::Z, 0.7))
        .blend(0.03));
    // Pocket.
    add(torso(Cone::ellipsoid(v(0.0, 0.378, 0.090), v(0.062, 0.036, 0.014))).blend(0.006).size(0.008));
    for (s, group) in [(1.0, LEFT), (-1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, s);
        let axis = (WRIST - ELBOW).normalize();
        let out = m(axis);
        let arm = |c: Cone| c.group(group + ARM).size(0.0095);
        add(arm(Cone::new(m(SHOULDER), 0.049, m(ELBOW), 0.044)).blend(0.025));
        add(arm(Cone::new(m(ELBOW), 0.044, m(WRIST - axis * 0.008), 0.0435)
            .cut(out, out.dot(m(WRIST - axis * 0.012))))
        .blend(0.012));
        let cuff = [WRIST - axis * 0.024, WRIST - axis * 0.008];
        add(
            arm(Cone::new(m(cuff[0]), 0.0385, m(cuff[1]), 0.0385).cut(out, out.dot(m(WRIST + axis * 0.006))))
                .blend(0.006)
                .size(0.0062),
        );
    }
}

fn legs(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Trousers", [66, 76, 116], 0.9), 0.008);
    body.add(
        layer,
        Cone::new(v(0.0, 0.315, 0.0), 0.096, v(0.0, 0.35, 0.0), 0.088)
            .scaled(Vec3::Z, 0.86)
            .group(TORSO)
            .size(0.0105),
    );
    let shoe = body.layer(Paint::srgb("Shoes", [70, 168, 160], 0.5), 0.008);
    for (s, group) in [(1.0, LEFT), (-1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, s);
        let leg = |c: Cone| c.group(group + LEG).size(0.0105);
        body.add(layer, leg(Cone::new(m(HIP + v(-0.006, 0.0, 0.0)), 0.055, m(KNEE), 0.056)).blend(0.02));
        body.add(
            layer,
            leg(Cone::new(m(KNEE), 0.056, m(ANKLE), 0.053).cut(Vec3::NEG_Y, -0.082))
                .blend(0.012)
                .size(0.0085),
        );
        let foot = |c: Cone| c.group(group + LEG).size(0.0085);
        body.add(
            shoe,
            foot(Cone::new(m(ANKLE + v(0.0, 0.012, 0.0)), 0.042, m(ANKLE + v(0.0, -0.03, 0.0)), 0.050)),
        );
        body.add(
            shoe,
            foot(Cone::new(m(v(0.072, 0.036, -0.018)), 0.050, m(v(0.080, 0.036, 0.072)), 0.055)).blend(0.025),
        );
    }
    body.decal(Paint::srgb("Soles", [244, 240, 230], 0.7), |p| p.y - 0.021);
}

fn hair(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Hair", [104, 62, 44], 0.5), 0.004);
    let mut add = |cone: Cone| body.add(layer, cone.group(HEAD).size(0.0105));
    let line = v(0.0, -0.66, 0.751_27);
    let at = line.dot(v(0.0, 0.885, 0.150));
    add(Cone::ellipsoid(v(0.0, 0.832, -0.022), v(0.206, 0.186, 0.190)).cut(line, at));
    // A full fringe of locks, swept from a parting on the left.
    let locks = [
        (-0.150, -0.170, 0.800),
        (-0.105, -0.128, 0.812),
        (-0.055, -0.080, 0.828),
        (-0.005, -0.024, 0.838),
        (0.045, 0.040, 0.846),
        (0.095, 0.112, 0.826),
        (0.140, 0.160, 0.806),
    ];
    for (root, tip, low) in locks {
        let depth = |x: f32, r: f32| (r * r - x * x).max(0.0).sqrt();
        let a = v(root * 0.5 + 0.012, 0.962, depth(root * 0.5, 0.150) * 0.55);
        let b = v(tip, low + 0.045, depth(tip, 0.198) * 0.86);
        let c = v(tip * 1.03, low, depth(tip, 0.196) * 0.86);
        add(Cone::new(a, 0.040, b, 0.031).blend(0.018));
        add(Cone::new(b, 0.029, c, 0.008).blend(0.008));
    }
    for s in [1.0, -1.0] {
        // Locks in front of the ears.
        add(Cone::new(v(0.184 * s, 0.850, 0.030), 0.038, v(0.184 * s, 0.760, 0.052), 0.021).blend(0.02));
        add(Cone::new(v(0.184 * s, 0.760, 0.052), 0.021, v(0.168 * s, 0.690, 0.066), 0.007).blend(0.01));
        add(Cone::new(v(0.120 * s, 0.760, -0.120), 0.065, v(0.075 * s, 0.660, -0.110), 0.022).blend(0.03));
    }
    add(Cone::new(v(0.0, 0.745, -0.150), 0.065, v(0.0, 0.655, -0.120), 0.022).blend(0.03));
    add(Cone::new(v(0.012, 1.000, 0.010), 0.026, v(0.042, 1.058, 0.022), 0.016).blend(0.02));
    add(Cone::new(v(0.042, 1.058, 0.022), 0.016, v(0.088, 1.084, 0.040), 0.005).blend(0.008));
    let tail = |c: Cone| c.group(TAIL).size(0.0105);
    let half = (TIE + TAIL_END) * 0.5 + v(0.0, 0.035, -0.055);
    body.add(layer, tail(Cone::new(TIE + v(0.0, 0.0, -0.01), 0.036, half, 0.062)).blend(0.012));
    body.add(layer, tail(Cone::new(half, 0.062, TAIL_END + v(0.0, 0.02, -0.02), 0.026)).blend(0.02));
    body.add(
        layer,
        tail(Cone::new(TAIL_END + v(0.0, 0.02, -0.02), 0.026, TAIL_END + v(0.0, -0.045, 0.015), 0.006))
            .blend(0.012),
    );
    let tie = body.layer(Paint::srgb("Tie", [246, 200, 84], 0.7), 0.003);
    body.add(
        tie,
        Cone::new(TIE + v(-0.018, 0.0, 0.0), 0.047, TIE + v(0.018, 0.0, 0.0), 0.047)
            .scaled(v(0.0, 0.588_17, -0.808_74), 0.62)
            .group(TAIL)
            .size(0.008),
    );
}

fn trim(body: &mut Body) {
    // The waistband is a darker red; the limit on x excludes the arms.
    body.decal(Paint::srgb("Band", [176, 58, 52], 0.9), |p| {
        (p.y - 0.332).max(0.309 - p.y).max(p.x.abs() - 0.16)
    });
    body.decal(Paint::srgb("Zip", [246, 232, 208], 0.6), |p| {
        (p.x.abs() - 0.0042).max(0.418 - p.y).max(p.y - 0.575).max(0.03 - p.z)
    });
}

/// Returns the field of an ellipse around `(x, y)` on the front of the face, mirrored to both sides; negative inside.
fn ellipse(p: Vec3, x: f32, y: f32, rx: f32, ry: f32) -> f32 {
    let (u, w) = ((p.x.abs() - x) / rx, (p.y - y) / ry);
    (((u * u + w * w).sqrt() - 1.0) * rx.min(ry)).max(0.06 - p.z)
}

fn face(body: &mut Body) {
    const X: f32 = 0.074;
    const Y: f32 = 0.776;
    body.decal(Paint::srgb("Blush", [247, 176, 154], 0.6), |p| ellipse(p, 0.112, 0.708, 0.024, 0.014));
    body.decal(Paint::srgb("Mouth", [170, 70, 66], 0.5), |p| {
        // The mouth is a smile between two arcs.
        let lower = p.x * p.x * 14.0;
        let (top, bottom) = (0.6945 + p.x * p.x * 5.0, 0.6845 + lower);
        (p.y - top).max(bottom - p.y).max(0.06 - p.z)
    });
    body.decal(Paint::srgb("Brows", [92, 54, 40], 0.7), |p| {
        let x = p.x.abs() - 0.076;
        let middle = 0.8425 - x * x * 6.0;
        ((p.y - middle).abs() - 0.0050 + x.abs() * 0.06).max(x.abs() - 0.030).max(0.06 - p.z)
    });
    body.decal(Paint::srgb("Lashes", [48, 30, 30], 0.6), |p| {
        // The lash line along the upper lid is thicker towards the outer corner of the eye.
        let outside = (p.x.abs() - X) / 0.04;
        ellipse(p, X, Y + 0.002, 0.0385, 0.0515 + 0.001 * outside).max(Y + 0.016 - 0.014 * outside - p.y)
    });
    let white = |p: Vec3| ellipse(p, X, Y, 0.0345, 0.0455);
    body.decal(Paint::srgb("EyeWhite", [252, 250, 246], 0.25), white);
    body.decal(Paint::srgb("Iris", [66, 124, 138], 0.2), move |p| {
        ellipse(p, X - 0.004, Y - 0.003, 0.0250, 0.0350).max(white(p))
    });
    body.decal(Paint::srgb("Pupil", [22, 30, 44], 0.15), move |p| {
        ellipse(p, X - 0.004, Y - 0.001, 0.0140, 0.0215).max(white(p))
    });
    body.decal(Paint::srgb("Glint", [255, 255, 255], 0.1), |p| {
        // The light comes from one side, so both glints are on the same side of their eye.
        let x = p.x - if p.x > 0.0 { X } else { -X };
        let circle = |cx: f32, cy: f32, r: f32| {
            let (u, w) = (x - cx, p.y - Y - cy);
            (u * u + w * w).sqrt() - r
        };
        circle(-0.012, 0.0160, 0.0088).min(circle(0.010, -0.0185, 0.0050)).max(0.06 - p.z)
    });
}
