//! Scenario of the review tools: comparison of deformation methods, wireframe, turntable and strain values.

use super::bed::Runtime;
use super::palette::target;
use super::stage::{Session, check_bent, covered, differing, words};
use image::{Rgb, RgbImage};
use sinew::app::report::Event;
use sinew::ui::palette::{Page, Spot, Strain};
use sinew::workbench::Command;

/// Presses a palette control with the ray of the hand that holds the tool.
pub fn press(s: &mut Session, page: Option<Page>, spot: &Spot) {
    let at = words(target(s, page, spot));
    s.play(&format!("right look {at}\nwait 0.1\nright trigger 1\nwait 0.07\nright trigger 0\nwait 0.07"));
}

/// Waits until the stage shows a deformation method and its strain is measured. Past events count, too.
fn measured(s: &mut Session, method: &str) -> Strain {
    let shown = |e: &Event| matches!(e, Event::Shown(m) if m == method).then_some(());
    let told =
        |e: &Event| if let Event::Measured(m) = e { (m.method == method).then(|| m.clone()) } else { None };
    let newest = |e: &&Event| matches!(e, Event::Shown(_));
    if s.app.events.iter().rev().find(newest).and_then(shown).is_none() {
        s.app.event("the method", shown);
    }
    let newest = |e: &&Event| matches!(e, Event::Measured(_));
    let strain = s.app.events.iter().rev().find(newest).and_then(told);
    let strain = strain.unwrap_or_else(|| s.app.event("its strain", told));
    s.app.frames(4);
    strain
}

/// Returns the pixels of both eyes that show the floor between palette and character, without the ground axes.
fn floor(picture: &RgbImage) -> impl Iterator<Item = (u32, u32, &Rgb<u8>)> {
    let [eye, rows] = [picture.width() / 2, picture.height()];
    let shown = move |x: u32, y: u32| {
        (eye * 33 / 100..eye * 43 / 100).contains(&(x % eye)) && (rows / 2..rows * 86 / 100).contains(&y)
    };
    picture.enumerate_pixels().filter(move |(x, y, _)| shown(*x, *y))
}

pub fn methods_are_compared_on_one_pose_and_the_body_is_looked_at_from_all_sides(
    s: &mut Session,
    runtime: &Runtime,
) {
    s.bend("right");
    let pose = s.app.hash();
    s.play("left at -0.32 1.3 -0.4 &\nright at 0.2 1.3 -0.2\nwait 0.3");
    press(s, None, &Spot::Page(Page::View));
    let method = |name: &str| Spot::Command(Command::Deformer(name.into()));
    // Points the right hand in the same direction before each image, so that only the body differs.
    let away = "right look 2 1 2\nwait 0.1";
    press(s, Some(Page::View), &method("dqs"));
    s.play(away);
    let dqs = measured(s, "dqs");
    let a = s.app.picture("review_dqs");
    press(s, Some(Page::View), &method("springs"));
    s.play(away);
    let springs = measured(s, "springs");
    let b = s.app.picture("review_springs");
    assert!(springs.stretch_max < dqs.stretch_max, "springs {springs:?}, DQS {dqs:?}");
    assert!([&springs, &dqs].iter().all(|m| m.volume_ratio.is_some_and(|v| (v - 1.0).abs() < 0.05)));
    assert!(springs.iterations.is_some_and(|n| n > 0) && dqs.iterations.is_none());
    let apart = differing(&a, &b);
    assert!(apart > 100, "A and B look alike: {apart} pixels");
    let compared = s.app.hash();

    press(s, Some(Page::View), &Spot::Command(Command::Wire(true)));
    s.play(away);
    let wire = s.app.picture("review_wire");
    assert!(differing(&b, &wire) > 2000, "no edges are drawn");
    press(s, Some(Page::View), &Spot::Command(Command::Wire(true)));
    press(s, Some(Page::View), &Spot::Page(Page::Session));
    s.play(away);
    let before = s.app.picture("review_before");
    let turntable = Spot::Command(Command::Turntable(true));
    press(s, Some(Page::Session), &turntable);
    let from = s.app.frame.world_from_room.rotation;
    // The turntable's speed is in radians per second: slow frames turn it further.
    let turned = |s: &Session| s.app.frame.world_from_room.rotation.angle_between(from);
    for _ in 0..600 {
        if turned(s) > 0.25 {
            break;
        }
        s.app.frames(1);
    }
    s.app.press(Command::Turntable(false));
    s.play(away);
    let turned = turned(s);
    assert!(turned > 0.2, "the turntable stands still: {turned}");
    let side = s.app.picture("review_turned");
    assert!(differing(&before, &side) > 500 && covered(&side).iter().all(|n| *n > 1000));
    // The turntable rotates the character and its shadow. Floor, posts and backdrop stay in place.
    let apart = |a: &Rgb<u8>, b: &Rgb<u8>| (0..3).map(|i| a[i].abs_diff(b[i])).max().unwrap_or(0);
    let lines = floor(&before).filter(|(x, y, p)| {
        [(1, 0), (0, 1)].iter().any(|(i, k)| apart(p, before.get_pixel(x + i, y + k)) > 3)
    });
    let lines = lines.count();
    assert!(lines > 100, "the floor shows no grid there: {lines}");
    let moved = floor(&before).map(|(x, y, p)| apart(p, side.get_pixel(x, y))).max();
    assert!(moved <= Some(1), "the floor went along: {moved:?}");
    s.app.press(Command::UndoNavigation);
    s.app.frames(4);
    assert_eq!(s.app.picture("review_last_view"), before, "the last view is another");
    s.app.press(Command::UndoNavigation);
    s.app.frames(4);
    assert_eq!(s.app.picture("review_turned_again"), side);
    assert_eq!(s.app.hash(), compared, "looking changed the document");
    // The choice of a deformation method is an edit, so undo reverts it.
    s.app.press(Command::Undo);
    s.app.press(Command::Undo);
    assert_eq!(s.app.hash(), pose);
    let (model, document) = s.save(runtime);
    check_bent(&model, &document, 0.06);
}
