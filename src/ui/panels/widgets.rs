//! Widgets shared by several panels.

use super::theme;
use crate::ui::icons::Icon;
use egui::collapsing_header::CollapsingState;
use egui::{
    Align, Align2, Button, Color32, ComboBox, DragValue, FontId, Id, Response, Sense, Slider, SliderClamping,
    TextEdit, Ui, Vec2, vec2,
};
use std::borrow::Cow;

/// Draws a square icon button.
pub(in crate::ui) fn icon(ui: &mut Ui, icon: Icon, size: f32, on: bool, enabled: bool) -> Response {
    let (response, ink) = pressable(ui, vec2(size, size), on, enabled);
    icon.draw(ui.painter(), response.rect.center(), size * 0.27, ink);
    response
}

/// Draws a wide button with icon and text.
pub(in crate::ui) fn tile(ui: &mut Ui, icon: Icon, text: &str, on: bool, enabled: bool) -> Response {
    let (response, ink) = pressable(ui, vec2(ui.available_width(), 30.0), on, enabled);
    let left = response.rect.left_center();
    icon.draw(ui.painter(), left + vec2(17.0, 0.0), 8.0, ink);
    let at = left + vec2(36.0, 0.0);
    ui.painter().text(at, Align2::LEFT_CENTER, text, FontId::proportional(13.0), ink);
    response
}

/// Draws the ground of a button. Returns the colour of its content, too.
fn pressable(ui: &mut Ui, size: Vec2, on: bool, enabled: bool) -> (Response, Color32) {
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let visuals = ui.style().interact(&response);
    let fill = match (on, enabled && response.hovered()) {
        (true, false) => theme::ACCENT,
        (true, true) => theme::ACCENT_HOVER,
        (false, true) => visuals.bg_fill,
        (false, false) => Color32::TRANSPARENT,
    };
    let ink = match (on, enabled) {
        (true, _) => Color32::WHITE,
        (false, true) => visuals.fg_stroke.color,
        (false, false) => ui.visuals().weak_text_color().gamma_multiply(0.6),
    };
    ui.painter().rect_filled(rect, visuals.corner_radius, fill);
    (response, ink)
}

/// Format of a number for display and input.
#[derive(Clone, Copy)]
pub(in crate::ui) enum Print {
    /// A fixed number of decimals.
    Decimals(usize),
    /// A fraction as percent, without decimals.
    Percent,
    /// A whole number, and a word for 0.
    Count(&'static str),
    /// A fixed number of decimals, and a unit.
    Unit(usize, &'static str),
}

impl Print {
    fn text(self, value: f64) -> String {
        match self {
            Self::Decimals(decimals) => format!("{value:.decimals$}"),
            Self::Percent => format!("{:.0} %", value * 100.0),
            Self::Count(zero) if value < 0.5 => zero.into(),
            Self::Count(_) => format!("{value:.0}"),
            Self::Unit(decimals, unit) => format!("{value:.decimals$} {unit}"),
        }
    }

    /// Parses a typed number, with or without unit, with comma or point; `None` if the text is no number.
    fn value(self, text: &str) -> Option<f64> {
        let number = text.trim().trim_end_matches(|c: char| !c.is_ascii_digit() && !".,".contains(c));
        let value: f64 = number.replace(',', ".").parse().ok()?;
        Some(if let Self::Percent = self { value / 100.0 } else { value })
    }
}

/// A slider with a number field.
pub(in crate::ui) struct Slide<'a> {
    pub label: &'a str,
    pub range: [f64; 2],
    pub logarithmic: bool,
    pub print: Print,
}

impl<'a> Slide<'a> {
    /// A slider whose value changes evenly along its track.
    pub fn even(label: &'a str, range: [f64; 2], print: Print) -> Self {
        Self { label, range, logarithmic: false, print }
    }
}

/// Draws a slider. All changes during a drag form one history step. Enter or leaving the number field accepts a typed
/// value, Escape restores the old one.
pub(in crate::ui) fn slide(ui: &mut Ui, slide: &Slide<'_>, value: f64, held: &mut SliderDrag) -> Slid {
    let (mut now, print, large) = (value, slide.print, theme::is_large(ui));
    let add = |ui: &mut Ui, now: &mut f64| {
        let slider = Slider::new(now, slide.range[0]..=slide.range[1])
            .logarithmic(slide.logarithmic)
            .clamping(SliderClamping::Edits)
            .update_while_editing(false)
            .custom_formatter(move |v, _| print.text(v))
            .custom_parser(move |text| print.value(text));
        ui.add(slider.text(slide.label).show_value(!large))
    };
    // The number field needs a keyboard, so the large panels of the headset print the value instead.
    let answer = if large {
        ui.horizontal(|ui| {
            let answer = add(ui, &mut now);
            ui.label(print.text(now));
            answer
        })
        .inner
    } else {
        add(ui, &mut now)
    };
    Slid { moved: moved(&answer, print, [value, now], held), answer }
}

/// Draws a number field whose value the user can type or drag. `speed` is the change of value per logical pixel of a
/// drag.
pub(in crate::ui) fn number(
    ui: &mut Ui,
    print: Print,
    speed: f64,
    value: f64,
    held: &mut SliderDrag,
) -> Slid {
    let mut now = value;
    let drag = DragValue::new(&mut now)
        .speed(speed)
        .update_while_editing(false)
        .custom_formatter(move |v, _| print.text(v))
        .custom_parser(move |text| print.value(text));
    let answer = ui.add(drag);
    Slid { moved: moved(&answer, print, [value, now], held), answer }
}

/// Draws a number with the name of its axis in front. The user drags it sideways by `speed` per logical pixel or, in the
/// window, types it. In the headset, the whole field is a handle of the size of a target.
pub(super) fn axis(
    ui: &mut Ui,
    (name, print, speed): (&str, Print, f64),
    width: f32,
    value: f64,
    held: &mut SliderDrag,
) -> Slid {
    // Rounding must not show as -0.
    let text = move |v: f64| {
        print
            .text(v)
            .strip_prefix('-')
            .filter(|t| print.value(t) == Some(0.0))
            .map_or_else(|| print.text(v), str::to_owned)
    };
    let mut now = value;
    let answer = if theme::is_large(ui) {
        let scale = theme::scale(ui);
        let (rect, answer) = ui.allocate_exact_size(vec2(width, theme::row(ui)), Sense::drag());
        let way = f64::from(answer.drag_delta().x / scale);
        if way != 0.0 {
            now += speed * way;
        }
        let visuals = ui.style().interact(&answer);
        ui.painter().rect_filled(rect, visuals.corner_radius, visuals.bg_fill);
        let font = egui::TextStyle::Button.resolve(ui.style());
        let shown = format!("{name} {}", text(now));
        ui.painter().text(rect.center(), Align2::CENTER_CENTER, shown, font, visuals.fg_stroke.color);
        answer
    } else {
        let drag = DragValue::new(&mut now)
            .speed(speed)
            .prefix(format!("{name} "))
            .update_while_editing(false)
            .custom_formatter(move |v, _| text(v))
            .custom_parser(move |text| print.value(text));
        // Three numbers fit in a row, and no number is higher than the row.
        ui.spacing_mut().button_padding = vec2(3.0, 2.0);
        ui.add_sized(vec2(width, ui.spacing().interact_size.y), drag)
    };
    Slid { moved: moved(&answer, print, [value, now], held), answer }
}

/// Draws numbers of [`axis`] beside each other, each with its name, over the width of the panel. Returns the index of the
/// number that changed, its value, and whether the change belongs to the previous history step.
pub(super) fn axes(
    ui: &mut Ui,
    (names, print, speed): (&[&str], Print, f64),
    values: &[f64],
    help: &str,
    held: &mut SliderDrag,
) -> Option<(usize, f64, bool)> {
    let mut changed = None;
    ui.horizontal(|ui| {
        let (gap, count) = ((4.0 * theme::scale(ui)).round(), names.len() as f32);
        ui.spacing_mut().item_spacing.x = gap;
        let width = ((ui.available_width() - (count - 1.0) * gap) / count).floor();
        for (index, (name, value)) in names.iter().zip(values).enumerate() {
            let slid = axis(ui, (name, print, speed), width, *value, held);
            if !help.is_empty() {
                slid.answer.on_hover_text(help);
            }
            changed = slid.moved.map(|(value, continues)| (index, value, continues)).or(changed);
        }
    });
    changed
}

/// Names of the axes.
pub(super) const XYZ: [&str; 3] = ["X", "Y", "Z"];

/// The drag of a slider or number field. The user drags only one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ui) enum SliderDrag {
    /// The user drags none, or has not changed a value yet.
    #[default]
    None,
    /// The drag has changed a value. All its changes form one history step.
    Changes,
    /// Undo, redo or cancel has ended the drag. The slider stays where it is until the user lets go.
    Dropped,
}

/// Result of a slider or number field.
pub(in crate::ui) struct Slid {
    pub answer: Response,
    /// The new value, and whether it belongs to the previous history step.
    pub moved: Option<(f64, bool)>,
}

fn moved(
    answer: &Response,
    print: Print,
    [before, now]: [f64; 2],
    held: &mut SliderDrag,
) -> Option<(f64, bool)> {
    if !answer.ctx.input(|i| i.pointer.any_down() || i.pointer.any_released()) {
        *held = SliderDrag::None;
    }
    let escaped = escaped(&answer.ctx);
    let grip = answer.dragged() || answer.drag_stopped();
    if grip && *held == SliderDrag::Dropped {
        answer.ctx.stop_dragging();
        return None;
    }
    let continues = grip && *held == SliderDrag::Changes;
    if answer.drag_stopped() {
        *held = SliderDrag::None;
    }
    // While the user types, egui reports a change for each letter, although the value is still the same.
    if now == before || (escaped && !grip) {
        return None;
    }
    *held = if answer.dragged() { SliderDrag::Changes } else { SliderDrag::None };
    // If the user only focuses a text field, it contains the rounded value. The rounded value must not replace the
    // exact value.
    let untouched = !grip && print.value(&print.text(before)) == Some(now);
    (!untouched).then_some((now, continues))
}

/// Whether Escape was pressed in this pass or the last two. A number field reports the end of its input up to two
/// passes late and does not report the key that ended it.
fn escaped(context: &egui::Context) -> bool {
    let (id, now) = (Id::new("escaped"), context.cumulative_pass_nr());
    if context.input(|i| i.key_pressed(egui::Key::Escape)) {
        context.data_mut(|d| d.insert_temp(id, now));
    }
    context.data(|d| d.get_temp::<u64>(id)).is_some_and(|then| now - then <= 2)
}

/// Returns a text field as high as a target.
pub(in crate::ui) fn field<'t>(ui: &Ui, text: &'t mut String, hint: &str) -> TextEdit<'t> {
    let height = theme::row(ui);
    TextEdit::singleline(text)
        .hint_text(hint.to_owned())
        .min_size(vec2(0.0, height))
        .vertical_align(Align::Center)
}

/// Returns the highlighted button, which Enter presses.
pub(in crate::ui) fn primary(text: &str) -> Button<'_> {
    Button::new(egui::RichText::new(text).strong().color(Color32::WHITE)).fill(theme::ACCENT)
}

/// Draws a small button. In the headset, buttons have the size of a target.
pub(in crate::ui) fn small(ui: &mut Ui, text: impl Into<String>) -> Response {
    let button = small_button(ui, text);
    ui.add(button)
}

/// Returns a small button. In the headset, it has the size of a target.
pub(in crate::ui) fn small_button(ui: &Ui, text: impl Into<String>) -> Button<'static> {
    let button = Button::new(text.into());
    if theme::is_large(ui) { button.min_size(vec2(1.0, 1.0) * theme::row(ui)) } else { button.small() }
}

/// Draws a small button with a tip. Returns whether it was clicked.
pub(in crate::ui) fn offer(ui: &mut Ui, enabled: bool, text: &str, tip: &str) -> bool {
    ui.add_enabled(enabled, small_button(ui, text)).on_hover_text(tip).clicked()
}

/// Draws a choice that is on or off, with a tip. Returns whether it was clicked.
pub(in crate::ui) fn choice(ui: &mut Ui, on: bool, text: &str, tip: impl Into<egui::WidgetText>) -> bool {
    ui.selectable_label(on, text).on_hover_text(tip).clicked()
}

/// Draws a switch with a tip.
pub(in crate::ui) fn toggle(ui: &mut Ui, on: &mut bool, text: &str, tip: &str) {
    *on ^= choice(ui, *on, text, tip);
}

/// Maximum height of an open list in the window, logical pixels.
const LIST: f32 = 420.0;

/// Draws a list that opens: each item with its text and whether it is chosen. `width` is in logical pixels of the window.
/// Returns the item that was clicked.
pub(super) fn pick<'t, T>(
    ui: &mut Ui,
    (id, shown, width): (&str, &str, Option<f32>),
    items: impl IntoIterator<Item = (&'t str, bool, T)>,
) -> Option<T> {
    pick_with_tips(ui, (id, shown, width), items.into_iter().map(|(text, on, item)| (text, on, item, "")))
}

/// As [`pick`], with a tooltip per item.
pub(super) fn pick_with_tips<'t, T>(
    ui: &mut Ui,
    (id, shown, width): (&str, &str, Option<f32>),
    items: impl IntoIterator<Item = (&'t str, bool, T, &'t str)>,
) -> Option<T> {
    let mut list = ComboBox::from_id_salt(id).selected_text(shown);
    if let Some(width) = width {
        list = list.width(width * theme::scale(ui));
    }
    // The window has room for all methods; a panel of the headset scrolls its lists.
    if !theme::is_large(ui) {
        list = list.height(LIST);
    }
    // The number of passes since the list was opened.
    let key = ui.make_persistent_id((id, "passes"));
    let passes = ui.data(|d| d.get_temp::<u32>(key)).unwrap_or_default();
    let (mut picked, mut is_open) = (None, false);
    list.show_ui(ui, |ui| {
        is_open = true;
        for (text, on, item, tip) in items {
            let mut line = ui.selectable_label(on, text);
            if !tip.is_empty() {
                line = line.on_hover_text(tip);
            }
            // The first pass only measures the list.
            if on && passes < 2 {
                line.scroll_to_me(Some(Align::Center));
            }
            picked = line.clicked().then_some(item).or(picked.take());
        }
    });
    let passes_now = if is_open { (passes + 1).min(2) } else { 0 };
    if passes_now != passes {
        ui.data_mut(|d| d.insert_temp(key, passes_now));
    }
    picked
}

/// Mean width of a letter, as a share of the font's size.
pub(in crate::ui) const LETTER: f32 = 0.55;

/// Shortens a name in its middle to a number of letters, because many names differ only in their last word.
pub(in crate::ui) fn elided(name: &str, most: usize) -> Cow<'_, str> {
    let count = name.chars().count();
    if count <= most {
        return Cow::Borrowed(name);
    }
    let tail = most / 2;
    let head = most.saturating_sub(tail + 1);
    Cow::Owned(name.chars().take(head).chain(['…']).chain(name.chars().skip(count - tail)).collect())
}

/// Draws the button at the right end of a line that removes what the line shows. Returns whether it was pressed.
pub(in crate::ui) fn remove(ui: &mut Ui, tip: &str) -> bool {
    let end = egui::Layout::right_to_left(Align::Center);
    ui.with_layout(end, |ui| small(ui, "×").on_hover_text(tip).clicked()).inner
}

/// Draws a small caption above a group.
pub(in crate::ui) fn caption(ui: &mut Ui, text: &str) {
    ui.add_space(6.0);
    ui.label(egui::RichText::new(text.to_uppercase()).size(10.5 * theme::scale(ui)).weak());
}

/// Name of a section: its title without a number in brackets.
pub(in crate::ui) fn section_name(title: &str) -> &str {
    title.split(" (").next().unwrap_or(title)
}

/// Draws a collapsible section; `open` is its initial state. With `reveal`, opens the section and scrolls it into view.
/// Returns the new state if the section was opened or closed.
pub(in crate::ui) fn section(
    ui: &mut Ui,
    title: &str,
    (open, reveal): (bool, bool),
    content: impl FnOnce(&mut Ui),
) -> Option<bool> {
    let heading = egui::RichText::new(title).strong();
    let header = egui::CollapsingHeader::new(heading).id_salt(section_name(title)).default_open(open);
    let shown = header.open(reveal.then_some(true)).show(ui, |ui| {
        content(ui);
        ui.add_space(4.0);
    });
    ui.separator();
    let header = shown.header_response;
    if reveal {
        header.scroll_to_me(Some(Align::TOP));
        return (!open).then_some(true);
    }
    let state = header.clicked().then(|| CollapsingState::load(ui.ctx(), header.id)).flatten();
    state.map(|state| state.is_open())
}

/// Draws the lines of a long list. In the window, the list scrolls within this height; in the headset, the panel scrolls.
/// With `at_end`, the list shows its end first.
pub(super) fn list(
    ui: &mut Ui,
    id: &str,
    (height, at_end): (f32, bool),
    count: usize,
    mut lines: impl FnMut(&mut Ui, std::ops::Range<usize>),
) {
    if theme::is_large(ui) {
        // Only the lines that show are laid out.
        let step = theme::row(ui) + ui.spacing().item_spacing.y;
        let (top, clip) = (ui.cursor().min.y, ui.clip_rect());
        let line = |y: f32| ((y - top) / step).clamp(0.0, count as f32);
        let (first, last) = (line(clip.min.y).floor() as usize, line(clip.max.y).ceil() as usize);
        ui.add_space(first as f32 * step);
        lines(ui, first..last);
        ui.add_space((count - last) as f32 * step);
        return;
    }
    let area = egui::ScrollArea::vertical().id_salt(id).max_height(height).auto_shrink([false, true]);
    area.stick_to_bottom(at_end).show_rows(ui, theme::row(ui), count, lines);
}

/// Draws a line of a list, clickable over its whole width.
pub(in crate::ui) fn row(ui: &mut Ui, indent: f32, text: egui::RichText, on: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), theme::row(ui)), Sense::click());
    let visuals = ui.style().interact(&response);
    if on {
        ui.painter().rect_filled(rect, visuals.corner_radius, theme::ACCENT.gamma_multiply(0.9));
    } else if response.hovered() {
        ui.painter().rect_filled(rect, visuals.corner_radius, visuals.bg_fill.gamma_multiply(0.7));
    }
    let color = if on { Color32::WHITE } else { visuals.fg_stroke.color };
    let job = egui::WidgetText::from(text).into_galley(
        ui,
        Some(egui::TextWrapMode::Truncate),
        (rect.width() - indent - 8.0).max(8.0),
        egui::TextStyle::Body,
    );
    let at = rect.left_center() + vec2(indent + 6.0, -job.size().y * 0.5);
    ui.painter().galley(at, job, color);
    response
}
