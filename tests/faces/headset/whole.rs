//! Test of full-body posing: the hands pull both wrists of a character, the body follows, and pinned feet stay.

use super::bed::Runtime;
use super::stage::{Session, covered, words};
use crate::man::Man;
use sinew::app::report::Event;
use sinew::base::math::Vec3;
use sinew::workbench::{Command, GrabBy};

/// Displacement of both hands, world space, metres: to the user's right, up, and towards the user.
const PULL: Vec3 = Vec3::new(0.15, 0.1, 0.45);

#[test]
fn both_wrists_of_a_real_character_are_pulled_and_its_pinned_feet_stay() {
    let Some(runtime) = Runtime::start() else { return };
    let man = Man::load();
    let [left, right, foot, other_foot, hips] = man.places();
    let mut s = Session::with(&runtime, &man.file.display().to_string(), &[], None);
    let shown = |e: &Event| matches!(e, Event::Shown(_)).then_some(());
    if s.app.events.iter().find_map(shown).is_none() {
        s.app.event("the body on the stage", shown);
    }
    let middle = words(s.stage(hips));
    s.play(&format!("head look {middle}\nwait 0.07"));
    s.play("left at -0.5 1 0.3 &\nright at 0.5 1 0.3\nwait 0.07");
    for foot in [foot, other_foot] {
        let at = s.tip(foot);
        s.play(&format!("right at {at}\nwait 0.07"));
        s.app.press(Command::TogglePin);
    }
    s.app.press(Command::GrabBy(GrabBy::Body));
    if s.app.frame.palette {
        s.app.press(Command::Palette);
    }
    s.play("right at 0.5 1 0.3\nwait 0.07");
    let before = s.app.picture("whole_before");
    let steps = s.app.frame.history[0];
    let (a, b) = (words(s.stage(left)), words(s.stage(right)));
    s.play(&format!("left at {a} &\nright at {b}\nwait 0.07\nleft squeeze 1 &\nright squeeze 1\nwait 0.07"));
    let by = words(PULL / s.app.frame.world_from_room.scale);
    s.play(&format!("left by {by} over 0.4 &\nright by {by} over 0.4\nwait 0.07"));
    assert!(s.app.frame.busy, "nothing is held: {:?}", s.app.frame);
    let held = s.app.picture("whole_held");
    let hash = s.app.hash();
    s.play("left squeeze 0 &\nright squeeze 0\nwait 0.07");
    assert_ne!(s.app.hash(), hash, "letting go changed nothing");
    assert_eq!(s.app.frame.history, [steps + 1, 0], "one step of undo");
    // The palette displays the strain that the pull causes in the body.
    s.app.press(Command::Palette);
    let strain =
        s.app.event("the strain", |e| if let Event::Measured(m) = e { Some(m.clone()) } else { None });
    s.app.press(Command::Palette);
    s.play("left at -0.6 1 0.3 &\nright at 0.6 1 0.3\nwait 0.07");
    s.app.picture("whole_after");

    let (all, now) = (covered(&before), covered(&held));
    assert!(all.iter().chain(&now).all(|n| *n > 500), "{all:?} {now:?}");
    let half = before.width() / 2;
    for eye in 0..2 {
        let changed = before.enumerate_pixels().zip(held.pixels()).filter(|((x, _, a), b)| {
            usize::from(*x >= half) == eye && (0..3).any(|i| a[i].abs_diff(b[i]) > 24)
        });
        assert!(changed.count() > 300, "eye {eye} sees no change");
    }
    let volume = strain.volume_ratio.expect("a closed body");
    assert!((volume - 1.0).abs() < 0.05, "{strain:?}");

    let (_, document) = s.end(&runtime);
    let now = man.checked(&document.posed(man.model.skeleton()));
    for (k, before) in [left, right].into_iter().enumerate() {
        assert!(now[k].distance(before + PULL) < 0.02, "hand {k}: {} {}", now[k], before + PULL);
    }
    for (k, before) in [(2, foot), (3, other_foot)] {
        assert!(now[k].distance(before) < 5e-3, "a pinned foot went from {before} to {}", now[k]);
    }
    assert!((now[4] - hips).dot(PULL) > 0.02 * PULL.length(), "the body stayed: {hips} {}", now[4]);
    println!("volume {volume}, hips by {}", now[4] - hips);
}
