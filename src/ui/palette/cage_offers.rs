//! The items on the Cage page, and what they do.

use super::state::PanelState;
use super::table::{Choice, Offer, press};
use crate::ui::icons::Icon;
use crate::workbench::{CageSet, Command, CommandKind as C};

/// Numbers of vertices that the palette offers for a new cage.
pub(crate) const SIZES: [u32; 3] = [60, 120, 240];

/// Returns the form and the commands of an item of the page.
pub(super) fn offer_of_cage(kind: C, state: &PanelState) -> Offer {
    let p = &state.preferences;
    let there = state.cage.is_some();
    match kind {
        C::MakeCage => Offer::Choice(
            SIZES
                .map(|vertices| Choice {
                    label: format!("Make {vertices}"),
                    icon: None,
                    on: state.cage == Some(vertices),
                    command: Command::MakeCage(vertices),
                })
                .into(),
        ),
        C::RemoveCage => press(Command::RemoveCage, there),
        C::CageSet => Offer::Choice(
            CageSet::ALL
                .map(|set| Choice {
                    label: set.label().to_owned(),
                    icon: None,
                    on: p.cage_set == set,
                    command: Command::CageSet(set),
                })
                .into(),
        ),
        C::CageRest => {
            let choice = |rest, label: &str, icon| Choice {
                label: label.to_owned(),
                icon: Some(icon),
                on: p.cage_rest == rest,
                command: Command::CageRest(rest),
            };
            Offer::Choice(vec![
                choice(true, "Rest pose", Icon::Person),
                choice(false, "Current pose", Icon::Line),
            ])
        }
        C::KeyCage => press(Command::KeyCage, there),
        C::ResetCage => press(Command::ResetCage, there && !state.cage_at_rest),
        _ => press(Command::ExportCage, there),
    }
}
