//! Offline images of a character: single images, stereo pairs and anaglyphs.

use super::outline::{Outline, Outlined};
use super::{Evaluation, Model};
use crate::asset::{Asset, Material};
use crate::base::MaterialId;
use crate::base::Result;
use crate::base::math::{Aabb, Vec4};
use crate::gpu::{Device, Frame};
use crate::query::{SilhouettePoint, Silhouettes};
use crate::render::{
    Camera, GBuffer, Lines, Look, Renderer, Scene, Shot, SilhouetteOptions, SurfaceBuffers, Targets, View,
};
use image::RgbaImage;
use std::sync::Arc;

/// Preferred samples per pixel; the device may support fewer.
const SAMPLES: u32 = 4;

/// Camera direction, radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angle {
    /// Rotation about +Y; 0 shows the front of a character that faces +Z.
    pub yaw: f32,
    /// Elevation of the camera.
    pub pitch: f32,
}

impl Angle {
    /// Returns `size` in portrait or landscape, whichever shows the bounds larger.
    pub fn fitting(self, bounds: &Aabb, size: [u32; 2]) -> [u32; 2] {
        Camera::fitting(bounds, size, self.yaw, self.pitch)
    }

    /// Front view.
    pub const FRONT: Self = Self { yaw: 0.0, pitch: 0.05 };
    /// View of the left side.
    pub const SIDE: Self = Self { yaw: std::f32::consts::FRAC_PI_2, pitch: 0.05 };
    /// Three-quarter view.
    pub const THREE_QUARTER: Self = Self { yaw: 0.6, pitch: 0.15 };
}

/// A model's scene on a device, for offline rendering.
pub struct Studio {
    renderer: Arc<Renderer>,
    scene: Scene,
    surface: SurfaceBuffers,
    look: Look,
    samples: u32,
    /// Once there was an outline.
    outline: Option<Outline>,
}

impl Studio {
    /// Uploads the model's mesh, materials and textures.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn new(renderer: &Arc<Renderer>, model: &Model) -> Result<Self> {
        let display = &model.bound.character.display;
        let device = renderer.device();
        let surface = SurfaceBuffers::from_slices(device, &display.positions, &display.normals)?;
        let scene = Scene::new(device, &model.asset, display, &surface)?;
        Ok(Self::of(renderer, scene, surface))
    }

    fn of(renderer: &Arc<Renderer>, scene: Scene, surface: SurfaceBuffers) -> Self {
        let (look, samples) = (Look::default(), renderer.device().samples(SAMPLES));
        Self { renderer: renderer.clone(), scene, surface, look, samples, outline: None }
    }

    /// Outlines a part of the model's skin in later images, or nothing.
    ///
    /// # Errors
    /// If memory runs out or the device is lost.
    pub fn outline(&mut self, model: &Model, what: Option<Outlined<'_>>) -> Result<()> {
        self.look.outline = what.is_some();
        let character = &model.bound.character;
        let outline = match &mut self.outline {
            Some(outline) => outline,
            None if what.is_none() => return Ok(()),
            none => {
                self.scene.prepare_outline(self.renderer.device(), &character.display)?;
                none.insert(Outline::new(character))
            }
        };
        outline.show(character, what);
        self.renderer.device().run(|frame| {
            outline.record(frame, &mut self.scene, character);
            Ok(())
        })?;
        Ok(())
    }

    /// Uploads the model's mesh in the given linear colours per control vertex, without its materials.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn colored(renderer: &Arc<Renderer>, model: &Model, colors: &[Vec4]) -> Result<Self> {
        let mut display = model.bound.character.display.clone();
        display.colors = display.control_of.iter().map(|&v| colors[v as usize]).collect();
        display.parts.iter_mut().for_each(|part| part.material = Some(MaterialId(0)));
        let plain = Material { metallic: 0.0, roughness: 0.9, double_sided: true, ..Material::default() };
        let asset = Asset { materials: vec![plain], ..Asset::default() };
        let surface = SurfaceBuffers::from_slices(renderer.device(), &display.positions, &display.normals)?;
        let scene = Scene::new(renderer.device(), &asset, &display, &surface)?;
        Ok(Self::of(renderer, scene, surface))
    }

    /// Hides these parts of the model's display mesh, by index, in later images.
    pub fn hide(&mut self, hidden: &[u32]) {
        self.scene.hide(hidden);
    }

    /// Sets the samples per pixel of later images, 1 or 4, limited by the device.
    pub fn set_samples(&mut self, samples: u32) {
        self.samples = self.device().samples(samples);
    }

    /// Lights, backdrop and line scale of later images.
    pub fn look_mut(&mut self) -> &mut Look {
        &mut self.look
    }

    fn device(&self) -> &Arc<Device> {
        self.renderer.device()
    }

    /// Renders an evaluated surface with a camera that frames `bounds`.
    ///
    /// # Errors
    /// If memory runs out or the device is lost.
    pub fn picture(
        &mut self,
        shape: &Evaluation,
        bounds: &Aabb,
        angle: Angle,
        size: [u32; 2],
        lines: &Lines,
    ) -> Result<RgbaImage> {
        let aspect = size[0] as f32 / size[1] as f32;
        let camera = Camera::framing(bounds, aspect, angle.yaw, angle.pitch);
        let mut images = self.shoot(shape, &[camera.view(aspect)], size, lines)?;
        Ok(images.remove(0))
    }

    /// Renders a stereo pair side by side, for parallel viewing; `size` is per eye. The eyes are 63 mm apart for a
    /// character of 1.8 m, and proportional for other sizes.
    ///
    /// # Errors
    /// As [`Studio::picture`].
    pub fn stereo(
        &mut self,
        shape: &Evaluation,
        bounds: &Aabb,
        angle: Angle,
        size: [u32; 2],
        lines: &Lines,
    ) -> Result<RgbaImage> {
        let eyes = self.eyes(shape, bounds, angle, size, lines)?;
        let mut pair = RgbaImage::new(size[0] * 2, size[1]);
        for (i, eye) in eyes.iter().enumerate() {
            image::imageops::replace(&mut pair, eye, i64::from(size[0]) * i as i64, 0);
        }
        Ok(pair)
    }

    /// Renders the pair of [`Studio::stereo`] as one anaglyph, for red-cyan glasses.
    ///
    /// # Errors
    /// As [`Studio::picture`].
    pub fn anaglyph(
        &mut self,
        shape: &Evaluation,
        bounds: &Aabb,
        angle: Angle,
        size: [u32; 2],
        lines: &Lines,
    ) -> Result<RgbaImage> {
        self.look.anaglyph = true;
        let eyes = self.eyes(shape, bounds, angle, size, lines);
        self.look.anaglyph = false;
        Ok(eyes?.remove(0))
    }

    fn eyes(
        &mut self,
        shape: &Evaluation,
        bounds: &Aabb,
        angle: Angle,
        size: [u32; 2],
        lines: &Lines,
    ) -> Result<Vec<RgbaImage>> {
        let aspect = size[0] as f32 / size[1] as f32;
        let camera = Camera::framing(bounds, aspect, angle.yaw, angle.pitch);
        let separation = 0.063 * bounds.size().max_element() / 1.8;
        self.shoot(shape, &camera.stereo(aspect, separation), size, lines)
    }

    /// Renders an evaluated surface for one or two views, each of `size` pixels.
    ///
    /// # Errors
    /// As [`Studio::picture`].
    pub fn shoot(
        &mut self,
        shape: &Evaluation,
        views: &[View],
        size: [u32; 2],
        lines: &Lines,
    ) -> Result<Vec<RgbaImage>> {
        self.shoot_with(shape, views, size, lines, |_, _| Ok(()))
    }

    /// Renders as [`Studio::shoot`] does. `more` then records further commands into the same frame.
    ///
    /// # Errors
    /// As [`Studio::picture`], and the errors of `more`.
    pub fn shoot_with(
        &mut self,
        shape: &Evaluation,
        views: &[View],
        size: [u32; 2],
        lines: &Lines,
        mut more: impl FnMut(&mut Frame, &Targets) -> Result<()>,
    ) -> Result<Vec<RgbaImage>> {
        let device = self.device().clone();
        let targets = Targets::new(&device, size, views.len() as u32, self.samples)?;
        self.scene.bounds = Aabb::of(shape.positions.iter().copied());
        let mut bound = self.renderer.bind(&self.scene, &targets)?;
        device.run(|frame| {
            self.surface.upload(frame, &shape.positions, &shape.normals);
            frame.barrier();
            let shot = Shot { views, look: &self.look, lines, hidden: None, ghosts: None };
            self.renderer.record(frame, &self.scene, &targets, &mut bound, &shot)?;
            more(frame, &targets)
        })?;
        (0..views.len() as u32).map(|view| targets.read(&device, view)).collect()
    }

    /// Finds the silhouettes of an evaluated surface in an image of `size` pixels.
    ///
    /// # Errors
    /// As [`Studio::picture`], and the errors of [`Silhouettes`].
    pub fn silhouettes(
        &mut self,
        shape: &Evaluation,
        view: &View,
        size: [u32; 2],
        options: &SilhouetteOptions,
    ) -> Result<Vec<SilhouettePoint>> {
        let device = self.device().clone();
        let gbuffer = GBuffer::new(&device, size, 1)?;
        let bound = self.renderer.bind_gbuffer(&self.scene, &gbuffer)?;
        let silhouettes = Silhouettes::new(&device, &self.scene, &gbuffer)?;
        device.run(|frame| {
            self.surface.upload(frame, &shape.positions, &shape.normals);
            frame.barrier();
            self.renderer.record_gbuffer(frame, &self.scene, &gbuffer, &bound, &[*view])?;
            silhouettes.record(frame, 0, view, options)
        })?;
        silhouettes.read(&device)
    }
}
