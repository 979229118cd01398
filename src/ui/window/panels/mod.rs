//! The panels of the window, drawn by egui around the picture. Each panel is a function that draws the state and
//! returns the user's actions.

mod bar;
mod files;
mod frame;
mod help;
mod save;
mod side;
mod statistics;
mod timeline;
mod tools;

pub(super) use crate::ui::panels::widgets::primary;
pub(super) use crate::ui::theme::context;
pub(super) use frame::Shown;

use super::WindowEditor;
use super::choices::Choices;
use super::facts::Facts;
use super::keys::{Act, KeyMap};
use crate::document::DeformerSettings;
use crate::ui::panels::{self, Tip, widgets};
use crate::ui::theme;
use crate::workbench::{Command, Tool, Workbench};
use egui::Ui;

/// Colour of the selected joint in the picture.
pub(super) const SELECTED: [u8; 4] = [255, 255, 255, 255];

/// Interface state of the panels that is not a user preference.
#[derive(Default)]
pub(super) struct WindowPanelMemory {
    /// State of the panels that the headset has too.
    pub shared: panels::PanelMemory,
    /// The tool in the last pass.
    pub tool: Tool,
    /// Whether the list of shortcuts shows.
    pub help: bool,
    /// The action whose shortcut the user is choosing: it gets the next pressed key.
    pub binding: Option<Act>,
    /// Filter text of the list of shortcuts.
    pub key_filter: String,
    /// Selection in the lists of files.
    pub files: files::Chosen,
    /// State of the dialog for the path of a file.
    pub saving: Option<save::Saving>,
}

/// The user's actions on the panels in one pass.
#[derive(Default)]
pub(super) struct Pressed {
    pub shared: panels::Pressed,
    pub acts: Vec<Act>,
    /// Index of a measure to remove.
    pub measure: Option<usize>,
    pub choices: Option<Choices>,
    /// Index of the answer to the question.
    pub answer: Option<usize>,
    /// A folder to read.
    pub list: Option<std::path::PathBuf>,
    /// The file to write, from the dialog; `Some(None)` if the user cancelled.
    pub write: Option<Option<(super::output::Writes, std::path::PathBuf)>>,
}

impl Pressed {
    /// Whether the user did something that makes earlier messages outdated.
    fn does_something(&self) -> bool {
        let selects = |c: &Command| matches!(c, Command::Select(_));
        !(self.acts.is_empty() && self.shared.slides.is_empty() && self.shared.commands.iter().all(selects))
    }

    fn act(&mut self, act: Act, clicked: bool) {
        if clicked {
            self.acts.push(act);
        }
    }

    fn command(&mut self, command: Command, clicked: bool) {
        self.shared.command(command, clicked);
    }
}

/// The state that the panels show.
pub(super) struct Shows<'a> {
    pub bench: Option<&'a Workbench>,
    pub facts: &'a Facts,
    pub choices: &'a Choices,
    pub compared: Option<&'a DeformerSettings>,
    /// Position of the divider, fraction of the picture's width; `None` without a comparison.
    pub divider: Option<f32>,
    /// Whether the gizmo of the drawing plane shows.
    pub moves_plane: bool,
    /// The camera's projection.
    pub lens: super::camera::Lens,
    /// A hint for the current operation of the mouse.
    pub hint: String,
    /// Position and content of the text beside the mouse, logical pixels.
    pub beside: Option<(egui::Pos2, String)>,
}

impl Shows<'_> {
    fn keys(&self) -> &KeyMap {
        &self.choices.keys
    }

    /// Returns an action's label with its shortcut, for a tooltip.
    fn tip(&self, act: Act) -> String {
        let keys = self.keys().text(act);
        let label = act.line().label;
        if keys.is_empty() { label.to_owned() } else { format!("{label}   {keys}") }
    }

    /// Returns what the shared panels show of a workbench. `tip` gives the tooltips.
    fn shared<'a>(&'a self, bench: &'a Workbench, tip: &'a Tip<'a>) -> panels::Shows<'a> {
        panels::Shows {
            bench,
            compared: Some(self.compared),
            window: true,
            rigging: self.facts.rigging,
            headset: None,
            tip,
        }
    }
}

/// Draws all panels. The remaining rectangle of the window is for the picture.
fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut WindowPanelMemory, pressed: &mut Pressed) {
    bar::top(ui, shows, pressed);
    bar::bottom(ui, shows);
    memory.shared.keys.over = false;
    if let Some(bench) = shows.bench.filter(|_| shows.choices.panels) {
        timeline::show(ui, shows, bench, memory, pressed);
        let tip = |command: &Command| Act::of(command).map(|act| shows.tip(act));
        let shared = shows.shared(bench, &tip);
        tools::show(ui, shows, &shared, memory, pressed);
        side::show(ui, shows, &shared, memory, pressed);
    }
    if let Some(at) = shows.divider {
        divider(ui, shows, at);
    }
    if shows.bench.is_none() {
        files::welcome(ui, shows, memory, pressed);
    } else if shows.bench.is_some_and(|b| b.preferences().files) {
        files::show(ui, shows, memory, pressed);
    }
    if let Some((at, text)) = &shows.beside {
        beside(ui, *at, text);
    }
    if let Some(tour) = shows.bench.and_then(Workbench::tour) {
        instruction(ui, tour, pressed);
    }
    if memory.help {
        help::show(ui, shows, memory, pressed);
    }
    save::show(ui.ctx(), shows, memory, pressed);
    if let Some(question) = &shows.facts.question {
        pressed.answer = question.show(ui.ctx());
    }
}

/// Draws the divider between two deformers with their names.
fn divider(ui: &Ui, shows: &Shows<'_>, at: f32) {
    use crate::ui::panels::deformer::method_label;
    let room = ui.available_rect_before_wrap();
    let x = room.min.x + room.width() * at;
    let painter = ui.painter();
    painter.vline(x, room.y_range(), egui::Stroke::new(3.0, egui::Color32::from_black_alpha(90)));
    painter.vline(x, room.y_range(), egui::Stroke::new(1.5, egui::Color32::WHITE));
    painter.circle_filled(egui::pos2(x, room.center().y), 7.0, theme::ACCENT);
    let own = shows.bench.map_or("", |b| b.session().document().deformer().method.as_str());
    let other = shows.compared.map_or("", |c| c.method.as_str());
    for (method, side, align) in
        [(own, -12.0, egui::Align2::RIGHT_TOP), (other, 12.0, egui::Align2::LEFT_TOP)]
    {
        let at = egui::pos2(x + side, room.min.y + 12.0);
        plate(painter, method_label(method), 140, |size| align.anchor_size(at, size));
    }
}

/// Draws a white text on a dark plate of this opacity, 0..=255, in the rectangle that `place` returns for the text's size.
fn plate(painter: &egui::Painter, text: &str, opacity: u8, place: impl FnOnce(egui::Vec2) -> egui::Rect) {
    let font = egui::FontId::proportional(14.0);
    let galley = painter.layout_no_wrap(text.to_owned(), font, egui::Color32::WHITE);
    let rect = place(galley.size());
    painter.rect_filled(rect.expand2(egui::vec2(6.0, 3.0)), 5.0, egui::Color32::from_black_alpha(opacity));
    painter.galley(rect.min, galley, egui::Color32::WHITE);
}

/// Draws the instruction of the tour over the picture, with a button that ends the tour.
fn instruction(ui: &Ui, (number, all, text): (usize, usize, &str), pressed: &mut Pressed) {
    let room = ui.available_rect_before_wrap();
    // At the side, where it does not hide the head of a character that fills the view.
    let at = room.left_top() + egui::vec2(14.0, 14.0);
    let area = egui::Area::new(egui::Id::new("tour")).fixed_pos(at).pivot(egui::Align2::LEFT_TOP);
    area.show(ui.ctx(), |ui| {
        egui::Frame::popup(ui.style()).show(ui, |ui| {
            ui.set_max_width((0.3 * room.width()).clamp(150.0, 300.0));
            ui.horizontal(|ui| {
                ui.label(
                    egui::RichText::new(format!("{number} / {all}")).strong().color(theme::ACCENT_HOVER),
                );
                pressed.command(Command::Tour(false), widgets::small(ui, "End the tour").clicked());
            });
            ui.label(text);
        });
    });
}

/// Draws a text beside the mouse.
fn beside(ui: &Ui, at: egui::Pos2, text: &str) {
    let layer = egui::LayerId::new(egui::Order::Tooltip, egui::Id::new("beside"));
    let painter = ui.ctx().layer_painter(layer);
    let room = ui.ctx().content_rect().shrink(6.0);
    plate(&painter, text, 170, |size| {
        let rect = egui::Rect::from_min_size(at + egui::vec2(18.0, 16.0), size);
        rect.translate((room.max - rect.max).min(egui::Vec2::ZERO))
    });
}

/// Returns a hint about what the user can do next.
pub(super) fn hint(desk: &WindowEditor, bench: Option<&Workbench>) -> String {
    use super::Hold;
    use crate::workbench::GrabBy;
    match (desk.hold, desk.text_by_key()) {
        (Hold::Turn { .. }, Some(text)) => match bench.and_then(Workbench::stopped_joints) {
            Some(joints) => format!("{joints}, short of {text}; {KEEP}"),
            None => format!("Turned {text}. X, Y, Z choose an axis, digits the angle; {KEEP}"),
        },
        (_, Some(text)) if !text.is_empty() => {
            format!("Moved {text}. X, Y, Z choose an axis, digits the length; {KEEP}")
        }
        (Hold::Grab { by, .. }, _) => {
            let node = by.node.zip(bench).map(|(n, b)| &*b.character().skeleton.nodes[n.index()].name);
            let name = node.map_or_else(String::new, |name| format!("{name}: "));
            let follows = bench.map_or("", |b| match b.preferences().grab {
                GrabBy::Body => "the whole body follows the mouse",
                GrabBy::Limb => "the limb follows the mouse",
                GrabBy::Bone => "the bone follows the mouse",
            });
            let stopped = bench.and_then(Workbench::stopped_joints);
            let stopped = stopped.map_or_else(String::new, |joints| format!(", but {joints}"));
            format!("{name}{follows}{stopped}; X, Y, Z choose an axis, digits the length; {KEEP}")
        }
        (Hold::Free | Hold::Tool { .. }, _) if !desk.moves_plane => {
            if let Some(stopped) = bench.and_then(Workbench::stopped_joints) {
                return stopped.to_owned();
            }
            match bench.map(|b| (b, b.taken_joints())) {
                Some((bench, Some(joints))) if bench.awaits_offset().is_some() => {
                    format!(
                        "Baseline over {joints}. Draw where they should go (Shift-L: again, Esc: not at all)"
                    )
                }
                Some((_, Some(joints))) => format!("Baseline over {joints}"),
                _ => plain_hint(desk, bench).to_owned(),
            }
        }
        _ => plain_hint(desk, bench).to_owned(),
    }
}

/// Hint that says how the user ends a rotation or grab by keys.
const KEEP: &str = "Enter or a click keeps it, Esc or the right button drops it";

fn plain_hint(desk: &WindowEditor, bench: Option<&Workbench>) -> &'static str {
    use super::Hold;
    use crate::workbench::{CageSet, GrabBy, MarkBy, MeasureBy};
    let Some(bench) = bench else { return "Open a rigged glTF character: drop it here, or press Ctrl-O" };
    match (desk.hold, bench.preferences().tool) {
        (Hold::Brush { .. }, _) => "Move the mouse sideways; Enter or a click keeps the size, Esc drops it",
        (Hold::Wipe, _) => "Left of the line is the document's deformer",
        (Hold::Camera(..), _) => "Shift pans, Ctrl zooms",
        (Hold::Plane(..), _) => "Release keeps the plane there, Esc or the right button puts it back",
        (_, Tool::Line | Tool::Silhouette) if desk.moves_plane => {
            "Drag a ring to turn the plane, an arrow to move it; Esc leaves it"
        }
        (_, Tool::Measure) => match bench.preferences().measure {
            MeasureBy::Distance if bench.chooses_measure() => "Click the other end; Esc forgets the first",
            MeasureBy::Distance => "Click two places of the skin; the view may be turned in between",
            MeasureBy::Thickness => "Click the skin where the body's thickness is wanted",
            MeasureBy::Angle => "Click a joint",
        },
        (_, Tool::Line | Tool::Grab) if bench.is_bare() && bench.character().skeleton.joints.len() == 1 => {
            "This mesh has no bones: draw bones (E), or place grips on the skin (H)"
        }
        (_, Tool::Line) => {
            "Draw a line along the joints to pose; drag a knot to bend a line; click a joint to select it"
        }
        (_, Tool::Grab) => match bench.preferences().grab {
            GrabBy::Body => {
                "Drag the skin: the whole body follows (Shift-G: bone, limb), pinned joints (P) stay"
            }
            GrabBy::Limb => "Drag the skin: the limb follows (Shift-G: body, bone), pinned joints (P) stay",
            GrabBy::Bone => "Drag the skin: the bone turns (Shift-G: limb, body), pinned joints (P) stay",
        },
        (_, Tool::Joint) if bench.is_bare() => "Drag a joint of the drawn bones",
        (_, Tool::Joint) if bench.selected().is_some() => {
            "Drag a ring to turn the joint, an arrow to move it"
        }
        (_, Tool::Joint) => "Click a joint",
        (_, Tool::Silhouette) => {
            "Draw beside a silhouette where it should go; the brush (F) sets how far the skin follows"
        }
        (_, Tool::Cage) if bench.session().document().cage().is_none() => {
            "Make or import a cage in the panel Cage"
        }
        (_, Tool::Cage) if bench.preferences().cage_set == CageSet::Stroke && bench.awaits_cage_offset() => {
            "Now draw where the selected vertices should go; Esc forgets the line"
        }
        (_, Tool::Cage) if bench.preferences().cage_set == CageSet::Stroke => {
            "Draw a line along the vertices to move (Shift-C: vertex, brush, ring)"
        }
        (_, Tool::Cage) => "Drag a vertex of the cage (Shift-C: what follows, Alt-C: rest or current pose)",
        (_, Tool::Grip) if bench.session().document().grips().is_empty() => {
            "Click the skin for a point, or draw round a region: FAST moves the skin by them"
        }
        (_, Tool::Grip) => {
            "Drag a grip; click the skin for another point (Shift-H: free, position, full; X removes)"
        }
        (_, Tool::Bone) if !bench.is_bare() => {
            "This character has bones; bones can be drawn in a mesh without a skeleton"
        }
        (_, Tool::Bone) => "Draw bones along a limb: they go to its middle; the joint tool (J) drags joints",
        (_, Tool::Skin) if bench.awaits_mark_offset().is_some() => {
            "Now draw where the marked skin should go (Shift-L: again, Esc: not at all)"
        }
        (_, Tool::Skin) if bench.preferences().marks == MarkBy::Offset => {
            "Draw a mark on the skin, then where it should go (Shift-M: pull, knots)"
        }
        (_, Tool::Skin) if bench.preferences().marks == MarkBy::Paint => {
            "Paint the share of DQS on the skin; the deformer panel sets it (Shift-M: pull, offset, knots)"
        }
        (_, Tool::Skin) if bench.preferences().marks == MarkBy::Knots => {
            "Drag a knot of a mark over the skin (Shift-M: pull, offset)"
        }
        (_, Tool::Skin) if !bench.session().document().marks().is_empty() => {
            "Drag a mark to pull the skin, or draw another (Shift-M: offset, knots, paint)"
        }
        (_, Tool::Skin) => "Draw on the skin; a line that goes once round a limb becomes a ring",
    }
}
