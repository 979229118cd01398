//! The content of the window: GPU device and swapchain, the live character, and the panels painted over its image.

use super::Options;
use crate::app::context::wanted_samples;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::gpu::{Device, DeviceOptions, Frame, Image, ImageInfo, Semaphores, Surface, Window};
use crate::render::{Lines, PanelImage, PanelPainter, View};
use crate::scene::{Actor, Aim, Pipelines, Stage, SurfaceSample, VersionedPose};
use crate::ui::window::{Pick, Picked, Picture, WindowOutput};
use ash::vk::{Format, ImageUsageFlags};
use std::collections::VecDeque;
use std::sync::Arc;

/// GPU resources of the window.
pub struct Screen {
    /// The surface to present to; `None` for offscreen rendering, as in a benchmark.
    surface: Option<Surface>,
    stage: Stage,
    /// Samples per pixel; overrides the setting in [`WindowOutput`].
    samples: Option<u32>,
    /// The stage with the compared deformation method.
    other: Option<Stage>,
    painter: PanelPainter,
    panels: PanelImage,
    /// Image of the whole window.
    canvas: Image,
    /// Views and lines of the last rendered image; the stage is rendered again only if they change.
    drawn: Option<(Vec<View>, Lines)>,
    /// Picks without an answer yet, with their numbers.
    asked: VecDeque<(u64, Pick)>,
    questions: u64,
    shown: u64,
}

/// Clamps an image size to at least 1 x 1 pixel.
fn at_least_one(size: [u32; 2]) -> [u32; 2] {
    size.map(|n| n.max(1))
}

fn canvas(device: &Arc<Device>, size: [u32; 2]) -> Result<Image> {
    let usage = ImageUsageFlags::COLOR_ATTACHMENT;
    let format = Format::R8G8B8A8_UNORM;
    Image::new(device, &ImageInfo { name: "window", format, size, layers: 1, levels: 1, usage })
}

impl Screen {
    /// Opens a GPU device that can present to `window`, whose size in pixels is `size`.
    ///
    /// # Errors
    /// Fails like [`Device::for_window`], or if memory runs out.
    pub fn new(window: Arc<dyn Window>, size: [u32; 2], options: &Options) -> Result<Self> {
        let wanted = DeviceOptions { name: options.device.clone(), validation: false };
        let device = Device::for_window(&wanted, window.as_ref())?;
        let surface = Surface::new(&device, window)?;
        let mut screen = Self::without_window(&Pipelines::new(&device)?, size, options.samples)?;
        screen.surface = Some(surface);
        Ok(screen)
    }

    /// Creates a screen for offscreen rendering; `samples` as in [`Options`].
    ///
    /// # Errors
    /// Fails if memory runs out.
    pub fn without_window(pipelines: &Pipelines, size: [u32; 2], samples: Option<u32>) -> Result<Self> {
        let size = at_least_one(size);
        let stage = Stage::new(pipelines, size, 1, wanted_samples(pipelines.device(), samples, true))?;
        let painter = PanelPainter::new(pipelines.device())?;
        let canvas = canvas(pipelines.device(), size)?;
        let panels = painter.over(&canvas)?;
        Ok(Self {
            surface: None,
            stage,
            samples,
            other: None,
            painter,
            panels,
            canvas,
            drawn: None,
            asked: VecDeque::new(),
            questions: 0,
            shown: 0,
        })
    }

    /// Returns the stage of the live character.
    pub fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    /// Puts an actor with the compared deformation method on the second stage.
    ///
    /// # Errors
    /// Fails if memory runs out.
    pub fn compare(&mut self, actor: Box<Actor>) -> Result<()> {
        if self.other.is_none() {
            let targets = self.stage.targets();
            self.other = Some(Stage::new(self.stage.pipelines(), targets.size, 1, targets.samples)?);
        }
        self.other.as_mut().map_or(Ok(()), |other| other.enter_anew(actor))
    }

    /// Returns the number of images presented so far.
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// Returns whether picks are waiting for their answer.
    pub fn asks(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Returns the newest answer to a pick since the last call.
    ///
    /// # Errors
    /// Fails if the device is lost.
    pub fn picked(&mut self) -> Result<Option<Picked>> {
        let mut newest = None;
        while let Some((number, hit)) = self.stage.picked()? {
            while let Some((asked, pick)) = self.asked.pop_front_if(|(asked, _)| *asked <= number) {
                let surface = hit.as_ref().filter(|_| asked == number).map(|hit| SurfaceSample {
                    triangle: hit.triangle,
                    barycentrics: hit.barycentrics,
                    position: Vec3::from_array(hit.position),
                    normal: Vec3::from_array(hit.normal),
                    time: pick.time,
                    draw: pick.draw,
                });
                newest = Some(Picked { pick, surface });
            }
        }
        if !self.stage.awaits_pick() {
            // Another actor, and a frame that was abandoned, discard unanswered picks.
            self.asked.clear();
        }
        Ok(newest)
    }

    /// Returns the live character's stage and, if present, the stage of the compared method.
    pub fn stages_mut(&mut self) -> impl Iterator<Item = &mut Stage> {
        std::iter::once(&mut self.stage).chain(self.other.as_mut())
    }

    /// Returns whether every stage already shows `pose`, with the current sculpt layers and deformer.
    pub fn has(&self, pose: &VersionedPose<'_>) -> bool {
        std::iter::once(&self.stage).chain(self.other.as_ref()).all(|stage| stage.actor().has(pose))
    }

    /// Draws the editor's output into a window of `size` pixels. Removes the panels' texture updates from `out`.
    /// Returns `false` if the window cannot present now; draw again later.
    ///
    /// # Errors
    /// Fails if the device is lost or memory runs out.
    pub fn draw(
        &mut self,
        size: [u32; 2],
        out: &mut WindowOutput,
        pose: Option<VersionedPose<'_>>,
    ) -> Result<bool> {
        let size = at_least_one(size);
        if self.canvas.size() != size {
            self.canvas = canvas(self.stage.device(), size)?;
            self.panels.paint_over(&self.canvas);
        }
        self.fit(out)?;
        let (mut frame, _) = self.stage.begin()?;
        self.record(&mut frame, out, pose)?;
        if let Some(pick) = out.pick.take() {
            self.questions += 1;
            if self.stage.record_pick(&mut frame, pick.view, pick.pixel, self.questions)? {
                self.asked.push_back((self.questions, pick));
            }
        }
        frame.phase("window");
        self.painter.upload(&mut frame, &mut self.panels, &out.paint)?;
        out.paint.textures.clear();
        out.paint.freed.clear();
        self.compose(&mut frame, out);
        frame.barrier();
        self.painter.draw(&mut frame, &self.panels);
        frame.barrier();
        let Some(surface) = &mut self.surface else {
            self.stage.submit(frame, &Semaphores::default())?;
            return Ok(true);
        };
        // Acquire the swapchain image as late as possible, because `acquire` may block.
        let Some(image) = surface.acquire(size)? else {
            self.stage.submit(frame, &Semaphores::default())?;
            return Ok(false);
        };
        image.show(&mut frame, &self.canvas);
        let value = self.stage.submit(frame, &image.semaphores())?;
        surface.present(image, value)?;
        self.shown += 1;
        Ok(true)
    }

    /// Forces the next draw to render the character again.
    pub fn renew(&mut self) {
        self.drawn = None;
    }

    /// Resizes the render targets to the output's viewport, number of views and samples.
    fn fit(&mut self, out: &WindowOutput) -> Result<()> {
        let [_, _, width, height] = out.viewport;
        let width = if out.picture == Picture::SideBySide { width / 2 } else { width };
        let (picture, views) = (at_least_one([width, height]), (out.views.len() as u32).clamp(1, 2));
        let samples = wanted_samples(self.stage.device(), self.samples, out.smooth);
        let fits = |stage: &Stage, views| {
            let targets = stage.targets();
            (targets.size, targets.views, targets.samples) == (picture, views, samples)
        };
        if !fits(&self.stage, views) {
            self.stage.resize(picture, views, samples)?;
            // Resizing discards unanswered picks.
            self.asked.clear();
            self.drawn = None;
        }
        let occlusion = out.occlusion.is_on(self.stage.device().is_software());
        for stage in std::iter::once(&mut self.stage).chain(self.other.as_mut()) {
            let look = stage.look_mut();
            let before = *look;
            (look.scale, look.phong) = (out.scale, out.phong);
            (look.shading, look.occlusion, look.outline) = (out.shading, occlusion, out.outline);
            if before != *look {
                self.drawn = None;
            }
        }
        let look = self.stage.look_mut();
        look.anaglyph = out.picture == Picture::Anaglyph;
        if std::mem::replace(&mut look.silhouettes, out.silhouettes) != out.silhouettes {
            self.drawn = None;
        }
        if let (Picture::Wipe(_), Some(other)) = (out.picture, &mut self.other) {
            if !fits(other, 1) {
                other.resize(picture, 1, samples)?;
                self.drawn = None;
            }
        } else if !matches!(out.picture, Picture::Wipe(_)) {
            self.other = None;
        }
        Ok(())
    }

    /// Records deformation and rendering if pose, views or lines have changed since the last image.
    fn record(
        &mut self,
        frame: &mut Frame,
        out: &WindowOutput,
        pose: Option<VersionedPose<'_>>,
    ) -> Result<()> {
        let same = self.drawn.as_ref().is_some_and(|(v, l)| *v == out.views && *l == out.lines);
        if same && pose.is_none_or(|pose| self.has(&pose)) {
            return Ok(());
        }
        for stage in std::iter::once(&mut self.stage).chain(self.other.as_mut()) {
            stage.look_mut().world_from_floor = out.world_from_floor;
        }
        self.stage.record_body(frame, pose, &Aim::default())?;
        self.stage.record_eyes(frame, &out.views, &out.lines)?;
        if let Some(other) = &mut self.other {
            other.record_body(frame, pose, &Aim::default())?;
            other.record_eyes(frame, &out.views[..1], &out.lines)?;
        }
        match &mut self.drawn {
            Some((views, lines)) => {
                views.clone_from(&out.views);
                lines.segments.clone_from(&out.lines.segments);
                lines.anchors.clone_from(&out.lines.anchors);
            }
            None => self.drawn = Some((out.views.clone(), out.lines.clone())),
        }
        Ok(())
    }

    /// Copies the stages' images into the window's image.
    fn compose(&mut self, frame: &mut Frame, out: &WindowOutput) {
        let [left, top, width, height] = out.viewport;
        let picture = &self.stage.targets().picture;
        let mut put = |image: &Image, layer: u32, from: u32, to: u32, width: u32| {
            frame.copy_rectangle(
                (image, layer, [from, 0]),
                (&self.canvas, [left + to, top]),
                [width, height],
            );
        };
        match (out.picture, &self.other) {
            (Picture::SideBySide, _) => {
                put(picture, 0, 0, 0, width / 2);
                put(picture, 1, 0, width / 2, width / 2);
            }
            (Picture::Wipe(share), Some(other)) => {
                let at = ((share.clamp(0.0, 1.0) * width as f32).round() as u32).min(width);
                put(picture, 0, 0, 0, at);
                put(&other.targets().picture, 0, at, at, width - at);
            }
            _ => put(picture, 0, 0, 0, width),
        }
    }

    /// Returns the GPU time of each phase of the last finished frame, milliseconds.
    pub fn stages(&self) -> Vec<(&'static str, f32)> {
        let mut out: Vec<(&'static str, f32)> = Vec::new();
        for (name, time) in self.stage.timings() {
            let ms = time.as_secs_f32() * 1e3;
            match out.iter_mut().find(|(n, _)| n == name) {
                Some((_, sum)) => *sum += ms,
                None => out.push((*name, ms)),
            }
        }
        out
    }
}
