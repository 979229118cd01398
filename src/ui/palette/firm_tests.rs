//! Tests of the firm and soft regions on the details panel.

use super::details_tests::{bench, bench_mut, follow, presses, room, shows, text};
use super::{Section, Spot, details};
use crate::base::{FirmId, MarkId};
use crate::document::{DeformerSettings, Edit};
use crate::scene::SkinColors;
use crate::surface::{SurfacePoint, SurfaceStroke};
use crate::workbench::{Command, FirmChange, SkinPart};

#[test]
fn regions_are_made_changed_shown_and_removed() {
    let mut room = room();
    let firm = |change| Command::Firm(change, false);
    room.press(&Spot::Section(Section::Deformer));
    assert!(room.panels.find(&text("Firm here")).is_none(), "springs have no such regions");
    bench_mut(&mut room).apply(Edit::SetDeformer(DeformerSettings::of("volume")), false);
    follow(&mut room);
    room.press(&Spot::Section(Section::Deformer));
    shows(&mut room, "Draw a mark on the skin: the flesh below it can be firmer or softer.");
    let barycentrics = [0.5, 0.25, 0.25];
    let point = |triangle| SurfacePoint { triangle, barycentrics, pressure: 1.0, time: 0.0, lifted: false };
    let (id, name, points) = (MarkId(0), "Mark 1".to_owned(), vec![point(0), point(1)]);
    let mark = SurfaceStroke { id, name, points, closed: false, radius: 0.1 };
    bench_mut(&mut room).apply(Edit::AddMark { index: None, mark: Box::new(mark) }, false);
    follow(&mut room);
    let part = SkinPart::Mark { id: MarkId(0), rings: 3 };
    presses(&mut room, Section::Deformer, &[("Firm here", firm(FirmChange::Add(part, 4.0)))]);
    presses(
        &mut room,
        Section::Deformer,
        &[
            ("Show on the skin", Command::Colors(SkinColors::Firmness)),
            ("Show on the skin", Command::Colors(SkinColors::Off)),
        ],
    );
    for label in ["times as stiff", "rings of fading"] {
        room.press(&Spot::Section(Section::Deformer));
        shows(&mut room, label);
        let (panel, [_, y]) = room.panels.find(&text(label)).unwrap();
        let placement = room.placement(panel);
        let [from, to] = [0.8, 0.2].map(|share| placement.point([details::rail(share), y]));
        room.drag(from, to, |_| ());
        let slides = |c: &Command| matches!(c, Command::Firm(FirmChange::Factor(FirmId(0), _), _));
        let commands = room.commands.iter();
        let rings = label == "rings of fading";
        assert!(room.commands.is_empty() == rings && commands.clone().all(slides), "{:?}", room.commands);
        follow(&mut room);
    }
    assert!(bench(&room).session().document().firm()[0].factor < 0.5);
    presses(&mut room, Section::Deformer, &[("×", firm(FirmChange::Remove(FirmId(0))))]);
    assert!(bench(&room).session().document().firm().is_empty());
    // The number of rings is that of the slider.
    room.press(&Spot::Section(Section::Deformer));
    shows(&mut room, "Soft here");
    room.press(&text("Soft here"));
    let added = room.commands.iter().any(|c| {
        matches!(c, Command::Firm(FirmChange::Add(SkinPart::Mark { rings, .. }, factor), _)
            if *rings > 3 && *factor == 0.25)
    });
    assert!(added, "{:?}", room.commands);
}
