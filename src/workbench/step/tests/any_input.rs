//! Property tests: arbitrary input, and frames without any change.

use super::*;
use crate::pose::Fingers;

#[test]
fn a_steady_frame_keeps_its_buffers() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.7));
    s.at(RIGHT, Vec3::new(0.3, 1.2, 0.5));
    (0..5).for_each(|_| {
        s.step();
    });
    let (pointer, capacity) =
        (s.bench.output.lines.segments.as_ptr(), s.bench.output.lines.segments.capacity());
    for _ in 0..200 {
        let before = s.bench.shown_pose().version;
        assert!(s.step().requests.is_empty());
        assert_eq!(s.bench.shown_pose().version, before);
    }
    assert_eq!(pointer, s.bench.output.lines.segments.as_ptr());
    assert_eq!(capacity, s.bench.output.lines.segments.capacity());
}

fn any_float() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -2.0f32..2.0,
        1 => Just(f32::NAN),
        1 => Just(f32::INFINITY),
        1 => Just(1e30f32),
        1 => Just(0.0f32),
    ]
}

fn any_tracked() -> impl Strategy<Value = Tracked> {
    let tracking =
        prop_oneof![1 => Just(Tracking::Lost), 1 => Just(Tracking::Inferred), 4 => Just(Tracking::Tracked)];
    (prop::array::uniform3(any_float()), prop::array::uniform4(any_float()), tracking).prop_map(
        |(p, q, tracking)| Tracked {
            pose: Rigid { position: p.into(), orientation: Quat::from_array(q) },
            tracking,
        },
    )
}

fn any_hand() -> impl Strategy<Value = crate::workbench::Hand> {
    let sample =
        (0u32..200, prop::array::uniform3(any_float()), prop::array::uniform3(any_float()), any_float());
    let buttons = prop::array::uniform5(prop::bool::weighted(0.1));
    let fingers = prop::option::of(
        prop::array::uniform4(any_float())
            .prop_map(|[a, b, c, d]| Fingers { bends: [[a, b, c]; 5], spreads: [d; 5] }),
    );
    let values = prop::array::uniform2(any_float());
    (any_tracked(), any_tracked(), values, buttons, prop::option::of(sample), fingers).prop_map(
        |(grip, aim, values, [undo, redo, menu, on_panel, off_skin], sample, fingers)| {
            crate::workbench::Hand {
                grip,
                aim,
                draw: values[0],
                grab: values[1],
                stick: values,
                undo,
                redo,
                menu,
                on_panel,
                off_skin,
                fingers,
                surface: sample.map(|(triangle, b, p, draw)| SurfaceSample {
                    triangle,
                    barycentrics: [b[0], b[1], 1.0 - b[0] - b[1]],
                    position: p.into(),
                    normal: Vec3::Y,
                    time: f64::from(b[2]).abs() * 4.0,
                    draw,
                }),
            }
        },
    )
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        Just(Command::Tool(Tool::Line)),
        Just(Command::Tool(Tool::Grab)),
        Just(Command::Tool(Tool::Skin)),
        any_float().prop_map(Command::Radius),
        Just(Command::Mirror(true)),
        Just(Command::GrabBy(GrabBy::Body)),
        Just(Command::RedrawOffset),
        prop::sample::select(&MarkBy::ALL[..]).prop_map(Command::MarkBy),
        Just(Command::RemoveStroke),
        Just(Command::TogglePin),
        any::<bool>().prop_map(Command::Tour),
        Just(Command::LifeSize),
        any::<bool>().prop_map(Command::Fingers),
        any::<bool>().prop_map(Command::Record),
        (0usize..5).prop_map(Command::KeepView),
        (0usize..5).prop_map(Command::GoToView),
        prop::sample::select(&crate::workbench::Travel::ALL[..]).prop_map(Command::Travel),
        Just(Command::UndoNavigation),
        any::<i32>().prop_map(Command::SnapTurn),
        any::<bool>().prop_map(Command::RollWorld),
        any::<bool>().prop_map(Command::LeftHanded),
        any::<bool>().prop_map(Command::Turntable),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_input_panics_or_puts_anything_but_numbers_into_the_document(
        steps in prop::collection::vec(
            ((any_hand(), any_hand()), any_tracked(), prop::bool::weighted(0.95), any_float(), prop::option::weighted(0.2, any_command())),
            60,
        )
    ) {
        let character = biped();
        let mut bench = Workbench::new(session(&character), character.clone(), Preferences::default());
        let mut time = 0.0;
        for ((left, right), head, focused, dt, command) in steps {
            time += f64::from(dt) * 0.05;
            let recentred = (dt > 1.8).then_some(head.pose);
            let input = Input { time, head, hands: [left, right], focused, recentred, window: None, floor: None };
            let out = bench.step(&input);
            let s = out.world_from_room;
            prop_assert!(s.translation.is_finite() && s.rotation.is_finite() && s.scale > 0.0);
            prop_assert!(out.lines.segments.iter().all(|l| l.a.is_finite() && l.b.is_finite()));
            if let Some(command) = command {
                bench.run_command(command);
            }
            let document = bench.session().document();
            for layer in document.strokes() {
                for knot in layer.baseline.knots().iter().chain(layer.offset.iter().flat_map(|o| o.knots())) {
                    prop_assert!(DVec3::is_finite(knot.point()) && knot.orientation.iter().all(|v| v.is_finite()));
                }
            }
            for mark in document.marks() {
                prop_assert!(mark.points.iter().all(|p| p.barycentrics.iter().all(|b| b.is_finite())));
            }
            prop_assert!(bench.pose().local.iter().all(|l| l.rotation.iter().chain(&l.translation).all(|v| v.is_finite())));
        }
    }
}
