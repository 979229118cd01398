//! The table of all commands in `docs/reference.md`, with the headset's and the window's control for each.

use super::keys::{ACTS, Act};
use crate::workbench::{CommandKind, Control, Route, WindowPlace};
use std::fmt::Write;

/// Features of the window that do not correspond to a command: name, counterpart in the headset, place in the window.
const LISTS: [(&str, &str, &str); 9] = [
    ("Switch or remove any stroke or mark", "details, outliner", "outliner"),
    ("Hide parts of the mesh", "details, outliner", "outliner"),
    ("Width and softness of a sculpt layer", "details, outliner", "outliner"),
    ("Keep poses, take them, blend them in, mirror them", "details, poses", "poses"),
    ("Play the file's clips: weight, speed, start, loop", "details, clips", "clips"),
    ("Select, move, copy, retime and ease keys", "details, keys", "timeline"),
    ("Drag values and slopes of keys", "details, keys", "timeline"),
    (
        "Another name for a sculpt layer or pose",
        "details, outliner, poses; keyboard",
        "outliner, two clicks; poses",
    ),
    ("Remove any measure", "the newest", "tool panel"),
];

/// Returns the table as Markdown: first the commands of both front ends, then features of the window only.
pub fn table() -> String {
    let mut out = String::from("| command | headset | window |\n|---|---|---|\n");
    for kind in CommandKind::ALL {
        let _ = writeln!(out, "| {} | {} | {} |", kind.label(), headset(kind), window(kind));
    }
    for line in ACTS.iter().filter(|l| l.command.is_none()) {
        let _ = writeln!(out, "| {} | {} | {} |", line.label, instead(line.act), keys(line.act));
    }
    for (what, headset, window) in LISTS {
        let _ = writeln!(out, "| {what} | {headset} | {window} |");
    }
    out
}

fn headset(kind: CommandKind) -> String {
    let route = |route: &Route| match route {
        Route::Control(Control::StickX | Control::StickY) => "stick",
        Route::Control(_) => "button",
        Route::Palette => "palette",
        Route::Files => "file panel",
        Route::Details => "details panel",
    };
    kind.routes().iter().map(route).collect::<Vec<_>>().join(", ")
}

fn window(kind: CommandKind) -> String {
    let acts = ACTS.iter().filter(|l| l.command == Some(kind) && !l.keys.is_empty());
    match kind.place() {
        WindowPlace::Keys => acts.map(|l| keys(l.act)).collect::<Vec<_>>().join(", "),
        place => place.label().to_owned(),
    }
}

fn keys(act: Act) -> String {
    act.line().keys.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the headset's counterpart of an action that only the window has.
fn instead(act: Act) -> &'static str {
    match act {
        Act::TakePose => "reach for the body",
        Act::EditKeys => "details, keys",
        Act::Compare => "palette, in turn",
        Act::SaveAs => "save",
        Act::FixPlane | Act::MovePlane => "strokes are drawn in space",
        Act::Grab => "squeeze",
        Act::Rotate => "the joint tool",
        Act::Deselect => "touch another",
        Act::Lens | Act::Stereo => "both eyes see",
        Act::Help => "buttons are named at the hand",
        Act::Larger | Act::Smaller => "panels keep their angle",
        _ => "walk, pull, turn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::window::acts::command_of;
    use crate::workbench::{Preferences, Workbench};
    use crate::workbench::{biped, session};

    #[test]
    fn the_reference_says_how_every_command_is_given() {
        let reference = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
        let reference = std::fs::read_to_string(reference).unwrap();
        assert!(
            reference.contains(&table()),
            "docs/reference.md, Commands and keys: the table is\n\n{}",
            table()
        );
    }

    #[test]
    fn the_commands_of_the_table_of_keys_have_keys() {
        let character = biped();
        let bench = Workbench::new(session(&character), character, Preferences::default());
        for kind in CommandKind::ALL.into_iter().filter(|kind| kind.place() == WindowPlace::Keys) {
            assert!(!window(kind).is_empty(), "{kind:?} has no key");
        }
        // The command that each table entry names is the command that its action gives.
        for line in ACTS {
            if let Some(command) = command_of(line.act, &bench) {
                assert_eq!(line.command, Some(command.kind()), "{:?}", line.act);
            }
        }
    }
}
