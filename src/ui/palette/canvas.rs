//! The egui context of one panel. It runs when something changed and repaints only if the result differs.

use super::theme;
use super::widgets::Touch;
use crate::render::PanelPaint;
use egui::epaint::{ClippedShape, Primitive};
use egui::{
    Event, FullOutput, Modifiers, MouseWheelUnit, PointerButton, Pos2, RawInput, Rect, TouchPhase, Ui, pos2,
    vec2,
};

/// Width of the font atlas, pixels; egui's minimum.
const ATLAS: usize = 1024;

pub(super) struct Canvas {
    context: egui::Context,
    size: [u32; 2],
    pub paint: PanelPaint,
    /// Whether the panel's image must be repainted from [`Canvas::paint`].
    pub dirty: bool,
    /// Whether egui requested another pass or has not run yet.
    pub again: bool,
    pointer: Option<Pos2>,
    down: bool,
    /// Events of the keyboard and the stick for the next pass.
    typed: Vec<Event>,
    /// Whether [`Canvas::words`] is kept.
    pub reads: bool,
    /// The texts of the last pass, with their rectangles in pixels.
    pub words: Vec<(String, Rect)>,
}

impl Canvas {
    pub fn new(size: [u32; 2]) -> Self {
        let context = egui::Context::default();
        context.options_mut(|o| {
            // Disables egui's limits for clicks, because hands tremble and presses are slow. The module `pointer`
            // distinguishes presses from drags.
            o.input_options.max_click_dist = f32::INFINITY;
            o.input_options.max_click_duration = f64::INFINITY;
        });
        // Without animations a panel is repainted only when something happens.
        context.all_styles_mut(|style| style.animation_time = 0.0);
        let paint = PanelPaint { pixels_per_point: 1.0, ..PanelPaint::default() };
        Self {
            context,
            size,
            paint,
            dirty: true,
            again: true,
            pointer: None,
            down: false,
            typed: Vec::new(),
            reads: false,
            words: Vec::new(),
        }
    }

    /// Returns the canvas with the style of the window's panels, with targets of this height, pixels.
    pub fn enlarged(mut self, target: f32) -> Self {
        theme::enlarge(&self.context, target);
        self.reads = true;
        self
    }

    /// Whether a text field has the focus.
    pub fn typing(&self) -> bool {
        self.context.text_edit_focused()
    }

    /// Whether a list is open over the content.
    pub fn is_list_open(&self) -> bool {
        egui::Popup::is_any_open(&self.context)
    }

    /// Scrolls what is under the pointer down by a number of pixels in the next pass.
    pub fn scroll(&mut self, down: f32) {
        let (unit, phase) = (MouseWheelUnit::Point, TouchPhase::Move);
        let delta = vec2(0.0, -down);
        self.write(vec![Event::MouseWheel { unit, delta, phase, modifiers: Modifiers::NONE }]);
    }

    /// Gives events of the keyboard to the text field with the focus in the next pass.
    pub fn write(&mut self, events: Vec<Event>) {
        self.again |= !events.is_empty();
        self.typed.extend(events);
    }

    /// Returns the rectangles of all widgets that react to presses or drags, pixels.
    #[cfg(test)]
    pub fn targets(&self) -> Vec<Rect> {
        let reacts = |w: &&egui::WidgetRect| w.enabled && w.sense.interactive() && w.rect.is_positive();
        self.context.viewport(|v| {
            v.prev_pass.widgets.layers().flat_map(|l| l.1).filter(reacts).map(|w| w.rect).collect()
        })
    }

    /// Whether the pointer moved, appeared, disappeared, or changed its button since the last pass.
    pub fn touched(&self, pointer: Option<Pos2>, down: bool) -> bool {
        pointer != self.pointer || down != self.down
    }

    /// Runs one pass at `time` (seconds). `pointer` is a pixel, `None` off the panel.
    pub fn run(
        &mut self,
        time: f64,
        pointer: Option<Pos2>,
        down: bool,
        mut content: impl FnMut(&mut Ui, &mut Touch),
    ) -> Touch {
        let mut events = std::mem::take(&mut self.typed);
        if pointer != self.pointer {
            events.push(pointer.map_or(Event::PointerGone, Event::PointerMoved));
        }
        if down != self.down {
            // A release away from the panel does not click.
            let pos = pointer.or(self.pointer).filter(|_| pointer.is_some() || down);
            let button = |pos| Event::PointerButton {
                pos,
                button: PointerButton::Primary,
                pressed: down,
                modifiers: Modifiers::NONE,
            };
            events.push(button(pos.unwrap_or(pos2(-1e4, -1e4))));
        }
        (self.pointer, self.down) = (pointer, down);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(
                pos2(0.0, 0.0),
                vec2(self.size[0] as f32, self.size[1] as f32),
            )),
            max_texture_side: Some(ATLAS),
            time: Some(time),
            events,
            ..RawInput::default()
        };
        let mut touch = Touch::default();
        let mut out = self.context.run_ui(input, |ui| {
            touch.begin_pass();
            content(ui, &mut touch);
            if let Some(at) = pointer {
                cursor(ui, at, down);
            }
        });
        let changed = take_textures(&mut self.paint, &mut out);
        let shapes = std::mem::take(&mut out.shapes);
        if self.reads {
            self.words.clear();
            self.words.extend(shapes.iter().filter_map(word));
        }
        let delay = out.viewport_output.values().map(|v| v.repaint_delay).min();
        out.drop_without_applying_deltas();
        let primitives = self.context.tessellate(shapes, 1.0);
        if changed || !same(&primitives, &self.paint.primitives) {
            self.paint.primitives = primitives;
            self.dirty = true;
        }
        // The effect of a press shows in the next pass.
        self.again = touch.clicked || delay.is_some_and(|d| d.is_zero());
        touch
    }
}

/// Moves the changes of textures to the paint. Returns whether there are any.
pub(in crate::ui) fn take_textures(paint: &mut PanelPaint, out: &mut FullOutput) -> bool {
    let deltas = std::mem::take(&mut out.textures_delta.set);
    let changed = !deltas.is_empty();
    for (id, delta) in deltas.into_iter().flat_map(|(id, list)| list.into_iter().map(move |d| (id, d))) {
        // A full texture replaces all earlier changes of the texture.
        if delta.pos.is_none() {
            paint.textures.retain(|(other, _)| *other != id);
        }
        paint.textures.push((id, delta));
    }
    changed
}

/// Returns a drawn text with its rectangle, unless it is clipped away.
pub(in crate::ui) fn word(clipped: &ClippedShape) -> Option<(String, Rect)> {
    let egui::Shape::Text(text) = &clipped.shape else { return None };
    let rect = text.visual_bounding_rect();
    clipped.clip_rect.contains(rect.center()).then(|| (text.galley.text().to_owned(), rect))
}

/// Draws the end of the pointer's ray as a ring that shrinks while the trigger is pulled.
fn cursor(ui: &Ui, at: Pos2, down: bool) {
    let painter = ui.painter();
    let radius = if down { 6.0 } else { 9.0 };
    painter.circle_filled(at, radius + 2.0, egui::Color32::from_black_alpha(110));
    painter.circle_filled(at, radius, theme::DARK.strong);
    painter.circle_filled(at, radius - 3.0, theme::ACCENT);
}

/// Whether two passes paint the same primitives.
pub(crate) fn same(a: &[egui::ClippedPrimitive], b: &[egui::ClippedPrimitive]) -> bool {
    let equal = |a: &egui::ClippedPrimitive, b: &egui::ClippedPrimitive| match (&a.primitive, &b.primitive) {
        (Primitive::Mesh(x), Primitive::Mesh(y)) => a.clip_rect == b.clip_rect && x == y,
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
}
