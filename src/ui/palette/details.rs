//! The details panel: the panels that the window has in its side panel, in the size of the headset.

use super::theme::{GAP, ROW};
use super::widgets::Touch;
use super::{Panel, Panels, Spot, theme, widgets};
use crate::ui::panels::{self, HeadsetOffers, Section};
use crate::workbench::{Command, Input, Workbench};
use egui::{Id, Rect, ScrollArea, Ui, UiBuilder, pos2, vec2};

/// Size of the panel's image, pixels.
pub(super) const SIZE: [u32; 2] = [700, 800];
/// Height of a target, pixels: 2.5 degrees.
pub(super) const TARGET: f32 = 2.5 * theme::PER_DEGREE;
/// Height of a row of tabs, pixels.
const TABS: f32 = 54.0;

/// Returns a position on a slider before its label, from the panel's left edge, as a fraction of the panel's width.
/// `share` is 0 at the track's left end and 1 at its right end.
#[cfg(test)]
pub(super) fn rail(share: f32) -> f32 {
    let scale = TARGET / 22.0;
    // The knob of a slider stays within the track.
    let knob = TARGET / 2.5;
    (theme::MARGIN + knob + (110.0 * scale - 2.0 * knob) * share) / SIZE[0] as f32
}

/// State of the details panel.
#[derive(Default)]
pub(super) struct Details {
    pub section: Section,
    /// Scroll offset of the content, pixels.
    pub scroll: f32,
    /// Largest scroll offset of the content that was drawn last, pixels.
    most: f32,
    pub shared: panels::PanelMemory,
}

/// Draws the panel. Returns why an action was not carried out.
pub(super) fn show(
    ui: &mut Ui,
    touch: &mut Touch,
    details: &mut Details,
    bench: Option<&Workbench>,
    (rigging, headset): (Option<u32>, Option<&HeadsetOffers>),
) -> Option<String> {
    let room = theme::glass(ui);
    let (first, rest) = room.split_top_bottom_at_y(room.min.y + TABS);
    let (second, rest) = rest.with_min_y(rest.min.y + GAP).split_top_bottom_at_y(first.max.y + GAP + TABS);
    let close = Rect::from_min_size(pos2(first.max.x - TABS, first.min.y), vec2(TABS, TABS));
    let look =
        widgets::Tile { icon: Some(crate::ui::icons::Icon::Close), enabled: true, ..Default::default() };
    widgets::press(ui, touch, close, Id::new("close"), look, Command::Details);
    // The second row is wider, because the first has the button that closes the panel.
    let (upper, lower) = Section::ALL.split_at(Section::ALL.len() / 2);
    for (rect, sections) in [(first.with_max_x(close.min.x - GAP), upper), (second, lower)] {
        let tabs: Vec<(Section, &str, Spot)> =
            sections.iter().map(|s| (*s, s.label(), Spot::Section(*s))).collect();
        if let Some(section) = widgets::tabs(ui, touch, rect, details.section, &tabs) {
            (details.section, details.scroll, details.most) = (section, 0.0, 0.0);
        }
    }
    let bench = bench?;
    let content = rest.with_min_y(rest.min.y + GAP);
    let mut pressed = panels::Pressed::default();
    let tip = |_: &Command| None;
    details.shared.meet(bench);
    let shows = panels::Shows { bench, compared: None, window: false, rigging, headset, tip: &tip };
    ui.scope_builder(UiBuilder::new().max_rect(content), |ui| {
        ui.set_clip_rect(content);
        details.scroll = details.scroll.min(details.most);
        let area = ScrollArea::vertical().auto_shrink(false).vertical_scroll_offset(details.scroll);
        let shown = area.show(ui, |ui| {
            details.section.show(ui, &shows, &mut details.shared, &mut pressed);
            ui.add_space(ROW);
        });
        details.most = (shown.content_size.y - shown.inner_rect.height()).max(0.0);
        // An open list takes the stick; beyond the list's end, the panel below must stay.
        if !egui::Popup::is_any_open(ui.ctx()) {
            details.scroll = shown.state.offset.y;
        }
        if details.scroll > details.most {
            // The content has become shorter: it is drawn again at its end.
            details.scroll = details.most;
            ui.ctx().request_repaint();
        }
    });
    touch.clicked |= !pressed.commands.is_empty();
    touch.commands.extend(pressed.commands);
    touch.commands.extend(pressed.slides.into_iter().map(|(command, _)| command));
    touch.refused |= pressed.tell.is_some();
    pressed.tell
}

impl Panels {
    /// Returns the command that the headset runs when the user gives `command`: during a drag on a panel, undo, redo and cancel
    /// end the drag instead.
    pub fn instead(&mut self, command: Command, bench: &Workbench) -> Option<Command> {
        if self.slides && matches!(command, Command::Undo | Command::Redo | Command::Cancel) {
            self.pointer.let_go();
            self.slides = false;
            return panels::restored(self.steps, bench);
        }
        let down = self.pointer.is_down() && self.pointer.at.is_some_and(|at| at.panel == Panel::Details);
        let instead = self.memory.details.shared.instead(command.clone(), bench, down);
        self.canvases[Panel::Details as usize].again |= instead.as_ref() != Some(&command);
        instead
    }

    /// Ends a drag on a panel when the undo or redo button of a hand goes down.
    pub(super) fn end_drag(&mut self, input: &Input, bench: Option<&Workbench>) {
        let down = input.focused && input.hands.iter().any(|hand| hand.undo || hand.redo);
        self.out.keeps_undo &= down;
        if let (true, false, Some(bench)) = (down, self.undo_down, bench) {
            let instead = self.instead(Command::Undo, bench);
            self.out.keeps_undo = instead != Some(Command::Undo);
            self.out.commands.extend(instead.filter(|_| self.out.keeps_undo));
        }
        self.undo_down = down;
    }
}
