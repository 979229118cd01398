//! Records the rendering of a frame: shadow map, surface, backdrop, lines.

use super::anchors::{Anchored, Anchoring};
use super::coarse::{Coarse, CoarsePasses};
use super::gbuffer::{DEPTH, GBuffer, GBufferBindings, check_views};
use super::ghosts::{GhostMasks, GhostPass, GhostShape, ShownGhosts};
use super::hidden::{self, HiddenArea};
use super::layout::{self, Stages};
use super::lines::{LineBuffer, Lines};
use super::look::{Canvas, Look};
use super::material;
use super::occlusion::OcclusionPass;
use super::outline::{OutlineBindings, OutlinePass};
use super::picture::PicturePass;
use super::scene::Scene;
use super::targets::Targets;
use super::view::View;
use crate::base::{Error, Result, Version};
use crate::gpu::{
    Bindings, Compute, Cull, Device, Frame, Graphics, GraphicsInfo, Image, Load, Resource, Sampler,
};
use crate::shared_with_shaders;
use crate::spv;
use std::sync::{Arc, Mutex, PoisonError};

const SHADOW_SIZE: u32 = 1024;
/// Largest width and height of a cell of the backdrop, pixels: a cell covers no tile of 64 x 64 pixels (backdrop.vert).
const BACKDROP_CELL: u32 = 48;

shared_with_shaders! {
    pub(super) struct LinePush as "Push" {
        pub size: [f32; 2],
        pub scale: f32,
    }

    pub(super) struct BackdropPush as "Push" {
        pub cells: [u32; 2],
    }
}

/// All render pipelines of a device. [`Self::bind`] creates the pipelines for a new number of views or samples.
pub struct Renderer {
    device: Arc<Device>,
    coarse: CoarsePasses,
    pictures: Mutex<Vec<Arc<PicturePass>>>,
    shadow: Graphics,
    anaglyph: Compute,
    anchoring: Anchoring,
    ghosts: GhostPass,
    outlines: OutlinePass,
    shadow_sampler: Sampler,
}

/// Everything that [`Renderer::record`] draws besides the scene.
#[derive(Clone, Copy, Debug)]
pub struct Shot<'a> {
    /// One view, or the views of the left and the right eye.
    pub views: &'a [View],
    /// Lighting and backdrop.
    pub look: &'a Look,
    /// Lines drawn over the surface.
    pub lines: &'a Lines,
    /// The pixels of two views that nobody sees.
    pub hidden: Option<&'a HiddenArea>,
    /// Ghosts, drawn below the lines.
    pub ghosts: Option<ShownGhosts<'a>>,
}

/// Bindings of a scene to targets; create them once and use them in every frame.
pub struct SceneBindings {
    pass: Arc<PicturePass>,
    studio: Bindings,
    backdrop: Bindings,
    surface: Bindings,
    materials: Vec<Bindings>,
    shadow_image: Image,
    /// What the shadow map shows: the shape, and the light's projection.
    shadowed: (Version, [[f32; 4]; 4]),
    shadow_light: Bindings,
    shadow_surface: Bindings,
    shadow_materials: Vec<Bindings>,
    /// Resources of the anaglyph stage; only with two views.
    anaglyph: Option<Bindings>,
    lines: LineBuffer,
    line_bindings: Bindings,
    anchored: Anchored,
    /// Only while [`Look::silhouettes`] or [`Look::occlusion`] is set.
    coarse: Option<Coarse>,
    /// Only if the scene was prepared for outlines.
    outline: Option<OutlineBindings>,
}

impl Renderer {
    /// Creates the pipelines for all targets. Fails if shader and Rust structs differ or the device lacks support.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let stages = GraphicsInfo::new(spv!("render/shadow.vert"), spv!("render/shadow.frag"), &[]);
        let shadow = Graphics::new(device, &GraphicsInfo { depth: Some(DEPTH), ..stages })?;
        let coarse = CoarsePasses::new(device)?;
        layout::check_gbuffer(coarse.gbuffer.reflections())?;
        Ok(Self {
            coarse,
            pictures: Mutex::default(),
            shadow,
            anaglyph: Compute::new(device, spv!("render/anaglyph.comp"), &[])?,
            anchoring: Anchoring::new(device)?,
            ghosts: GhostPass::new(device)?,
            outlines: OutlinePass::new(device)?,
            shadow_sampler: Sampler::texels(device)?,
            device: device.clone(),
        })
    }

    /// Returns the device of the pipelines.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    fn picture_pass(&self, targets: &Targets) -> Result<Arc<PicturePass>> {
        let mut made = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().find(|p| (p.views, p.samples) == (targets.views, targets.samples));
        if let Some(pass) = known {
            return Ok(pass.clone());
        }
        let pass = Arc::new(PicturePass::new(&self.device, targets.views, targets.samples)?);
        layout::check(&Stages {
            surface: pass.opaque.reflections(),
            cut: pass.cut.reflections(),
            backdrop: pass.backdrop.reflections(),
            shadow: &self.shadow.reflections()[0],
            lines: pass.lines.reflections(),
        })?;
        made.push(pass.clone());
        Ok(pass)
    }

    /// Binds a scene to targets. Creates pipelines unless earlier targets had the same number of views and the same
    /// number of samples. Allocates the shadow map (4 MiB), and one byte per pixel and view if the scene was prepared for
    /// outlines ([`Scene::prepare_outline`]).
    ///
    /// # Errors
    /// An error if memory is short, structs of shaders and Rust differ, or the device lacks support.
    pub fn bind(&self, scene: &Scene, targets: &Targets) -> Result<SceneBindings> {
        let pass = self.picture_pass(targets)?;
        let lines = LineBuffer::new(&self.device)?;
        let shadow_image = Image::target(&self.device, "shadow", DEPTH, [SHADOW_SIZE; 2], 1)?;
        let shadow = Resource::Sampled(&shadow_image, &self.shadow_sampler);
        let views = ("views", Resource::Buffer(&targets.view_buffer));
        let lighting = ("lighting", Resource::Buffer(&targets.lighting_buffer));
        Ok(SceneBindings {
            studio: self.bind_studio(&pass, targets, &shadow_image, None)?,
            backdrop: pass.backdrop.bind(0, &[views, lighting, ("shadow", shadow)])?,
            surface: pass.opaque.bind(
                1,
                &[
                    ("positions", &scene.surface.positions),
                    ("normals", &scene.surface.normals),
                    ("attributes", &scene.attributes),
                    ("materials", &scene.materials),
                    ("triangles", scene.triangles()),
                    ("paints", scene.paint_buffer()),
                ],
            )?,
            materials: scene.material_sets(
                &[
                    ("base_color_texture", material::BASE_COLOR),
                    ("metallic_roughness_texture", material::METALLIC_ROUGHNESS),
                    ("normal_texture", material::NORMAL),
                    ("emissive_texture", material::EMISSIVE),
                ],
                |resources| pass.opaque.bind(2, resources),
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
                .material_sets(&[("base_color_texture", material::BASE_COLOR)], |resources| {
                    self.shadow.bind(2, resources)
                })?,
            anaglyph: match targets.views {
                2 => Some(self.anaglyph.bind(&[("picture", Resource::Storage(&targets.picture))])?),
                _ => None,
            },
            line_bindings: bind_lines(&pass, &lines, targets)?,
            anchored: self.anchoring.bind(&self.device, scene, &lines)?,
            lines,
            coarse: None,
            outline: self.outlines.bind(&self.device, scene, targets)?,
            pass,
            shadow_image,
            shadowed: Default::default(),
        })
    }

    /// Draws the scene's current surface into the image of the targets, with silhouettes and lines on top. With
    /// [`Look::anaglyph`], both views are combined in the image of the first view. Allocates if silhouettes or ambient
    /// occlusion are switched on, or if the size of a point changes while they are on.
    ///
    /// Fails unless `shot` has as many views as the targets.
    pub fn record(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        targets: &Targets,
        bound: &mut SceneBindings,
        shot: &Shot<'_>,
    ) -> Result<()> {
        let Shot { views, look, lines, hidden, ghosts } = *shot;
        check_views(views, targets.views)?;
        if views.is_empty() {
            return Err(no_view());
        }
        if self.coarse.fit(&self.device, (scene, targets), &mut bound.coarse, look)? {
            bound.studio =
                self.bind_studio(&bound.pass, targets, &bound.shadow_image, bound.coarse.as_ref())?;
        }
        let canvas = Canvas {
            views,
            size: targets.size,
            occlusion_size: bound.coarse.as_ref().map_or(targets.size, |c| c.gbuffer.size),
            occlusion_radius: OcclusionPass::radius(scene.rest_size),
        };
        let lighting = look.lighting(&scene.bounds, &canvas);
        frame.phase("upload views");
        frame.upload(&targets.view_buffer, 0, views);
        frame.upload(&targets.lighting_buffer, 0, &[lighting]);
        let grown = bound.lines.upload(frame, lines)?;
        if grown {
            bound.line_bindings = bind_lines(&bound.pass, &bound.lines, targets)?;
        }
        if look.shadows {
            self.record_shadow(frame, scene, bound, lighting.shadow_from_world);
        }
        self.coarse.record_before(frame, scene, bound.coarse.as_ref(), views)?;
        record_surface(frame, scene, targets, bound, (look.phong && !look.wire, hidden));
        self.coarse.record_after(frame, targets, bound.coarse.as_ref(), look);
        if let Some(ghosts) = &ghosts {
            self.ghosts.record(frame, (scene, targets), ghosts, (views, look.scale))?;
        }
        if look.outline {
            self.outlines.record(frame, (scene, targets), bound.outline.as_ref(), look.scale);
        }
        let both = (lines, &bound.lines);
        self.anchoring.record(frame, scene, both, &mut bound.anchored, grown)?;
        if bound.lines.count > 0 {
            record_lines(frame, targets, bound, look.scale);
        }
        if let Some(both) = bound.anaglyph.as_ref().filter(|_| look.anaglyph) {
            frame.phase("anaglyph");
            let [width, height] = targets.size;
            frame.dispatch_grid(&self.anaglyph, both, &(), [width, height, 1]);
        }
        Ok(())
    }

    /// Uploads the pixels of two views that nobody sees: three corners per triangle and view, in image coordinates
    /// (0..1, v down). `None` if there are none, or the targets have one view.
    ///
    /// # Errors
    /// An error if memory is short.
    pub fn bind_hidden(
        &self,
        targets: &Targets,
        triangles: &[Vec<[f32; 2]>; 2],
    ) -> Result<Option<HiddenArea>> {
        let any = triangles.iter().any(|eye| !eye.is_empty());
        let pass = self.picture_pass(targets)?;
        let Some(pipeline) = pass.hidden.as_ref().filter(|_| any) else { return Ok(None) };
        let (buffer, corners) = hidden::upload(&self.device, triangles)?;
        let bindings = pipeline.bind(0, &[("corners", &buffer)])?;
        Ok(Some(HiddenArea { bindings, corners }))
    }

    /// Binds a scene to a G-buffer.
    ///
    /// # Errors
    /// An error if memory is short.
    pub fn bind_gbuffer(&self, scene: &Scene, gbuffer: &GBuffer) -> Result<GBufferBindings> {
        self.coarse.gbuffer.bind(scene, gbuffer)
    }

    /// Draws the scene into the G-buffer that queries and brushes read.
    ///
    /// # Errors
    /// An error if the number of views differs from the G-buffer's number of views.
    pub fn record_gbuffer(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        gbuffer: &GBuffer,
        bound: &GBufferBindings,
        views: &[View],
    ) -> Result<()> {
        self.coarse.gbuffer.record(frame, scene, gbuffer, bound, views)
    }

    /// Allocates the shape of a ghost of a character with this number of display vertices.
    ///
    /// # Errors
    /// An error if memory is short.
    pub fn ghost_shape(&self, vertices: usize) -> Result<GhostShape> {
        self.ghosts.shape(&self.device, vertices)
    }

    /// Allocates the images of ghosts for targets: two RGBA8 images of their size.
    ///
    /// # Errors
    /// An error if memory is short.
    pub fn ghost_masks(&self, targets: &Targets) -> Result<GhostMasks> {
        self.ghosts.masks(&self.device, targets)
    }

    /// Binds views, lights, shadow map and ambient occlusion. Without ambient occlusion, the shadow map takes the place of
    /// its images, which no shader reads then.
    fn bind_studio(
        &self,
        pass: &PicturePass,
        targets: &Targets,
        shadow: &Image,
        coarse: Option<&Coarse>,
    ) -> Result<Bindings> {
        let shadow = Resource::Sampled(shadow, &self.shadow_sampler);
        let texels = |image| Resource::Sampled(image, &self.shadow_sampler);
        let images = coarse.and_then(|c| Some([&c.occlusion.as_ref()?.open, &c.gbuffer.position]));
        let [open, positions] = images.map_or([shadow; 2], |images| images.map(texels));
        pass.opaque.bind(
            0,
            &[
                ("views", Resource::Buffer(&targets.view_buffer)),
                ("lighting", Resource::Buffer(&targets.lighting_buffer)),
                ("shadow", shadow),
                ("occlusion", open),
                ("occlusion_positions", positions),
            ],
        )
    }

    /// Draws the shadow map, unless it shows this shape in this light already.
    fn record_shadow(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        bound: &mut SceneBindings,
        shadow_from_world: [[f32; 4]; 4],
    ) {
        let wanted = (scene.shape, shadow_from_world);
        let shown = std::mem::replace(&mut bound.shadowed, wanted);
        if scene.shape != Version::default() && shown == wanted {
            return;
        }
        frame.phase("shadow");
        let clear = Load::Clear([0.0; 4]);
        frame.render(&[], Some((&bound.shadow_image, clear)), 1, |pass| {
            pass.bind(&self.shadow, &[&bound.shadow_light, &bound.shadow_surface]);
            scene.draw(
                pass,
                true,
                |pass, material| pass.bind_set(&self.shadow, &bound.shadow_materials[material]),
                |pass, push| pass.push(&self.shadow, push),
            );
        });
    }
}

/// Draws surface and backdrop with multisampling, then resolves to one sample per pixel.
fn record_surface(
    frame: &mut Frame,
    scene: &Scene,
    targets: &Targets,
    bound: &SceneBindings,
    (curved, hidden): (bool, Option<&HiddenArea>),
) {
    frame.phase("picture");
    let [color, depth] = targets.filled();
    let PicturePass { opaque: flat, cut, curved: both, backdrop, .. } = &*bound.pass;
    let [opaque, cut] = both.as_ref().filter(|_| curved).map_or([flat, cut], |both| both.each_ref());
    frame.render_to(&[color], Some(depth), targets.views, |pass| {
        if let (Some(area), Some(pipeline)) = (hidden, &bound.pass.hidden) {
            pass.bind(pipeline, &[&area.bindings]);
            pass.draw(0, area.corners, 1);
        }
        scene.draw(
            pass,
            false,
            |pass, material| {
                // All pipelines have the same layout, so the descriptor sets fit each of them.
                let pipeline = if scene.cut_out[material] { cut } else { opaque };
                pass.bind(pipeline, &[&bound.studio, &bound.surface, &bound.materials[material]]);
            },
            |pass, push| pass.push(opaque, push),
        );
        // The backdrop is drawn last, so that pixels behind a surface are not shaded.
        pass.cull(Cull::None);
        let cells = targets.size.map(|n| n.div_ceil(BACKDROP_CELL).max(1));
        pass.bind(backdrop, &[&bound.backdrop]);
        pass.push(backdrop, &BackdropPush { cells });
        pass.draw(0, cells[0] * cells[1] * 6, 1);
    });
}

fn record_lines(frame: &mut Frame, targets: &Targets, bound: &SceneBindings, scale: f32) {
    frame.phase("lines");
    let pipeline = &bound.pass.lines;
    let push = LinePush { size: targets.size.map(|n| n as f32), scale };
    frame.render(&[(&targets.picture, Load::Keep)], None, targets.views, |pass| {
        pass.bind(pipeline, &[&bound.line_bindings]);
        pass.push(pipeline, &push);
        pass.draw(0, bound.lines.count * 6, 1);
    });
}

fn bind_lines(pass: &PicturePass, lines: &LineBuffer, targets: &Targets) -> Result<Bindings> {
    pass.lines.bind(
        0,
        &[
            ("views", Resource::Buffer(&targets.view_buffer)),
            ("segments", Resource::Buffer(&lines.buffer)),
            ("depth", Resource::Sampled(&targets.depth, &targets.sampler)),
        ],
    )
}

fn no_view() -> Error {
    Error::input("there is no view to draw", "give one or two")
}
