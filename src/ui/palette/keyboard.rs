//! The keyboard below the details panel. It shows while a text field of that panel has the focus.

use super::theme;
use super::theme::GAP;
use super::widgets::{self, Tile, Touch};
use egui::{Align2, Event, Id, Key, Modifiers, Rect, Ui, pos2, vec2};

/// Size of the panel's image, pixels.
pub(super) const SIZE: [u32; 2] = [700, 346];
/// Height of a key, pixels: 2.8 degrees.
const HEIGHT: f32 = 56.0;
/// The rows of letters.
const ROWS: [&str; 4] = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm-_."];

/// A key of the last row: label, relative width, action.
const LAST: [(&str, f32, Press); 5] = [
    ("Capital", 1.6, Press::Capital),
    ("Space", 3.0, Press::Letter(' ')),
    ("Delete", 1.6, Press::Key(Key::Backspace)),
    ("Cancel", 1.6, Press::Key(Key::Escape)),
    ("Enter", 1.6, Press::Key(Key::Enter)),
];

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Press {
    Letter(char),
    Key(Key),
    /// Makes the next letter a capital.
    Capital,
}

/// State of the keyboard between frames.
#[derive(Default)]
pub(super) struct Keyboard {
    /// Whether the next letter is a capital.
    capital: bool,
}

impl Press {
    /// Returns the events for the text field.
    fn events(self, capital: bool) -> Vec<Event> {
        match self {
            Self::Letter(letter) if capital => vec![Event::Text(letter.to_uppercase().collect())],
            Self::Letter(letter) => vec![Event::Text(letter.into())],
            Self::Key(key) => [true, false]
                .map(|pressed| Event::Key {
                    key,
                    physical_key: None,
                    pressed,
                    repeat: false,
                    modifiers: Modifiers::NONE,
                })
                .into(),
            Self::Capital => Vec::new(),
        }
    }
}

/// Draws the keyboard. Returns the events of the pressed keys.
pub(super) fn show(ui: &mut Ui, touch: &mut Touch, keyboard: &mut Keyboard) -> Vec<Event> {
    let room = theme::glass(ui);
    let mut typed = Vec::new();
    let mut top = room.min.y;
    let mut row = |width: f32| {
        let left = room.min.x + 0.5 * (room.width() - width);
        let rect = Rect::from_min_size(pos2(left, top), vec2(width, HEIGHT));
        top += HEIGHT + GAP;
        rect
    };
    let capital = keyboard.capital;
    let mut key = |ui: &mut Ui, rect: Rect, label: &str, press: Press| {
        let on = press == Press::Capital && capital;
        let look = Tile { on, enabled: true, ..Tile::default() };
        if widgets::tile(ui, touch, rect, Id::new(label), look) {
            typed.extend(press.events(capital));
            keyboard.capital = press == Press::Capital && !capital;
        }
        let (middle, width) = (rect.center(), rect.width() - GAP);
        let line = theme::line(label, theme::BODY, theme::DARK.strong);
        line.fitted(ui.painter(), middle, Align2::CENTER_CENTER, width);
    };
    for letters in ROWS {
        let width = room.width() * letters.len() as f32 / 10.0 - if letters.len() < 10 { GAP } else { 0.0 };
        let keys = theme::columns(row(width), &vec![1.0; letters.len()]);
        for (letter, rect) in letters.chars().zip(keys) {
            let label: String = if capital { letter.to_uppercase().collect() } else { letter.into() };
            key(ui, rect, &label, Press::Letter(letter));
        }
    }
    let keys = theme::columns(row(room.width()), &LAST.map(|k| k.1));
    for ((label, _, press), rect) in LAST.into_iter().zip(keys) {
        key(ui, rect, label, press);
    }
    typed
}
