//! Runs one egui pass over the panels, converts its input, and collects triangles and commands.

use super::{Pressed, Shows, hint, show};
use crate::ui::palette::{same, take_textures};
use crate::ui::panels;
use crate::ui::window::WindowEditor;
use crate::ui::window::choices::Theme;
use crate::ui::window::input::WindowInput;
use crate::ui::window::output::{Ask, Picture};
use crate::workbench::{Notice, Workbench};
use egui::{RawInput, Rect, ViewportId, pos2, vec2};
use std::time::Duration;

/// Largest width and height of the font atlas, pixels.
const ATLAS: usize = 4096;
/// Delay above which a repaint request of egui is ignored.
const NEVER: Duration = Duration::from_secs(3600);

/// Result of a pass over the panels.
#[derive(Default)]
pub(in crate::ui::window) struct Shown {
    pub painted: bool,
    pub again: Option<Duration>,
}

impl WindowEditor {
    /// Draws the panels and carries out what the user pressed.
    pub(in crate::ui::window) fn run_panels(
        &mut self,
        input: &WindowInput,
        bench: Option<&mut Workbench>,
    ) -> Shown {
        self.scale = if input.scale.is_finite() { input.scale.clamp(0.25, 8.0) } else { 1.0 };
        self.scale *= self.choices.zoom;
        self.size = input.size.map(|n| n.max(1));
        self.context.set_theme(match self.choices.theme {
            Theme::System => egui::ThemePreference::System,
            Theme::Dark => egui::ThemePreference::Dark,
            Theme::Light => egui::ThemePreference::Light,
        });
        self.typing = self.takes_keys();
        // A press in the picture first ends the input of a text field; only then does the tool get the press.
        let leaves_text = input.events.iter().any(|e| match e {
            egui::Event::PointerButton { pos, pressed, .. } => *pressed && self.is_picture([pos.x, pos.y]),
            _ => false,
        });
        let raw = self.raw(input);
        let context = self.context.clone();
        let mut pressed = Pressed::default();
        let mut room = Rect::NOTHING;
        let mut memory = std::mem::take(&mut self.panels);
        if let Some(bench) = &bench {
            memory.shared.meet(bench);
        }
        let shows = Shows {
            bench: bench.as_deref(),
            facts: &self.facts,
            choices: &self.choices,
            compared: self.other.as_ref(),
            divider: matches!(self.output.picture, Picture::Wipe(_)).then_some(self.divider),
            moves_plane: self.moves_plane,
            lens: self.camera.stand().lens,
            hint: hint(self, bench.as_deref()),
            beside: self
                .text_by_key()
                .filter(|t| !t.is_empty())
                .zip(self.at)
                .map(|(text, [x, y])| (pos2(x / self.scale, y / self.scale), text)),
        };
        // egui repeats a pass whose layout it discards. Only the first pass has the events, so presses add up.
        let mut full = context.run_ui(raw, |ui| {
            if let Some(id) = ui.memory(|m| m.focused()).filter(|_| leaves_text) {
                ui.memory_mut(|m| m.surrender_focus(id));
            }
            show(ui, &shows, &mut memory, &mut pressed);
            room = ui.available_rect_before_wrap();
        });
        self.panels = memory;
        self.output.viewport = self.pixels(room);
        self.output.platform = std::mem::take(&mut full.platform_output);
        let (painted, again) = self.paint(full);
        self.run_pressed(pressed, input.time, bench);
        Shown { painted, again }
    }

    fn run_pressed(&mut self, pressed: Pressed, time: f64, mut bench: Option<&mut Workbench>) {
        if pressed.does_something() {
            self.forget_messages(bench.as_deref_mut());
        }
        if let Some(choices) = pressed.choices {
            (self.choices, self.changed) = (choices.sane(), true);
        }
        let panels::Pressed { commands, slides, compare, tell } = pressed.shared;
        if let Some(other) = compare {
            (self.other, self.changed) = (other, true);
        }
        for act in pressed.acts {
            self.act(act, time, bench.as_deref_mut());
        }
        for command in commands {
            self.command(command, bench.as_deref_mut());
        }
        if tell.is_some() {
            self.facts.message = tell.map(Notice::from);
        }
        self.output.asks.extend(pressed.list.map(Ask::List));
        if let Some(place) = pressed.write {
            self.output.asks.push(place.map_or(Ask::WriteNothing, |(writes, path)| Ask::Write(writes, path)));
            self.changed = true;
        }
        if let Some(answer) = pressed.answer {
            self.facts.question = None;
            self.output.asks.push(Ask::Answer(answer));
            self.changed = true;
        }
        let Some(bench) = bench else { return };
        for (command, continues) in slides {
            if !continues {
                bench.end_slide();
            }
            self.command(command, Some(bench));
        }
        if let Some(index) = pressed.measure {
            bench.remove_measure(index);
            self.changed = true;
        }
    }

    /// Whether a text field, number field or question has the keyboard.
    pub(in crate::ui::window) fn takes_keys(&self) -> bool {
        self.context.text_edit_focused()
            || self.facts.question.is_some()
            || self.panels.saving.is_some()
            || egui::Popup::is_any_open(&self.context)
    }

    /// Clears messages of earlier actions before a new one.
    pub(in crate::ui::window) fn forget_messages(&mut self, bench: Option<&mut Workbench>) {
        self.facts.message = None;
        if let Some(bench) = bench {
            bench.forget_notice();
        }
    }

    /// Converts a rectangle from logical pixels to left, top, width and height in pixels, at least 1 pixel each way.
    fn pixels(&self, room: Rect) -> [u32; 4] {
        let pixel = |v: f32, most: u32| ((v * self.scale).round().max(0.0) as u32).min(most);
        let (left, top) = (pixel(room.min.x, self.size[0] - 1), pixel(room.min.y, self.size[1] - 1));
        let (right, bottom) = (pixel(room.max.x, self.size[0]), pixel(room.max.y, self.size[1]));
        [left, top, right.saturating_sub(left).max(1), bottom.saturating_sub(top).max(1)]
    }

    /// Converts the input for egui. Keys reach egui only while a text field, number field or question has the keyboard;
    /// otherwise they are shortcuts.
    fn raw(&mut self, input: &WindowInput) -> RawInput {
        let (takes_keys, by_key, scale) = (self.typing, self.is_by_key(), self.scale);
        let points = |p: egui::Pos2| pos2(p.x / scale, p.y / scale);
        let mut kept_press = self.kept_press;
        let mut event = |event: &egui::Event| {
            let mut event = event.clone();
            match &mut event {
                // A click ends an operation by keys, even over a panel.
                egui::Event::PointerButton { pressed: true, .. } if by_key => {
                    kept_press = true;
                    return None;
                }
                egui::Event::PointerButton { pressed: false, .. } if std::mem::take(&mut kept_press) => {
                    return None;
                }
                egui::Event::PointerMoved(pos)
                | egui::Event::PointerButton { pos, .. }
                | egui::Event::Touch { pos, .. } => *pos = points(*pos),
                egui::Event::Key { .. } | egui::Event::Text(_) if !takes_keys => return None,
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
            events: input.events.iter().filter_map(&mut event).collect(),
            focused: input.focused,
            system_theme: input.theme,
            ..RawInput::default()
        };
        self.kept_press = kept_press;
        if let Some(viewport) = raw.viewports.get_mut(&ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(self.scale);
        }
        raw
    }

    /// Stores the triangles and textures to paint. Returns whether they changed, and when egui wants another pass.
    fn paint(&mut self, mut full: egui::FullOutput) -> (bool, Option<Duration>) {
        let mut changed = take_textures(&mut self.output.paint, &mut full);
        let shapes = std::mem::take(&mut full.shapes);
        if self.reads {
            let word = |s| crate::ui::palette::word(s).map(|(text, rect)| (text, rect * self.scale));
            self.words = shapes.iter().filter_map(word).collect();
        }
        let delay = full.viewport_output.values().map(|v| v.repaint_delay).min();
        full.drop_without_applying_deltas();
        let primitives = self.context.tessellate(shapes, self.scale);
        let paint = &mut self.output.paint;
        changed |= !same(&primitives, &paint.primitives);
        paint.primitives = primitives;
        paint.pixels_per_point = self.scale;
        (changed, delay.filter(|d| *d < NEVER))
    }
}
