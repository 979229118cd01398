//! The settings of onion skins.

use crate::render::GHOSTS;
use crate::ui::panels::Pressed;
use crate::ui::panels::widgets::{choice, offer};
use crate::ui::theme;
use crate::workbench::{Command, GhostSpacing, OnionSkins, Workbench};
use egui::Ui;

/// Spacings that the panel offers, with their labels.
const SPACINGS: [(GhostSpacing, &str); 5] = [
    (GhostSpacing::Keys, "Key by key"),
    (GhostSpacing::Frames(1), "1 frame"),
    (GhostSpacing::Frames(2), "2 frames"),
    (GhostSpacing::Frames(4), "4 frames"),
    (GhostSpacing::Frames(8), "8 frames"),
];

/// Draws the switch, the numbers of ghosts and their spacing.
pub(super) fn tools(ui: &mut Ui, bench: &Workbench, pressed: &mut Pressed) {
    let skins = bench.preferences().onion;
    if theme::is_large(ui) {
        let text = if skins.on { "Hide" } else { "Show" };
        let tip = "Shows the character at other times: blue before the playhead, orange after it";
        pressed.command(Command::Onion(!skins.on), offer(ui, true, text, tip));
    }
    let set = |skins: OnionSkins| Command::Ghosts {
        before: skins.before,
        after: skins.after,
        spacing: skins.spacing,
    };
    let most = GHOSTS as u32;
    for (label, count, with) in [
        ("Before", skins.before, (|skins, before| OnionSkins { before, ..skins }) as With),
        ("After", skins.after, |skins, after| OnionSkins { after, ..skins }),
    ] {
        let tip = format!("Number of onion skins {} the playhead", label.to_lowercase());
        let less = offer(ui, count > 0, "fewer", &tip);
        pressed.command(set(with(skins, count.saturating_sub(1))), less);
        ui.label(format!("{label} {count}"));
        let more = offer(ui, count < most, "more", &tip);
        pressed.command(set(with(skins, (count + 1).min(most))), more);
    }
    for (spacing, text) in SPACINGS {
        let tip = match spacing {
            GhostSpacing::Keys => "Onion skins lie at the keys around the playhead".to_owned(),
            GhostSpacing::Frames(frames) => format!("Onion skins lie {frames} frames apart"),
        };
        let chosen = choice(ui, skins.spacing == spacing, text, tip);
        pressed.command(set(OnionSkins { spacing, ..skins }), chosen);
    }
}

/// Returns the settings with another number.
type With = fn(OnionSkins, u32) -> OnionSkins;
