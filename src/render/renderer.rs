//! One readable function draws a frame: shadow, G-buffer, shading, lines.

use super::anchors::{Anchored, Anchoring};
use super::layout::{self, Stages};
use super::lines::{LineBuffer, Lines};
use super::look::Look;
use super::scene::Scene;
use super::targets::{COLORS, DEPTH, Targets};
use super::view::View;
use crate::base::{Error, Result};
use crate::gpu::constants::NONE;
use crate::gpu::{
    Bindings, Compute, Device, Frame, Graphics, GraphicsInfo, Image, ImageInfo, Load, Resource, Sampler,
};
use crate::spv;
use ash::vk::{Format, ImageUsageFlags};
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;

const SHADOW_SIZE: u32 = 1024;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct ShadePush {
    pub size: [u32; 2],
    pub samples: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct LinePush {
    pub size: [f32; 2],
    pub samples: u32,
}

/// The pipelines for one number of views.
struct ViewPipelines {
    gbuffer: Graphics,
    lines: Graphics,
}

/// All pipelines, made once per device.
pub struct Renderer {
    device: Arc<Device>,
    by_views: [ViewPipelines; 2],
    shadow: Graphics,
    shade: Compute,
    anaglyph: Compute,
    anchoring: Anchoring,
    shadow_image: Image,
    shadow_sampler: Sampler,
}

/// What a picture shows beside the scene.
#[derive(Clone, Copy, Debug)]
pub struct Shot<'a> {
    /// One or two eyes.
    pub views: &'a [View],
    /// Lights and backdrop.
    pub look: &'a Look,
    /// Drawn over the surface.
    pub lines: &'a Lines,
}

/// What binds a scene to targets: made once, used every frame.
pub struct SceneBindings {
    views: Bindings,
    surface: Bindings,
    materials: Vec<Bindings>,
    shadow_light: Bindings,
    shadow_surface: Bindings,
    shadow_materials: Vec<Bindings>,
    shade: Bindings,
    /// Of two views only.
    anaglyph: Option<Bindings>,
    lines: LineBuffer,
    line_bindings: Bindings,
    anchored: Anchored,
}

impl Renderer {
    /// Makes the pipelines. Errors where shaders and Rust disagree or the device cannot.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let by_views = [view_pipelines(device, 1)?, view_pipelines(device, 2)?];
        let shadow = Graphics::new(
            device,
            &GraphicsInfo {
                vertex: spv!("render/shadow.vert"),
                fragment: Some(spv!("render/shadow.frag")),
                specialisation: &[],
                colors: &[],
                depth: Some(DEPTH),
                blend: false,
                views: 1,
            },
        )?;
        let shade = Compute::new(device, spv!("render/shade.comp"), &[])?;
        let anaglyph = Compute::new(device, spv!("render/anaglyph.comp"), &[])?;
        let gbuffer = by_views[0].gbuffer.reflections();
        layout::check(&Stages {
            vertex: &gbuffer[0],
            fragment: &gbuffer[1],
            shadow: &shadow.reflections()[0],
            shade: shade.reflection(),
            lines: by_views[0].lines.reflections(),
        })?;
        let shadow_image = Image::new(
            device,
            &ImageInfo {
                name: "shadow",
                format: DEPTH,
                size: [SHADOW_SIZE; 2],
                layers: 1,
                levels: 1,
                usage: ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | ImageUsageFlags::SAMPLED,
            },
        )?;
        let shadow_sampler = Sampler::texels(device)?;
        let anchoring = Anchoring::new(device)?;
        let device = device.clone();
        Ok(Self { device, by_views, shadow, shade, anaglyph, anchoring, shadow_image, shadow_sampler })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    fn pipelines(&self, views: u32) -> &ViewPipelines {
        &self.by_views[views as usize - 1]
    }

    /// Binds a scene to targets.
    pub fn bind(&self, scene: &Scene, targets: &Targets) -> Result<SceneBindings> {
        let gbuffer = &self.pipelines(targets.views).gbuffer;
        let lines = LineBuffer::new(&self.device)?;
        let sampled = |image| Resource::Sampled(image, &targets.sampler);
        Ok(SceneBindings {
            views: gbuffer.bind(0, &[("views", &targets.view_buffer)])?,
            surface: gbuffer.bind(
                1,
                &[
                    ("positions", &scene.surface.positions),
                    ("normals", &scene.surface.normals),
                    ("attributes", &scene.attributes),
                    ("materials", &scene.materials),
                ],
            )?,
            materials: scene.material_sets(
                &[
                    ("base_color_texture", 0),
                    ("metallic_roughness_texture", 1),
                    ("normal_texture", 2),
                    ("emissive_texture", 3),
                ],
                |resources| gbuffer.bind(2, resources),
            )?,
            shadow_light: self.shadow.bind(0, &[("lighting", &targets.lighting_buffer)])?,
            shadow_surface: self.shadow.bind(
                1,
                &[
                    ("positions", &scene.surface.positions),
                    ("attributes", &scene.attributes),
                    ("materials", &scene.materials),
                ],
            )?,
            shadow_materials: scene
                .material_sets(&[("base_color_texture", 0)], |resources| self.shadow.bind(2, resources))?,
            shade: self.shade.bind(&[
                ("views", Resource::Buffer(&targets.view_buffer)),
                ("lighting", Resource::Buffer(&targets.lighting_buffer)),
                ("albedo", sampled(&targets.albedo)),
                ("material", sampled(&targets.material)),
                ("emissive", sampled(&targets.emissive)),
                ("position", sampled(&targets.position)),
                ("normal", sampled(&targets.normal)),
                ("ids", sampled(&targets.ids)),
                ("shadow", Resource::Sampled(&self.shadow_image, &self.shadow_sampler)),
                ("picture", Resource::Storage(&targets.picture)),
            ])?,
            anaglyph: match targets.views {
                2 => Some(self.anaglyph.bind(&[("picture", Resource::Storage(&targets.picture))])?),
                _ => None,
            },
            line_bindings: self.bind_lines(&lines, targets)?,
            anchored: self.anchoring.bind(&self.device, scene, &lines)?,
            lines,
        })
    }

    fn bind_lines(&self, lines: &LineBuffer, targets: &Targets) -> Result<Bindings> {
        self.pipelines(targets.views).lines.bind(
            0,
            &[
                ("views", Resource::Buffer(&targets.view_buffer)),
                ("segments", Resource::Buffer(&lines.buffer)),
                ("depth", Resource::Sampled(&targets.depth, &targets.sampler)),
            ],
        )
    }

    /// Draws the scene's current surface into the targets' picture, lines on top; with [`Look::anaglyph`] both views into the
    /// first one's.
    ///
    /// Errors unless there are as many views as the targets have.
    pub fn record(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        targets: &Targets,
        bound: &mut SceneBindings,
        shot: &Shot<'_>,
    ) -> Result<()> {
        let Shot { views, look, lines } = *shot;
        let lighting = look.lighting(&scene.bounds, views.first().ok_or_else(no_view)?);
        frame.phase("upload views");
        frame.upload(&targets.lighting_buffer, 0, &[lighting]);
        let grown = bound.lines.upload(frame, lines)?;
        if grown {
            bound.line_bindings = self.bind_lines(&bound.lines, targets)?;
        }
        if look.shadows {
            frame.barrier();
            self.record_shadow(frame, scene, bound);
        }
        self.record_gbuffer(frame, scene, targets, bound, views)?;
        frame.phase("shading");
        let [width, height] = targets.size;
        let push = ShadePush { size: targets.size, samples: targets.samples };
        frame.dispatch_grid(&self.shade, &bound.shade, &push, [width, height, targets.views]);
        let both = (lines, &bound.lines);
        self.anchoring.record(frame, scene, both, &mut bound.anchored, grown)?;
        if bound.lines.count > 0 {
            frame.phase("lines");
            self.record_lines(frame, targets, bound);
        }
        if let Some(both) = bound.anaglyph.as_ref().filter(|_| look.anaglyph) {
            frame.phase("anaglyph");
            frame.dispatch_grid(&self.anaglyph, both, &(), [width, height, 1]);
        }
        Ok(())
    }

    /// Fills the G-buffer only: what queries and brushes read.
    pub fn record_gbuffer(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        targets: &Targets,
        bound: &SceneBindings,
        views: &[View],
    ) -> Result<()> {
        if views.len() != targets.views as usize {
            return Err(Error::input(
                format!("{} views for targets with {}", views.len(), targets.views),
                "make targets with as many views",
            ));
        }
        frame.upload(&targets.view_buffer, 0, views);
        frame.phase("G-buffer");
        let none = Load::ClearUint([NONE; 4]);
        let clear = Load::Clear([0.0; 4]);
        let colors = [
            (&targets.albedo, clear),
            (&targets.material, clear),
            (&targets.emissive, clear),
            (&targets.position, clear),
            (&targets.normal, clear),
            (&targets.ids, none),
        ];
        let pipeline = &self.pipelines(targets.views).gbuffer;
        frame.render(&colors, Some((&targets.depth, clear)), targets.views, |pass| {
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

    fn record_shadow(&self, frame: &mut Frame, scene: &Scene, bound: &SceneBindings) {
        frame.phase("shadow");
        let clear = Load::Clear([0.0; 4]);
        frame.render(&[], Some((&self.shadow_image, clear)), 1, |pass| {
            pass.bind(&self.shadow, &[&bound.shadow_light, &bound.shadow_surface]);
            scene.draw(
                pass,
                true,
                |pass, material| pass.bind_set(&self.shadow, &bound.shadow_materials[material]),
                |pass, push| pass.push(&self.shadow, push),
            );
        });
    }

    fn record_lines(&self, frame: &mut Frame, targets: &Targets, bound: &SceneBindings) {
        let pipeline = &self.pipelines(targets.views).lines;
        let push = LinePush { size: targets.size.map(|n| n as f32), samples: targets.samples };
        frame.render(&[(&targets.picture, Load::Keep)], None, targets.views, |pass| {
            pass.bind(pipeline, &[&bound.line_bindings]);
            pass.push(pipeline, &push);
            pass.draw(0, bound.lines.count * 6, 1);
        });
    }
}

fn no_view() -> Error {
    Error::input("there is no view to draw", "give one or two")
}

fn view_pipelines(device: &Arc<Device>, views: u32) -> Result<ViewPipelines> {
    let gbuffer = Graphics::new(
        device,
        &GraphicsInfo {
            vertex: spv!("render/gbuffer.vert"),
            fragment: Some(spv!("render/gbuffer.frag")),
            specialisation: &[],
            colors: &COLORS,
            depth: Some(DEPTH),
            blend: false,
            views,
        },
    )?;
    let lines = Graphics::new(
        device,
        &GraphicsInfo {
            vertex: spv!("render/lines.vert"),
            fragment: Some(spv!("render/lines.frag")),
            specialisation: &[],
            colors: &[Format::R8G8B8A8_UNORM],
            depth: None,
            blend: true,
            views,
        },
    )?;
    Ok(ViewPipelines { gbuffer, lines })
}
