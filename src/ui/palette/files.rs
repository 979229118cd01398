//! The file panel: characters, projects and cages of a folder, recent files, and sessions to recover.

use super::state::{FileEntry, FileKind, PanelState};
use super::table::Item;
use super::theme::{BODY, GAP, ROW, SMALL};
use super::widgets::{Tile, Touch};
use super::{PaletteMemory, Spot, Tab, theme, widgets};
use crate::ui::icons::Icon;
use crate::workbench::{Command, CommandKind};
use egui::{Align2, CornerRadius, Id, Rect, Sense, Ui, pos2, vec2};

/// Size of the file panel's image, pixels.
pub(super) const SIZE: [u32; 2] = [820, 660];
/// Height of a line, pixels.
const LINE: f32 = 64.0;

pub(super) fn show(
    ui: &mut Ui,
    touch: &mut Touch,
    memory: &mut PaletteMemory,
    state: &PanelState,
    time: f64,
) {
    let room = theme::glass(ui);
    let files = &state.files;
    let (head, rest) = room.split_top_bottom_at_y(room.min.y + ROW);
    let (tabs, close) = head.split_left_right_at_x(head.max.x - ROW - GAP);
    let unfinished = match files.unfinished.len() {
        0 => "Unfinished".to_owned(),
        n => format!("Unfinished  {n}"),
    };
    let all = [
        (Tab::Folder, "Folder", Spot::Tab(Tab::Folder)),
        (Tab::Recent, "Recent", Spot::Tab(Tab::Recent)),
        (Tab::Samples, "Samples", Spot::Tab(Tab::Samples)),
        (Tab::Unfinished, unfinished.as_str(), Spot::Tab(Tab::Unfinished)),
    ];
    if let Some(tab) = widgets::tabs(ui, touch, tabs, memory.tab, &all) {
        memory.tab = tab;
        memory.scroll = 0.0;
    }
    let shut = Tile { icon: Some(Icon::Close), enabled: true, ..Tile::default() };
    let place = close.with_min_x(close.max.x - ROW);
    widgets::press(ui, touch, place, Id::new("close files"), shut, Command::Files);
    let (rest, foot) = rest.split_top_bottom_at_y(rest.max.y - ROW - GAP);
    for (item, rect) in [Item::Of(CommandKind::Save), Item::Of(CommandKind::Export)]
        .into_iter()
        .zip(theme::columns(foot.with_min_y(foot.max.y - ROW), &[1.0, 1.0]))
    {
        let offer = item.offer(state, memory);
        widgets::item(ui, touch, memory, (rect, item), offer, time);
    }
    let mut list = rest.with_min_y(rest.min.y + GAP).with_max_y(rest.max.y - 2.0);
    if memory.tab == Tab::Folder {
        list = folder_line(ui, touch, list, state);
    }
    let (_, entries) = files.of(memory.tab);
    let nothing = match memory.tab {
        Tab::Folder => "No characters, projects or cages here.",
        Tab::Recent => "Nothing was opened yet.",
        Tab::Unfinished => "Everything is saved: there is nothing to recover.",
        Tab::Samples => "The samples could not be written.",
    };
    if entries.is_empty() {
        theme::line(nothing, BODY, theme::SOFT).print(
            ui.painter(),
            list.center(),
            Align2::CENTER_CENTER,
            list.width() - 40.0,
        );
        return;
    }
    lines(ui, touch, memory, list, entries);
}

/// Draws the folder's name and the button to the parent folder. Returns the rectangle below the line.
fn folder_line(ui: &mut Ui, touch: &mut Touch, list: Rect, state: &PanelState) -> Rect {
    let (line, rest) = list.split_top_bottom_at_y(list.min.y + 56.0);
    let (folder, (above, _)) = (&state.files.folder, state.files.of(Tab::Folder));
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    let up = Rect::from_min_size(line.min, vec2(60.0, 52.0));
    let enabled = above.is_some();
    let look = Tile { icon: Some(Icon::Up), enabled, ..Tile::default() };
    let pressed = widgets::tile(ui, touch, up, Id::new("up"), look);
    if let Some(above) = above {
        let command = Command::Open(above.to_owned());
        touch.spots.push((Spot::Command(command.clone()), up));
        if pressed {
            touch.commands.push(command);
        }
    }
    let at = pos2(up.max.x + 16.0, up.center().y);
    theme::line(&name, BODY, theme::DARK.strong).print(
        ui.painter(),
        at,
        Align2::LEFT_CENTER,
        line.max.x - at.x,
    );
    rest.with_min_y(rest.min.y + GAP)
}

fn lines(ui: &mut Ui, touch: &mut Touch, memory: &mut PaletteMemory, list: Rect, entries: &[FileEntry]) {
    let content = entries.len() as f32 * LINE;
    let most = (content - list.height()).max(0.0);
    memory.scroll = memory.scroll.clamp(0.0, most);
    let bar = if most > 0.0 { 18.0 } else { 0.0 };
    let painter = ui.painter().with_clip_rect(list);
    let first = (memory.scroll / LINE) as usize;
    for (index, entry) in entries.iter().enumerate().skip(first) {
        let y = list.min.y + index as f32 * LINE - memory.scroll;
        if y >= list.max.y {
            break;
        }
        let rect = Rect::from_min_size(pos2(list.min.x, y), vec2(list.width() - bar, LINE - 4.0));
        let seen = rect.intersect(list);
        let id = Id::new(("file", index));
        let (response, over) = touch.sense(ui, seen, id, Sense::click());
        let ground = match (response.is_pointer_button_down_on(), over) {
            (true, _) => theme::DARK.press,
            (_, true) => theme::DARK.hover,
            _ => theme::DARK.panel,
        };
        painter.rect_filled(rect, CornerRadius::same(12), ground);
        let (icon, color) = match entry.kind {
            FileKind::Folder => (Icon::Folder, theme::SOFT),
            FileKind::Character => (Icon::Character, theme::DARK.strong),
            FileKind::Project => (Icon::Project, theme::DARK.strong),
            FileKind::Cage => (Icon::Cage, theme::DARK.strong),
            FileKind::Journal => (Icon::Recover, theme::FAIR),
        };
        icon.draw(&painter, pos2(rect.min.x + 34.0, rect.center().y), 17.0, color);
        let right = pos2(rect.max.x - 16.0, rect.center().y);
        let note =
            theme::line(&entry.note, SMALL, theme::SOFT).print(&painter, right, Align2::RIGHT_CENTER, 260.0);
        let left = pos2(rect.min.x + 70.0, rect.center().y);
        theme::line(&entry.name, BODY, theme::DARK.strong).print(
            &painter,
            left,
            Align2::LEFT_CENTER,
            note.min.x - left.x - 12.0,
        );
        let command = Command::Open(entry.path.clone());
        // Scripts cannot press a line that the list's edge cuts by more than a fifth.
        if seen.height() > LINE * 0.8 {
            touch.spots.push((Spot::Command(command.clone()), seen));
        }
        if response.clicked() {
            touch.clicked = true;
            touch.commands.push(command);
        }
    }
    if most > 0.0 {
        let track = list.with_min_x(list.max.x - 8.0);
        painter.rect_filled(track, CornerRadius::same(4), theme::DARK.panel);
        let length = (list.height() / content * list.height()).max(40.0);
        let y = list.min.y + memory.scroll / most * (list.height() - length);
        let thumb = Rect::from_min_size(pos2(track.min.x, y), vec2(8.0, length));
        painter.rect_filled(thumb, CornerRadius::same(4), theme::FAINT);
    }
}
