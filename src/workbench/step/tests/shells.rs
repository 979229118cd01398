//! Tests of strokes around limbs of several shells. The real tool draws the strokes. The thickness of each shell is
//! measured in the plane across the bone, independent of any solver.

use super::marks::seen;
use super::*;
use crate::asset::Asset;
use crate::base::{BoneId, MarkId};
use crate::bind::shapes::asset_from_parts;
use crate::bind::{BindOptions, point_on};
use crate::deform::sculpt::{Curve, Profile};
use crate::document::DeformerSettings;
use crate::geom::ray_triangle;
use crate::rig::{Axis, rotate_joint};
use crate::scene::{Evaluator, Model, Where};
use crate::surface::{Form, Reach, Region, Sculpt, line_mark, ring_mark};
use std::collections::BTreeMap;
use std::f32::consts::TAU;
use std::time::Duration;

/// Function from a vertex's position to its influences: two joints with weights.
type Follows = fn(Vec3) -> [(u16, f32); 2];

/// An asset built from shells.
#[derive(Default)]
struct Shells {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    influences: Influences,
}

impl Shells {
    fn push(&mut self, x: Vec3, follows: Follows) -> u32 {
        let of = follows(x).into_iter().filter(|e| e.1 > 0.0);
        let mut of: Vec<(u16, f32)> = of.collect();
        of.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.influences.push(of);
        self.positions.push(x);
        self.positions.len() as u32 - 1
    }

    /// Adds a tube around the x axis through `centre`, or a section between two fractions of a revolution.
    fn tube(
        &mut self,
        centre: Vec3,
        x: [f32; 2],
        radius: f32,
        turn: [f32; 2],
        grid: [u32; 2],
        follows: Follows,
    ) {
        let whole = turn[1] - turn[0] >= 1.0;
        let columns = if whole { grid[1] } else { grid[1] + 1 };
        let first = self.positions.len() as u32;
        for i in 0..=grid[0] {
            for k in 0..columns {
                let angle = TAU * (turn[0] + (turn[1] - turn[0]) * k as f32 / grid[1] as f32);
                let along = x[0] + (x[1] - x[0]) * i as f32 / grid[0] as f32;
                let out = Vec3::new(along, radius * angle.cos(), radius * angle.sin());
                self.push(centre + out, follows);
            }
        }
        let at = |i: u32, k: u32| first + i * columns + k % columns;
        for (i, k) in (0..grid[0]).flat_map(|i| (0..grid[1]).map(move |k| (i, k))) {
            self.triangles.push([at(i, k), at(i + 1, k + 1), at(i, k + 1)]);
            self.triangles.push([at(i, k), at(i + 1, k), at(i + 1, k + 1)]);
        }
    }

    /// Adds a closed box.
    fn cuboid(&mut self, low: Vec3, high: Vec3, follows: Follows) {
        let corner = |i: u32, n: u32| if i >> n & 1 == 1 { high[n as usize] } else { low[n as usize] };
        let first = self.positions.len() as u32;
        for i in 0..8 {
            self.push(Vec3::new(corner(i, 0), corner(i, 1), corner(i, 2)), follows);
        }
        for [a, b, c, d] in
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
        {
            self.triangles.push([first + a, first + b, first + c]);
            self.triangles.push([first + a, first + c, first + d]);
        }
    }

    fn model(self) -> Model {
        let joint = |x: f32, y: f32, parent| (Vec3::new(x, y, 0.0), parent);
        // A chest, an arm of two bones with a hand, and a separate limb next to the arm.
        let joints = [
            joint(0.0, 0.0, None),
            joint(0.3, 0.0, Some(0)),
            joint(0.6, 0.0, Some(1)),
            joint(0.9, 0.0, Some(2)),
            joint(0.3, -0.2, Some(0)),
            joint(0.9, -0.2, Some(4)),
            joint(0.0, 0.3, Some(0)),
            joint(0.0, 0.5, Some(6)),
        ];
        let asset: Asset = asset_from_parts(self.positions, self.triangles, &joints, self.influences);
        Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap()
    }
}

/// Index of the upper arm's bone; the chest has three bones before it.
const UPPER: usize = 3;

fn arm_weights(x: Vec3) -> [(u16, f32); 2] {
    let w = ((x.x - 0.5) / 0.2).clamp(0.0, 1.0);
    [(1, 1.0 - w), (2, w)]
}

/// Skin, sleeve, armour, and two plates that cover only part of the circumference, near a chest and a second limb.
fn five_shells() -> Model {
    let mut s = Shells::default();
    s.tube(Vec3::ZERO, [0.25, 0.95], 0.05, [0.0, 1.0], [42, 24], arm_weights);
    s.tube(Vec3::ZERO, [0.3, 0.66], 0.06, [0.0, 1.0], [14, 16], arm_weights);
    s.tube(Vec3::ZERO, [0.36, 0.54], 0.07, [0.0, 1.0], [4, 12], |_| [(1, 1.0), (0, 0.0)]);
    s.tube(Vec3::ZERO, [0.39, 0.5], 0.08, [0.1, 0.55], [3, 8], |_| [(1, 1.0), (0, 0.0)]);
    s.tube(Vec3::ZERO, [0.42, 0.47], 0.085, [0.65, 0.85], [2, 6], |_| [(1, 1.0), (0, 0.0)]);
    s.tube(Vec3::ZERO, [-0.2, 0.28], 0.1, [0.0, 1.0], [12, 16], |_| [(0, 1.0), (1, 0.0)]);
    s.tube(Vec3::Y * -0.2, [0.3, 0.9], 0.06, [0.0, 1.0], [24, 16], |_| [(4, 1.0), (0, 0.0)]);
    s.model()
}

/// A limb of disconnected boxes: two nested boxes for the upper arm, one box for the lower arm.
fn boxes() -> Model {
    let mut s = Shells::default();
    let at = |x: f32, r: f32| Vec3::new(x, r, r);
    s.cuboid(at(0.32, -0.04), at(0.57, 0.04), |_| [(1, 1.0), (0, 0.0)]);
    s.cuboid(at(0.4, -0.06), at(0.5, 0.06), |_| [(1, 1.0), (0, 0.0)]);
    s.cuboid(at(0.61, -0.04), at(0.88, 0.04), |_| [(2, 1.0), (0, 0.0)]);
    s.cuboid(Vec3::new(-0.2, -0.1, -0.1), Vec3::new(0.28, 0.1, 0.1), |_| [(0, 1.0), (1, 0.0)]);
    s.model()
}

/// A position around a bone: the fraction `t` along the bone, and an angle in radians around it.
struct Place<'a> {
    character: &'a Character,
    bone: usize,
    t: f32,
}

impl Place<'_> {
    fn middle(&self) -> Vec3 {
        point_on(&self.character.skeleton.bones[self.bone], self.t)
    }

    fn axis(&self) -> Vec3 {
        let bone = &self.character.skeleton.bones[self.bone];
        (bone.tail - bone.head).normalize()
    }

    fn out(&self, angle: f32) -> Vec3 {
        Quat::from_axis_angle(self.axis(), angle) * self.axis().any_orthonormal_vector()
    }

    fn node(&self) -> NodeId {
        let skeleton = &self.character.skeleton;
        skeleton.joints[skeleton.bones[self.bone].parent.index()].node
    }

    /// Whether the bone's joint has the greatest weight on a vertex.
    fn follows(&self, v: u32) -> bool {
        let skeleton = &self.character.skeleton;
        let heaviest = self.character.control.influences.of(v as usize).next();
        heaviest.is_some_and(|(j, _)| skeleton.joints[usize::from(j)].node == self.node())
    }

    /// Position of the outermost shell in a direction, within `far`.
    fn skin(&self, out: Vec3, far: f32) -> Option<Vec3> {
        let control = &self.character.control;
        let own = |c: &&[u32; 3]| c.iter().all(|&v| self.follows(v) && !control.rigid[v as usize]);
        let hit = |c: &[u32; 3]| {
            Some(ray_triangle(self.middle(), out, c.map(|v| control.positions[v as usize]))?.0)
        };
        let hits = control.triangles.iter().filter(own).filter_map(hit).filter(|d| *d < far);
        hits.max_by(f32::total_cmp).map(|d| self.middle() + out * d)
    }

    /// Mean distance from the posed bone to each shell of the limb. The samples are the points where a plane across the
    /// bone cuts the edges in the bind pose; every cut edge has the same weight.
    fn thickness(&self, shape: &[Vec3], bone: [Vec3; 2], far: f32) -> BTreeMap<u32, f32> {
        let control = &self.character.control;
        let shells = control.adjacency.shells();
        let height = |v: u32| self.axis().dot(control.positions[v as usize] - self.middle());
        let axis = (bone[1] - bone[0]).normalize();
        let radius = |x: Vec3| ((x - bone[0]) - axis * axis.dot(x - bone[0])).length();
        let mut sums: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
        for (a, b) in control.adjacency.edges() {
            let (p, q) = (height(a), height(b));
            if (p >= 0.0) == (q >= 0.0) || !self.follows(a) || !self.follows(b) || control.rigid[a as usize] {
                continue;
            }
            let s = p / (p - q);
            let at = |x: &[Vec3]| x[a as usize].lerp(x[b as usize], s);
            if (at(&control.positions) - self.middle()).length() < far {
                let sum = sums.entry(shells[a as usize]).or_default();
                *sum = (sum.0 + radius(at(shape)), sum.1 + 1.0);
            }
        }
        sums.into_iter().map(|(shell, (sum, count))| (shell, sum / count)).collect()
    }
}

/// Draws around a bone in the rest pose, at fractions of a revolution; `None` is a frame without a sample.
fn draw_about(s: &mut Script, place: &Place, far: f32, turns: impl Iterator<Item = Option<f32>>) -> usize {
    let mut closings = 0;
    let mut queue = std::collections::VecDeque::from([None, None]);
    let turns: Vec<Option<f32>> = turns.collect();
    let count = turns.len();
    for k in 0..count + 16 {
        let turn = turns[k.min(count - 1)];
        let out = place.out(TAU * turn.unwrap_or(0.0));
        let skin = place.skin(out, far).filter(|_| turn.is_some());
        let hand = skin.map(|x| x + out * 0.03);
        if let Some(hand) = hand {
            s.turned(RIGHT, hand, Quat::from_rotation_arc(Vec3::NEG_Z, -out));
        }
        s.input.hands[RIGHT].draw = if k < count { 1.0 } else { 0.0 };
        s.input.hands[RIGHT].surface = queue.pop_front().flatten();
        let felt = s.step().haptics[RIGHT];
        closings += usize::from(felt == Some(Haptic::Closing));
        let (time, draw) = (s.input.time, s.input.hands[RIGHT].draw);
        queue.push_back(hand.and_then(|hand| seen(place.character, hand, -out, time, draw)));
    }
    closings
}

fn evenly(turn: f32, count: usize) -> impl Iterator<Item = Option<f32>> {
    (0..=count).map(move |i| Some(turn * i as f32 / count as f32))
}

/// Creates a workbench with a mark around a bone.
fn drawn(place: &Place, far: f32, turns: impl Iterator<Item = Option<f32>>) -> (Script, usize) {
    let mut s = Script::new(&Arc::new(place.character.clone()));
    s.bench.run_command(Command::Tool(Tool::Skin));
    let closings = draw_about(&mut s, place, far, turns);
    (s, closings)
}

/// Pulls the ring outwards by a fraction of its mean distance from the bone, in the displayed pose.
fn pull(s: &mut Script, place: &Place, share: f32) {
    let mark = s.bench.session().document().marks()[0].clone();
    let bone = &s.bench.rig().bones[place.bone];
    let axis = (bone.tail - bone.head).normalize();
    let radial = |x: Vec3| (x - bone.head) - axis * axis.dot(x - bone.head);
    let body = &s.bench.context.body;
    let at = |p| body.skinned_position(place.character, &s.bench.context.rig, p).unwrap();
    let all: Vec<Vec3> = mark.points.iter().map(at).collect();
    // Weights each point by its angle to the next, because points are dense on finely tessellated shells.
    let ends = || all.iter().zip(all.iter().cycle().skip(1));
    let way: f32 = ends().map(|(a, b)| radial(*a).angle_between(radial(*b))).sum();
    let mean: f32 = ends()
        .map(|(a, b)| {
            0.5 * (radial(*a).length() + radial(*b).length()) * radial(*a).angle_between(radial(*b))
        })
        .sum::<f32>()
        / way;
    let from = all[all.len() / 3];
    let to = from + radial(from).normalize() * (share * mean);
    s.at(RIGHT, from);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for x in line(from, to, 9) {
        s.at(RIGHT, x);
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
}

/// Control positions of a pose, with the sculpt layers and without.
fn shapes(model: &Model, sculpts: &[Sculpt], pose: &Pose, recipe: &str) -> [Vec<Vec3>; 2] {
    let settings = DeformerSettings::of(recipe);
    let mut evaluator =
        Evaluator::new(&Where::Cpu, model, &crate::scene::recipe(&settings).unwrap()).unwrap();
    let plain = evaluator.evaluate(model, pose).unwrap().control;
    evaluator.set_sculpts(model, sculpts).unwrap();
    evaluator.set_sculpt_states(&sculpts.iter().filter_map(|s| s.state(0.0)).collect::<Vec<_>>());
    [evaluator.evaluate(model, pose).unwrap().control, plain]
}

/// The factor by which each shell around a bone has grown.
fn growth(place: &Place, pose: &Pose, far: f32, shapes: &[Vec<Vec3>; 2]) -> Vec<f32> {
    let rig = PosedRig::new(&place.character.skeleton, pose);
    let bone = [rig.bones[place.bone].head, rig.bones[place.bone].tail];
    let [after, before] = [0, 1].map(|k| place.thickness(&shapes[k], bone, far));
    assert_eq!(after.len(), before.len());
    after.iter().zip(&before).map(|((_, a), (_, b))| a / b).collect()
}

fn even(sculpt_of: Region, mark: MarkId, amount: f32) -> Sculpt {
    let profile = Profile { curve: Curve::Even, amount, ..Profile::default() };
    Sculpt::new(SculptId(0), Some(mark), sculpt_of, Form::Profile(profile))
}

#[test]
fn a_stroke_over_five_shells_is_a_ring_that_thickens_each_of_them() {
    let model = five_shells();
    let character = &*model.bound.character;
    let place = Place { character, bone: UPPER, t: 0.48 };
    for bent in [false, true] {
        let (mut s, closings) = drawn(&place, 1.0, evenly(0.97, 70));
        assert_eq!(closings, 1, "it is felt once that the stroke closes");
        let document = s.bench.session().document();
        assert_eq!((document.marks().len(), document.marks()[0].closed), (1, true));
        assert!(document.marks()[0].points.iter().skip(1).any(|p| p.lifted), "over several shells");
        assert_eq!(s.bench.drawn_mark(), Some("Ring round joint 1"));
        if bent {
            let turns = vec![(Axis::Z, 80.0), (Axis::X, 25.0)];
            s.bench.context.apply(Edit::RotateJoint { node: NodeId(2), turns });
            s.bench.context.apply(Edit::RotateJoint { node: NodeId(1), turns: vec![(Axis::Y, -50.0)] });
        }
        pull(&mut s, &place, 0.4);
        let pose = s.bench.pose().clone();
        let sculpts = s.bench.session().document().sculpts().to_vec();
        assert_eq!(sculpts.len(), 1);
        let found = shapes(&model, &sculpts, &pose, "lbs");
        let grown = growth(&place, &pose, 1.0, &found);
        assert_eq!(grown.len(), 5);
        assert!(grown.iter().all(|g| (g - 1.4).abs() < 0.015), "{grown:?}");
        // Neither the chest nor the other limb moves.
        for (v, (after, before)) in found[0].iter().zip(&found[1]).enumerate() {
            let (joint, weight) = character.control.influences.of(v).next().unwrap();
            if [0, 4].contains(&joint) && weight == 1.0 {
                assert_eq!(after, before);
            }
        }
        // With correction springs, the result is close even without a refit.
        let found = shapes(&model, &sculpts, &pose, "springs");
        let grown = growth(&place, &pose, 1.0, &found);
        assert!(grown.iter().all(|g| (g - 1.4).abs() < 0.04), "springs {grown:?}");
    }
}

#[test]
fn shells_keep_their_order_over_the_whole_region() {
    let model = five_shells();
    let (character, attachments) = (&*model.bound.character, &*model.bound.attachments);
    for (t, reach) in [(0.48, Reach::Edges(4)), (0.7, Reach::Along(0.1)), (0.48, Reach::Euclidean(0.05))] {
        let mark = ring_mark(character, attachments, MarkId(0), BoneId::from(UPPER), t).unwrap();
        assert!(mark.closed);
        let region = Region::from_mark(character, &mark, reach).unwrap();
        let round = region.round.unwrap();
        let same = region.with_reach(character, reach).unwrap();
        assert_eq!(
            (&same.kinematic, &same.passive, &same.falloff),
            (&region.kinematic, &region.passive, &region.falloff)
        );
        assert!(region.grown(character, 2).unwrap().passive.len() > region.passive.len());
        let found = shapes(&model, &[even(region, MarkId(0), 0.4)], &model.rest(), "lbs");
        let place = Place { character, bone: UPPER, t };
        let grown = growth(&place, &model.rest(), 1.0, &found);
        assert!(grown.len() >= 3 && grown.iter().all(|g| (g - 1.4).abs() < 1e-3), "{grown:?}");
        // Nested shells that grow by equal factors at equal heights stay nested.
        let mut factors: Vec<(f32, f32)> = Vec::new();
        for (v, (&x, after)) in character.control.positions.iter().zip(&found[0]).enumerate() {
            let own = character.control.influences.of(v).all(|e| e.0 == 1);
            if own && round.radial(x).length() < 0.09 {
                factors.push((x.x, round.radial(*after).length() / round.radial(x).length()));
            }
        }
        factors.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in factors.windows(2).filter(|p| p[1].0 - p[0].0 < 1e-4) {
            assert!((pair[0].1 - pair[1].1).abs() < 2e-3, "{pair:?}");
        }
    }
}

#[test]
fn strokes_over_shells_that_do_not_go_round_stay_open() {
    let model = five_shells();
    let place = Place { character: &model.bound.character, bone: UPPER, t: 0.48 };
    // These strokes stay open: half around the limb; forth and back with ends near each other; around, but without
    // samples on one side.
    let back = (0..=60).map(|i| Some(0.6 * (1.0 - (i as f32 / 30.0 - 1.0).abs())));
    let hole = (0..=60).map(|i| Some(i as f32 / 60.0).filter(|t| !(0.3..0.6).contains(t)));
    let cases: [(&str, Vec<Option<f32>>); 4] = [
        ("half", evenly(0.55, 60).collect()),
        ("back", back.collect()),
        ("hole", hole.collect()),
        ("twice", evenly(1.7, 90).collect()),
    ];
    for (name, turns) in cases {
        let (s, _) = drawn(&place, 1.0, turns.into_iter());
        let marks = s.bench.session().document().marks();
        assert_eq!((marks.len(), marks[0].closed), (1, false), "{name}");
        assert_eq!(s.bench.drawn_mark(), Some("Open mark"), "{name}");
    }
    // A line along the arm is not a ring.
    let (character, attachments) = (&model.bound.character, &model.bound.attachments);
    let line = line_mark(character, attachments, MarkId(0), BoneId::from(UPPER), [0.2, 0.8], 0.0).unwrap();
    assert!(Region::from_mark(character, &line, Reach::default()).unwrap().round.is_none());
}

#[test]
fn jumps_of_the_hand_are_bridged() {
    let tube = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let shells = five_shells();
    let lost = |t: f32| (0.2..0.35).contains(&t) || (0.6..0.7).contains(&t);
    for (character, bone, t) in [(&*tube, 0, 0.6), (&*shells.bound.character, UPPER, 0.48)] {
        let place = Place { character, bone, t };
        let (s, closings) = drawn(&place, 1.0, (0..=70).map(|i| Some(i as f32 / 71.0).filter(|t| !lost(*t))));
        let mark = &s.bench.session().document().marks()[0];
        assert_eq!((mark.closed, closings), (true, 1));
        let at: Vec<Vec3> =
            mark.points.iter().map(|p| s.bench.context.body.bind_position(character, p).unwrap()).collect();
        let step = |(a, b): (&Vec3, &Vec3)| (*a - place.middle()).angle_between(*b - place.middle());
        let longest = at.iter().zip(at.iter().cycle().skip(1)).map(step).fold(0.0, f32::max);
        assert!(longest < 0.35, "{longest}: points are on the skin all round");
        let region = Region::from_mark(character, mark, Reach::Edges(3)).unwrap();
        // Every direction from the bone has at least one kinematic vertex.
        for k in 0..12 {
            let out = place.out(TAU * k as f32 / 12.0);
            let near = |v: &&u32| {
                let x = character.control.positions[**v as usize] - place.middle();
                (x - place.axis() * place.axis().dot(x)).angle_between(out) < 0.3
            };
            assert!(region.kinematic.iter().any(|v| near(&v)), "nothing at {k}");
        }
    }
}

#[test]
fn a_ring_round_boxes_thickens_those_of_its_bone() {
    let model = boxes();
    let character = &*model.bound.character;
    let place = Place { character, bone: UPPER, t: 0.5 };
    let (mut s, _) = drawn(&place, 1.0, evenly(0.96, 60));
    assert!(s.bench.session().document().marks()[0].closed);
    pull(&mut s, &place, 0.4);
    let sculpts = s.bench.session().document().sculpts().to_vec();
    let found = shapes(&model, &sculpts, &model.rest(), "lbs");
    let grown = growth(&place, &model.rest(), 1.0, &found);
    assert_eq!(grown.len(), 2);
    assert!(grown.iter().all(|g| (g - 1.4).abs() < 0.02), "{grown:?}");
    for (v, (after, before)) in found[0].iter().zip(&found[1]).enumerate() {
        let joint = character.control.influences.of(v).next().unwrap().0;
        assert_eq!(after != before, joint == 1, "vertex {v} of joint {joint}");
    }
    // The ring that the command line makes also covers the outer box, although the inner box hides the outer box from
    // the bone.
    let mark = ring_mark(character, &model.bound.attachments, MarkId(0), BoneId::from(UPPER), 0.5).unwrap();
    let region = Region::from_mark(character, &mark, Reach::default()).unwrap();
    let found = shapes(&model, &[even(region, MarkId(0), 0.4)], &model.rest(), "lbs");
    let grown = growth(&place, &model.rest(), 1.0, &found);
    assert!(grown.len() == 2 && grown.iter().all(|g| (g - 1.4).abs() < 1e-3), "{grown:?}");
}

#[test]
fn the_line_being_drawn_shows_that_it_closes() {
    let model = five_shells();
    let place = Place { character: &model.bound.character, bone: UPPER, t: 0.48 };
    let mut s = Script::new(&model.bound.character);
    s.bench.run_command(Command::Tool(Tool::Skin));
    assert_eq!(s.bench.drawn_mark(), None);
    let green = |s: &Script| {
        let is = |c: u32| c == crate::render::rgba(crate::workbench::tools::RING);
        s.bench.output().lines.segments.iter().any(|l| is(l.color_a))
    };
    let mut shown = Vec::new();
    for i in 0..=60 {
        let out = place.out(TAU * i as f32 / 61.0);
        let hand = place.skin(out, 1.0).unwrap() + out * 0.03;
        s.turned(RIGHT, hand, Quat::from_rotation_arc(Vec3::NEG_Z, -out));
        s.input.hands[RIGHT].draw = 1.0;
        s.step();
        s.input.hands[RIGHT].surface = seen(place.character, hand, -out, s.input.time, 1.0);
        s.step();
        shown.push((green(&s), s.bench.drawn_mark().unwrap_or_default().to_owned()));
    }
    assert_eq!(shown[30], (false, "Open mark".into()));
    assert_eq!(shown[60], (true, "Ring round joint 1".into()));
    // Another tool or an undo clears the text.
    s.input.hands[RIGHT].draw = 0.0;
    (0..30).for_each(|_| {
        s.step();
    });
    assert_eq!(s.bench.drawn_mark(), Some("Ring round joint 1"));
    s.bench.run_command(Command::Undo);
    assert_eq!(s.bench.drawn_mark(), None);
}

#[test]
fn rings_close_round_the_limbs_of_real_characters() {
    // The cross-sections of these limbs contain one shell with other shells nearby, or up to three nested shells.
    let limbs = [
        ("robot.glb", "UpperArm.L", 0.5),
        ("robot.glb", "UpperArm.L", 0.9),
        ("robot.glb", "LowerLeg.L", 0.75),
        ("kaykit/Knight.glb", "lowerarm.l", 0.4),
        ("kaykit/Knight.glb", "upperleg.l", 0.6),
        ("mannequiny.glb", "thigh.l", 0.9),
        ("quaternius/mech_pack/Leela.glb", "UpperLeg.L", 0.5),
        ("quaternius/mech_pack/Leela.glb", "LowerLeg.L", 0.3),
        ("quaternius/modular_men/Adventurer.glb", "LowerLeg.R", 0.75),
        ("quaternius/modular_women/Witch.glb", "UpperLeg.L", 0.6),
        ("quaternius/cyberpunk_pack/Character.glb", "UpperArm.L", 0.6),
        ("quaternius/cyberpunk_pack/Character.glb", "UpperLeg.R", 0.75),
        ("quaternius/cyberpunk_pack/Character.glb", "LowerLeg.L", 0.3),
    ];
    let mut wrong = Vec::new();
    for (file, joint, t) in limbs {
        let Some(path) = crate::base::testing::shared(&format!("characters/{file}")) else { continue };
        let model = Model::load(&path, &BindOptions::default()).unwrap();
        let character = &*model.bound.character;
        let skeleton = model.skeleton();
        let node = skeleton.find(joint).unwrap();
        let length = |b: &usize| skeleton.bones[*b].head.distance(skeleton.bones[*b].tail);
        let own = |b: &usize| skeleton.joints[skeleton.bones[*b].parent.index()].node == node;
        let bone =
            (0..skeleton.bones.len()).filter(own).max_by(|a, b| length(a).total_cmp(&length(b))).unwrap();
        let place = Place { character, bone, t };
        let mut radii: Vec<f32> = (0..36)
            .filter_map(|k| place.skin(place.out(TAU * k as f32 / 36.0), f32::INFINITY))
            .map(|x| x.distance(place.middle()))
            .collect();
        radii.sort_by(f32::total_cmp);
        let far = 2.0 * radii[radii.len() / 2];
        let (mut s, _) = drawn(&place, far, evenly(0.97, 80));
        let marks = s.bench.session().document().marks();
        let closed = marks.first().is_some_and(|m| m.closed);
        if !closed {
            wrong.push(format!(
                "{file} {joint}: open, {} points",
                marks.first().map_or(0, |m| m.points.len())
            ));
            continue;
        }
        let mut bent = model.rest();
        let _ = rotate_joint(skeleton, &mut bent, node, &[(Axis::X, 40.0)]);
        s.bench.context.apply(Edit::SetPose(bent.clone()));
        pull(&mut s, &place, 0.4);
        let sculpts = s.bench.session().document().sculpts().to_vec();
        let found = shapes(&model, &sculpts, &bent, "lbs");
        let grown = growth(&place, &bent, far, &found);
        println!(
            "{file} {joint} {t}: {} {grown:.3?}, several shells: {}, {} + {} vertices",
            s.bench.drawn_mark().unwrap_or_default(),
            sculpts.first().is_some_and(|s| s.region.round.is_some()),
            sculpts.first().map_or(0, |s| s.region.kinematic.len()),
            sculpts.first().map_or(0, |s| s.region.passive.len()),
        );
        if grown.is_empty() || grown.iter().any(|g| (g / 1.4 - 1.0).abs() > 0.03) {
            wrong.push(format!("{file} {joint} {t}: {grown:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
