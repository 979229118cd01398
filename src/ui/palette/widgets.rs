//! Widgets of the panels: tiles, choices, sliders and tabs. Each widget reports its events to a [`Touch`].

use super::table::{Choice, Item, Offer};
use super::{PaletteMemory, Spot, theme};
use crate::ui::icons::Icon;
use crate::workbench::{Command, CommandKind};
use egui::{Align2, Color32, CornerRadius, Id, Rect, Response, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

/// The events of a frame of a panel, and the layout of its last pass.
#[derive(Default)]
pub(super) struct Touch {
    /// The widget under the pointer.
    pub hovered: Option<Id>,
    /// Whether a widget was pressed.
    pub clicked: bool,
    /// Whether a disabled widget was pressed.
    pub refused: bool,
    /// Commands of the pressed widgets.
    pub commands: Vec<Command>,
    /// Press targets (commands, pages and tabs) with their rectangles.
    pub spots: Vec<(Spot, Rect)>,
    /// Whether the hand holds a slider.
    pub slides: bool,
    /// Slider tracks with their rectangles.
    pub tracks: Vec<(CommandKind, Rect)>,
}

impl Touch {
    /// Forgets the layout of the pass before, but keeps what was pressed. egui repeats a pass whose layout it discards;
    /// only the first pass has the events.
    pub fn begin_pass(&mut self) {
        self.hovered = None;
        self.spots.clear();
        self.tracks.clear();
    }

    /// Adds a widget. Returns its events, and whether the pointer is on it.
    pub fn sense(&mut self, ui: &Ui, rect: Rect, id: Id, sense: Sense) -> (Response, bool) {
        let response = ui.interact(rect, id, sense);
        let over = response.hovered() || response.is_pointer_button_down_on();
        if over {
            self.hovered = Some(id);
        }
        (response, over)
    }
}

/// Appearance of a tile.
#[derive(Clone, Copy, Default)]
pub(super) struct Tile<'a> {
    pub label: &'a str,
    pub icon: Option<Icon>,
    pub on: bool,
    pub enabled: bool,
    /// A number beside the label.
    pub count: Option<usize>,
    /// Whether the icon is above the label instead of beside it.
    pub tall: bool,
    /// Whether a switch on the tile shows the on or off state.
    pub switch: bool,
    pub warn: bool,
}

/// Draws a tile. Returns true if an enabled tile was pressed.
pub(super) fn tile(ui: &mut Ui, touch: &mut Touch, rect: Rect, id: Id, tile: Tile<'_>) -> bool {
    let (response, over) = touch.sense(ui, rect, id, Sense::click());
    let down = response.is_pointer_button_down_on();
    let ground = match (tile.enabled, tile.on && !tile.switch, tile.warn) {
        (false, ..) => theme::DARK.panel,
        (_, _, true) => Color32::from_rgb(150, 46, 46),
        (_, true, _) if over => theme::ACCENT_HOVER,
        (_, true, _) => theme::ACCENT,
        _ if down => theme::DARK.press,
        _ if over => theme::DARK.hover,
        _ => theme::DARK.tile,
    };
    let ink = if tile.enabled { theme::DARK.strong } else { theme::FAINT };
    let painter = ui.painter();
    painter.rect_filled(rect, CornerRadius::same(14), ground);
    if over && tile.enabled {
        painter.rect_stroke(rect, CornerRadius::same(14), Stroke::new(2.0, theme::SOFT), StrokeKind::Inside);
    }
    let middle = rect.center();
    if tile.tall {
        if let Some(icon) = tile.icon {
            icon.draw(painter, pos2(middle.x, rect.min.y + rect.height() * 0.38), 24.0, ink);
        }
        let at = pos2(middle.x, rect.max.y - 10.0);
        let width = rect.width() - 6.0;
        theme::line(tile.label, theme::SMALL + 1.0, ink).fitted(painter, at, Align2::CENTER_BOTTOM, width);
    } else if tile.label.is_empty() {
        if let Some(icon) = tile.icon {
            icon.draw(painter, middle, 15.0, ink);
        }
    } else {
        let inset = 16.0;
        let mut left = rect.min.x + inset;
        let mut right = rect.max.x - inset;
        if let Some(icon) = tile.icon {
            icon.draw(painter, pos2(left + 15.0, middle.y), 16.0, ink);
            left += 44.0;
        }
        if tile.switch {
            right -= 50.0;
            switch(ui, Rect::from_min_size(pos2(right + 2.0, middle.y - 14.0), vec2(50.0, 28.0)), tile.on);
        }
        if let Some(count) = tile.count.filter(|c| *c > 0) {
            let text = count.to_string();
            let at = pos2(right, middle.y);
            let faint = if tile.enabled { theme::SOFT } else { theme::FAINT };
            let number =
                theme::line(&text, theme::SMALL, faint).print(ui.painter(), at, Align2::RIGHT_CENTER, 80.0);
            right = number.min.x;
        }
        let at = pos2(left, middle.y);
        theme::line(tile.label, theme::BODY, ink).fitted(
            ui.painter(),
            at,
            Align2::LEFT_CENTER,
            right - left - 6.0,
        );
    }
    let pressed = response.clicked();
    touch.clicked |= pressed && tile.enabled;
    touch.refused |= pressed && !tile.enabled;
    pressed && tile.enabled
}

/// Draws a tile that gives a command.
pub(super) fn press(ui: &mut Ui, touch: &mut Touch, rect: Rect, id: Id, look: Tile<'_>, command: Command) {
    touch.spots.push((Spot::Command(command.clone()), rect));
    if tile(ui, touch, rect, id, look) {
        touch.commands.push(command);
    }
}

/// Draws a switch that is on or off.
fn switch(ui: &Ui, rect: Rect, on: bool) {
    let painter = ui.painter();
    let r = rect.height() / 2.0;
    let ground = if on { theme::ACCENT } else { theme::FAINT.gamma_multiply(0.6) };
    painter.rect_filled(rect, CornerRadius::same(r as u8), ground);
    let x = if on { rect.max.x - r } else { rect.min.x + r };
    painter.circle_filled(pos2(x, rect.center().y), r - 4.0, theme::DARK.strong);
}

/// Draws an item with the widget for the item's current behaviour.
pub(super) fn item(
    ui: &mut Ui,
    touch: &mut Touch,
    memory: &mut PaletteMemory,
    (rect, item): (Rect, Item),
    offer: Offer,
    time: f64,
) {
    let entry = item.entry();
    let id = Id::new(item);
    let plain = Tile { label: entry.label, icon: entry.icon, enabled: true, ..Tile::default() };
    match offer {
        Offer::Press { command, enabled, label, count } => {
            let square = rect.width() < 1.6 * rect.height();
            let label = if square { "" } else { label.as_deref().unwrap_or(entry.label) };
            press(ui, touch, rect, id, Tile { label, enabled, count, ..plain }, command);
        }
        Offer::Switch { on, command } => {
            let switch = rect.width() > 220.0;
            press(ui, touch, rect, id, Tile { on, switch, ..plain }, command);
        }
        Offer::Choice(choices) => choice(ui, touch, rect, id, choices),
        Offer::Slider { value, text, command } => {
            slider(ui, touch, rect, id, (entry.label, value, &text), command)
        }
        Offer::Confirm { command, label } => {
            let armed = memory.armed.is_some_and(|until| time < until);
            touch.spots.push((Spot::Command(command.clone()), rect));
            let label = if armed { label } else { entry.label };
            if tile(ui, touch, rect, id, Tile { label, warn: armed, ..plain }) {
                memory.armed = if armed { None } else { Some(time + 3.0) };
                if armed {
                    touch.commands.push(command);
                }
            }
        }
        Offer::Own => {}
    }
}

/// Draws a row of tiles of which one is on.
fn choice(ui: &mut Ui, touch: &mut Touch, rect: Rect, id: Id, choices: Vec<Choice>) {
    let tall = rect.height() > 80.0;
    // A long label below an icon needs a wider tile.
    let weight = |c: &Choice| if tall && c.label.len() > 8 { 1.25 } else { 1.0 };
    let weights: Vec<f32> = choices.iter().map(weight).collect();
    if !tall {
        ui.painter().rect_filled(rect, CornerRadius::same(14), theme::DARK.panel);
    }
    for (index, (choice, rect)) in choices.into_iter().zip(theme::columns(rect, &weights)).enumerate() {
        let look = Tile {
            label: &choice.label,
            icon: choice.icon,
            on: choice.on,
            enabled: true,
            tall,
            ..Tile::default()
        };
        press(ui, touch, rect, id.with(index), look, choice.command);
    }
}

/// Width below which a slider's track is below its text, pixels.
const NARROW: f32 = 420.0;

/// Draws a slider for a value 0..=1 with its name on the left, its text on the right, and the track between or below.
fn slider(
    ui: &mut Ui,
    touch: &mut Touch,
    rect: Rect,
    id: Id,
    (label, value, text): (&str, f32, &str),
    command: Box<dyn Fn(f32) -> Command>,
) {
    let (response, over) = touch.sense(ui, rect, id, Sense::click_and_drag());
    let painter = ui.painter();
    painter.rect_filled(
        rect,
        CornerRadius::same(14),
        if over { theme::DARK.hover } else { theme::DARK.tile },
    );
    let narrow = rect.width() < NARROW;
    let (line, size) =
        if narrow { (rect.min.y + 19.0, theme::SMALL) } else { (rect.center().y, theme::BODY) };
    let widths = if narrow { [0.6, 0.4].map(|w| w * (rect.width() - 32.0)) } else { [110.0, 120.0] };
    let left = pos2(rect.min.x + 16.0, line);
    theme::line(label, size, theme::DARK.strong).print(painter, left, Align2::LEFT_CENTER, widths[0]);
    let right = pos2(rect.max.x - 16.0, line);
    theme::line(text, size, theme::SOFT).print(painter, right, Align2::RIGHT_CENTER, widths[1]);
    // The inset keeps the knob within the tile at both ends.
    let inset = if narrow { [rect.height() * 0.5; 2] } else { [130.0, 140.0] };
    let y = if narrow { rect.max.y - 17.0 } else { line };
    let thick = if narrow { 4.0 } else { 5.0 };
    let track =
        Rect::from_min_max(pos2(rect.min.x + inset[0], y - thick), pos2(rect.max.x - inset[1], y + thick));
    let x = track.min.x + track.width() * value;
    painter.rect_filled(track, CornerRadius::same(5), theme::FAINT.gamma_multiply(0.6));
    painter.rect_filled(track.with_max_x(x), CornerRadius::same(5), theme::ACCENT_HOVER);
    painter.circle_filled(pos2(x, y), if narrow { 11.0 } else { 16.0 }, theme::DARK.strong);
    // The knob's press target gives the current value, so a press on the knob changes nothing.
    let knob = Rect::from_center_size(pos2(x, rect.center().y), vec2(rect.height(), rect.height()));
    let now = command(value);
    touch.tracks.push((now.kind(), track));
    touch.spots.push((Spot::Command(now), knob));
    if response.is_pointer_button_down_on()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        touch.slides = true;
        let at = ((pointer.x - track.min.x) / track.width()).clamp(0.0, 1.0);
        // Movement below 1.5 pixels is hand tremor.
        if (at - value).abs() * track.width() > 1.5 {
            touch.commands.push(command(at));
        }
    }
    touch.clicked |= response.clicked() || response.drag_stopped();
}

/// Draws tabs. Returns the tab that was pressed.
pub(super) fn tabs<T: Copy + PartialEq>(
    ui: &mut Ui,
    touch: &mut Touch,
    rect: Rect,
    current: T,
    all: &[(T, &str, Spot)],
) -> Option<T> {
    let mut out = None;
    for ((tab, label, spot), rect) in all.iter().zip(theme::columns(rect, &vec![1.0; all.len()])) {
        let id = Id::new(("tab", *label));
        let (response, over) = touch.sense(ui, rect, id, Sense::click());
        touch.spots.push((spot.clone(), rect));
        let on = *tab == current;
        let ink = if on || over { theme::DARK.strong } else { theme::SOFT };
        if over {
            ui.painter().rect_filled(rect, CornerRadius::same(14), theme::DARK.tile);
        }
        theme::line(label, theme::BODY, ink).fitted(
            ui.painter(),
            rect.center(),
            Align2::CENTER_CENTER,
            rect.width() - 4.0,
        );
        let line = Rect::from_min_max(
            pos2(rect.min.x + 12.0, rect.max.y - 4.0),
            pos2(rect.max.x - 12.0, rect.max.y),
        );
        let color = if on { theme::ACCENT_HOVER } else { theme::DARK.edge.gamma_multiply(0.5) };
        ui.painter().rect_filled(line, CornerRadius::same(2), color);
        if response.clicked() {
            touch.clicked = true;
            out = Some(*tab);
        }
    }
    out
}
