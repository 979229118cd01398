//! A character on the GPU with one deformer, bound to the render targets of a stage.

use super::live_graph::LiveGraph;
use super::outline::{Outline, Outlined};
use super::probes::Probes;
use super::{Aim, Follows, Model, SkinColors, SurfaceSample, paint};
use crate::asset::Asset;
use crate::base::math::{Aabb, Vec3};
use crate::base::{NodeId, Progress, Result, Version};
use crate::cage::Coupling;
use crate::deform::blend::Painted as BlendFactors;
use crate::deform::sculpt::SculptState;
use crate::deform::volume::Firm;
use crate::deform::{Geometric, Kernels, Recipe};
use crate::geom::DisplayMesh;
use crate::gpu::{Device, Frame};
use crate::query::{Hit, Picker};
use crate::render::{
    GBuffer, GBufferBindings, Renderer, Scene, SceneBindings, Shot, SurfaceBuffers, Targets, View,
};
use crate::rig::{Pose, PosedRig};
use crate::surface::Sculpt;
use std::sync::Arc;

/// All pipelines of a device. Clones share the pipelines.
#[derive(Clone)]
pub struct Pipelines {
    /// Deformation pipelines.
    pub kernels: Arc<Kernels>,
    /// Render pipelines.
    pub renderer: Arc<Renderer>,
}

impl Pipelines {
    /// Creates all pipelines. Fails if shaders and Rust disagree, or the device lacks a feature.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { kernels: Arc::new(Kernels::new(device)?), renderer: Arc::new(Renderer::new(device)?) })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        self.renderer.device()
    }
}

/// A character that can be posed and drawn in real time.
pub struct Actor {
    scene: Scene,
    bindings: SceneBindings,
    rest: Aabb,
    body: Option<Body>,
}

/// A pose to draw.
#[derive(Clone, Copy)]
pub struct VersionedPose<'a> {
    /// Identifies the pose; an actor that has this version is not posed again.
    pub version: Version,
    /// The pose.
    pub pose: &'a Pose,
    /// `pose`, evaluated by forward kinematics.
    pub rig: &'a PosedRig,
}

/// The state of an actor that holds a character.
struct Body {
    live: LiveGraph,
    probes: Probes,
    cursor: Cursor,
    painted: Painted,
    outline: Outline,
    /// Whether the probes do not know yet which parts are hidden.
    hides: bool,
}

/// The colours on the skin.
#[derive(Default)]
struct Painted {
    shown: (SkinColors, Option<NodeId>),
    /// The settings of the method `blend` that the colours show.
    blend: Option<(f32, BlendFactors)>,
    /// The firm and soft regions that the colours show.
    firm: Firm,
    /// Colours of the control vertices.
    control: Vec<u32>,
    /// Colours of the display vertices.
    display: Vec<u32>,
    /// Whether the colours are not uploaded yet.
    new: bool,
}

/// Picks single pixels by rendering them without antialiasing.
struct Cursor {
    gbuffer: GBuffer,
    bindings: GBufferBindings,
    picker: Picker<u64>,
}

impl Cursor {
    fn new(renderer: &Renderer, scene: &Scene) -> Result<Self> {
        let gbuffer = GBuffer::new(renderer.device(), [1, 1], 1)?;
        Ok(Self {
            bindings: renderer.bind_gbuffer(scene, &gbuffer)?,
            picker: Picker::new(renderer.device(), scene, &gbuffer)?,
            gbuffer,
        })
    }
}

impl Actor {
    /// Uploads a character, binds its deformer and render targets, and sets the rest pose. Takes seconds for a large
    /// character, so call it on a background thread.
    ///
    /// # Errors
    /// If memory runs out, or model and recipe do not fit together.
    pub fn new(
        pipelines: &Pipelines,
        targets: &Targets,
        model: &Arc<Model>,
        recipe: &Recipe,
    ) -> Result<Self> {
        Self::cancellable(pipelines, targets, model, recipe, &Progress::default())
    }

    /// As [`Actor::new`], and tells the progress of weights that take long. If `progress` is cancelled, the result may be an
    /// error.
    ///
    /// # Errors
    /// As [`Actor::new`], and if the work was cancelled.
    pub fn cancellable(
        pipelines: &Pipelines,
        targets: &Targets,
        model: &Arc<Model>,
        recipe: &Recipe,
        progress: &Progress,
    ) -> Result<Self> {
        let device = pipelines.device();
        let mut live = LiveGraph::new(&pipelines.kernels, model, recipe, progress)?;
        let graph = live.graph();
        let surface =
            SurfaceBuffers { positions: graph.positions().clone(), normals: graph.normals().clone() };
        let display = &model.bound.character.display;
        let mut scene = Scene::new(device, &model.asset, display, &surface)?;
        scene.prepare_outline(device, display)?;
        let rest = model.rest();
        device.run(|frame| {
            live.rest(frame, &PosedRig::new(model.skeleton(), &rest));
            Ok(())
        })?;
        Ok(Self {
            bindings: pipelines.renderer.bind(&scene, targets)?,
            rest: scene.bounds,
            body: Some(Body {
                probes: Probes::new(device, &scene)?,
                cursor: Cursor::new(&pipelines.renderer, &scene)?,
                live,
                painted: Painted::default(),
                outline: Outline::new(&model.bound.character),
                hides: false,
            }),
            scene,
        })
    }

    /// Creates an empty actor: no character, and a person-sized box that determines the floor.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn nobody(pipelines: &Pipelines, targets: &Targets) -> Result<Self> {
        let device = pipelines.device();
        // Shaders need valid bindings even if nothing is drawn.
        let display =
            DisplayMesh { positions: vec![Vec3::ZERO; 4], normals: vec![Vec3::Y; 4], ..Default::default() };
        let surface = SurfaceBuffers::from_slices(device, &display.positions, &display.normals)?;
        let mut scene = Scene::new(device, &Asset::default(), &display, &surface)?;
        scene.bounds = Aabb { min: Vec3::new(-0.8, 0.0, -0.4), max: Vec3::new(0.8, 1.8, 0.4) };
        scene.shape = Version::new();
        let bindings = pipelines.renderer.bind(&scene, targets)?;
        Ok(Self { bindings, rest: scene.bounds, scene, body: None })
    }

    /// Binds the actor to other render targets, for example after a resize.
    pub(super) fn rebind(&mut self, pipelines: &Pipelines, targets: &Targets) -> Result<()> {
        self.bindings = pipelines.renderer.bind(&self.scene, targets)?;
        Ok(())
    }

    /// The surface on the GPU.
    #[cfg(test)]
    pub(super) fn surface(&self) -> &SurfaceBuffers {
        &self.scene.surface
    }

    /// Requests the skin point in a view that covers a single pixel; the result carries `tag`.
    pub(super) fn pick(
        &mut self,
        pipelines: &Pipelines,
        frame: &mut Frame,
        view: View,
        tag: u64,
    ) -> Result<bool> {
        let Some(Cursor { gbuffer, bindings, picker }) = self.body.as_mut().map(|b| &mut b.cursor) else {
            return Ok(false);
        };
        pipelines.renderer.record_gbuffer(frame, &self.scene, gbuffer, bindings, &[view])?;
        frame.phase("pick");
        Ok(picker.record(frame, 0, [0; 2], tag))
    }

    /// Whether a pick has no result yet.
    pub(super) fn awaits_pick(&self) -> bool {
        self.body.as_ref().is_some_and(|b| b.cursor.picker.is_waiting())
    }

    /// The oldest available pick result.
    pub(super) fn picked(&mut self) -> Result<Option<(u64, Option<Hit>)>> {
        self.body.as_mut().map_or(Ok(None), |b| b.cursor.picker.poll())
    }

    /// The character; `None` on an empty stage.
    pub fn model(&self) -> Option<&Arc<Model>> {
        self.body.as_ref().map(|b| b.live.model())
    }

    /// The character's deformer; `None` on an empty stage.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.body.as_ref().map(|b| b.live.recipe())
    }

    /// Spring iterations of the last finished frame. Blocks; only for tools and tests.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn iterations(&self) -> Result<u32> {
        self.body.as_ref().map_or(Ok(0), |b| b.live.graph().iterations())
    }

    /// Hides these parts of the display mesh, by index: pictures, picks and the probes of hands ignore them. Returns
    /// whether the picture changed.
    pub fn set_hidden(&mut self, hidden: &[u32]) -> bool {
        let Some(body) = &mut self.body else { return false };
        let changed = self.scene.hide(hidden);
        body.hides |= changed;
        changed
    }

    /// Sets the sculpt layers and their states. Allocates memory if the set of layers or their regions changed, but not
    /// if only forms or states changed.
    ///
    /// # Errors
    /// If memory runs out, or a sculpt layer does not fit the character. After an error no sculpt layer is shown.
    pub fn set_sculpts<'s>(
        &mut self,
        sculpts: impl Iterator<Item = &'s Sculpt> + Clone,
        states: &[SculptState],
    ) -> Result<()> {
        self.body.as_mut().map_or(Ok(()), |b| b.live.set_sculpts(sculpts, states))
    }

    /// Sets the coupling with the document's cage; without it, the rest shape of poses has no effect on the skin. Allocates
    /// memory if the coupling is new.
    ///
    /// # Errors
    /// If memory runs out, or the coupling belongs to another character. The skin then follows no cage.
    pub fn set_cage(&mut self, coupling: Option<&Arc<Coupling>>) -> Result<()> {
        self.body.as_mut().map_or(Ok(()), |b| b.live.set_cage(coupling))
    }

    /// Replaces the recipe by one with changed parameters, for keys and sliders. Does not allocate.
    pub fn follow(&mut self, recipe: &Recipe) -> Follows {
        self.body.as_mut().map_or(Follows::Same, |b| b.live.follow(recipe))
    }

    /// Replaces the firm and soft regions of the recipe. Does not allocate if they are unchanged.
    pub fn set_firm(&mut self, firm: &Firm) {
        let own = self.recipe().filter(|recipe| recipe.firm != *firm);
        if let Some(recipe) = own.map(|recipe| Recipe { firm: firm.clone(), ..recipe.clone() }) {
            self.follow(&recipe);
        }
    }

    /// Sets the time of the following poses, seconds, for dynamics; `None` switches dynamics off.
    pub fn set_time(&mut self, seconds: Option<f64>) {
        if let Some(body) = &mut self.body {
            body.live.set_time(seconds);
        }
    }

    /// Colours the skin by weights, see [`paint`], or by its strain. Returns whether the colours changed, so that the actor
    /// must be drawn. Allocates if strain is switched on.
    ///
    /// # Errors
    /// If memory is short. Then the colours stay as they were.
    pub fn show_colors(&mut self, view: SkinColors, selected: Option<NodeId>) -> Result<bool> {
        let Some(Body { painted, live, .. }) = &mut self.body else { return Ok(false) };
        let of_joint = matches!(view, SkinColors::Weights | SkinColors::Swing | SkinColors::Twist);
        let shown = (view, selected.filter(|_| of_joint));
        let blend = match &live.recipe().geometric {
            Geometric::Blend { factor, painted } if view == SkinColors::Blend => {
                Some((*factor, painted.clone()))
            }
            _ => None,
        };
        let same = painted.shown == shown;
        let firm = view != SkinColors::Firmness || painted.firm == live.recipe().firm;
        if same && firm && painted.blend == blend {
            return Ok(false);
        }
        let strain = (view == SkinColors::Strain).then(|| self.scene.paint_buffer());
        live.show_strain(strain)?;
        painted.shown = shown;
        painted.firm.clone_from(&live.recipe().firm);
        painted.blend = blend;
        if view == SkinColors::Strain {
            // The next pose writes the colours.
            painted.new = false;
            return Ok(true);
        }
        let character = live.model().bound.character.clone();
        let factor = painted.blend.as_ref().map(|(global, own)| own.or(*global));
        let (binding, firm) = (live.graph().swing_twist(), &painted.firm);
        paint(&character, binding, factor.as_ref(), firm, shown, &mut painted.control);
        painted.display.clear();
        let of = |v: &u32| painted.control.get(*v as usize).copied().unwrap_or(0);
        painted.display.extend(character.display.control_of.iter().map(of));
        painted.new = true;
        Ok(true)
    }

    /// Sets the part of the skin that [`crate::render::Look::outline`] outlines. Returns whether it changed, so that the actor must
    /// be drawn.
    pub fn show_outline(&mut self, what: Option<Outlined<'_>>) -> bool {
        let Some(Body { outline, live, .. }) = &mut self.body else { return false };
        outline.show(&live.model().bound.character, what)
    }

    pub(super) fn bounds(&self) -> &Aabb {
        &self.scene.bounds
    }

    /// Whether the actor already has this pose with its current sculpt layers and recipe.
    pub fn has(&self, pose: &VersionedPose<'_>) -> bool {
        self.body.as_ref().is_none_or(|b| b.live.has(pose))
    }

    /// Records the deformation if the pose is new.
    pub(super) fn pose(&mut self, frame: &mut Frame, posed: &VersionedPose<'_>) {
        let Some(body) = self.body.as_mut().filter(|b| !b.live.has(posed)) else { return };
        // The floor keeps the height that it has in the rest pose, although feet may rise above it or reach below it.
        let margin = Vec3::splat(0.05 * self.rest.diagonal());
        let bones = posed.rig.bones.iter();
        let bones = Aabb::of(bones.flat_map(|b| [b.head - margin, b.tail + margin, b.tail - margin]));
        let (min, max) = (self.rest.min.min(bones.min), self.rest.max.max(bones.max));
        if min.is_finite() && max.is_finite() {
            self.scene.bounds = Aabb { min: Vec3::new(min.x, self.rest.min.y, min.z), max };
        }
        self.scene.shape = Version::new();
        body.live.record(frame, posed);
    }

    /// Records the probe cameras of frame `number`.
    pub(super) fn look_through(&mut self, frame: &mut Frame, aim: &Aim, number: u64) -> Result<()> {
        if let Some(body) = self.body.as_mut().filter(|b| b.hides) {
            body.hides = false;
            self.scene.hide_from_probes(frame, &body.live.model().bound.character.display);
        }
        self.body.as_mut().map_or(Ok(()), |b| b.probes.record(frame, aim, number))
    }

    /// Probe samples of frame `number`.
    pub(super) fn answers(&mut self, number: u64) -> Result<[Option<SurfaceSample>; 2]> {
        self.body.as_mut().map_or(Ok([None; 2]), |b| b.probes.answers(number))
    }

    pub(super) fn draw(
        &mut self,
        pipelines: &Pipelines,
        frame: &mut Frame,
        targets: &Targets,
        shot: &Shot<'_>,
    ) -> Result<()> {
        if let Some(painted) = self.body.as_mut().map(|b| &mut b.painted).filter(|p| p.new) {
            painted.new = false;
            self.scene.paint(frame, &painted.display);
        }
        if let Some(body) = &mut self.body {
            body.outline.record(frame, &mut self.scene, &body.live.model().bound.character);
        }
        pipelines.renderer.record(frame, &self.scene, targets, &mut self.bindings, shot)
    }
}
