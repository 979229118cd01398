//! What a window shows: its device and swapchain, the live character, and panels painted over its picture.

use super::Options;
use super::still::DeskOutput;
use crate::base::Result;
use crate::editor::{Aim, Pipelines, Stage};
use crate::gpu::{Device, DeviceOptions, Image, ImageInfo, Surface, Sync, Window};
use crate::render::{PanelImage, PanelPainter};
use crate::rig::{Pose, PosedRig};
use ash::vk::{Format, ImageUsageFlags};
use std::sync::Arc;

/// The GPU's side of a window.
pub struct Screen {
    surface: Surface,
    stage: Stage,
    painter: PanelPainter,
    panels: PanelImage,
    /// The whole window's picture.
    canvas: Image,
    shown: u64,
}

/// Pixels that a window has at least for us: one whose size is none is not drawn at all.
fn at_least_one(size: [u32; 2]) -> [u32; 2] {
    size.map(|n| n.max(1))
}

fn canvas(device: &Arc<Device>, size: [u32; 2]) -> Result<Image> {
    let usage = ImageUsageFlags::COLOR_ATTACHMENT;
    let format = Format::R8G8B8A8_UNORM;
    Image::new(device, &ImageInfo { name: "window", format, size, layers: 1, levels: 1, usage })
}

impl Screen {
    /// Opens a device that can show pictures in the window, which has this size in pixels.
    ///
    /// # Errors
    /// As [`Device::for_window`]; when memory is short.
    pub fn new(window: Arc<dyn Window>, size: [u32; 2], options: &Options) -> Result<Self> {
        let wanted = DeviceOptions { name: options.device.clone(), validation: false };
        let device = Device::for_window(&wanted, window.as_ref())?;
        let surface = Surface::new(&device, window)?;
        let pipelines = Pipelines::new(&device)?;
        let size = at_least_one(size);
        let stage = Stage::new(&pipelines, size, 1, options.samples.clamp(1, 2))?;
        let painter = PanelPainter::new(&device)?;
        let canvas = canvas(&device, size)?;
        let panels = painter.over(&canvas)?;
        Ok(Self { surface, stage, painter, panels, canvas, shown: 0 })
    }

    /// The live character.
    pub fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    /// The largest texture that panels may have, pixels a side.
    pub fn max_texture_side(&self) -> usize {
        self.stage.device().limits().max_image_dimension2_d as usize
    }

    /// Pictures shown so far.
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// Draws what the editor wants shown into a window of this size, pixels. False where the window shows nothing now:
    /// it is to be drawn again later. Texture changes of the panels are taken out.
    ///
    /// # Errors
    /// A lost device; when memory is short.
    pub fn draw(
        &mut self,
        size: [u32; 2],
        out: &mut DeskOutput,
        posed: Option<(&Pose, &PosedRig)>,
    ) -> Result<bool> {
        let size = at_least_one(size);
        if self.canvas.size() != size {
            self.canvas = canvas(self.stage.device(), size)?;
            self.panels.paint_over(&self.canvas);
        }
        let [left, top, width, height] = out.viewport;
        let picture = at_least_one([width, height]);
        if self.stage.targets().size != picture {
            self.stage.resize(picture)?;
        }
        let (mut frame, _) = self.stage.begin()?;
        self.stage.record_body(&mut frame, posed, &Aim::default())?;
        self.stage.record_eyes(&mut frame, &out.views, &out.lines)?;
        frame.phase("window");
        self.painter.upload(&mut frame, &mut self.panels, &out.paint)?;
        out.paint.textures.clear();
        out.paint.freed.clear();
        let picture = &self.stage.targets().picture;
        frame.copy_rectangle((picture, 0, [0; 2]), (&self.canvas, [left, top]), [width, height]);
        frame.barrier();
        self.painter.draw(&mut frame, &self.panels);
        frame.barrier();
        // As late as can be: the display may make us wait here.
        let acquired = self.surface.acquire(size)?;
        let Some(image) = acquired else {
            self.stage.submit(frame, &Sync::default())?;
            return Ok(false);
        };
        image.show(&mut frame, &self.canvas);
        let (wait, signal) = image.semaphores();
        let value = self.stage.submit(frame, &Sync { wait: &wait, signal: &signal })?;
        self.surface.present(image, value)?;
        self.shown += 1;
        Ok(true)
    }
}
