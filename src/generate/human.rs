//! An adult in shirt, trousers and shoes, 1.75 m, in A-pose, with five fingers on each hand.

use super::body::Body;
use super::implicit::Cone;
use super::model::{Motion, Paint};
use crate::base::math::Vec3;

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

const TORSO: u16 = 0;
const HEAD: u16 = 1;
const JAW: u16 = 2;
/// First bone group of the left side; each side has [`SIDE`] groups.
const LEFT: u16 = 10;
const SIDE: u16 = 16;
const ARM: u16 = 0;
const LEG: u16 = 1;
const EYE: u16 = 2;
/// Bone group of the thumb; the groups of the other fingers follow.
const FINGER: u16 = 3;

const SHOULDER: Vec3 = v(0.170, 1.405, -0.015);
const ELBOW: Vec3 = v(0.368, 1.198, -0.022);
const WRIST: Vec3 = v(0.543, 1.013, 0.012);
const HIP: Vec3 = v(0.092, 0.905, 0.0);
const KNEE: Vec3 = v(0.103, 0.490, 0.012);
const ANKLE: Vec3 = v(0.112, 0.088, -0.022);
const TOES: Vec3 = v(0.126, 0.030, 0.105);
const EYE_CENTER: Vec3 = v(0.0315, 1.648, 0.0735);

/// Axes of a hand: along the fingers, across towards the thumb, and out of the back of the hand.
struct Hand {
    along: Vec3,
    across: Vec3,
    back: Vec3,
}

fn hand() -> Hand {
    let along = (WRIST - ELBOW).normalize();
    // The thumb points forwards and slightly towards the body.
    let across = (Vec3::Z - along * along.z).normalize();
    Hand { along, across, back: across.cross(along) }
}

impl Hand {
    fn at(&self, along: f32, across: f32, back: f32) -> Vec3 {
        WRIST + self.along * along + self.across * across + self.back * back
    }
}

fn mirror(p: Vec3, side: f32) -> Vec3 {
    v(p.x * side, p.y, p.z)
}

/// A finger. `base` is the base of the metacarpal, if present. `joints` are the knuckle, two joints and the tip;
/// `radii` are the radii at these four points.
struct Finger {
    name: &'static str,
    base: Option<Vec3>,
    joints: [Vec3; 4],
    radii: [f32; 4],
}

fn fingers() -> Vec<Finger> {
    let h = hand();
    // Columns: name, position of the knuckle across and along the hand, spread, lengths of the three phalanges, radius.
    let rows = [
        ("Index", 0.030, 0.090, 0.13, [0.042, 0.025, 0.020], 0.0086),
        ("Middle", 0.0085, 0.093, 0.03, [0.046, 0.029, 0.021], 0.0089),
        ("Ring", -0.013, 0.088, -0.07, [0.042, 0.027, 0.021], 0.0084),
        ("Pinky", -0.033, 0.079, -0.19, [0.033, 0.020, 0.018], 0.0074),
    ];
    let thumb = [
        h.at(0.022, 0.026, -0.008),
        h.at(0.056, 0.052, -0.020),
        h.at(0.085, 0.066, -0.025),
        h.at(0.110, 0.073, -0.027),
    ];
    let mut out =
        vec![Finger { name: "Thumb", base: None, joints: thumb, radii: [0.0145, 0.0112, 0.0100, 0.0080] }];
    for (name, across, along, spread, lengths, radius) in rows {
        let mut at = h.at(along, across, 0.0);
        let mut joints = [at; 4];
        // A relaxed hand: each joint bends further towards the palm than the previous joint.
        for (i, bend) in [0.10, 0.24, 0.36].into_iter().enumerate() {
            at += (h.along + h.across * spread - h.back * bend).normalize() * lengths[i];
            joints[i + 1] = at;
        }
        let radii = [radius * 1.1, radius * 1.02, radius * 0.93, radius * 0.78];
        out.push(Finger { name, base: Some(h.at(0.018, across * 0.55, 0.0)), joints, radii });
    }
    out
}

/// Describes the human; `vertices` is the target number of vertices.
pub(super) fn body(vertices: usize) -> Body {
    let mut body = Body::new("Human", vertices, 0.0042);
    bones(&mut body);
    skin(&mut body);
    clothes(&mut body);
    hair(&mut body);
    face_paint(&mut body);
    let arm = body.rig.joints.iter().position(|j| j.name == "RightUpperArm").unwrap_or(0);
    body.motion =
        Some(wave(arm, body.rig.joints.iter().position(|j| j.name == "RightLowerArm").unwrap_or(0)));
    body
}

/// Creates an animation in which the right arm rises and waves.
fn wave(upper: usize, lower: usize) -> Motion {
    let raise = v(0.0, 0.0, -0.95);
    let (out, inwards) = (v(0.0, 0.0, -0.55), v(0.0, 0.0, -0.15));
    let keys = vec![(0.0, Vec3::ZERO), (0.6, raise), (2.4, raise), (3.0, Vec3::ZERO)];
    let waves = vec![
        (0.0, Vec3::ZERO),
        (0.6, out),
        (0.9, inwards),
        (1.2, out),
        (1.5, inwards),
        (1.8, out),
        (2.4, inwards),
        (3.0, Vec3::ZERO),
    ];
    Motion { name: "Wave", channels: vec![(upper, keys), (lower, waves)] }
}

fn bones(body: &mut Body) {
    let spine = [
        ("Hips", 0.945, 0.0, 0.05),
        ("Spine", 1.02, 0.0, 0.05),
        ("Spine1", 1.11, 0.002, 0.05),
        ("Spine2", 1.20, 0.0, 0.05),
        ("Chest", 1.29, -0.008, 0.05),
        ("Neck", 1.445, -0.018, 0.028),
        ("Neck1", 1.500, -0.010, 0.028),
    ];
    let mut parent = None;
    let head = v(0.0, 1.555, 0.0);
    for (i, &(name, y, z, width)) in spine.iter().enumerate() {
        let next = spine.get(i + 1).map_or(head, |n| v(0.0, n.1, n.2));
        parent = Some(body.bone(name, parent, [v(0.0, y, z), next], TORSO, width));
    }
    let (hips, chest) = (0, 4);
    let skull = body.bone("Head", parent, [head, v(0.0, 1.75, 0.0)], HEAD, 0.028);
    body.bone("Jaw", Some(skull), [v(0.0, 1.600, 0.012), v(0.0, 1.552, 0.07)], JAW, 0.02);
    // The head joint may also move the skin of the neck.
    let neck_to_head =
        super::weights::Segment { joint: skull, a: head, b: v(0.0, 1.62, 0.0), group: TORSO, width: 0.028 };
    body.segments.push(neck_to_head);
    for (name, side, group) in [("Left", 1.0, LEFT), ("Right", -1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, side);
        let label = |part: &str| format!("{name}{part}");
        body.bone(
            label("Eye"),
            Some(skull),
            [m(EYE_CENTER), m(EYE_CENTER + Vec3::Z * 0.014)],
            group + EYE,
            0.001,
        );
        let clavicle = v(0.025, 1.405, -0.005);
        let shoulder =
            body.bone(label("Shoulder"), Some(chest), [m(clavicle), m(SHOULDER)], group + ARM, 0.045);
        let (upper_mid, lower_mid) = ((SHOULDER + ELBOW) * 0.5, (ELBOW + WRIST) * 0.5);
        let upper =
            body.bone(label("UpperArm"), Some(shoulder), [m(SHOULDER), m(upper_mid)], group + ARM, 0.036);
        body.bone(label("UpperArmTwist"), Some(upper), [m(upper_mid), m(ELBOW)], group + ARM, 0.03);
        let lower = body.bone(label("LowerArm"), Some(upper), [m(ELBOW), m(lower_mid)], group + ARM, 0.028);
        body.bone(label("LowerArmTwist"), Some(lower), [m(lower_mid), m(WRIST)], group + ARM, 0.024);
        let palm = hand().at(0.02, 0.0, 0.0);
        let hand = body.bone(label("Hand"), Some(lower), [m(WRIST), m(palm)], group + ARM, 0.016);
        for (f, finger) in fingers().into_iter().enumerate() {
            let own = group + FINGER + f as u16;
            let mut parent = hand;
            if let Some(base) = finger.base {
                let ends = [m(base), m(finger.joints[0])];
                parent = body.bone(
                    label(&format!("{}Metacarpal", finger.name)),
                    Some(hand),
                    ends,
                    group + ARM,
                    0.010,
                );
            }
            for i in 0..3 {
                let ends = [m(finger.joints[i]), m(finger.joints[i + 1])];
                parent =
                    body.bone(label(&format!("{}{}", finger.name, i + 1)), Some(parent), ends, own, 0.0062);
            }
            body.rig.add(label(&format!("{}End", finger.name)), Some(parent), m(finger.joints[3]));
        }
        let (thigh, shin) = ((HIP + KNEE) * 0.5, (KNEE + ANKLE) * 0.5);
        let upper = body.bone(label("UpperLeg"), Some(hips), [m(HIP), m(thigh)], group + LEG, 0.05);
        body.bone(label("UpperLegTwist"), Some(upper), [m(thigh), m(KNEE)], group + LEG, 0.045);
        let lower = body.bone(label("LowerLeg"), Some(upper), [m(KNEE), m(shin)], group + LEG, 0.04);
        body.bone(label("LowerLegTwist"), Some(lower), [m(shin), m(ANKLE)], group + LEG, 0.035);
        let foot = body.bone(label("Foot"), Some(lower), [m(ANKLE), m(TOES)], group + LEG, 0.025);
        let tip = v(0.130, 0.030, 0.170);
        let toes = body.bone(label("Toes"), Some(foot), [m(TOES), m(tip)], group + LEG, 0.02);
        body.rig.add(label("ToesEnd"), Some(toes), m(tip));
    }
}

fn skin(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Skin", [232, 184, 152], 0.55), 0.0);
    let mut add = |cone: Cone| body.add(layer, cone);
    let head = |c: Cone| c.group(HEAD).size(0.0062);
    // Skull and neck.
    add(Cone::new(v(0.0, 1.40, -0.025), 0.062, v(0.0, 1.545, -0.006), 0.052).group(TORSO).size(0.013));
    add(head(Cone::ellipsoid(v(0.0, 1.662, -0.012), v(0.073, 0.083, 0.092))).blend(0.02));
    add(head(Cone::ellipsoid(v(0.0, 1.622, 0.030), v(0.060, 0.078, 0.058))).blend(0.03));
    // Jaw and chin.
    for s in [1.0, -1.0] {
        let angle = Cone::new(v(0.048 * s, 1.598, 0.004), 0.018, v(0.016 * s, 1.548, 0.066), 0.014);
        add(angle.blend(0.03).group(JAW).size(0.0065));
    }
    add(Cone::ellipsoid(v(0.0, 1.549, 0.073), v(0.020, 0.016, 0.015)).blend(0.022).group(JAW).size(0.006));
    // Cheekbones, brow, sockets.
    for s in [1.0, -1.0] {
        add(head(Cone::ball(v(0.043 * s, 1.619, 0.056), 0.020)).blend(0.026));
        add(head(Cone::ellipsoid(v(0.032 * s, 1.650, 0.096), v(0.020, 0.010, 0.014))).carve().blend(0.016));
        add(head(Cone::new(v(0.012 * s, 1.671, 0.083), 0.008, v(0.044 * s, 1.671, 0.070), 0.007))
            .blend(0.022));
        // Lids: the eyeball bulges through the lids.
        add(Cone::ball(mirror(EYE_CENTER, s), 0.0150)
            .blend(0.004)
            .group(if s > 0.0 { LEFT + EYE } else { LEFT + SIDE + EYE })
            .size(0.0026));
        add(head(Cone::new(v(0.018 * s, 1.6565, 0.0865), 0.0035, v(0.031 * s, 1.6605, 0.0885), 0.0042))
            .blend(0.005)
            .size(0.0032));
        add(head(Cone::new(v(0.031 * s, 1.6605, 0.0885), 0.0042, v(0.0455 * s, 1.6535, 0.0795), 0.0035))
            .blend(0.005)
            .size(0.0032));
        add(head(Cone::new(v(0.020 * s, 1.6400, 0.0840), 0.0030, v(0.0435 * s, 1.6410, 0.0785), 0.0030))
            .blend(0.010)
            .size(0.0032));
    }
    // Nose.
    add(head(Cone::new(v(0.0, 1.664, 0.086), 0.0075, v(0.0, 1.617, 0.104), 0.0095))
        .blend(0.014)
        .size(0.0045));
    add(head(Cone::ball(v(0.0, 1.6125, 0.1045), 0.0105)).blend(0.008).size(0.0040));
    for s in [1.0, -1.0] {
        add(head(Cone::ellipsoid(v(0.0125 * s, 1.6085, 0.0945), v(0.0075, 0.0075, 0.0095)))
            .blend(0.006)
            .size(0.0038));
        add(head(Cone::ball(v(0.0065 * s, 1.6005, 0.1000), 0.0032)).carve().blend(0.004).size(0.0034));
    }
    // Mouth: two lips and the line between the lips.
    add(head(Cone::ellipsoid(v(0.0, 1.582, 0.078), v(0.026, 0.018, 0.016))).blend(0.014).size(0.0048));
    for s in [1.0, -1.0] {
        let upper = Cone::new(v(0.004 * s, 1.5850, 0.0935), 0.0050, v(0.0225 * s, 1.5805, 0.0835), 0.0022);
        add(head(upper).blend(0.004).size(0.0036));
    }
    add(Cone::new(v(-0.012, 1.5745, 0.0905), 0.0050, v(0.012, 1.5745, 0.0905), 0.0050)
        .blend(0.006)
        .group(JAW)
        .size(0.0036));
    // Ears.
    for s in [1.0, -1.0] {
        let ear = Cone::new(v(0.078 * s, 1.660, -0.014), 0.017, v(0.073 * s, 1.625, 0.000), 0.010);
        add(head(ear.scaled(Vec3::X, 0.42)).blend(0.006).size(0.0055));
        add(head(Cone::ellipsoid(v(0.086 * s, 1.650, -0.005), v(0.006, 0.015, 0.009)))
            .carve()
            .blend(0.006)
            .size(0.0048));
    }
    for (s, group) in [(1.0, LEFT), (-1.0, LEFT + SIDE)] {
        arm_and_hand(&mut add, s, group);
    }
}

fn arm_and_hand(add: &mut impl FnMut(Cone), side: f32, group: u16) {
    let m = |p| mirror(p, side);
    let arm = |c: Cone| c.group(group + ARM).size(0.015);
    let upper = (SHOULDER + ELBOW) * 0.5;
    add(arm(Cone::new(m(upper), 0.043, m(ELBOW), 0.034)).blend(0.01));
    let swell = ELBOW + (WRIST - ELBOW) * 0.32 + v(0.004, 0.004, 0.0);
    add(arm(Cone::new(m(ELBOW), 0.034, m(swell), 0.0385)).blend(0.012));
    add(arm(Cone::new(m(swell), 0.0385, m(WRIST), 0.0245)).blend(0.01));
    let h = hand();
    let back = m(h.back).normalize();
    let palm = |c: Cone| c.group(group + ARM).size(0.0075);
    add(palm(Cone::new(m(WRIST), 0.0265, m(h.at(0.03, 0.0, 0.0)), 0.0265).scaled(back, 0.72)).blend(0.015));
    let all = fingers();
    for finger in &all {
        if let Some(base) = finger.base {
            let knuckle = finger.joints[0];
            add(palm(Cone::new(m(base), 0.0125, m(knuckle), finger.radii[0] * 1.12))
                .blend(0.014)
                .size(0.0068));
        }
    }
    // Heel of the hand and ball of the thumb.
    add(palm(Cone::ellipsoid(m(h.at(0.042, -0.020, -0.006)), v(0.018, 0.022, 0.014))).blend(0.02));
    add(palm(Cone::new(m(h.at(0.020, 0.016, -0.008)), 0.0155, m(h.at(0.052, 0.042, -0.017)), 0.0125))
        .blend(0.016));
    for (f, finger) in all.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (m(finger.joints[i]), m(finger.joints[i + 1]));
            let blend = if i == 0 { 0.006 } else { 0.003 };
            let cone = Cone::new(a, finger.radii[i], b, finger.radii[i + 1]);
            add(cone.blend(blend).group(group + FINGER + f as u16).size(0.0048));
        }
    }
}

fn clothes(body: &mut Body) {
    shirt(body);
    trousers(body);
    shoes(body);
}

fn shirt(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Shirt", [64, 116, 138], 0.85), 0.010);
    let mut add = |cone: Cone| body.add(layer, cone);
    let torso = |c: Cone| c.group(TORSO).size(0.019);
    let flat = Vec3::Z;
    // Pelvis, waist, ribs.
    add(torso(Cone::new(v(0.0, 0.92, -0.008), 0.170, v(0.0, 1.07, 0.002), 0.136).scaled(flat, 0.78))
        .cut(Vec3::NEG_Y, -0.885));
    add(torso(Cone::new(v(0.0, 1.07, 0.004), 0.134, v(0.0, 1.20, 0.000), 0.140).scaled(flat, 0.74))
        .blend(0.06));
    add(torso(Cone::new(v(0.0, 1.20, -0.004), 0.140, v(0.0, 1.335, -0.012), 0.150).scaled(flat, 0.72))
        .blend(0.05));
    add(torso(Cone::new(v(-0.115, 1.375, -0.022), 0.066, v(0.115, 1.375, -0.022), 0.066)).blend(0.07));
    // Trapezius up to the collar, chest, shoulder blades.
    for s in [1.0, -1.0] {
        add(torso(Cone::new(v(0.012 * s, 1.462, -0.028), 0.040, v(0.142 * s, 1.412, -0.024), 0.044))
            .blend(0.04)
            .cut(Vec3::Y, 1.468));
        add(torso(Cone::ellipsoid(v(0.066 * s, 1.315, 0.052), v(0.075, 0.058, 0.048))).blend(0.05));
        add(torso(Cone::ellipsoid(v(0.075 * s, 1.33, -0.082), v(0.06, 0.075, 0.035))).blend(0.05));
    }
    // The opening for the neck.
    let hole = Cone::new(v(0.0, 1.452, -0.010), 0.046, v(0.0, 1.56, 0.030), 0.075);
    add(torso(hole).carve().blend(0.012).size(0.012));
    for (s, group) in [(1.0, LEFT), (-1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, s);
        let axis = (ELBOW - SHOULDER).normalize();
        let end = SHOULDER + (ELBOW - SHOULDER) * 0.66;
        let out = m(axis);
        add(Cone::ball(m(SHOULDER + v(-0.012, -0.010, 0.0)), 0.055)
            .blend(0.04)
            .group(group + ARM)
            .size(0.017));
        let sleeve = Cone::new(m(SHOULDER + axis * 0.02), 0.055, m(end + axis * 0.03), 0.0545)
            .cut(out, out.dot(m(end)));
        add(sleeve.blend(0.03).group(group + ARM).size(0.0155));
    }
}

fn trousers(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Trousers", [62, 66, 84], 0.9), 0.010);
    let mut add = |cone: Cone| body.add(layer, cone);
    add(Cone::new(v(0.0, 0.90, -0.004), 0.146, v(0.0, 0.99, 0.0), 0.132)
        .scaled(Vec3::Z, 0.74)
        .group(TORSO)
        .size(0.02));
    for (s, group) in [(1.0, LEFT), (-1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, s);
        let leg = |c: Cone| c.group(group + LEG).size(0.021);
        add(leg(Cone::ellipsoid(m(v(0.070, 0.880, -0.046)), v(0.074, 0.080, 0.062))).blend(0.04));
        add(leg(Cone::new(m(HIP + v(-0.008, -0.03, 0.0)), 0.084, m(KNEE), 0.059)).blend(0.035));
        let calf = KNEE + (ANKLE - KNEE) * 0.32 + v(0.0, 0.0, -0.014);
        add(leg(Cone::new(m(KNEE), 0.058, m(calf), 0.059)).blend(0.012));
        let hem = ANKLE + v(0.0, -0.02, 0.0);
        add(leg(Cone::new(m(calf), 0.059, m(hem), 0.052).cut(Vec3::NEG_Y, -0.090)).blend(0.01).size(0.019));
    }
}

fn shoes(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Shoes", [120, 72, 48], 0.45), 0.008);
    let mut add = |cone: Cone| body.add(layer, cone);
    for (s, group) in [(1.0, LEFT), (-1.0, LEFT + SIDE)] {
        let m = |p| mirror(p, s);
        let floor = |c: Cone| c.cut(Vec3::NEG_Y, 0.0).group(group + LEG).size(0.0125);
        add(floor(Cone::new(m(ANKLE + v(0.0, 0.01, 0.002)), 0.041, m(v(0.112, 0.036, -0.040)), 0.039)));
        add(floor(Cone::new(m(v(0.112, 0.046, -0.030)), 0.040, m(TOES + v(-0.003, 0.008, -0.010)), 0.043))
            .blend(0.03));
        add(floor(
            Cone::new(m(TOES + v(-0.003, 0.0, -0.010)), 0.046, m(v(0.124, 0.022, 0.150)), 0.036)
                .scaled(Vec3::Y, 0.85),
        )
        .blend(0.03));
        add(floor(Cone::new(m(v(0.112, 0.085, 0.002)), 0.032, m(v(0.122, 0.050, 0.085)), 0.030)).blend(0.03));
    }
    body.decal(Paint::srgb("Soles", [46, 40, 38], 0.8), |p| p.y - 0.0165);
}

fn hair(body: &mut Body) {
    let layer = body.layer(Paint::srgb("Hair", [74, 46, 32], 0.6), 0.003);
    let mut add = |cone: Cone| body.add(layer, cone.group(HEAD).size(0.011));
    // The hair ends at the hairline, which rises from the nape past the ears to the forehead.
    let line = v(0.0, -0.72, 0.694);
    let at = line.dot(v(0.0, 1.708, 0.074));
    add(Cone::ellipsoid(v(0.0, 1.668, -0.016), v(0.081, 0.086, 0.099)).cut(line, at));
    add(Cone::ellipsoid(v(0.0, 1.690, -0.010), v(0.079, 0.072, 0.092)).cut(line, at + 0.012).blend(0.02));
    add(Cone::new(v(0.0, 1.62, -0.06), 0.055, v(0.0, 1.578, -0.052), 0.042)
        .scaled(Vec3::Z, 0.9)
        .blend(0.02)
        .cut(v(0.0, -0.6, 0.8), -0.976));
    // A parted fringe.
    for (from, to, s) in [(0.024, 0.066, 1.0), (0.014, -0.024, -1.0), (0.004, -0.060, -1.0)] {
        let middle = v((from + to) * 0.5 + 0.004 * s, 1.733, 0.064);
        add(Cone::new(v(from, 1.752, 0.030), 0.012, middle, 0.017).blend(0.02));
        add(Cone::new(middle, 0.017, v(to, 1.712, 0.060 - 0.3 * to.abs()), 0.010).blend(0.016));
    }
    for s in [1.0, -1.0] {
        add(Cone::new(v(0.076 * s, 1.690, 0.022), 0.010, v(0.0745 * s, 1.642, 0.018), 0.004)
            .blend(0.01)
            .size(0.007));
    }
}

fn face_paint(body: &mut Body) {
    // The eye opening is an almond shape between two circles, in the plane of the face.
    let almond = |p: Vec3| {
        let (x, y) = (p.x.abs() - EYE_CENTER.x, p.y - EYE_CENTER.y);
        let tilt = y - 0.10 * x;
        let ring = |centre: f32, radius: f32| {
            let dy = tilt - centre;
            (x * x + dy * dy).sqrt() - radius
        };
        ring(-0.0105, 0.0170).max(ring(0.0125, 0.0185)).max(0.07 - p.z)
    };
    let round = |p: Vec3, radius: f32| {
        let (x, y) = (p.x.abs() - EYE_CENTER.x, p.y - EYE_CENTER.y - 0.0002);
        (x * x + y * y).sqrt() - radius
    };
    let lips = |p: Vec3| {
        let (x, y) = (p.x / 0.0255, (p.y - 1.5795) / if p.y > 1.5795 { 0.0060 } else { 0.0076 });
        (((x * x + y * y).sqrt() - 1.0) * 0.009).max(0.07 - p.z)
    };
    let brow = |p: Vec3| {
        let x = p.x.abs();
        let height = 1.6725 - (x - 0.036) * (x - 0.036) * 9.0;
        let half = 0.0032 - (x - 0.028).max(0.0) * 0.07;
        ((p.y - height).abs() - half).max(0.013 - x).max(x - 0.050).max(0.05 - p.z)
    };
    body.decal(Paint::srgb("Lips", [206, 132, 116], 0.45), lips);
    body.decal(Paint::srgb("Mouth", [120, 62, 58], 0.6), |p| {
        ((p.y - 1.5797 - p.x * p.x * 1.5).abs() - 0.0009).max(p.x.abs() - 0.021).max(0.07 - p.z)
    });

    body.decal(Paint::srgb("Brows", [74, 46, 32], 0.8), brow);
    body.decal(Paint::srgb("Lashes", [52, 34, 28], 0.7), move |p| {
        (almond(p) - 0.0016).max(EYE_CENTER.y - 0.001 - p.y)
    });
    body.decal(Paint::srgb("EyeWhite", [240, 238, 232], 0.2), almond);
    body.decal(Paint::srgb("Iris", [72, 104, 92], 0.2), move |p| round(p, 0.0068).max(almond(p)));
    body.decal(Paint::srgb("Pupil", [16, 16, 18], 0.1), move |p| round(p, 0.0031).max(almond(p)));
}
