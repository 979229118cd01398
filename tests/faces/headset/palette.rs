//! Test of the palette, a panel attached to the hand that holds no tool.

use super::bed::Runtime;
use super::stage::{Session, words};
use sinew::base::math::{Quat, Vec3};
use sinew::ui::palette::{Page, Panel, PanelState, Panels, Placement, Spot};
use sinew::workbench::{Command, CommandKind, Hand, Input, Tool, Tracked, Tracking};

/// Returns the room-space position of a palette control on `page`, laid out by the program's own panel code.
pub fn target(session: &Session, page: Option<Page>, entry: &Spot) -> Vec3 {
    place(session, turned(session, page).find(entry).expect("the palette has no such entry"))
}

/// Returns a room-space position on a slider's track. `share` is 0 at the track's left end and 1 at its right end.
pub fn slider(session: &Session, page: Page, kind: CommandKind, share: f32) -> Vec3 {
    place(
        session,
        turned(session, Some(page)).find_track(kind, share).expect("the palette has no such slider"),
    )
}

/// Converts a point on the palette to room space by the palette pose that the program reports.
fn place(session: &Session, (panel, at): (Panel, [f32; 2])) -> Vec3 {
    let (pose, size) = session.app.frame.palette_place.expect("the palette shows");
    assert_eq!(panel, Panel::Palette);
    Placement { panel, pose, size }.point(at)
}

/// Returns the input of a user whose head and hands are where the program reports them.
pub fn hands(session: &Session) -> Input {
    let frame = &session.app.frame;
    let tracked = |pose| Tracked { pose, tracking: Tracking::Tracked };
    let hand = |i: usize| Hand { grip: tracked(frame.aim[i]), aim: tracked(frame.aim[i]), ..Hand::default() };
    Input { head: tracked(frame.head), hands: [hand(0), hand(1)], focused: true, ..Input::default() }
}

fn turned(session: &Session, page: Option<Page>) -> Panels {
    let mut input = hands(session);
    let (mut panels, state) = (Panels::new(), PanelState::default());
    let step = |input: &mut Input, panels: &mut Panels| {
        input.time += 1.0 / 30.0;
        panels.step(input, 1, &state, None);
    };
    (0..3).for_each(|_| step(&mut input, &mut panels));
    if let Some(page) = page {
        let hand = input.hands[1].clone();
        let aim = &mut input.hands[1].aim.pose;
        let at = panels.target(&Spot::Page(page)).expect("the palette has no such page");
        aim.orientation = Quat::from_rotation_arc(Vec3::NEG_Z, (at - aim.position).normalize());
        for draw in [0.0, 0.0, 1.0, 1.0, 0.0, 0.0] {
            input.hands[1].draw = draw;
            step(&mut input, &mut panels);
        }
        input.hands[1] = hand;
        (0..5).for_each(|_| step(&mut input, &mut panels));
    }
    panels
}

pub fn the_palette_is_pressed_by_the_other_hands_ray(s: &mut Session, runtime: &Runtime) {
    let hash = s.app.hash();
    assert!(s.app.frame.palette && s.app.frame.tool == Tool::Line);
    s.play("left at -0.12 1.3 -0.4 &\nright at 0.2 1.3 -0.2\nwait 0.3");
    for tool in [Tool::Skin, Tool::Grab, Tool::Line] {
        let at = words(target(s, None, &Spot::Command(Command::Tool(tool))));
        s.play(&format!("right look {at}\nwait 0.1"));
        if tool == Tool::Skin {
            s.app.picture("palette");
        }
        s.play("right trigger 1\nwait 0.07\nright trigger 0\nwait 0.07");
        assert_eq!(s.app.frame.tool, tool);
    }
    assert_eq!((s.app.hash(), s.app.frame.history), (hash, [1, 0]), "a press on a panel drew");
    // A press of the thumbstick acts as the menu button, which hides and shows the palette.
    for shown in [false, true] {
        s.play("left press stick\nwait 0.07\nleft release stick\nwait 0.07");
        assert_eq!(s.app.frame.palette, shown);
    }
    s.save(runtime);
}
