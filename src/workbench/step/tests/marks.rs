//! Tests of strokes on the skin.

use super::*;

/// Surface point seen by a probe camera at `from`, by ray intersection with every triangle in the rest pose.
pub(super) fn seen(
    character: &Character,
    from: Vec3,
    direction: Vec3,
    time: f64,
    draw: f32,
) -> Option<SurfaceSample> {
    let mut best: Option<(f32, SurfaceSample)> = None;
    for (t, corners) in character.control.triangles.iter().enumerate() {
        let [a, b, c] = corners.map(|v| character.control.positions[v as usize]);
        let (ab, ac) = (b - a, c - a);
        let p = direction.cross(ac);
        let det = ab.dot(p);
        if det.abs() < 1e-12 {
            continue;
        }
        let s = (from - a) / det;
        let (u, q) = (s.dot(p), s.cross(ab));
        let (v, distance) = (direction.dot(q), ac.dot(q));
        if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 && best.is_none_or(|b| distance < b.0) {
            let position = from + direction * distance;
            let normal = ab.cross(ac).normalize();
            let barycentrics = [1.0 - u - v, u, v];
            best = Some((
                distance,
                SurfaceSample { triangle: t as u32, barycentrics, position, normal, time, draw },
            ));
        }
    }
    best.map(|b| b.1)
}

/// Draws `turns` revolutions around a capsule with axis y in `count` samples.
fn draw_round(s: &mut Script, character: &Character, turns: f32, count: usize) {
    draw_round_at(s, character, (turns, count), |_| 0.5);
}

/// As [`draw_round`], at a height for each sample. Each sample arrives two frames late. The hand then leaves the skin.
pub(super) fn draw_round_at(
    s: &mut Script,
    character: &Character,
    (turns, count): (f32, usize),
    height: impl Fn(usize) -> f32,
) {
    let mut queue = std::collections::VecDeque::from([None, None]);
    for i in 0..count + 12 {
        let angle = turns * std::f32::consts::TAU * i.min(count) as f32 / count as f32;
        let out = Vec3::new(angle.cos(), 0.0, angle.sin());
        let place = out * 0.4 + Vec3::Y * height(i.min(count));
        s.turned(RIGHT, place, Quat::from_rotation_arc(Vec3::NEG_Z, -out));
        s.input.hands[RIGHT].draw = if i < count { 1.0 } else { 0.0 };
        s.input.hands[RIGHT].surface = queue.pop_front().flatten();
        s.step();
        let draw = s.input.hands[RIGHT].draw;
        queue.push_back(seen(character, place, -out, s.input.time, draw));
    }
    s.input.hands[RIGHT].surface = None;
}

#[test]
fn a_stroke_round_a_limb_is_a_ring_on_the_skin() {
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    for (turns, ring) in [(0.99, true), (1.04, true), (0.6, false), (1.7, false)] {
        let mut s = Script::new(&character);
        s.bench.run_command(Command::Tool(Tool::Skin));
        draw_round(&mut s, &character, turns, 60);
        assert!(s.bench.output().probes[RIGHT].is_some());
        let marks = s.bench.session().document().marks();
        assert_eq!((marks.len(), marks[0].closed), (1, ring), "{turns} turns");
        let edge = s.bench.context.body.edge;
        let at: Vec<Vec3> = marks[0]
            .points
            .iter()
            .map(|p| s.bench.context.body.bind_position(&character, p).unwrap())
            .collect();
        for x in &at {
            let radius = Vec3::new(x.x, 0.0, x.z).length();
            assert!((radius - 0.15).abs() < edge && (x.y - 0.5).abs() < edge, "{x} is off the ring");
        }
        assert!(marks[0].points.iter().skip(1).all(|p| !p.lifted));
        if ring {
            assert!(at[at.len() - 1].distance(at[0]) < edge, "it closes on itself");
            let length: f32 = at.windows(2).map(|p| p[0].distance(p[1])).sum();
            assert!((length / (std::f32::consts::TAU * 0.15) - 1.0).abs() < 0.05, "{length}: once round");
        }
        let hash = s.hash();
        s.bench.run_command(Command::RemoveStroke);
        assert!(s.bench.session().document().marks().is_empty());
        s.bench.run_command(Command::Undo);
        assert_eq!(s.hash(), hash);
        // The mark moves with the limb.
        s.bench
            .context
            .apply(Edit::RotateJoint { node: NodeId(1), turns: vec![(crate::rig::Axis::Z, 60.0)] });
        let lines = s.step().lines.segments.len();
        assert!(lines > at.len());
    }
}

#[test]
fn a_mark_is_not_joined_across_the_air() {
    let character = biped();
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Skin));
    let sample = |triangle: u32, position: Vec3, time: f64| SurfaceSample {
        triangle,
        barycentrics: [1.0 / 3.0; 3],
        position,
        normal: Vec3::Z,
        time,
        draw: 1.0,
    };
    s.at(RIGHT, Vec3::new(0.6, 1.5, 0.2));
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    // Two triangles at the elbow, then two at the hand; the pairs are not connected.
    for (triangle, x) in [(ELBOW * 8, 0.52), (ELBOW * 8 + 1, 0.48), (HAND * 8, 0.77), (HAND * 8 + 1, 0.73)] {
        let time = s.input.time;
        s.input.hands[RIGHT].surface = Some(sample(triangle as u32, Vec3::new(x, 1.5, 0.03), time));
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    (0..30).for_each(|_| {
        s.step();
    });
    let mark = &s.bench.session().document().marks()[0];
    let lifted: Vec<u32> = mark.points.iter().filter(|p| p.lifted).map(|p| p.triangle).collect();
    assert_eq!((lifted, mark.closed), (vec![(HAND * 8) as u32], false));
}

#[test]
fn marks_and_hands_survive_a_journal_in_json() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    let held = Vec3::new(-0.77, 1.5, 0.0);
    s.pull(0, &line(held, held + Vec3::Y * 0.2, 8));
    let document = s.bench.session().document();
    let text = serde_json::to_string(document).unwrap();
    let back: crate::document::Document = serde_json::from_str(&text).unwrap();
    assert_eq!((&back, back.hash()), (document, document.hash()));
    assert!(!document.strokes()[0].adjustments.is_empty());
    assert!(Stroke::from_knots(document.strokes()[0].baseline.knots().to_vec()).is_ok());
}

#[test]
fn a_ring_that_is_pulled_swells_the_limb() {
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Skin));
    draw_round(&mut s, &character, 0.99, 60);
    let hash = s.hash();
    let ring = |r: f32| Vec3::new(r, 0.5, 0.0);
    let pull = |s: &mut Script, from: f32, to: f32| {
        s.at(RIGHT, ring(from));
        s.step();
        s.input.hands[RIGHT].draw = 1.0;
        let mut kept = None;
        for place in line(ring(from), ring(to), 9) {
            s.at(RIGHT, place);
            s.step();
            // A pull changes the offsets of its sculpt layer in place, so its frames do not allocate.
            if let Some(shaped) = s.bench.skin.shaped() {
                let crate::surface::Form::Drawn(offsets) = &shaped.form else { panic!() };
                assert_eq!(*kept.get_or_insert(offsets.as_ptr()), offsets.as_ptr());
            }
        }
        assert!(kept.is_some());
        let shown: Vec<_> = s.bench.sculpts().cloned().collect();
        s.input.hands[RIGHT].draw = 0.0;
        s.step();
        shown
    };
    let shown = pull(&mut s, 0.15, 0.21);
    let document = s.bench.session().document();
    assert_eq!((document.marks().len(), document.sculpts().len()), (1, 1));
    let sculpt = &document.sculpts()[0];
    assert_eq!(*sculpt, shown[0], "what was shown is what comes of it");
    assert_eq!(sculpt.mark, Some(document.marks()[0].id));
    let crate::surface::Form::Drawn(offsets) = &sculpt.form else { panic!() };
    for (&v, offset) in sculpt.region.kinematic.iter().zip(offsets) {
        let x = character.control.positions[v as usize];
        let out = Vec3::new(x.x, 0.0, x.z).normalize();
        assert!(Vec3::from(*offset).distance(out * 0.06) < 2e-3, "{offset:?} at {x}");
    }
    // A keyed amplitude changes while the motion plays.
    let id = sculpt.id;
    let key = |value: f32| crate::document::KeyValue {
        target: crate::document::Target::SculptAmplitude(id),
        value: vec![value],
    };
    for (time, value) in [(0.0, 0.0), (1.0, 1.0)] {
        let keys = crate::document::KeyEdit::Insert { time, keys: vec![key(value)] };
        s.bench.apply(Edit::Keys(keys), false);
    }
    s.bench.run_command(Command::Scrub(0.5));
    assert_eq!(s.bench.sculpt_states().iter().map(|s| s.amplitude).collect::<Vec<_>>(), [0.5]);
    s.bench.leave_motion();
    assert_eq!(s.bench.sculpt_states()[0].amplitude, 1.0);
    (0..2).for_each(|_| s.bench.run_command(Command::Undo));
    // A pull works the same on a posed arm, and a second pull changes the same sculpt layer.
    s.bench.context.apply(Edit::RotateJoint { node: NodeId(0), turns: vec![(crate::rig::Axis::Y, 90.0)] });
    pull(&mut s, 0.15, 0.18);
    let document = s.bench.session().document();
    assert_eq!(document.sculpts().len(), 1);
    let crate::surface::Form::Drawn(offsets) = &document.sculpts()[0].form else { panic!() };
    assert!(offsets.iter().all(|o| (Vec3::from(*o).length() - 0.09).abs() < 3e-3));
    for _ in 0..3 {
        s.bench.run_command(Command::Undo);
    }
    assert_eq!(s.hash(), hash);
    assert!(s.bench.sculpts().next().is_none());
}

#[test]
fn a_mark_is_taken_where_the_skin_shows_and_lights_up_before() {
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    for (rules, found) in [(Rules::Now, true), (Rules::Tenth, false)] {
        let mut s = Script::new(&character);
        s.bench.keep_to(rules);
        s.bench.run_command(Command::Tool(Tool::Skin));
        draw_round(&mut s, &character, 0.99, 60);
        let white = u32::from_le_bytes([255; 4]);
        let lit = |s: &mut Script| s.step().lines.segments.iter().filter(|l| l.color_a == white).count();
        let ring = |r: f32| Vec3::new(r, 0.5, 0.0);
        let sample = seen(&character, ring(0.4), Vec3::NEG_X, 0.0, 0.0).unwrap();
        // The skin shows at `from`: after the first pull, it is 6 cm outside of the bind shape.
        let pull = |s: &mut Script, from: f32, to: f32| {
            s.at(RIGHT, ring(from + 0.1));
            assert_eq!(lit(s), 0, "the hand is away from the mark");
            s.at(RIGHT, ring(from));
            let surface = SurfaceSample { position: ring(from), time: s.input.time, ..sample };
            s.input.hands[RIGHT].surface = Some(surface);
            let lights = lit(s) > 0;
            s.draw(RIGHT, &line(ring(from), ring(to), 9));
            lights
        };
        assert!(pull(&mut s, 0.15, 0.21));
        assert_eq!(pull(&mut s, 0.21, 0.24), found, "{rules:?}");
        let document = s.bench.session().document();
        assert_eq!((document.marks().len(), document.sculpts().len()), (1, 1));
        let crate::surface::Form::Drawn(offsets) = &document.sculpts()[0].form else { panic!() };
        let grown = if found { 0.09 } else { 0.06 };
        assert!(offsets.iter().all(|o| (Vec3::from(*o).length() - grown).abs() < 3e-3), "{rules:?}");
    }
}

#[test]
fn what_springs_leave_of_a_pull_comes_as_part_of_its_step() {
    use crate::scene::Refit;
    use crate::surface::{Form, Sculpt};
    use crate::workbench::Request;
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Skin));
    draw_round(&mut s, &character, 0.99, 60);
    let ring = |r: f32| Vec3::new(r, 0.5, 0.0);
    // Returns the refit that a pull requests, and a plausible result: scaled offsets.
    let pull = |s: &mut Script, from: f32, to: f32| -> Option<(Refit, Sculpt)> {
        s.draw(RIGHT, &line(ring(from), ring(to), 9));
        let refit = s.bench.output().requests.iter().find_map(|r| match r {
            Request::Refit(refit) => Some((**refit).clone()),
            _ => None,
        })?;
        let Form::Drawn(offsets) = &refit.sculpt.form else { panic!() };
        let longer = offsets.iter().map(|o| o.map(|v| 1.1 * v)).collect();
        let better = Sculpt { form: Form::Drawn(longer), ..refit.sculpt.clone() };
        Some((refit, better))
    };
    let (refit, better) = pull(&mut s, 0.15, 0.21).unwrap();
    assert_eq!(refit.sculpt, s.bench.session().document().sculpts()[0]);
    assert!(refit.before.is_none() && refit.pose == *s.bench.pose());
    assert_eq!((refit.states.len(), refit.recipe == *s.bench.recipe()), (1, true));
    let history = s.bench.session().history();
    s.bench.receive(better.clone());
    s.step();
    assert_eq!(s.bench.session().document().sculpts(), std::slice::from_ref(&better));
    assert_eq!(s.bench.session().history(), history);
    s.bench.run_command(Command::Undo);
    assert!(s.bench.session().document().sculpts().is_empty());
    s.bench.run_command(Command::Redo);
    assert_eq!(s.bench.session().document().sculpts(), [better]);
    // A sculpt layer that changed in the meantime is not replaced.
    let (refit, late) = pull(&mut s, 0.15, 0.18).unwrap();
    assert!(refit.before.iter().flatten().all(|o| Vec3::from(*o).length() > 0.06));
    s.bench.run_command(Command::Amplitude(0.5));
    s.bench.receive(late);
    s.step();
    let sculpts = s.bench.session().document().sculpts();
    assert_eq!((sculpts.len(), &sculpts[0].form, sculpts[0].amplitude), (1, &refit.sculpt.form, 0.5));
    // Without correction springs, no refit is requested.
    s.bench.run_command(Command::Deformer("lbs".into()));
    assert!(pull(&mut s, 0.15, 0.17).is_none());
}

/// Draws on the front of a capsule with axis y, from height to height at x = 0.01. Each sample arrives two frames late.
fn draw_up(s: &mut Script, character: &Character, heights: [f32; 2]) {
    let mut queue = std::collections::VecDeque::from([None, None]);
    for i in 0..60 {
        let y = heights[0] + (heights[1] - heights[0]) * i.min(39) as f32 / 39.0;
        let place = Vec3::new(0.01, y, 0.3);
        s.turned(RIGHT, place, Quat::IDENTITY);
        s.input.hands[RIGHT].draw = if i < 40 { 1.0 } else { 0.0 };
        s.input.hands[RIGHT].surface = queue.pop_front().flatten();
        s.step();
        let draw = s.input.hands[RIGHT].draw;
        queue.push_back(seen(character, place, Vec3::NEG_Z, s.input.time, draw));
    }
    s.input.hands[RIGHT].surface = None;
}

#[test]
fn the_stroke_after_a_mark_is_its_offset() {
    use crate::surface::Form;
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut s = Script::new(&character);
    s.bench.run_command(Command::MarkBy(MarkBy::Offset));
    assert_eq!(s.bench.preferences().tool, Tool::Skin);
    assert!(s.bench.awaits_mark_offset().is_none());
    draw_up(&mut s, &character, [0.2, 0.8]);
    let marked = s.hash();
    assert_eq!(s.bench.session().document().marks().len(), 1);
    let skin = s.bench.awaits_mark_offset().unwrap();
    let z = skin[0].z;
    let offsets = |s: &Script| {
        let Form::Drawn(offsets) = &s.bench.session().document().sculpts()[0].form else { panic!() };
        offsets.iter().map(|o| Vec3::from(*o)).collect::<Vec<_>>()
    };
    // The mark moved by `d`, drawn upwards or downwards.
    let d = Vec3::new(0.05, 0.02, 0.2);
    let goal = |y: f32| Vec3::new(0.01, y, z) + d;
    s.draw(RIGHT, &line(goal(0.2), goal(0.8), 30));
    assert!(s.bench.awaits_mark_offset().is_none());
    let document = s.bench.session().document();
    assert_eq!((document.marks().len(), document.sculpts().len()), (1, 1));
    assert_eq!(document.sculpts()[0].mark, Some(document.marks()[0].id));
    assert!(!document.sculpts()[0].region.passive.is_empty());
    for offset in offsets(&s) {
        assert!(offset.distance(d) < 1e-3, "{offset}");
    }
    let drawn = s.hash();
    // The next stroke on the skin is another mark; the command draws the offset again.
    s.bench.run_command(Command::RedrawOffset);
    assert!(s.bench.awaits_mark_offset().is_some());
    // A click is no stroke.
    s.draw(RIGHT, &[goal(0.2); 3]);
    assert!(s.bench.awaits_mark_offset().is_some() && s.hash() == drawn);
    let more = Vec3::Z * 0.1;
    s.draw(RIGHT, &line(goal(0.8) + more, goal(0.2) + more, 30));
    assert_eq!(s.bench.session().document().sculpts().len(), 1, "the same layer");
    for offset in offsets(&s) {
        assert!(offset.distance(d + more) < 1e-3, "{offset}");
    }
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), drawn);
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), marked);
    // In another pose, the offset follows the bone. While the hand draws, the layer shows, and undo drops the stroke.
    let turn = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    s.bench.context.apply(Edit::RotateJoint { node: NodeId(0), turns: vec![(crate::rig::Axis::Y, 90.0)] });
    s.bench.run_command(Command::RedrawOffset);
    assert!(s.bench.awaits_mark_offset().is_some());
    let goal = |y: f32| turn * (Vec3::new(0.01, y, z) + d);
    s.at(RIGHT, goal(0.2));
    s.step();
    assert!(s.bench.awaits_mark_offset().is_some(), "{:?}", s.bench.notice());
    s.input.hands[RIGHT].draw = 1.0;
    for place in line(goal(0.2), goal(0.5), 15) {
        s.at(RIGHT, place);
        s.step();
    }
    assert_eq!((s.bench.is_busy(), s.bench.sculpts().count()), (true, 1), "{:?}", s.bench.notice());
    let Form::Drawn(shown) = &s.bench.skin.shaped().unwrap().form else { panic!() };
    assert!(shown.iter().all(|o| Vec3::from(*o).distance(d) < 5e-3), "the rest keeps the displacement");
    s.bench.run_command(Command::Undo);
    assert!(!s.bench.is_busy() && s.bench.session().document().sculpts().is_empty());
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    s.draw(RIGHT, &line(goal(0.2), goal(0.8), 30));
    for offset in offsets(&s) {
        assert!(offset.distance(d) < 1e-3, "{offset}");
    }
    // A mark that is gone waits for nothing.
    s.bench.run_command(Command::RedrawOffset);
    s.bench.run_command(Command::RemoveStroke);
    assert!(s.bench.awaits_mark_offset().is_none());
}

#[test]
fn a_knot_is_dragged_over_the_skin_and_the_layer_follows() {
    use crate::surface::Form;
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut s = Script::new(&character);
    s.bench.run_command(Command::MarkBy(MarkBy::Offset));
    draw_up(&mut s, &character, [0.2, 0.8]);
    let out = |y: f32| Vec3::new(0.01, y, 0.25);
    s.draw(RIGHT, &line(out(0.2), out(0.8), 30));
    let before = s.bench.session().document().sculpts()[0].clone();
    let (hash, steps) = (s.hash(), s.bench.session().history().0);
    s.bench.run_command(Command::MarkBy(MarkBy::Knots));
    // The end at the top goes a quarter around the limb.
    let end = Vec3::new(0.01, 0.8, 0.149);
    s.at(RIGHT, end);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    assert!(s.bench.is_busy());
    for i in 0..=30 {
        let angle = std::f32::consts::FRAC_PI_2 * i as f32 / 30.0;
        let out = Vec3::new(angle.sin(), 0.0, angle.cos());
        let place = out * 0.3 + Vec3::Y * 0.8;
        s.at(RIGHT, out * 0.16 + Vec3::Y * 0.8);
        s.input.hands[RIGHT].surface = seen(&character, place, -out, s.input.time, 1.0);
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert!(!s.bench.is_busy());
    let document = s.bench.session().document();
    let mark = &document.marks()[0];
    let at = |p: &crate::surface::SurfacePoint| s.bench.context.body.bind_position(&character, p).unwrap();
    let (first, last) = (at(&mark.points[0]), at(&mark.points[mark.points.len() - 1]));
    assert!(first.z > 0.14 && last.x > 0.14 && (last.y - 0.8).abs() < 0.01, "{first} {last}");
    let sculpt = &document.sculpts()[0];
    assert_eq!((sculpt.id, sculpt.region.reach), (before.id, before.region.reach));
    assert_ne!(sculpt.region.kinematic, before.region.kinematic);
    // The bulge goes outwards where the mark now lies.
    let Form::Drawn(offsets) = &sculpt.form else { panic!() };
    for (&v, offset) in sculpt.region.kinematic.iter().zip(offsets) {
        let x = character.control.positions[v as usize];
        let (out, offset) = (Vec3::new(x.x, 0.0, x.z).normalize(), Vec3::from(*offset));
        assert!(
            offset.normalize().dot(out) > 0.85 && (offset.length() - 0.1).abs() < 0.02,
            "{offset} at {x}"
        );
    }
    assert_eq!(s.bench.session().history().0, steps + 1, "mark and layer are one step");
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), hash);
    // Away from knots, a stroke is a new mark.
    draw_up(&mut s, &character, [0.35, 0.6]);
    assert_eq!(s.bench.session().document().marks().len(), 2);
}

#[test]
fn the_reach_of_new_layers_is_chosen() {
    use crate::surface::Reach;
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    for (reach, is) in [
        (Some(Reach::Edges(2)), Reach::Edges(2)),
        (Some(Reach::Euclidean(0.1)), Reach::Euclidean(0.1)),
        (Some(Reach::Along(f32::NAN)), Reach::Along(0.0)),
    ] {
        let mut s = Script::new(&character);
        s.bench.run_command(Command::Tool(Tool::Skin));
        s.bench.run_command(Command::NewReach(reach));
        draw_up(&mut s, &character, [0.2, 0.8]);
        s.draw(RIGHT, &line(Vec3::new(0.01, 0.5, 0.149), Vec3::new(0.01, 0.5, 0.25), 9));
        assert_eq!(s.bench.session().document().sculpts()[0].region.reach, is);
        let all = serde_json::to_string(s.bench.preferences()).unwrap();
        assert_eq!(serde_json::from_str::<Preferences>(&all).unwrap(), *s.bench.preferences());
    }
}

#[test]
fn a_stroke_paints_the_share_of_dqs() {
    use crate::deform::Geometric;
    use crate::deform::blend::Painted;
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut s = Script::new(&character);
    s.bench.run_command(Command::MarkBy(MarkBy::Paint));
    s.bench.run_command(Command::Radius(0.1));
    let hash = s.hash();
    draw_up(&mut s, &character, [0.3, 0.6]);
    assert!(s.bench.notice().unwrap().contains("choose it") && s.hash() == hash);
    s.bench.run_command(Command::Deformer("blend".into()));
    let (hash, steps) = (s.hash(), s.bench.session().history().0);
    let painted = |s: &Script| match &s.bench.recipe().geometric {
        Geometric::Blend { painted, .. } => painted.clone(),
        _ => panic!(),
    };
    draw_up(&mut s, &character, [0.3, 0.6]);
    assert!(s.bench.session().document().marks().is_empty());
    let all = painted(&s);
    assert_eq!(all.len(), character.control.positions.len());
    for (v, x) in character.control.positions.iter().enumerate() {
        let y = x.y.clamp(0.3, 0.6);
        let (away, share) = (x.distance(Vec3::new(0.01, y, 0.15)), all.get(v).unwrap());
        if away < 0.045 {
            assert!(share > 0.98, "{share} at {x}");
        } else if away > 0.105 {
            assert!((share - 0.5).abs() < 0.01, "{share} at {x}");
        }
    }
    // Another share over a part; the rest stays.
    s.bench.run_command(Command::PaintShare(0.0));
    draw_up(&mut s, &character, [0.55, 0.6]);
    let now = painted(&s);
    let at = |goal: Vec3| {
        let d = |v: &usize| character.control.positions[*v].distance(goal);
        (0..now.len()).min_by(|a, b| d(a).total_cmp(&d(b))).unwrap()
    };
    assert!(now.get(at(Vec3::new(0.0, 0.58, 0.15))).unwrap() < 0.02);
    assert!(now.get(at(Vec3::new(0.0, 0.35, 0.15))).unwrap() > 0.98);
    assert_eq!(s.bench.session().history().0, steps + 2, "a stroke is a step");
    let text = serde_json::to_string(s.bench.session().document()).unwrap();
    let back: crate::document::Document = serde_json::from_str(&text).unwrap();
    assert_eq!((&back, back.hash()), (s.bench.session().document(), s.hash()));
    back.fits(&character).unwrap();
    assert!(back.fits(&biped()).unwrap_err().to_string().contains("one factor per control vertex"));
    (0..2).for_each(|_| s.bench.run_command(Command::Undo));
    assert_eq!(s.hash(), hash);
    // Factors from a file are one step, too.
    let command = s.bench.with_factors(&Painted::new((0..now.len()).map(|_| 0.25))).unwrap();
    s.bench.run_command(command);
    s.step();
    assert!((painted(&s).get(3).unwrap() - 0.25).abs() < 3e-3);
    // An image that is dropped on the window, or opened, asks for its factors.
    s.bench.run_command(Command::Open("share.PNG".into()));
    s.step();
    let asks = |r: &Request| matches!(r, Request::Factors(_));
    assert!(s.bench.output().requests.iter().any(asks));
}
