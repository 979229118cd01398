//! The palette. Tools, undo, redo and details always show; all other items are on pages, whose layout is in the module
//! `table`.

use super::state::PanelState;
use super::table::{ENTRIES, Entry, Item};
use super::theme::{GAP, ROW};
use super::widgets::Touch;
use super::{Page, PaletteMemory, Spot, theme, widgets};
use crate::workbench::CommandKind;
use egui::{Rect, Ui, pos2};

/// Height of the tool tiles, pixels.
const TOOLS: f32 = 104.0;
const TABS: f32 = 54.0;

/// Size of the palette's image, pixels.
pub(super) const SIZE: [u32; 2] = [640, 546];

pub(super) fn show(
    ui: &mut Ui,
    touch: &mut Touch,
    memory: &mut PaletteMemory,
    state: &PanelState,
    time: f64,
) {
    let room = theme::glass(ui);
    let mut y = room.min.y;
    let mut row = |height: f32| {
        let rect = Rect::from_min_max(pos2(room.min.x, y), pos2(room.max.x, y + height));
        y += height + GAP;
        rect
    };
    let place = |ui: &mut Ui, touch: &mut Touch, memory: &mut PaletteMemory, rect: Rect, item: Item| {
        let offer = item.offer(state, memory);
        widgets::item(ui, touch, memory, (rect, item), offer, time);
    };
    place(ui, touch, memory, row(TOOLS), Item::Of(CommandKind::Tool));
    let first = [CommandKind::Undo, CommandKind::Redo, CommandKind::Details];
    for (kind, rect) in first.into_iter().zip(theme::columns(row(ROW), &[1.0; 3])) {
        place(ui, touch, memory, rect, Item::Of(kind));
    }
    let bar = row(TABS);
    let (tabs, close) = bar.split_left_right_at_x(bar.max.x - TABS - GAP);
    let pages = Page::ALL.map(|page| (page, page.label(), Spot::Page(page)));
    if let Some(page) = widgets::tabs(ui, touch, tabs, memory.page, &pages) {
        memory.page = page;
        memory.armed = None;
    }
    place(ui, touch, memory, close.with_min_x(close.max.x - TABS), Item::Of(CommandKind::Palette));
    for line in 0..4 {
        let here = |e: &&Entry| e.page == Some(memory.page) && e.row == line;
        let entries: Vec<&Entry> = ENTRIES.iter().filter(here).collect();
        let weights: Vec<f32> = entries.iter().map(|e| e.weight).collect();
        for (entry, rect) in entries.iter().zip(theme::columns(row(ROW), &weights)) {
            place(ui, touch, memory, rect, entry.item);
        }
    }
}
