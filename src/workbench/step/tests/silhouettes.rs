//! Tests of the silhouette tool without the interpretation of its strokes.

use super::*;
use crate::render::{Filter, TEXEL, View};
use crate::surface::{Form, Region, Sculpt};
use crate::workbench::{AccentOutcome, AccentStart, AccentStroke};

/// A script with the silhouette tool, whose head is at a place in the room.
fn script(head: Vec3) -> Script {
    let mut s = Script::new(&Arc::new(capsule(2, 24, 24, 0.15, 1.0)));
    let orientation = Quat::from_rotation_arc(Vec3::NEG_Z, (Vec3::Y * 0.5 - head).normalize());
    // The world stays where it is: the workbench regards the room as entered.
    s.bench.placed = true;
    s.input.head = Tracked { pose: Rigid { position: head, orientation }, tracking: Tracking::Tracked };
    s.bench.run_command(Command::Tool(Tool::Silhouette));
    s
}

fn asked(out: &Output) -> Option<AccentStroke> {
    out.requests.iter().find_map(|r| match r {
        Request::Accent(accent) => Some((**accent).clone()),
        _ => None,
    })
}

/// Draws, and returns the request.
fn drawn(s: &mut Script, path: &[Vec3]) -> Option<AccentStroke> {
    s.at(RIGHT, path[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in path {
        s.at(RIGHT, *place);
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    asked(s.step())
}

#[test]
fn the_view_of_a_stroke_shows_the_character_from_the_eye_in_the_picture_s_texels() {
    let path = line(Vec3::new(0.16, 0.2, 0.0), Vec3::new(0.18, 0.8, 0.0), 30);
    for head in [Vec3::new(0.0, 0.6, 1.5), Vec3::new(0.3, 3.5, 0.2), Vec3::new(-0.2, 0.5, 0.45)] {
        let mut s = script(head);
        s.bench.run_command(Command::Silhouettes(Filter::Depth));
        s.bench.run_command(Command::AccentDepth(true));
        let accent = drawn(&mut s, &path).unwrap();
        let AccentStart { view, size, pose, filter, depth, .. } = &*accent.start;
        assert_eq!((view.eye, pose, *filter, *depth), (head, s.bench.pose(), Filter::Depth, true));
        assert!(accent.stroke.len() > 20 && size.iter().all(|n| (16..1500).contains(n)), "{size:?}");
        for (extent, n) in [view.ray_right, view.ray_down].iter().zip(size) {
            assert!((extent.length() / *n as f32 - TEXEL * View::POINT).abs() < 1e-6);
        }
        let ends = [Vec3::new(0.0, -0.14, 0.0), Vec3::new(0.0, 1.14, 0.0), Vec3::new(0.15, 0.5, 0.0)];
        let near = head.distance(path[0]) < 0.8;
        let inside = |p: &Vec3| view.project(*p).is_some_and(|uv| uv.iter().all(|c| (0.0..1.0).contains(c)));
        assert!(near || ends.iter().chain(&accent.stroke).all(inside), "{head}");
        assert!(inside(&path[0]));
    }
    // The eye is at the beginning of the stroke.
    let mut s = script(path[0]);
    assert!(drawn(&mut s, &path).is_none() && !s.bench.is_busy());
}

/// A result of the interpretation of a stroke.
fn result(out: f32) -> AccentOutcome {
    let region = Region { kinematic: vec![0], t: vec![0.5], ..Region::default() };
    let sculpt = Sculpt::new(SculptId(0), None, region, Form::Drawn(vec![[out, 0.0, 0.0]]));
    AccentOutcome { sculpt, chain: vec![Vec3::ZERO, Vec3::Y] }
}

#[test]
fn a_preview_shows_until_the_layer_arrives_and_is_no_part_of_the_document() {
    let mut s = script(Vec3::new(0.0, 0.6, 1.5));
    let hash = s.hash();
    let path = line(Vec3::new(0.16, 0.2, 0.0), Vec3::new(0.18, 0.8, 0.0), 12);
    let shown = |s: &Script| s.bench.sculpts().map(|l| l.form.clone()).collect::<Vec<_>>();
    s.at(RIGHT, path[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    let start = s.bench.accent_stroke().unwrap().start.clone();
    assert!(shown(&s).is_empty());
    for (k, place) in path.iter().enumerate() {
        s.at(RIGHT, *place);
        s.step();
        s.bench.preview_accent(&start, Some(result(k as f32)));
        assert_eq!(shown(&s), [result(k as f32).sculpt.form]);
    }
    let lines = s.step().lines.segments.len();
    assert_eq!(s.bench.sculpt_states().len(), 1);
    // Another stroke's result comes too late.
    let other = Arc::new(AccentStart::clone(&start));
    s.bench.preview_accent(&other, Some(result(9.0)));
    assert_eq!(shown(&s), [result(11.0).sculpt.form]);
    s.input.hands[RIGHT].draw = 0.0;
    let accent = asked(s.step()).unwrap();
    assert!(Arc::ptr_eq(&accent.start, &start) && s.bench.accent_stroke().is_none() && !s.bench.is_busy());
    assert_eq!(shown(&s), [result(11.0).sculpt.form]);
    assert!(s.step().lines.segments.len() < lines, "stroke and silhouette are hidden");
    assert!(s.bench.shape().is_none() && s.hash() == hash, "the document has no layer");
    s.bench.receive(result(12.0).sculpt);
    s.step();
    assert_eq!(shown(&s), [result(12.0).sculpt.form]);
    s.bench.run_command(Command::Undo);
    assert!(shown(&s).is_empty() && s.hash() == hash);
    // A cancelled stroke and a stroke without silhouette leave nothing.
    for cancelled in [true, false] {
        s.input.hands[RIGHT].draw = 1.0;
        s.step();
        let start = s.bench.accent_stroke().unwrap().start.clone();
        s.at(RIGHT, path[0]);
        s.step();
        s.bench.preview_accent(&start, Some(result(1.0)));
        assert_eq!(shown(&s).len(), 1);
        if cancelled {
            s.bench.run_command(Command::Undo);
        }
        s.input.hands[RIGHT].draw = 0.0;
        assert_eq!(asked(s.step()).is_some(), !cancelled);
        s.bench.preview_accent(&start, None);
        assert!(shown(&s).is_empty());
        s.at(RIGHT, path[6]);
        s.step();
    }
    assert_eq!(s.hash(), hash);
}

#[test]
fn a_tool_that_works_on_one_side_says_so_while_mirror_is_on() {
    let character = biped();
    let mut s = Script::new(&character);
    let mut told = |command: Command| {
        s.bench.run_command(command);
        s.bench.context.notice.take()
    };
    assert_eq!(told(Command::Tool(Tool::Silhouette)), None);
    assert!(told(Command::Mirror(true)).is_some_and(|t| t.contains("does nothing here")));
    for works in [Tool::Skin, Tool::Line, Tool::Joint] {
        assert_eq!(told(Command::Tool(works)), None);
    }
    assert!(told(Command::Tool(Tool::Silhouette)).is_some());
}
