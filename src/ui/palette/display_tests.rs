//! Tests of the display panel in the headset: looks of the figure, and the options that the headset offers.

use super::details_tests::{bench, follow, presses, room, shows, text};
use super::{Spot, details};
use crate::render::{Occlusion, Shading};
use crate::ui::Section;
use crate::ui::panels::HeadsetOffers;
use crate::workbench::{Command, Preferences};

#[test]
fn looks_and_options_of_the_headset_are_pressed() {
    let mut room = room();
    let offers =
        HeadsetOffers { eye: [1440, 1600], rates: vec![72.0, 90.0], hidden_area: true, passthrough: true };
    room.state.headset = Some(offers);
    presses(
        &mut room,
        Section::Display,
        &[
            ("Clay", Command::Shading(Shading::Clay)),
            ("Textured", Command::Shading(Shading::Textured)),
            ("On", Command::Occlusion(Occlusion::On)),
            ("Off", Command::Occlusion(Occlusion::Off)),
            ("90 Hz", Command::RefreshRate(Some(90.0))),
            ("Drawn", Command::HiddenArea(false)),
            ("Your room", Command::Passthrough(true)),
        ],
    );
    let p = bench(&room).preferences();
    assert_eq!((p.occlusion, p.refresh_rate), (Occlusion::Off, Some(90.0)));
    assert!(!p.hidden_area && p.passthrough);
    room.press(&Spot::Section(Section::Display));
    shows(&mut room, "size");
    let (panel, [_, y]) = room.panels.find(&text("size")).unwrap();
    let placement = room.placement(panel);
    let [from, to] = [0.3, 0.99].map(|share| placement.point([details::rail(share), y]));
    room.drag(from, to, |_| ());
    assert!(room.commands.iter().all(|c| matches!(c, Command::RenderScale(_))), "{:?}", room.commands);
    follow(&mut room);
    assert!(bench(&room).preferences().render_scale > 1.7);
    let [w, h] = [1440.0, 1600.0].map(|n| n * bench(&room).preferences().render_scale);
    shows(&mut room, &format!("{w:.0} x {h:.0} pixels per eye"));
}

#[test]
fn what_the_headset_lacks_is_grey_and_names_the_reason() {
    let mut room = room();
    room.state.headset = Some(HeadsetOffers { eye: [320, 240], ..HeadsetOffers::default() });
    room.press(&Spot::Section(Section::Display));
    follow(&mut room);
    let reasons = [
        "The runtime lacks XR_FB_display_refresh_rate.",
        "The runtime lacks XR_KHR_visibility_mask.",
        "The headset cannot show the room.",
    ];
    reasons.iter().for_each(|reason| shows(&mut room, reason));
    for word in ["Drawn", "Your room"] {
        room.commands.clear();
        room.press(&text(word));
        assert_eq!(room.commands, [], "{word}");
    }
}

#[test]
fn preferences_of_files_are_made_valid() {
    let read = |text: &str| serde_json::from_str::<Preferences>(text).unwrap().sane();
    let old = read("{}");
    assert_eq!((old.render_scale, old.refresh_rate, old.shading), (1.0, None, Shading::Textured));
    assert!(old.hidden_area && !old.passthrough);
    let odd = read(r#"{"render_scale": 9.0, "refresh_rate": -1.0}"#);
    assert_eq!((odd.render_scale, odd.refresh_rate), (2.0, None));
    let mut p = Preferences::default();
    for (asked, given) in [(1.23, 1.25), (0.1, 0.5), (f32::NAN, 0.5)] {
        p.set_render_scale(asked);
        assert_eq!(p.render_scale, given);
    }
}
