//! The deformation graph on the GPU: pose upload, geometric node, springs, display surface. Each phase is timed.

use super::clock::{Clock, Frames};
use super::geometric_gpu::{GeometricPipelines, GeometricState};
use super::rest::SkinCage;
use super::rest::gpu::{RestPipelines, RestState};
use super::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use super::sculpt::gpu::SculptPipeline;
use super::sculpt::{self, BoundSculpt, Field, Reform, SculptState};
use super::springs::edits_gpu::EditState;
use super::springs::gpu::{SpringPipelines, SpringState};
use super::springs::schedule::Schedule;
use super::surface::{self, StrainState, SurfacePipelines, SurfaceState};
use super::swing_twist::SwingTwistBinding;
use super::volume::Rest;
use super::volume::gpu::{VolumePipelines, VolumeState};
use super::{Bound, Geometric, Recipe, springs, volume};
use crate::base::{Error, Result, SculptId};
use crate::gpu::{Buffer, Device, Frame};
use crate::rig::{PosedRig, RestShift};
use std::sync::Arc;

/// The pipelines of all deformers, created once per device.
pub struct Kernels {
    device: Arc<Device>,
    rest: RestPipelines,
    geometric: GeometricPipelines,
    sculpt: SculptPipeline,
    springs: SpringPipelines,
    volume: VolumePipelines,
    surface: SurfacePipelines,
}

impl Kernels {
    /// Creates all pipelines. Errors if the layout of a shader differs from its Rust declaration.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            rest: RestPipelines::new(device)?,
            geometric: GeometricPipelines::new(device)?,
            sculpt: SculptPipeline::new(device)?,
            springs: SpringPipelines::new(device)?,
            volume: VolumePipelines::new(device)?,
            surface: SurfacePipelines::new(device)?,
        })
    }

    /// Returns the device that owns the pipelines.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

/// A character's deformation on the GPU. [`Graph::record`] neither allocates nor reads data back.
pub struct Graph {
    kernels: Arc<Kernels>,
    rig: RigBuffers,
    control: ControlBuffers,
    streams: StreamBuffers,
    geometric: GeometricState,
    /// The settings of the bound geometric method.
    first: Geometric,
    crease: surface::Crease,
    springs: Option<SpringNode>,
    volume: Option<(volume::Params, VolumeState)>,
    surface: SurfaceState,
    bound: Bound,
    /// Whether the geometric method rotates scale vectors.
    radial: bool,
    sculpts: Option<SculptNode>,
    rest: Option<RestState>,
    /// The pose over the file's rest shape, for nodes that cannot change theirs.
    plain: PosedRig,
    /// The colours of the skin's strain, while they are shown.
    strain: Option<StrainState>,
}

/// The bound sculpt layers and their GPU data.
struct SculptNode {
    field: Field,
    state: sculpt::gpu::SculptState,
    /// Whether the field has changed since its last upload.
    changed: bool,
}

struct SpringNode {
    levels: Arc<springs::levels::Levels>,
    params: springs::Params,
    first: Schedule,
    next: Schedule,
    state: SpringState,
    /// Whether the state holds the result of a frame that the next frame may start from.
    settled: bool,
    /// Whether the state holds the stiffness for the current parameters.
    stiff: bool,
    /// Whether the state holds the measures of the rest shape of the last frame.
    measured: bool,
    edits: Option<EditState>,
    clock: Clock,
}

impl SpringNode {
    fn set(&mut self, params: &springs::Params) {
        let params = params.sane();
        let before = std::mem::replace(&mut self.params, params);
        // Settings that only affect the steps after the iterations are ignored in this comparison.
        let of_iterations = |p: springs::Params| {
            let (dynamics, damping, volume, untangle) = (0.0, 0.0, 0.0, 0);
            springs::Params { dynamics, damping, volume, untangle, ..p }
        };
        if of_iterations(before) != of_iterations(params) {
            self.first.renew(&params, &self.levels, false);
            self.next.renew(&params, &self.levels, true);
            self.stiff = false;
        }
    }

    /// Records the measures of the current rest shape; `shifted` is false if it is the file's.
    fn measure(&mut self, pipelines: &SpringPipelines, shifted: bool, frame: &mut Frame) {
        if shifted {
            pipelines.measure(&self.state, frame);
        } else {
            pipelines.restore(&self.state, frame);
        }
        (self.stiff, self.measured) = (false, true);
    }

    /// `field` is the current field of the sculpt layers, if any, with a flag whether it has changed.
    fn record(
        &mut self,
        pipelines: &SpringPipelines,
        field: Option<(&Field, bool)>,
        rig: &RigBuffers,
        frame: &mut Frame,
    ) {
        let from_last = self.settled && self.params.frames == Frames::Dependent;
        let schedule = if from_last { &self.next } else { &self.first };
        let fresh = !self.stiff;
        if fresh {
            pipelines.stiffen(&self.state, &self.params, &self.first, frame);
            self.stiff = true;
        }
        if let (Some(edits), Some((field, changed))) = (&mut self.edits, field)
            && (changed || fresh)
        {
            edits.update(pipelines, &self.params, field, fresh, frame);
        }
        let edits = self.edits.as_ref();
        pipelines.record(&self.state, &self.params, schedule, from_last, edits, rig, frame);
        if let Some(way) = self.clock.tick(self.params.dynamics > 0.0) {
            frame.phase("dynamics");
            pipelines.advance(&self.state, &self.params, way, frame);
        }
        self.settled = true;
    }
}

impl Graph {
    /// Binds a recipe and uploads the character. `morphs` is true if the caller will call [`Graph::set_morph`].
    /// Errors if memory is short or if the attachments do not match the character.
    pub fn new(kernels: &Arc<Kernels>, bound: &Bound, recipe: &Recipe, morphs: bool) -> Result<Self> {
        let device = &kernels.device;
        let rig = RigBuffers::new(device, &bound.character.skeleton)?;
        let control = ControlBuffers::new(device, bound)?;
        let streams = StreamBuffers::new(device, bound.character.control.positions.len())?;
        let geometric = kernels.geometric.bind(&recipe.geometric, bound, &control, &rig, &streams)?;
        let springs = match &recipe.springs {
            None => None,
            Some(params) => {
                let levels = bound.levels(params.variant);
                let state =
                    kernels.springs.bind(device, &levels, params.variant, &control, &rig, &streams)?;
                let params = params.sane();
                let (first, next) =
                    (Schedule::new(&params, &levels, false), Schedule::new(&params, &levels, true));
                Some(SpringNode {
                    first,
                    next,
                    params,
                    levels,
                    state,
                    settled: false,
                    stiff: false,
                    measured: true,
                    edits: None,
                    clock: Clock::default(),
                })
            }
        };
        let volume = match &recipe.volume {
            None => None,
            Some(params) => {
                let cells = bound.cells(params.sane().cubes);
                let (first, position) = (&recipe.geometric, &streams.position);
                let mut state =
                    kernels.volume.bind(&kernels.geometric, &cells, first, params, &rig, position)?;
                state.set_firm(&recipe.firm);
                Some((*params, state))
            }
        };
        let display = surface::bind(&bound.character, recipe.crease);
        let surface = kernels.surface.bind(&display, &control, &rig, &streams.position, morphs)?;
        // The volume places the skin, so sculpt layers must displace the skin after the volume.
        let (bound, radial) = (bound.clone(), recipe.geometric.is_radial() && !recipe.is_volume());
        let kernels = kernels.clone();
        let first = recipe.geometric.clone();
        Ok(Self {
            kernels,
            rig,
            control,
            streams,
            geometric,
            first,
            crease: recipe.crease,
            springs,
            volume,
            surface,
            bound,
            radial,
            sculpts: None,
            rest: None,
            strain: None,
            plain: PosedRig::default(),
        })
    }

    /// Sets the coordinates of the skin in a cage, so that the character follows [`PosedRig::rest`]. Without coordinates
    /// the rest shape stays the file's. Allocates and waits for the GPU: call it on document changes, not per frame.
    ///
    /// # Errors
    /// If memory is short, or the coordinates belong to another character.
    pub fn set_cage(&mut self, skin: Option<&SkinCage>) -> Result<()> {
        let (device, stage) = (&self.kernels.device, &self.kernels.rest);
        if let Some(mut before) = self.rest.take() {
            // The buffers get the file's rest shape again.
            let springs = &mut self.springs;
            device.run(|frame| {
                stage.record(&mut before, &RestShift::default(), frame);
                if let Some(node) = springs {
                    node.measure(&self.kernels.springs, false, frame);
                }
                Ok(())
            })?;
            if let Some(node) = &mut self.springs {
                node.state.leave_rest();
            }
            self.sculpts.iter_mut().for_each(|s| s.changed = true);
        }
        let Some(skin) = skin else { return Ok(()) };
        if skin.vertices() != self.control.vertices as usize {
            return Err(Error::input(
                "the cage's coordinates belong to another character",
                "bind the cage again",
            ));
        }
        let followers = self.geometric.followers(&self.bound, skin);
        let posed = (&self.rig, &self.streams.position);
        let state = stage.bind(device, &self.bound, skin, &self.control, posed, &followers)?;
        if let Some(node) = &mut self.springs {
            self.kernels.springs.bind_rest(device, &self.control, &state, &mut node.state)?;
        }
        self.rest = Some(state);
        Ok(())
    }

    /// Replaces the sculpt layers; all new layers are off. Allocates: call it on document changes, not per frame.
    ///
    /// # Errors
    /// If memory is short.
    pub fn set_sculpts(&mut self, sculpts: &[BoundSculpt]) -> Result<()> {
        if sculpts.is_empty() && self.sculpts.is_none() {
            return Ok(());
        }
        let field = Field::new(sculpts);
        let before = self.sculpts.as_ref().map(|s| &s.state);
        let (control, rig, streams) = (&self.control, &self.rig, &self.streams);
        let stage = &self.kernels.sculpt;
        let state = stage.bind(&field, control, rig, streams, self.radial, before)?;
        if let Some(node) = &mut self.springs {
            let (device, pipelines) = (&self.kernels.device, &self.kernels.springs);
            node.edits = EditState::new(pipelines, device, &node.levels, &node.state, &field)?;
            pipelines.leave(device, &node.levels, &field.vertices, &self.streams, &mut node.state)?;
            // The stiffness of vertices that the previous layers changed must be recomputed. The new corrections have
            // the measures of the file's rest shape.
            (node.stiff, node.measured) = (false, self.rest.is_none());
        }
        if let Some((_, volume)) = self.volume.as_mut().filter(|v| v.0.rest == Rest::Bind) {
            self.kernels.volume.set_sculpts(volume, state.as_ref().map(|s| s.offsets()))?;
        }
        self.sculpts = state.map(|state| SculptNode { field, state, changed: true });
        Ok(())
    }

    /// Changes the shape of a sculpt layer without a new binding. The change takes effect with the next call to
    /// [`Graph::set_sculpt_states`]; see [`Field::reform`].
    pub fn reform_sculpt(&mut self, id: SculptId, to: Reform<'_>) -> bool {
        self.sculpts.as_mut().is_some_and(|node| node.field.reform(id, to))
    }

    /// Sets the states of the sculpt layers for the next frames. Layers without a state are off. Does not allocate.
    pub fn set_sculpt_states(&mut self, states: &[SculptState]) {
        if let Some(node) = &mut self.sculpts {
            node.changed |= node.field.set(states);
        }
    }

    /// Changes the spring parameters without a new binding. Has no effect if the recipe has no springs.
    pub fn set_springs(&mut self, params: &springs::Params) {
        if let Some(node) = &mut self.springs {
            node.set(params);
        }
    }

    /// Sets the time of the next frames, seconds. The dynamics advance from frame to frame in recording order.
    /// With `None`, the default, the next frame is the static equilibrium without dynamics.
    pub fn set_time(&mut self, seconds: Option<f64>) {
        if let Some(node) = &mut self.springs {
            node.clock.set(seconds);
        }
        if let Some((_, state)) = &mut self.volume {
            state.set_time(seconds);
        }
    }

    /// Replaces the recipe without a new binding. Returns false and changes nothing if the new recipe needs a new
    /// binding ([`Recipe::can_become`]). Does not allocate.
    pub fn adopt(&mut self, recipe: &Recipe) -> bool {
        let springs =
            self.springs.as_ref().map(|s| s.params.variant) == recipe.springs.map(|params| params.variant);
        let own = self.volume.as_ref().map(|(params, _)| params);
        let volumes = volume::Params::may_become(own, recipe.volume.as_ref());
        if !(springs && volumes && self.crease == recipe.crease && self.first.can_become(&recipe.geometric)) {
            return false;
        }
        if self.first != recipe.geometric {
            self.geometric.set(&recipe.geometric);
            self.first.clone_from(&recipe.geometric);
            if let Some((_, state)) = &mut self.volume {
                state.set_start(&recipe.geometric);
            }
        }
        if let (Some((own, state)), Some(params)) = (&mut self.volume, &recipe.volume) {
            *own = *params;
            state.set(params);
            state.set_firm(&recipe.firm);
        }
        if let Some(params) = &recipe.springs {
            self.set_springs(params);
        }
        true
    }

    /// Discards the last frame, as after a cut. The next frame starts at the geometric method's shape, even with
    /// [`Frames::Dependent`].
    pub fn forget(&mut self) {
        if let Some(node) = &mut self.springs {
            node.settled = false;
            node.clock = Clock::default();
        }
        if let Some((_, state)) = &mut self.volume {
            state.forget();
        }
    }

    /// Uploads the morph displacement of every display vertex: `vec4`, bind space, metres.
    pub fn set_morph(&self, frame: &mut Frame, displacement: &[[f32; 4]]) {
        self.surface.set_morph(frame, displacement);
    }

    /// Records one frame. Its commands write the posed surface to [`Graph::positions`] and [`Graph::normals`]; put a
    /// phase or barrier before commands that read them.
    pub fn record(&mut self, frame: &mut Frame, rig: &PosedRig) {
        let kernels = &self.kernels;
        frame.phase("pose");
        // Flesh is solved in the file's rest shape, and the skin carries the change.
        let carries = matches!(&self.volume, Some((params, _)) if params.rest == Rest::Bind);
        let given = rig;
        let rig = if carries && !rig.rest.is_empty() {
            rig.with_rest_into(&self.bound.character.skeleton, &RestShift::default(), &mut self.plain);
            &self.plain
        } else {
            rig
        };
        self.geometric.update(frame, rig);
        let rig = self.geometric.posed().unwrap_or(rig);
        self.rig.update(frame, rig);
        if let Some((_, state)) = &mut self.volume {
            state.update(frame, rig);
        }
        if let Some(rest) = self.rest.as_mut().filter(|_| carries) {
            kernels.rest.upload(rest, &given.rest, frame);
        } else if let Some(rest) = &mut self.rest {
            let changed = kernels.rest.record(rest, &self.rig.data().rest_shift, frame);
            if changed {
                // The rest stage has written the scale vectors without sculpt layers.
                self.sculpts.iter_mut().for_each(|s| s.changed = true);
            }
            if let Some(node) = self.springs.as_mut().filter(|n| changed || !n.measured) {
                node.measure(&kernels.springs, rest.is_shifted(), frame);
            }
        }
        frame.phase("skinning");
        if let Some(node) = self.sculpts.as_mut().filter(|n| n.changed) {
            kernels.sculpt.update(&mut node.state, &node.field, &self.control, frame);
        }
        kernels.geometric.record(&self.geometric, &self.rig, frame);
        let (mut elastic, contact) = match &mut self.volume {
            Some((params, state)) if params.rest == Rest::Bind => (Some(state), None),
            Some((_, state)) => (None, Some(state)),
            None => (None, None),
        };
        if let Some(state) = &mut elastic {
            frame.phase("volume");
            let changed = self.sculpts.as_ref().is_some_and(|s| s.changed);
            kernels.volume.sculpt(state, changed, frame);
            kernels.volume.record(&kernels.geometric, state, &mut self.rig, rig, frame);
            frame.barrier();
        }
        if let Some(node) = &self.sculpts {
            kernels.sculpt.record(&node.state, &self.control, frame);
        }
        if let Some(state) = elastic {
            kernels.volume.record_skin(state, frame);
            if let Some(rest) = self.rest.as_ref().filter(|r| r.is_shifted()) {
                kernels.rest.carry(rest, frame);
            }
            frame.barrier();
        }
        if let Some(node) = &mut self.springs {
            frame.phase("springs");
            let field = self.sculpts.as_ref().map(|s| (&s.field, s.changed));
            node.record(&kernels.springs, field, &self.rig, frame);
        }
        if let Some(state) = contact {
            frame.phase("contact");
            kernels.volume.record(&kernels.geometric, state, &mut self.rig, rig, frame);
            kernels.volume.record_skin(state, frame);
        }
        if let Some(node) = &mut self.sculpts {
            node.changed = false;
        }
        frame.phase("surface");
        kernels.surface.record(&self.surface, frame);
        if let Some(strain) = &self.strain {
            frame.phase("strain");
            kernels.surface.record_strain(strain, given.scale, frame);
        }
    }

    /// Lets every recorded frame write the colours of the skin's strain, one packed linear RGBA colour per display
    /// vertex, or stops this. Allocates.
    ///
    /// # Errors
    /// If memory is short.
    pub fn show_strain(&mut self, colors: Option<&Buffer>) -> Result<()> {
        self.strain = match colors {
            Some(colors) => Some(self.kernels.surface.bind_strain(
                &self.bound.character,
                &self.control,
                &self.streams.position,
                colors,
            )?),
            None => None,
        };
        Ok(())
    }

    /// The weights of swing-twist deformers; `None` if the first method is another one.
    pub fn swing_twist(&self) -> Option<&SwingTwistBinding> {
        self.geometric.swing_twist()
    }

    /// Returns the world position per display vertex, `vec4`, metres.
    pub fn positions(&self) -> &Buffer {
        &self.surface.positions
    }

    /// Returns the world normal per display vertex, `vec4`.
    pub fn normals(&self) -> &Buffer {
        &self.surface.normals
    }

    /// Returns the world position per control vertex, `vec4`, metres.
    pub fn control_positions(&self) -> &Buffer {
        &self.streams.position
    }

    /// Returns the number of spring iterations of the last finished frame, or zero without springs. Waits for the
    /// device, so use it only in tools and tests.
    pub fn iterations(&self) -> Result<u32> {
        self.springs.as_ref().map_or(Ok(0), |node| node.state.iterations(&self.kernels.device))
    }
}
