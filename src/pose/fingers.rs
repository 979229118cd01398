//! Fingers: the angles of a hand's fingers, measured on a tracked hand, and given to the hand of a character.
//!
//! The same function measures both hands, so a character's finger that is straight at rest and a finger that is bent at
//! rest both take the angle of the tracked finger. A hand has three directions: *forward* from the wrist to the middle
//! finger, *palmar* out of the palm, and *thumbward* across the palm.

use crate::base::NodeId;
use crate::base::math::{Affine3A, Quat, Vec3};
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};

/// Range of the angles by which a joint of a character rotates from rest, radians.
const BENDS: [f32; 2] = [-0.7, 2.2];
/// Range of the angles by which a finger moves sideways from rest, radians.
const SPREADS: [f32; 2] = [-0.6, 0.6];
/// Smallest number of branches of a joint that counts as a hand, and largest.
const BRANCHES: std::ops::RangeInclusive<usize> = 3..=6;
/// Smallest angle between the thumb and the mean of the other fingers, radians.
const THUMB: f32 = 0.3;
/// Angle between the first and the last bone of the fingers at rest that tells where the palm is, radians, on average.
const CURLED: f32 = 0.2;

/// The angles of a hand's fingers, radians.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingers {
    /// Angles of the three joints of each finger, from the root to the tip, positive towards the palm. The first angle
    /// of the thumb is about the palmar direction, positive away from the thumb's side.
    pub bends: [[f32; 3]; 5],
    /// Angle of each finger's first bone sideways, positive towards the thumb; for the thumb, out of the palm.
    pub spreads: [f32; 5],
}

/// The places of a hand's joints: thumb, index, middle, ring and little finger. Each finger has the places of its three
/// joints and of its tip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandPlaces {
    /// Place of the wrist.
    pub wrist: Vec3,
    /// Places of each finger.
    pub fingers: [[Vec3; 4]; 5],
}

/// The directions of a hand, perpendicular unit vectors.
#[derive(Clone, Copy, Debug)]
struct Palm {
    forward: Vec3,
    palmar: Vec3,
    thumbward: Vec3,
}

impl Palm {
    /// The directions of a hand from the places of its wrist and of the first joints of its index, middle and last
    /// finger. `right` tells which hand it is.
    fn new(wrist: Vec3, [index, middle, last]: [Vec3; 3], right: bool) -> Option<Self> {
        let forward = (middle - wrist).try_normalize()?;
        let across = index - last;
        let thumbward = (across - forward * across.dot(forward)).try_normalize()?;
        let out = thumbward.cross(forward);
        Some(Self { forward, thumbward, palmar: if right { out } else { -out } })
    }

    /// The axis about which a bone rotates towards `goal`.
    fn axis(&self, bone: Vec3, goal: Vec3) -> Vec3 {
        let axis = bone.cross(goal);
        // A bone that points to the goal has no such axis.
        let usual = self.forward.cross(goal);
        if axis.length_squared() > 0.04 { axis.normalize() } else { usual.normalize_or(self.thumbward) }
    }

    /// The axis about which a joint of a finger bends the bone after it; `bone` is the bone before it, or the bone itself.
    fn bend_axis(&self, finger: usize, bone: Vec3) -> Vec3 {
        if finger == 0 {
            return self.axis(bone, (self.palmar * 0.5 - self.thumbward).normalize());
        }
        // A bone that is bent by more than a right angle points away from the palm again, so the palm gives no axis.
        let across = self.forward.cross(self.palmar);
        (across - bone * across.dot(bone)).normalize_or(across)
    }

    /// Measures a finger's first bone: its bend and its spread.
    fn first(&self, finger: usize, bone: Vec3) -> [f32; 2] {
        let [ahead, out, side] = [self.forward, self.palmar, self.thumbward].map(|axis| bone.dot(axis));
        if finger == 0 {
            return [(-side).atan2(ahead), out.clamp(-1.0, 1.0).asin()];
        }
        // A finger that is bent to the palm points nowhere sideways.
        [out.atan2(ahead), side.clamp(-1.0, 1.0).asin() * ahead.max(0.0)]
    }

    /// Measures the angle at a joint of a finger.
    fn next(&self, finger: usize, before: Vec3, after: Vec3) -> f32 {
        let axis = self.bend_axis(finger, before);
        let angle = before.angle_between(after);
        if before.cross(after).dot(axis) < 0.0 { -angle } else { angle }
    }
}

impl HandPlaces {
    /// Measures the angles of the fingers. `right` tells which hand it is. Returns `None` if places are invalid or
    /// coincide.
    pub fn fingers(&self, right: bool) -> Option<Fingers> {
        let [_, index, middle, _, little] = self.fingers.map(|finger| finger[0]);
        let palm = Palm::new(self.wrist, [index, middle, little], right)?;
        let mut out = Fingers::default();
        for (i, places) in self.fingers.iter().enumerate() {
            let bone = |k: usize| (places[k + 1] - places[k]).try_normalize();
            let bones = [bone(0)?, bone(1)?, bone(2)?];
            let [bend, spread] = palm.first(i, bones[0]);
            out.spreads[i] = spread;
            out.bends[i] = [bend, palm.next(i, bones[0], bones[1]), palm.next(i, bones[1], bones[2])];
        }
        Some(out).filter(Fingers::is_finite)
    }
}

impl Fingers {
    /// Whether all angles are finite.
    pub fn is_finite(&self) -> bool {
        self.bends.iter().flatten().chain(&self.spreads).all(|v| v.is_finite())
    }
}

/// A joint of a character's finger.
#[derive(Clone, Debug)]
struct FingerJoint {
    node: NodeId,
    /// Axis of the bend, and of the spread for the first joint, in the space of the node.
    axes: [Vec3; 2],
    /// Bend and spread at rest, radians.
    at_rest: [f32; 2],
}

/// The fingers of a character's hand.
#[derive(Clone, Debug)]
pub struct FingerRig {
    /// The joints of thumb, index, middle, ring and little finger, up to three each; empty for a missing finger.
    fingers: [Vec<FingerJoint>; 5],
}

impl FingerRig {
    /// Finds the hand to which a joint belongs: the nearest joint above it, or the joint itself, from which at least
    /// three fingers branch. `carries` tells whether skin follows a node. `None` if there is no such joint.
    pub fn of(skeleton: &Skeleton, node: NodeId, carries: impl Fn(NodeId) -> bool) -> Option<(NodeId, Self)> {
        let mut at = Some(node);
        while let Some(hand) = at {
            if let Some(chains) = branches(skeleton, hand, &carries) {
                return Some((hand, Self::new(skeleton, hand, chains)?));
            }
            at = skeleton.nodes.get(hand.index())?.parent;
        }
        None
    }

    fn new(skeleton: &Skeleton, hand: NodeId, chains: Vec<Vec<NodeId>>) -> Option<Self> {
        let world = Pose::rest(skeleton).world(skeleton);
        let place = |node: NodeId| Vec3::from(world[node.index()].translation);
        let wrist = place(hand);
        // The places of the joints of each chain, then the place of its tip.
        let mut all: Vec<(Vec<NodeId>, Vec<Vec3>)> = Vec::new();
        for chain in chains {
            let mut places: Vec<Vec3> = chain.iter().map(|n| place(*n)).collect();
            places.push(tip(skeleton, &world, &chain)?);
            all.push((chain, places));
        }
        let direction = |places: &[Vec3]| (places[places.len() - 1] - places[0]).normalize_or_zero();
        let thumb = thumb_of(&all.iter().map(|(_, places)| direction(places)).collect::<Vec<_>>());
        let thumb = thumb.map(|i| all.remove(i));
        // The first joint that bends a finger; joints before it lie in the palm.
        let knuckle = |places: &[Vec3]| places[places.len().saturating_sub(4)];
        let mean: Vec3 = all.iter().map(|(_, p)| knuckle(p)).sum::<Vec3>() / all.len() as f32;
        // From the thumb's side to the other side; without a thumb, from either side.
        let outermost = |(_, a): &&(_, Vec<Vec3>), (_, b): &&(_, Vec<Vec3>)| {
            knuckle(a).distance(mean).total_cmp(&knuckle(b).distance(mean))
        };
        let from = thumb.as_ref().or(all.iter().max_by(outermost)).map(|(_, p)| knuckle(p))?;
        all.sort_by(|a, b| knuckle(&a.1).distance(from).total_cmp(&knuckle(&b.1).distance(from)));
        let last = all.len() - 1;
        let knuckles = [0, last / 2, last].map(|i| knuckle(&all[i].1));
        let right = wrist.x < middle(skeleton, &world).x;
        // Some files have a joint of its own at the roots of the fingers, below that of the wrist.
        let above = skeleton.nodes[hand.index()].parent.filter(|n| skeleton.nodes[n.index()].joint.is_some());
        let length =
            all.iter().map(|(_, p)| knuckle(p).distance(p[p.len() - 1])).sum::<f32>() / all.len() as f32;
        let near = wrist.distance(knuckles[1]) < 0.5 * length;
        let wrist = above.filter(|_| near).map_or(wrist, place);
        let mut palm = Palm::new(wrist, knuckles, right)?;
        // Relaxed fingers curl towards the palm, whichever way the character faces.
        let count = all.len() as f32;
        let curl: f32 = all
            .iter()
            .filter(|(_, places)| places.len() > 2)
            .map(|(_, p)| {
                let bone = |k: usize| (p[k + 1] - p[k]).normalize_or_zero();
                (bone(p.len() - 2) - bone(0)).dot(palm.palmar)
            })
            .sum();
        if curl < -CURLED * count {
            palm.palmar = -palm.palmar;
        }
        let mut fingers: [Vec<FingerJoint>; 5] = Default::default();
        for (i, (chain, places)) in thumb.into_iter().map(|t| (0, t)).chain((1..5).zip(all)) {
            fingers[i] = joints(&palm, i, &world, &chain, &places);
        }
        Some(Self { fingers })
    }

    /// The nodes that the fingers rotate.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.fingers.iter().flatten().map(|joint| joint.node)
    }

    /// Gives a pose the angles of tracked fingers.
    pub fn give(&self, skeleton: &Skeleton, tracked: &Fingers, pose: &mut Pose) {
        for (i, joints) in self.fingers.iter().enumerate() {
            let [first, second, third] = tracked.bends[i];
            for (k, joint) in joints.iter().enumerate() {
                // A finger with fewer joints bends by the same angle in total.
                let bend = match (k, joints.len()) {
                    (0, 1) => first + second,
                    (1, 2) => second + third,
                    _ => [first, second, third][k],
                };
                let by = |wanted: f32, at: usize, [least, most]: [f32; 2]| {
                    Quat::from_axis_angle(joint.axes[at], (wanted - joint.at_rest[at]).clamp(least, most))
                };
                let mut turn = by(bend, 0, BENDS);
                if k == 0 {
                    turn = by(tracked.spreads[i], 1, SPREADS) * turn;
                }
                let rest = skeleton.nodes[joint.node.index()].rest.rotation();
                pose.local[joint.node.index()].rotation = (rest * turn).normalize().to_array();
            }
        }
    }
}

/// Returns the joints of a character's finger, at most three, without those of the palm.
fn joints(
    palm: &Palm,
    finger: usize,
    world: &[Affine3A],
    chain: &[NodeId],
    places: &[Vec3],
) -> Vec<FingerJoint> {
    let skipped = chain.len().saturating_sub(3);
    let bone = |k: usize| (places[k + 1] - places[k]).normalize_or(palm.forward);
    let joint = |(k, node): (usize, &NodeId)| {
        let k = k + skipped;
        let aside = if finger == 0 { palm.palmar } else { palm.thumbward };
        let at_rest = if k == skipped {
            palm.first(finger, bone(k))
        } else {
            [palm.next(finger, bone(k - 1), bone(k)), 0.0]
        };
        // A mirrored node rotates the other way.
        let node_from_world = world[node.index()].matrix3.inverse();
        let side = node_from_world.determinant().signum();
        let local = |axis: Vec3| (node_from_world * axis).normalize_or(axis) * side;
        let is_base = k == skipped && finger == 0;
        let bend =
            if is_base { palm.axis(bone(k), -palm.thumbward) } else { palm.bend_axis(finger, bone(k)) };
        let axes = [bend, palm.axis(bone(k), aside)].map(local);
        FingerJoint { node: *node, axes, at_rest }
    };
    chain[skipped..].iter().enumerate().map(joint).collect()
}

/// Returns the chains of joints below a hand, without joints that no skin follows; `None` if this is no hand.
fn branches(
    skeleton: &Skeleton,
    hand: NodeId,
    carries: &impl Fn(NodeId) -> bool,
) -> Option<Vec<Vec<NodeId>>> {
    let children = |of: NodeId| {
        let all = skeleton.nodes.iter().enumerate();
        all.filter(move |(_, n)| n.parent == Some(of) && n.joint.is_some()).map(|(i, _)| NodeId::from(i))
    };
    let mut out = Vec::new();
    for root in children(hand) {
        let mut chain = Vec::new();
        let mut at = Some(root);
        while let Some(node) = at {
            if carries(node) {
                chain.push(node);
            }
            let mut below = children(node);
            at = below.next();
            if below.next().is_some() {
                return None;
            }
        }
        if !chain.is_empty() {
            out.push(chain);
        }
    }
    let jointed = out.iter().filter(|chain| chain.len() > 1).count();
    (BRANCHES.contains(&out.len()) && jointed >= 2).then_some(out)
}

/// Returns the tip of the last bone of a chain at rest.
fn tip(skeleton: &Skeleton, world: &[Affine3A], chain: &[NodeId]) -> Option<Vec3> {
    let last = *chain.last()?;
    let joint = skeleton.nodes[last.index()].joint?;
    let bone = skeleton.bones_of(joint).next()?;
    let tail = skeleton.bones[bone.index()].tail;
    let from_bind = skeleton.joints[joint.index()].joint_from_bind;
    let tip = world[last.index()].transform_point3(from_bind.transform_point3(tail));
    tip.is_finite().then_some(tip)
}

/// Returns the finger whose direction differs most from the mean of the others, if it differs enough for a thumb.
fn thumb_of(directions: &[Vec3]) -> Option<usize> {
    let sum: Vec3 = directions.iter().sum();
    let away = |i: usize| {
        let others = (sum - directions[i]).normalize_or(directions[i]);
        others.angle_between(directions[i])
    };
    let farthest = (0..directions.len()).max_by(|a, b| away(*a).total_cmp(&away(*b)))?;
    (away(farthest) > THUMB).then_some(farthest)
}

/// Returns the mean place of all joints at rest.
fn middle(skeleton: &Skeleton, world: &[Affine3A]) -> Vec3 {
    let sum: Vec3 = skeleton.joints.iter().map(|j| Vec3::from(world[j.node.index()].translation)).sum();
    sum / skeleton.joints.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;
    use crate::generate::{Kind, glb};
    use crate::rig::Mirror;

    const NAMES: [&str; 5] = ["Thumb", "Index", "Middle", "Ring", "Pinky"];

    fn human() -> Skeleton {
        Skeleton::from_asset(&Asset::from_slice(&glb(Kind::Human).unwrap(), "human").unwrap()).unwrap()
    }

    fn rig(skeleton: &Skeleton, name: &str) -> Option<(NodeId, FingerRig)> {
        let carries = |n: NodeId| !skeleton.nodes[n.index()].name.ends_with("End");
        FingerRig::of(skeleton, skeleton.find(name).unwrap(), carries)
    }

    /// The places of a posed hand of the human.
    fn places(skeleton: &Skeleton, pose: &Pose, side: &str) -> HandPlaces {
        let world = pose.world(skeleton);
        let place = |name: String| Vec3::from(world[skeleton.find(&name).unwrap().index()].translation);
        let finger = |name: &str| ["1", "2", "3", "End"].map(|part| place(format!("{side}{name}{part}")));
        HandPlaces { wrist: place(format!("{side}Hand")), fingers: NAMES.map(finger) }
    }

    fn fist() -> Fingers {
        let bends = [[0.5, 0.7, 0.9], [1.3, 1.6, 0.9], [1.4, 1.6, 0.9], [1.4, 1.5, 0.9], [1.4, 1.5, 0.8]];
        Fingers { bends, spreads: [0.2, 0.0, 0.0, 0.0, 0.0] }
    }

    #[test]
    fn a_characters_fingers_take_the_measured_angles_on_both_sides() {
        let skeleton = human();
        let victory = Fingers {
            bends: [[0.4, 0.3, 0.6], [0.05, 0.1, 0.0], [0.0, 0.05, 0.1], [1.2, 1.4, 0.8], [1.3, 1.4, 0.7]],
            spreads: [0.1, 0.2, -0.1, 0.0, 0.0],
        };
        for side in ["Left", "Right"] {
            let (hand, rig) = rig(&skeleton, &format!("{side}Ring2")).unwrap();
            assert_eq!(skeleton.nodes[hand.index()].name, format!("{side}Hand"));
            assert_eq!(rig.nodes().count(), 15);
            for wanted in [victory, fist()] {
                let mut pose = Pose::rest(&skeleton);
                rig.give(&skeleton, &wanted, &mut pose);
                let got = places(&skeleton, &pose, side).fingers(side == "Right").unwrap();
                for (finger, name) in NAMES.iter().enumerate() {
                    for k in 0..3 {
                        let (got, wanted) = (got.bends[finger][k], wanted.bends[finger][k]);
                        assert!((got - wanted).abs() < 0.12, "{side} {name} {k}: {got} {wanted}");
                    }
                }
                assert!((got.spreads[1] - wanted.spreads[1]).abs() < 0.1, "{:?}", got.spreads);
            }
        }
    }

    #[test]
    fn a_fist_closes_around_the_palm_and_both_hands_close_alike() {
        let skeleton = human();
        let mut pose = Pose::rest(&skeleton);
        let rest = places(&skeleton, &pose, "Left");
        let tips = |p: &HandPlaces| p.fingers[1..].iter().map(|f| f[3].distance(p.wrist)).sum::<f32>() / 4.0;
        for side in ["Left", "Right"] {
            rig(&skeleton, &format!("{side}Hand")).unwrap().1.give(&skeleton, &fist(), &mut pose);
        }
        let [left, right] = ["Left", "Right"].map(|side| places(&skeleton, &pose, side));
        assert!(tips(&left) < 0.62 * tips(&rest), "{} {}", tips(&left), tips(&rest));
        // The tips lie on the side of the palm to which the relaxed fingers of the file already bend.
        let bulge = |p: &HandPlaces| p.fingers[2][3] - (p.fingers[2][0] + p.wrist) * 0.5;
        let curl = (rest.fingers[2][3] - rest.fingers[2][2]).normalize()
            - (rest.fingers[2][1] - rest.fingers[2][0]).normalize();
        assert!(bulge(&left).dot(curl) > 0.0);
        let mirror = Mirror::new(&skeleton).unwrap();
        for (a, b) in left.fingers.iter().flatten().zip(right.fingers.iter().flatten()) {
            let mirrored = mirror.reflect_bind(a.as_dvec3()).as_vec3();
            assert!(mirrored.distance(*b) < 3e-3, "{mirrored} {b}");
        }
    }

    #[test]
    fn both_hands_of_a_tracked_hand_model_measure_alike_and_curl_towards_the_palm() {
        let measured = |side: &str| {
            let file = crate::base::testing::shared(&format!("characters/webxr_hand_{side}.glb"))?;
            let skeleton = Skeleton::from_asset(&Asset::load(&file).unwrap()).unwrap();
            let world = Pose::rest(&skeleton).world(&skeleton);
            let place = |name: &str| Vec3::from(world[skeleton.find(name).unwrap().index()].translation);
            let finger = |name: &str| {
                ["proximal", "intermediate", "distal"]
                    .map(|part| place(&format!("{name}-finger-phalanx-{part}")))
                    .into_iter()
                    .chain([place(&format!("{name}-finger-tip"))])
                    .collect::<Vec<_>>()
            };
            let thumb = ["metacarpal", "phalanx-proximal", "phalanx-distal", "tip"];
            let thumb = thumb.map(|part| place(&format!("thumb-{part}")));
            let four = |name: &str| <[Vec3; 4]>::try_from(finger(name)).unwrap();
            let fingers = [thumb, four("index"), four("middle"), four("ring"), four("pinky")];
            HandPlaces { wrist: place("wrist"), fingers }.fingers(side == "right")
        };
        let Some((left, right)) = measured("left").zip(measured("right")) else { return };
        for finger in 0..5 {
            for k in 0..3 {
                let (a, b) = (left.bends[finger][k], right.bends[finger][k]);
                assert!((a - b).abs() < 0.02, "{finger} {k}: {a} {b}");
                assert!(finger == 0 || (-0.25..1.0).contains(&a), "{finger} {k}: {a}");
            }
            assert!((left.spreads[finger] - right.spreads[finger]).abs() < 0.02);
        }
        // The knuckles bend towards the palm, and the thumb lies on the palm's side of the fingers.
        assert!(left.bends[1..].iter().all(|b| b[0] > 0.03) && left.spreads[0] > 0.3, "{left:?}");
        assert!(left.spreads[1] > left.spreads[4], "the fingers spread: {left:?}");
        assert!(left.bends[0][0] < -0.2, "the thumb stands off: {left:?}");
    }

    #[test]
    fn hands_of_other_characters_close_towards_their_palms() {
        // File, a joint of the left hand, and the last joints of thumb and fingers.
        let hands = [
            (
                "derived/makehuman_male_4infl.glb",
                "finger3-2.L",
                ["finger1-3.L", "finger2-3.L", "finger3-3.L", "finger4-3.L", "finger5-3.L"].map(Some),
            ),
            (
                "derived/valid_Black_M_1_Casual_plain.glb",
                "LeftHandMiddle2",
                ["LeftHandThumb4", "LeftHandIndex4", "LeftHandMiddle4", "LeftHandRing4", "LeftHandPinky4"]
                    .map(Some),
            ),
            (
                "characters/mannequiny.glb",
                "index_02.l",
                [Some("thumb_03.l"), Some("index_03.l"), Some("middle_03.l"), Some("ring_03.l"), None],
            ),
        ];
        for (file, touched, ends) in hands {
            let Some(path) = crate::base::testing::shared(file) else { return };
            let skeleton = Skeleton::from_asset(&Asset::load(&path).unwrap()).unwrap();
            let touched = skeleton.find(touched).unwrap();
            let carries = |n: NodeId| !skeleton.nodes[n.index()].name.ends_with("_end");
            let (hand, rig) = FingerRig::of(&skeleton, touched, carries).unwrap();
            assert_eq!(rig.nodes().count(), 3 * ends.iter().flatten().count(), "{file}");
            let rest = Pose::rest(&skeleton);
            let mut pose = rest.clone();
            rig.give(&skeleton, &fist(), &mut pose);
            let places = |pose: &Pose| {
                let world = pose.world(&skeleton);
                let at = |n: NodeId| Vec3::from(world[n.index()].translation);
                let of = |name: Option<&str>| name.map(|name| at(skeleton.find(name).unwrap()));
                (at(hand), ends.map(of))
            };
            let ((wrist, open), (_, closed)) = (places(&rest), places(&pose));
            for (finger, (open, closed)) in open.iter().zip(&closed).enumerate().skip(1) {
                let Some((open, closed)) = open.zip(*closed) else { continue };
                let share = closed.distance(wrist) / open.distance(wrist);
                assert!(share < 0.85, "{file} {finger}: {share}");
            }
            // The fingertips of a fist are nearer to the thumb's tip than those of the open hand.
            let [open, closed] = [open, closed].map(|tips| [tips[0].unwrap(), tips[2].unwrap()]);
            let apart = |tips: &[Vec3; 2]| tips[0].distance(tips[1]);
            assert!(apart(&closed) < 0.8 * apart(&open), "{file}: {} {}", apart(&closed), apart(&open));
            // Palms face down or to the body at rest, so a fist closes downwards or inwards.
            let moved = closed[1] - open[1];
            assert!(moved.y < 0.0 || moved.x * wrist.x < 0.0, "{file}: {moved}");
        }
    }

    #[test]
    fn hands_are_found_and_heads_and_hips_are_not() {
        let skeleton = human();
        for name in ["Head", "Jaw", "Hips", "LeftLowerArm", "LeftFoot", "Chest"] {
            assert!(rig(&skeleton, name).is_none(), "{name}");
        }
        assert!(rig(&skeleton, "RightThumb3").is_some());
        // Without a thumb and with joints that point the wrong way, nothing is invalid.
        let mut pose = Pose::rest(&skeleton);
        let (_, rig) = rig(&skeleton, "RightHand").unwrap();
        let wild = Fingers { bends: [[9.0, -9.0, 3.0]; 5], spreads: [9.0; 5] };
        rig.give(&skeleton, &wild, &mut pose);
        assert!(pose.local.iter().all(|t| t.rotation.iter().all(|v| v.is_finite())));
        let none = HandPlaces { wrist: Vec3::ZERO, fingers: [[Vec3::ZERO; 4]; 5] };
        assert_eq!(none.fingers(true), None);
    }
}
