//! What the window shows until the editor's own desk takes over: the character, turned by the mouse.

use crate::base::math::{Aabb, Vec3};
use crate::editor::Request;
use crate::editor::Workbench;
use crate::render::{Camera, Lines, PanelPaint, View};
use std::time::Duration;

/// A frame of a window's input.
#[derive(Clone, Debug, Default)]
pub struct DeskInput {
    pub raw: egui::RawInput,
}

/// What is to be shown and done.
#[derive(Default)]
pub struct DeskOutput {
    pub viewport: [u32; 4],
    pub views: Vec<View>,
    pub lines: Lines,
    pub paint: PanelPaint,
    pub platform: egui::PlatformOutput,
    pub dirty: bool,
    pub again: Option<Duration>,
    pub posed: bool,
    pub deformer_changed: bool,
    pub asks: Vec<Request>,
}

pub struct Desk {
    context: egui::Context,
    bench: Option<Workbench>,
    yaw: f32,
    pitch: f32,
    zoom: f32,
    pub out: DeskOutput,
}

impl Desk {
    pub fn new() -> Self {
        let context = egui::Context::default();
        Self { context, bench: None, yaw: 0.5, pitch: 0.15, zoom: 1.0, out: DeskOutput::default() }
    }

    pub fn context(&self) -> &egui::Context {
        &self.context
    }

    pub fn bench(&self) -> Option<&Workbench> {
        self.bench.as_ref()
    }

    pub fn put(&mut self, bench: Workbench) {
        self.bench = Some(bench);
        self.out.posed = true;
    }

    pub fn take(&mut self) -> Option<Workbench> {
        self.bench.take()
    }

    pub fn step(&mut self, input: DeskInput, bounds: &Aabb, message: Option<&str>) -> &DeskOutput {
        let before = (self.yaw, self.pitch, self.zoom);
        let (yaw, pitch, zoom) = (&mut self.yaw, &mut self.pitch, &mut self.zoom);
        let loaded = self.bench.is_some();
        let mut out = self.context.run_ui(input.raw, |ui| {
            if let Some(message) = message {
                ui.label(message);
            } else if !loaded {
                ui.label("Drop a rigged glTF file here.");
            }
            let picture = ui.interact(ui.max_rect(), egui::Id::new("picture"), egui::Sense::click_and_drag());
            let by = picture.drag_delta();
            *yaw -= by.x * 0.0075;
            *pitch = (*pitch + by.y * 0.0075).clamp(-1.5, 1.5);
            *zoom *= (-ui.input(|i| i.smooth_scroll_delta().y) * 0.002).exp();
        });
        let shapes = std::mem::take(&mut out.shapes);
        let ratio = out.pixels_per_point;
        let o = &mut self.out;
        o.paint.pixels_per_point = ratio;
        o.dirty = before != (self.yaw, self.pitch, self.zoom);
        for (id, list) in std::mem::take(&mut out.textures_delta.set) {
            o.paint.textures.extend(list.into_iter().map(|d| (id, d)));
            o.dirty = true;
        }
        o.platform = std::mem::take(&mut out.platform_output);
        o.again = out.viewport_output.values().map(|v| v.repaint_delay).min().filter(|d| *d < Duration::MAX);
        out.drop_without_applying_deltas();
        let size = self.context.content_rect().size() * ratio;
        let viewport = [0, 0, size.x as u32, size.y as u32];
        o.dirty |= viewport != o.viewport;
        o.viewport = viewport;
        let primitives = self.context.tessellate(shapes, ratio);
        o.dirty |= primitives.len() != o.paint.primitives.len() || o.posed;
        o.paint.primitives = primitives;
        let aspect = size.x.max(1.0) / size.y.max(1.0);
        let mut camera = Camera::framing(bounds, aspect, self.yaw, self.pitch);
        camera.eye = camera.target + (camera.eye - camera.target) * self.zoom;
        camera.up = Vec3::Y;
        o.views = vec![camera.view(aspect)];
        &self.out
    }

    /// What is shown, and whose pose.
    pub fn parts(&mut self) -> (&mut DeskOutput, Option<&Workbench>) {
        (&mut self.out, self.bench.as_ref())
    }
}
