//! Freehand, steady and straight strokes of the tools that draw.

use super::marks::draw_round_at;
use super::*;
use crate::bind::shapes::{Shape, capsule};
use crate::surface::SurfaceStroke;
use crate::workbench::{Command, MarkBy, Pen, Request, Rules, Tool};
use std::f32::consts::TAU;

/// Radius of the capsule.
const RADIUS: f32 = 0.15;

/// A capsule, and a workbench whose skin tool draws on it with a pen.
fn on_skin(pen: Pen) -> (Arc<Character>, Script) {
    let character = Arc::new(capsule(2, 24, 24, RADIUS, 1.0));
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Skin));
    s.bench.run_command(Command::Pen(pen));
    (character, s)
}

/// A mark round the capsule by a hand that trembles by 3 mm in every sample, and its points in the bind pose.
fn trembling(pen: Pen, rules: Rules, turns: f32) -> (SurfaceStroke, Vec<Vec3>) {
    let (character, mut s) = on_skin(pen);
    s.bench.keep_to(rules);
    draw_round_at(&mut s, &character, (turns, 240), |i| 0.5 + 0.003 * [1.0, -1.0][i % 2]);
    let [mark] = s.bench.session().document().marks() else { panic!("one mark") };
    let at = |p| s.bench.context.body.bind_position(&character, p).unwrap();
    (mark.clone(), mark.points.iter().map(at).collect())
}

fn length(points: &[Vec3]) -> f32 {
    points.windows(2).map(|p| p[0].distance(p[1])).sum()
}

#[test]
fn a_steady_pen_draws_smooth_marks_and_rings_that_end_at_the_tip() {
    for (turns, ring) in [(0.6, false), (0.99, true)] {
        let [free, steady, old] =
            [(Pen::Free, Rules::Now), (Pen::Steady, Rules::Now), (Pen::Steady, Rules::Sixth)]
                .map(|(pen, rules)| trembling(pen, rules, turns));
        assert!([&free, &steady, &old].iter().all(|m| m.0.closed == ring), "{turns} turns");
        assert_eq!(free.1, old.1, "takes of version 6 have freehand marks");
        let way = turns * TAU * RADIUS;
        let [free_length, steady_length] = [&free.1, &steady.1].map(|points| length(points) / way);
        println!("{turns} turns: {free_length} {steady_length}");
        assert!(free_length > 1.3 && (0.97..1.05).contains(&steady_length));
        if !ring {
            let [a, b] = [&free.1, &steady.1].map(|points| points[points.len() - 1]);
            assert!(a.distance(b) < 1e-4, "{a} {b}");
        }
        assert!(steady.0.points.iter().skip(1).all(|p| !p.lifted));
        let times = steady.0.points.windows(2).all(|p| p[0].time <= p[1].time);
        assert!(times, "the times of the points ascend");
    }
}

#[test]
fn a_straight_mark_is_the_path_from_its_first_point_to_the_tip() {
    let (character, mut s) = on_skin(Pen::Straight);
    // The hand goes up and comes back to the height of the start.
    draw_round_at(&mut s, &character, (0.3, 60), |i| {
        0.5 + 0.1 * ((i as f32 / 50.0).min(1.0) * TAU / 2.0).sin()
    });
    let mark = s.bench.session().document().marks()[0].clone();
    let at: Vec<Vec3> =
        mark.points.iter().map(|p| s.bench.context.body.bind_position(&character, p).unwrap()).collect();
    assert!(at.len() > 6 && !mark.closed);
    assert!(at.iter().all(|x| (x.y - 0.5).abs() < 2e-3), "{at:?}");
    let ratio = length(&at) / (0.3 * TAU * RADIUS);
    assert!((0.97..1.01).contains(&ratio), "{ratio}");
}

#[test]
fn strokes_in_the_air_are_steady_and_straight_too() {
    let zigzag: Vec<Vec3> =
        (0..120).map(|i| Vec3::new(0.003 * [1.0, -1.0][i % 2], 0.4 + 0.004 * i as f32, 0.0)).collect();
    let ends = [zigzag[0], zigzag[zigzag.len() - 1]];
    let sketched = |pen: Pen, rules: Rules| {
        let shape = Shape { bones: 1, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.3 };
        let mut s = Script::new(&Arc::new(Character::from_asset(&shape.bare_asset()).unwrap()));
        s.bench.keep_to(rules);
        s.bench.run_command(Command::Tool(Tool::Bone));
        s.bench.run_command(Command::Pen(pen));
        s.draw(RIGHT, &zigzag);
        let requests = s.bench.output().requests.iter();
        let sketch = requests.cloned().find_map(|r| if let Request::Bones(s) = r { Some(s) } else { None });
        sketch.unwrap().stroke
    };
    let free = sketched(Pen::Free, Rules::Now);
    let straight = ends[0].distance(ends[1]);
    assert!(length(&free) > 1.5 * straight);
    let steady = sketched(Pen::Steady, Rules::Now);
    assert!(steady.len() > 20 && length(&steady) < 1.1 * straight, "{}", length(&steady) / straight);
    assert!(steady[0].distance(ends[0]) < 1e-5 && steady[steady.len() - 1].distance(ends[1]) < 1e-5);
    let line = sketched(Pen::Straight, Rules::Now);
    assert!(
        line.len() == 2 && line[0].distance(ends[0]) < 1e-5 && line[1].distance(ends[1]) < 0.01,
        "{line:?}"
    );
    assert_eq!(sketched(Pen::Straight, Rules::Sixth), free);
}

#[test]
fn a_straight_offset_stroke_moves_the_skin_under_a_mark() {
    let (character, mut s) = on_skin(Pen::Straight);
    s.bench.run_command(Command::MarkBy(MarkBy::Offset));
    draw_round_at(&mut s, &character, (0.0, 40), |i| 0.3 + 0.01 * i as f32);
    assert_eq!(s.bench.session().document().marks().len(), 1);
    let wave: Vec<Vec3> = (0..=40)
        .map(|i| Vec3::new(0.2 + 0.03 * (i as f32).sin().abs(), 0.3 + 0.01 * i as f32, 0.0))
        .collect();
    s.draw(RIGHT, &wave);
    let [layer] = s.bench.session().document().sculpts() else { panic!("one layer") };
    let crate::surface::Form::Drawn(offsets) = &layer.form else { panic!("{:?}", layer.form) };
    // The wave has no effect: along the mark, the skin moves out evenly, by at most the largest of its ends.
    let most = offsets.iter().map(|o| Vec3::from(*o).length()).fold(0.0, f32::max);
    assert!((0.03..0.085).contains(&most), "{most}");
}
