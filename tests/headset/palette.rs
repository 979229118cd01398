//! The palette on the off hand.

use super::stage::{Session, words};
use sinew::editor::panels::{PanelState, Panels, Spot};
use sinew::editor::{Command, Hand, Input, Tool, Tracked, Tracking};

/// Where an entry of the palette is in the room, by the same panels on the same devices.
fn target(session: &Session, entry: &Spot) -> sinew::base::math::Vec3 {
    let frame = &session.app.frame;
    let tracked = |pose| Tracked { pose, tracking: Tracking::Tracked };
    let hand = |i: usize| Hand { grip: tracked(frame.aim[i]), aim: tracked(frame.aim[i]), ..Hand::default() };
    let mut input =
        Input { head: tracked(frame.head), hands: [hand(0), hand(1)], focused: true, ..Input::default() };
    let (mut panels, state) = (Panels::new(), PanelState::default());
    // The palette follows its hand; here it arrives.
    for i in 1..=60 {
        input.time = f64::from(i) / 30.0;
        panels.step(&input, 1, &state);
    }
    panels.target(entry).expect("the palette has no such entry")
}

#[test]
fn the_palette_is_pressed_by_the_other_hands_ray() {
    let Some((runtime, mut s)) = Session::start(&[]) else { return };
    let hash = s.app.hash();
    assert!(s.app.frame.palette && s.app.frame.tool == Tool::Line);
    s.play("left at -0.12 1.3 -0.4 &\nright at 0.2 1.3 -0.2\nwait 0.6");
    for tool in [Tool::Skin, Tool::Grab, Tool::Line] {
        let at = words(target(&s, &Spot::Command(Command::Tool(tool))));
        s.play(&format!("right look {at}\nwait 0.2"));
        if tool == Tool::Skin {
            s.app.picture("palette");
        }
        s.play("right trigger 1\nwait 0.1\nright trigger 0\nwait 0.1");
        assert_eq!(s.app.frame.tool, tool);
    }
    assert_eq!((s.app.hash(), s.app.frame.history), (hash, [1, 0]), "a press on a panel drew");
    // Hidden and shown by the menu button, a press of the stick.
    for shown in [false, true] {
        s.play("left press stick\nwait 0.1\nleft release stick\nwait 0.1");
        assert_eq!(s.app.frame.palette, shown);
    }
    s.end(&runtime);
}
