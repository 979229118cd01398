//! The G-buffer that queries read. It has one sample per pixel, because ids cannot be averaged.

use super::material;
use super::overlay::ByViews;
use super::scene::Scene;
use super::view::View;
use crate::base::{Error, Result};
use crate::gpu::constants::NONE;
use crate::gpu::{Bindings, Buffer, Device, Frame, GraphicsInfo, Image, Load, Memory, Reflection};
use crate::spv;
use ash::vk::Format;
use std::sync::Arc;

/// Geometry seen by one or two views, with one array layer per view.
///
/// Barycentric coordinates are not stored: [`crate::query::Picker`] computes them from triangle and position.
pub struct GBuffer {
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Number of views, 1 or 2.
    pub views: u32,
    /// World-space position, metres, 32-bit floats. The fourth component is 1 on a surface, else 0.
    pub position: Image,
    /// Unit normal in world space, on the side that faces the eye, 16-bit floats.
    pub normal: Image,
    /// Triangle index in the display mesh, and part index; [`crate::gpu::constants::NONE`] on pixels without surface.
    pub ids: Image,
    /// Reversed depth: 1 at the near plane, 0 at infinity.
    pub depth: Image,
    pub(super) view_buffer: Buffer,
}

/// Formats of the colour targets, in the order of the fragment shaders' outputs.
pub(super) const COLORS: [Format; 3] =
    [Format::R32G32B32A32_SFLOAT, Format::R16G16B16A16_SFLOAT, Format::R32G32_UINT];
pub(super) const DEPTH: Format = Format::D32_SFLOAT;

impl GBuffer {
    /// Creates images of `size` pixels for one or two `views`.
    ///
    /// # Errors
    /// An error for another number of views, a size beyond the device's limit, or too little memory.
    pub fn new(device: &Arc<Device>, size: [u32; 2], views: u32) -> Result<Self> {
        if !(1..=2).contains(&views) {
            return Err(Error::input(format!("a G-buffer of {views} views"), "use 1 or 2"));
        }
        let image = |name, format| Image::target(device, name, format, size, views);
        Ok(Self {
            size,
            views,
            position: image("position", COLORS[0])?,
            normal: image("normal", COLORS[1])?,
            ids: image("ids", COLORS[2])?,
            depth: image("depth", DEPTH)?,
            view_buffer: view_buffer(device)?,
        })
    }

    /// Returns the colour and depth targets of a pass that clears them first.
    pub(super) fn cleared(&self) -> ([(&Image, Load); 3], (&Image, Load)) {
        let clear = Load::Clear([0.0; 4]);
        let colors =
            [(&self.position, clear), (&self.normal, clear), (&self.ids, Load::ClearUint([NONE; 4]))];
        (colors, (&self.depth, clear))
    }

    /// Fails unless there is one view per array layer.
    pub(super) fn check(&self, views: &[View]) -> Result<()> {
        check_views(views, self.views)
    }
}

/// Creates a uniform buffer for two views.
pub(super) fn view_buffer(device: &Arc<Device>) -> Result<Buffer> {
    Buffer::new(device, "views", (size_of::<View>() * 2) as u64, Memory::Device)
}

/// Fails unless the number of views is the number of array layers, `images`.
pub(super) fn check_views(views: &[View], images: u32) -> Result<()> {
    if views.len() == images as usize {
        return Ok(());
    }
    Err(Error::input(format!("{} views for images of {images}", views.len()), "give as many views as images"))
}

/// The G-buffer pipelines for one view and for two views.
pub(super) struct GBufferPass(ByViews);

/// Bindings of a scene to a [`GBuffer`]; create them once and use them in every frame.
pub struct GBufferBindings {
    views: Bindings,
    surface: Bindings,
    materials: Vec<Bindings>,
}

impl GBufferPass {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let stages = GraphicsInfo::new(spv!("render/gbuffer.vert"), spv!("render/gbuffer.frag"), &COLORS);
        Ok(Self(ByViews::new(device, &GraphicsInfo { depth: Some(DEPTH), ..stages })?))
    }

    pub fn reflections(&self) -> &[Reflection] {
        self.0.reflections()
    }

    pub fn bind(&self, scene: &Scene, gbuffer: &GBuffer) -> Result<GBufferBindings> {
        let pipeline = self.0.of(gbuffer.views);
        Ok(GBufferBindings {
            views: pipeline.bind(0, &[("views", &gbuffer.view_buffer)])?,
            surface: pipeline.bind(
                1,
                &[
                    ("positions", &scene.surface.positions),
                    ("normals", &scene.surface.normals),
                    ("attributes", &scene.attributes),
                    ("materials", &scene.materials),
                ],
            )?,
            materials: scene.material_sets(
                &[("base_color_texture", material::BASE_COLOR), ("normal_texture", material::NORMAL)],
                |resources| pipeline.bind(2, resources),
            )?,
        })
    }

    pub fn record(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        gbuffer: &GBuffer,
        bound: &GBufferBindings,
        views: &[View],
    ) -> Result<()> {
        gbuffer.check(views)?;
        frame.upload(&gbuffer.view_buffer, 0, views);
        frame.phase("G-buffer");
        let pipeline = self.0.of(gbuffer.views);
        let (colors, depth) = gbuffer.cleared();
        frame.render(&colors, Some(depth), gbuffer.views, |pass| {
            pass.bind(pipeline, &[&bound.views, &bound.surface]);
            scene.draw(
                pass,
                false,
                |pass, material| pass.bind_set(pipeline, &bound.materials[material]),
                |pass, push| pass.push(pipeline, push),
            );
        });
        Ok(())
    }
}
