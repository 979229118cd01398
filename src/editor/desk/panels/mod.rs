//! The panels of the window, drawn by egui around the picture.

use super::{ACTS, Act, Desk, DeskInput, Group, Theme};
use crate::editor::{Command, Tool, Workbench};
use egui::{Panel, RawInput, Rect, ScrollArea, Ui, ViewportId, pos2, vec2};
use std::time::Duration;

/// Colour of the selected joint in the picture.
pub(super) const SELECTED: [u8; 4] = [255, 255, 255, 255];
/// Columns of the font atlas at most.
const ATLAS: usize = 4096;

/// What the panels remember that is no choice of the user's.
#[derive(Default)]
pub(super) struct Memory {
    /// The list of keys shows.
    pub help: bool,
    /// The next key is for this act.
    pub binding: Option<Act>,
}

/// What a pass of the panels gave.
#[derive(Default)]
pub(super) struct Shown {
    pub painted: bool,
    pub again: Option<Duration>,
}

/// What was pressed.
#[derive(Default)]
pub(super) struct Pressed {
    pub acts: Vec<Act>,
    pub commands: Vec<Command>,
    pub jump: Option<usize>,
}

/// egui with our looks.
pub(super) fn context() -> egui::Context {
    let context = egui::Context::default();
    // Zoom is ours: Ctrl-Plus is in the table of keys.
    context.options_mut(|o| o.zoom_with_keyboard = false);
    context.all_styles_mut(|style| style.animation_time = 0.0);
    context
}

impl Desk {
    pub(super) fn run_panels(&mut self, input: &DeskInput, mut bench: Option<&mut Workbench>) -> Shown {
        self.scale = if input.scale.is_finite() { input.scale.clamp(0.25, 8.0) } else { 1.0 };
        self.scale *= self.choices.zoom;
        self.size = input.size.map(|n| n.max(1));
        self.context.set_theme(match self.choices.theme {
            Theme::System => egui::ThemePreference::System,
            Theme::Dark => egui::ThemePreference::Dark,
            Theme::Light => egui::ThemePreference::Light,
        });
        let raw = self.raw(input);
        let context = self.context.clone();
        let mut pressed = Pressed::default();
        let mut room = Rect::NOTHING;
        let shared = bench.as_deref();
        let mut full = context.run_ui(raw, |ui| {
            pressed = Pressed::default();
            self.show(ui, shared, &mut pressed);
            room = ui.available_rect_before_wrap();
            self.ask_question(ui.ctx());
        });
        let scale = self.scale;
        let [left, top] = [room.min.x, room.min.y].map(|v| (v * scale).round().max(0.0) as u32);
        let right = ((room.max.x * scale).round().max(0.0) as u32).min(self.size[0]);
        let bottom = ((room.max.y * scale).round().max(0.0) as u32).min(self.size[1]);
        self.output.viewport =
            [left, top, right.saturating_sub(left).max(1), bottom.saturating_sub(top).max(1)];
        self.output.platform = std::mem::take(&mut full.platform_output);
        let painted = self.paint(full);
        let delay = painted.1;
        for act in pressed.acts {
            self.act(act, input.time, bench.as_deref_mut());
        }
        for command in pressed.commands {
            self.command(command, bench.as_deref_mut());
        }
        if let (Some(step), Some(bench)) = (pressed.jump, bench) {
            self.drop_act(bench);
            bench.jump(step);
        }
        Shown { painted: painted.0, again: delay }
    }

    /// egui's own input: what is written or pressed outside of text is a key of the table.
    fn raw(&self, input: &DeskInput) -> RawInput {
        let writes = self.context.text_edit_focused();
        let asked = self.facts.question.is_some();
        let points = |p: egui::Pos2| pos2(p.x / self.scale, p.y / self.scale);
        let event = |event: &egui::Event| {
            let mut event = event.clone();
            match &mut event {
                egui::Event::PointerMoved(pos)
                | egui::Event::PointerButton { pos, .. }
                | egui::Event::Touch { pos, .. } => *pos = points(*pos),
                egui::Event::Key { .. } | egui::Event::Text(_) if !writes && !asked => return None,
                _ => {}
            }
            Some(event)
        };
        let mut raw = RawInput {
            screen_rect: Some(Rect::from_min_size(
                pos2(0.0, 0.0),
                vec2(self.size[0] as f32, self.size[1] as f32) / self.scale,
            )),
            max_texture_side: Some(ATLAS),
            time: Some(input.time),
            events: input.events.iter().filter_map(event).collect(),
            focused: input.focused,
            system_theme: input.theme,
            ..RawInput::default()
        };
        if let Some(viewport) = raw.viewports.get_mut(&ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(self.scale);
        }
        raw
    }

    /// Keeps what is to be painted; whether it looks otherwise, and when egui wants another pass.
    fn paint(&mut self, mut full: egui::FullOutput) -> (bool, Option<Duration>) {
        let paint = &mut self.output.paint;
        let deltas = std::mem::take(&mut full.textures_delta.set);
        let mut changed = false;
        for (id, delta) in deltas.into_iter().flat_map(|(id, list)| list.into_iter().map(move |d| (id, d))) {
            // A whole new picture makes those before it void.
            if delta.pos.is_none() {
                paint.textures.retain(|(other, _)| *other != id);
            }
            paint.textures.push((id, delta));
            changed = true;
        }
        let shapes = std::mem::take(&mut full.shapes);
        let delay = full.viewport_output.values().map(|v| v.repaint_delay).min();
        full.drop_without_applying_deltas();
        let primitives = self.context.tessellate(shapes, self.scale);
        changed |= !super::super::panels::same(&primitives, &paint.primitives);
        paint.primitives = primitives;
        paint.pixels_per_point = self.scale;
        (changed, delay.filter(|d| *d < Duration::from_secs(3600)))
    }

    fn show(&mut self, ui: &mut Ui, bench: Option<&Workbench>, pressed: &mut Pressed) {
        Panel::top("bar").show(ui, |ui| {
            ui.horizontal(|ui| {
                for tool in Tool::ALL {
                    let on = bench.is_some_and(|b| b.preferences().tool == tool);
                    if ui.selectable_label(on, tool.label()).clicked() {
                        pressed.commands.push(Command::Tool(tool));
                    }
                }
                for act in [Act::Undo, Act::Redo, Act::Save, Act::Help] {
                    if ui.button(act.line().label).clicked() {
                        pressed.acts.push(act);
                    }
                }
            });
        });
        if let Some(text) = self.message(bench) {
            Panel::bottom("message").show(ui, |ui| ui.label(text));
        }
        if self.panels.help {
            self.keys(ui, pressed);
        }
    }

    fn message(&self, bench: Option<&Workbench>) -> Option<String> {
        let notice = bench.and_then(|b| b.notice()).map(str::to_owned);
        self.facts.message.clone().or(notice).or_else(|| self.facts.busy.clone())
    }

    /// The list of keys.
    fn keys(&mut self, ui: &mut Ui, pressed: &mut Pressed) {
        let mut open = true;
        egui::Window::new("Keys").open(&mut open).default_width(420.0).show(ui, |ui| {
            ScrollArea::vertical().show(ui, |ui| {
                for group in Group::ALL {
                    ui.heading(group.label());
                    egui::Grid::new(group.label()).num_columns(2).striped(true).show(ui, |ui| {
                        for line in ACTS.iter().filter(|l| l.group == group) {
                            if ui.button(line.label).clicked() {
                                pressed.acts.push(line.act);
                            }
                            let waits = self.panels.binding == Some(line.act);
                            let text = if waits {
                                "press a key".to_owned()
                            } else {
                                self.choices.keys.text(line.act)
                            };
                            if ui.selectable_label(waits, text).clicked() {
                                self.panels.binding = Some(line.act);
                            }
                            ui.end_row();
                        }
                    });
                }
            });
        });
        self.panels.help &= open;
    }
}
