//! Items of the palette's Time page: playback, keys and frame rate.

use super::table::{Choice, Offer, press};
use crate::asset::Interpolation;
use crate::document::FRAME_RATES;
use crate::ui::panels::keys::INTERPOLATIONS;
use crate::workbench::{Command, CommandKind as C, Timeline};

/// Returns the behaviour of an item of the Time page.
pub(super) fn offer_of_time(kind: C, timeline: &Timeline) -> Offer {
    let head = timeline.playhead;
    let length = timeline.length.max(1e-3);
    let choice = |on: bool, label: String, command| Choice { label, icon: None, on, command };
    match kind {
        C::Play => Offer::Switch { on: head.playing, command: Command::Play(!head.playing) },
        C::AutoKey => Offer::Switch { on: head.auto_key, command: Command::AutoKey(!head.auto_key) },
        C::Record => Offer::Switch { on: head.record, command: Command::Record(!head.record) },
        C::Scrub => Offer::Slider {
            value: (head.time / length).clamp(0.0, 1.0) as f32,
            text: format!("{:.2} s  frame {:.0}", head.time, head.time * f64::from(timeline.sheet.rate)),
            command: Box::new(move |at| Command::Scrub(f64::from(at) * length)),
        },
        C::Key => Offer::Press {
            command: Command::Key,
            enabled: true,
            label: None,
            count: Some(timeline.sheet.columns.len()),
        },
        C::DeleteKey => press(Command::DeleteKey, timeline.column.is_some()),
        C::MoveKey => Offer::Slider {
            value: (timeline.column.unwrap_or(head.time) / length).clamp(0.0, 1.0) as f32,
            text: timeline.column.map_or_else(|| "no key".into(), |c| format!("{c:.2} s")),
            command: Box::new(move |at| Command::MoveKey(f64::from(at) * length)),
        },
        C::Rate => {
            let rate = timeline.sheet.rate;
            let at = FRAME_RATES.iter().position(|r| *r == rate).unwrap_or(0);
            Offer::Press {
                command: Command::Rate(FRAME_RATES[(at + 1) % FRAME_RATES.len()]),
                enabled: true,
                label: Some(format!("{rate} fps")),
                count: None,
            }
        }
        _ => {
            let of = |(way, label): (Interpolation, &str)| {
                choice(timeline.interpolation == Some(way), label.into(), Command::Interpolation(way))
            };
            Offer::Choice(INTERPOLATIONS.map(of).into())
        }
    }
}
