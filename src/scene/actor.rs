//! A character on the GPU with one deformer, bound to the render targets of a stage.

use super::cage::skin_cage;
use super::probes::Probes;
use super::{Aim, Model, SkinColors, SurfaceSample, paint};
use crate::asset::Asset;
use crate::base::math::{Aabb, Vec3};
use crate::base::{NodeId, Progress, Result, Version};
use crate::cage::Coupling;
use crate::deform::blend::Painted as BlendFactors;
use crate::deform::sculpt::SculptState;
use crate::deform::volume::Firm;
use crate::deform::{Bound, Geometric, Graph, Kernels, Recipe};
use crate::geom::DisplayMesh;
use crate::gpu::{Device, Frame};
use crate::query::{Hit, Picker};
use crate::render::{
    GBuffer, GBufferBindings, Renderer, Scene, SceneBindings, Shot, SurfaceBuffers, Targets, View,
};
use crate::rig::{Pose, PosedRig};
use crate::surface::{Sculpt, bind_sculpts};
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

/// Result of [`Actor::follow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The recipe is unchanged.
    Same,
    /// The recipe changed; the actor must be redrawn.
    Changed,
    /// The recipe needs another method or another bind, so a new actor is required.
    Not,
}

/// The state of an actor that holds a character.
struct Body {
    model: Arc<Model>,
    recipe: Recipe,
    graph: Graph,
    probes: Probes,
    cursor: Cursor,
    morph: Vec<Vec3>,
    padded: Vec<[f32; 4]>,
    weights: Vec<Vec<f32>>,
    /// The coupling in the graph.
    coupling: Option<Arc<Coupling>>,
    /// Sculpt layers in the graph.
    worn: Vec<Sculpt>,
    states: Vec<SculptState>,
    /// Version of the last recorded pose with these sculpt layers and this recipe.
    posed: Version,
    /// The time of the poses, seconds.
    time: Option<f64>,
    painted: Painted,
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
        let bound = Bound { progress: progress.clone(), ..model.bound.clone() };
        let morphs = !model.morphs.is_empty();
        let graph = Graph::new(&pipelines.kernels, &bound, recipe, morphs);
        let mut graph = graph.map_err(|e| model.named(e))?;
        let surface =
            SurfaceBuffers { positions: graph.positions().clone(), normals: graph.normals().clone() };
        let display = &model.bound.character.display;
        let scene = Scene::new(device, &model.asset, display, &surface)?;
        let rest = model.rest();
        device.run(|frame| {
            graph.record(frame, &PosedRig::new(model.skeleton(), &rest));
            Ok(())
        })?;
        Ok(Self {
            bindings: pipelines.renderer.bind(&scene, targets)?,
            rest: scene.bounds,
            body: Some(Body {
                probes: Probes::new(device, &scene)?,
                cursor: Cursor::new(&pipelines.renderer, &scene)?,
                model: model.clone(),
                recipe: recipe.clone(),
                graph,
                morph: vec![Vec3::ZERO; if morphs { display.positions.len() } else { 0 }],
                padded: Vec::new(),
                weights: Vec::new(),
                coupling: None,
                worn: Vec::new(),
                states: Vec::new(),
                posed: Version::default(),
                time: None,
                painted: Painted::default(),
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
        let bindings = pipelines.renderer.bind(&scene, targets)?;
        Ok(Self { bindings, rest: scene.bounds, scene, body: None })
    }

    /// Binds the actor to other render targets, for example after a resize.
    pub(super) fn rebind(&mut self, pipelines: &Pipelines, targets: &Targets) -> Result<()> {
        self.bindings = pipelines.renderer.bind(&self.scene, targets)?;
        Ok(())
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

    /// The oldest available pick result.
    pub(super) fn picked(&mut self) -> Result<Option<(u64, Option<Hit>)>> {
        self.body.as_mut().map_or(Ok(None), |b| b.cursor.picker.poll())
    }

    /// The character; `None` on an empty stage.
    pub fn model(&self) -> Option<&Arc<Model>> {
        self.body.as_ref().map(|b| &b.model)
    }

    /// The character's deformer; `None` on an empty stage.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.body.as_ref().map(|b| &b.recipe)
    }

    /// Spring iterations of the last finished frame. Blocks; only for tools and tests.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn iterations(&self) -> Result<u32> {
        self.body.as_ref().map_or(Ok(0), |b| b.graph.iterations())
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
        let Some(body) = &mut self.body else { return Ok(()) };
        let mut formed = false;
        let mut others = body.worn.len() != sculpts.clone().count();
        for (worn, new) in body.worn.iter_mut().zip(sculpts.clone()) {
            let same = worn.region == new.region && worn.surroundings == new.surroundings;
            if others || worn.id != new.id || !same {
                others = true;
                break;
            }
            if worn.form == new.form {
                continue;
            }
            others = !new.form.reform(&worn.form).is_some_and(|to| body.graph.reform_sculpt(new.id, to));
            worn.form.become_like(&new.form);
            formed = true;
        }
        if others {
            body.posed = Version::default();
            body.worn = sculpts.cloned().collect();
            let bound = bind_sculpts(&body.worn, &body.model.bound);
            body.graph.set_sculpts(bound.as_deref().unwrap_or_default())?;
            body.states.clear();
            bound?;
        }
        if others || formed || body.states != states {
            body.posed = Version::default();
            body.states.clear();
            body.states.extend_from_slice(states);
            body.graph.set_sculpt_states(states);
        }
        Ok(())
    }

    /// Sets the coupling with the document's cage; without it, the rest shape of poses has no effect on the skin. Allocates
    /// memory if the coupling is new.
    ///
    /// # Errors
    /// If memory runs out, or the coupling belongs to another character. The skin then follows no cage.
    pub fn set_cage(&mut self, coupling: Option<&Arc<Coupling>>) -> Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        let same = match (&body.coupling, coupling) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if same {
            return Ok(());
        }
        body.coupling = coupling.cloned();
        body.posed = Version::default();
        let skin = coupling.map(|c| skin_cage(c));
        body.graph.set_cage(skin.as_ref())
    }

    /// Replaces the recipe by one with changed parameters, for keys and sliders. Does not allocate.
    pub fn follow(&mut self, recipe: &Recipe) -> Follows {
        let Some(body) = &mut self.body else { return Follows::Same };
        if body.recipe == *recipe {
            return Follows::Same;
        }
        if !body.graph.adopt(recipe) {
            return Follows::Not;
        }
        body.recipe.clone_from(recipe);
        body.posed = Version::default();
        Follows::Changed
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
        let Some(body) = &mut self.body else { return };
        body.graph.set_time(seconds);
        // With dynamics, the flesh continues to move while the pose is constant.
        let swings = body.recipe.swings();
        if std::mem::replace(&mut body.time, seconds) != seconds && swings {
            body.posed = Version::default();
        }
    }

    /// Colours the skin by weights, see [`paint`], or by its strain. Returns whether the colours changed, so that the actor
    /// must be drawn. Allocates if strain is switched on.
    ///
    /// # Errors
    /// If memory is short. Then the colours stay as they were.
    pub fn show_colors(&mut self, view: SkinColors, selected: Option<NodeId>) -> Result<bool> {
        let Some(Body { painted, model, graph, posed, recipe, .. }) = &mut self.body else {
            return Ok(false);
        };
        let of_joint = matches!(view, SkinColors::Weights | SkinColors::Swing | SkinColors::Twist);
        let shown = (view, selected.filter(|_| of_joint));
        let blend = match &recipe.geometric {
            Geometric::Blend { factor, painted } if view == SkinColors::Blend => {
                Some((*factor, painted.clone()))
            }
            _ => None,
        };
        let same = std::mem::replace(&mut painted.shown, shown) == shown;
        let firm = view != SkinColors::Firmness || painted.firm == recipe.firm;
        if same && firm && painted.blend == blend {
            return Ok(false);
        }
        painted.firm.clone_from(&recipe.firm);
        painted.blend = blend;
        if view == SkinColors::Strain {
            painted.new = false;
            // The next pose writes the colours.
            *posed = Version::default();
            graph.show_strain(Some(self.scene.paint_buffer()))?;
            return Ok(true);
        }
        graph.show_strain(None)?;
        let character = &model.bound.character;
        let factor = painted.blend.as_ref().map(|(global, own)| own.or(*global));
        let (binding, firm) = (graph.swing_twist(), &painted.firm);
        paint(character, binding, factor.as_ref(), firm, shown, &mut painted.control);
        painted.display.clear();
        let of = |v: &u32| painted.control.get(*v as usize).copied().unwrap_or(0);
        painted.display.extend(character.display.control_of.iter().map(of));
        painted.new = true;
        Ok(true)
    }

    pub(super) fn bounds(&self) -> &Aabb {
        &self.scene.bounds
    }

    /// Whether the actor already has this pose with its current sculpt layers and recipe.
    pub fn has(&self, pose: &VersionedPose<'_>) -> bool {
        self.body.as_ref().is_none_or(|b| b.posed == pose.version)
    }

    /// Records the deformation if the pose is new.
    pub(super) fn pose(&mut self, frame: &mut Frame, posed: &VersionedPose<'_>) {
        let VersionedPose { version, pose, rig } = *posed;
        let Some(body) = self.body.as_mut().filter(|b| b.posed != version) else { return };
        body.posed = version;
        // The floor keeps the height that it has in the rest pose, although feet may rise above it or reach below it.
        let margin = Vec3::splat(0.05 * self.rest.diagonal());
        let bones =
            Aabb::of(rig.bones.iter().flat_map(|b| [b.head - margin, b.tail + margin, b.tail - margin]));
        let (min, max) = (self.rest.min.min(bones.min), self.rest.max.max(bones.max));
        if min.is_finite() && max.is_finite() {
            self.scene.bounds = Aabb { min: Vec3::new(min.x, self.rest.min.y, min.z), max };
        }
        if !body.morph.is_empty() && body.weights != pose.weights {
            body.weights.clone_from(&pose.weights);
            body.morph.fill(Vec3::ZERO);
            body.model.morphs.add_to_display(&pose.weights, &mut body.morph);
            body.padded.clear();
            body.padded.extend(body.morph.iter().map(|d| [d.x, d.y, d.z, 0.0]));
            body.graph.set_morph(frame, &body.padded);
        }
        body.graph.record(frame, rig);
    }

    /// Records the probe cameras of frame `number`.
    pub(super) fn look_through(&mut self, frame: &mut Frame, aim: &Aim, number: u64) -> Result<()> {
        if let Some(body) = self.body.as_mut().filter(|b| b.hides) {
            body.hides = false;
            self.scene.hide_from_probes(frame, &body.model.bound.character.display);
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
        pipelines.renderer.record(frame, &self.scene, targets, &mut self.bindings, shot)
    }
}
