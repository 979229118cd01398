//! The stages of [`super::schedule`] on the GPU. Nothing is read back.

use super::cells::Cells;
use super::contact;
use super::contact_gpu::{ContactPipelines, ContactState};
use super::firm::Firm;
use super::level_buffers::{LevelBuffers, upload, upload_lists, upload_quads};
use super::levels::{Level, Share};
use super::motion::{Motion, Step};
use super::place::Place;
use super::push::{VolumePush, VolumeStep};
use super::schedule::{Op, START_TURNS, Stiffness, coarse_turns, reschedule, schedule, turns};
use super::solve::start_of;
use super::substeps::{Plan, Substeps};
use super::tissue::{LevelStiffness, Tissue};
use super::{MOST_CONTACT, MOST_CYCLES, Params, Rest};
use crate::base::Result;
use crate::deform::Geometric;
use crate::deform::geometric_gpu::{GeometricPipelines, GeometricState};
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use crate::deform::rig_data::Rows;
use crate::gpu::constants::{GROUP_SIZE, NONE};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Resource, Texel};
use crate::rig::PosedRig;
use crate::spv;
use std::sync::Arc;

/// Elements per invocation on a software device, where starting an invocation costs as much as a simple element.
const SOFTWARE_SPAN: u32 = 8;

/// The pipelines, created once per device.
pub struct VolumePipelines {
    span: u32,
    start: Compute,
    onward: Compute,
    orient: Compute,
    forces: Compute,
    residual: Compute,
    coarsen: Compute,
    load: Compute,
    step: Compute,
    prolong: Compute,
    rest: Compute,
    skin: Compute,
    contact: ContactPipelines,
}

/// A character's cubes on the GPU.
pub struct VolumeState {
    /// The geometric method that poses the nodes; `None` without cubes.
    start: Option<GeometricState>,
    levels: Vec<LevelState>,
    starting: Option<Starting>,
    contact: Option<ContactState>,
    params: Params,
    schedule: Vec<Op>,
    /// Whether the schedule is that of a time step of the dynamics.
    swinging: bool,
    /// Number of stages of the schedule up to and including [`Op::Skin`].
    placed: usize,
    vertices: u32,
    /// Whether the sculpt layers have been replaced since the last frame.
    resculpted: bool,
    tissue: Tissue,
    /// Whether the stiffness of the tissue has changed since the last frame.
    stiffened: bool,
    motion: Motion,
    substeps: Substeps,
    /// Factor on the rest size of the cubes in this frame.
    scaled: f32,
    thickness: f32,
    /// Constants of the step from the last solve; `None` if this solve does not start from its result.
    step: Option<Step>,
    /// Motion of each joint since the last solve, in the layout for the upload.
    carry: Vec<Rows>,
}

struct Starting {
    start: Bindings,
    onward: Bindings,
    /// Motion of each joint since the last solve.
    carry: Buffer,
    has_tail: bool,
    orient: Bindings,
    rest: Bindings,
    skin: Bindings,
}

struct LevelState {
    nodes: u32,
    cells: u32,
    size: f32,
    /// Groups of four in each node's list of cube corners.
    corner_quads: u32,
    /// Stiffness of the nodes and of the cubes.
    stiffness: [Buffer; 2],
    forces: Bindings,
    residual: Bindings,
    step: Bindings,
    /// Transfers to and from the finer level; `None` on the finest level.
    transfer: Option<Transfer>,
}

struct Transfer {
    /// Groups of four in each node's list of finer nodes.
    share_quads: u32,
    coarsen: Bindings,
    load: Bindings,
    prolong: Bindings,
}

impl VolumePipelines {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// If a shader and Rust disagree.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let span = if device.is_software() { SOFTWARE_SPAN } else { 1 };
        let new = |spv| Compute::new(device, spv, &[span]);
        let out = Self {
            span,
            start: new(spv!("deform/volume/start.comp"))?,
            onward: new(spv!("deform/volume/continue.comp"))?,
            orient: new(spv!("deform/volume/orient.comp"))?,
            forces: new(spv!("deform/volume/forces.comp"))?,
            residual: new(spv!("deform/volume/residual.comp"))?,
            coarsen: new(spv!("deform/volume/coarsen.comp"))?,
            load: new(spv!("deform/volume/load.comp"))?,
            step: new(spv!("deform/volume/step.comp"))?,
            prolong: new(spv!("deform/volume/prolong.comp"))?,
            rest: new(spv!("deform/volume/rest.comp"))?,
            skin: new(spv!("deform/volume/skin.comp"))?,
            contact: ContactPipelines::new(device, span)?,
        };
        Ok(out)
    }

    /// Uploads a character's cubes. `method` is the geometric method that places the skin before this node. `positions`
    /// is the position stream of the skin.
    ///
    /// # Errors
    /// If memory is short.
    pub fn bind(
        &self,
        geometric: &GeometricPipelines,
        cells: &Arc<Cells>,
        method: &Geometric,
        params: &Params,
        rig: &RigBuffers,
        positions: &Buffer,
    ) -> Result<VolumeState> {
        let device = positions.device();
        let params = params.sane();
        // The list has room for the longest frame, because settings can change while a motion plays.
        let longest = Params { cycles: MOST_CYCLES, contact: MOST_CONTACT, ..params };
        let mut schedule = schedule(&longest, &cells.levels, true);
        reschedule(&mut schedule, &params, &cells.levels, false);
        let vertices = cells.embedding.len() as u32;
        let joints = cells.nodes.character.skeleton.joints.len();
        let mut out = VolumeState {
            start: None,
            levels: Vec::new(),
            starting: None,
            contact: None,
            params,
            placed: placed(&schedule),
            schedule,
            swinging: false,
            vertices,
            resculpted: false,
            tissue: Tissue::new(cells),
            stiffened: false,
            motion: Motion::new(joints),
            substeps: Substeps::new(&cells.nodes.character.skeleton),
            scaled: 1.0,
            thickness: cells.thickness,
            step: None,
            carry: Vec::with_capacity(joints),
        };
        if cells.levels.is_empty() {
            return Ok(out);
        }
        let control = ControlBuffers::new(device, &cells.nodes)?;
        let nodes = StreamBuffers::new(device, cells.levels[0].nodes())?;
        out.start = Some(geometric.bind(&start_of(method), &cells.nodes, &control, rig, &nodes)?);
        let mut buffers: Vec<LevelBuffers> = Vec::new();
        for (level, stiffness) in cells.levels.iter().zip(&out.tissue.levels) {
            let own = LevelBuffers::new(device, level, stiffness)?;
            let state = self.level(
                level,
                &own,
                buffers.last().zip(cells.levels.get(out.levels.len().wrapping_sub(1))),
            )?;
            out.levels.push(state);
            buffers.push(own);
        }
        out.contact = Some(self.contact.bind(cells, &buffers, positions)?);
        let nodes = (&control, &nodes.position);
        out.starting = Some(self.starting(cells, params.rest, &buffers[0], nodes, rig, positions)?);
        Ok(out)
    }

    fn starting(
        &self,
        cells: &Cells,
        rest: Rest,
        finest: &LevelBuffers,
        (control, starts): (&ControlBuffers, &Buffer),
        rig: &RigBuffers,
        positions: &Buffer,
    ) -> Result<Starting> {
        let device = positions.device();
        let texels = LevelBuffers::texels;
        let place_cells: Vec<u32> = cells.embedding.iter().map(|p| p.map_or(NONE, |p| p.cell)).collect();
        let place = |p: &Option<Place>| p.map_or([0.0; 4], |p| p.at.extend(p.of(rest).apart).to_array());
        let places: Vec<[f32; 4]> = cells.embedding.iter().map(place).collect();
        let places = upload(device, "places in cubes", &places)?;
        let place_cells = upload(device, "cubes of vertices", &place_cells)?;
        let homes = upload(device, "joints of cubes", &cells.home)?;
        let corners = Resource::Texels(&finest.corners, Texel::Uint4);
        let joints = cells.nodes.character.skeleton.joints.len();
        let carry = Buffer::zeroed::<Rows>(device, "joint motions", joints.max(1))?;
        let pasts = Buffer::zeroed::<[[f32; 4]; 3]>(device, "node pasts", cells.held.len().max(1))?;
        let common = [
            ("nodes", texels(&finest.nodes)),
            ("starts", texels(starts)),
            ("displacements", Resource::Buffer(&finest.displacements)),
            ("loads", Resource::Buffer(&finest.loads)),
            ("pulls", Resource::Buffer(&finest.pulls)),
            ("pasts", Resource::Buffer(&pasts)),
        ];
        let own = [("carry", Resource::Buffer(&carry))];
        let influences = control.influences().map(|(name, buffer)| (name, Resource::Buffer(buffer)));
        let onward: Vec<_> = common.iter().chain(&own).chain(&influences).copied().collect();
        Ok(Starting {
            start: self.start.bind(&common)?,
            onward: self.onward.bind(&onward)?,
            has_tail: control.has_tail,
            orient: self.orient.bind(&[
                ("corners", corners),
                ("displacements", texels(&finest.displacements)),
                ("homes", Resource::Buffer(&homes)),
                ("dual", Resource::Buffer(&rig.dual)),
                ("rotations", Resource::Buffer(&finest.rotations)),
            ])?,
            rest: self.rest.bind(&[
                ("residuals", Resource::Buffer(&finest.residuals)),
                ("loads", Resource::Buffer(&finest.loads)),
                ("pulls", Resource::Buffer(&finest.pulls)),
            ])?,
            skin: self.skin.bind(&[
                ("corners", corners),
                ("displacements", texels(&finest.displacements)),
                ("places", texels(&places)),
                ("place_cells", Resource::Buffer(&place_cells)),
                ("positions", Resource::Buffer(positions)),
                ("starts", texels(starts)),
            ])?,
            carry,
        })
    }

    /// Binds the stages of a level, given the finer level.
    fn level(
        &self,
        level: &Level,
        own: &LevelBuffers,
        finer: Option<(&LevelBuffers, &Level)>,
    ) -> Result<LevelState> {
        let texels = LevelBuffers::texels;
        let gather = [
            ("nodes", texels(&own.nodes)),
            ("node_corners", Resource::Texels(&own.at_node.0, Texel::Uint4)),
            ("corner_forces", texels(&own.forces)),
            ("loads", texels(&own.loads)),
            ("contacts", Resource::Buffer(&own.contacts)),
            ("displacements", texels(&own.displacements)),
        ];
        let moves = [
            ("moves", texels(&own.moves)),
            ("moved", Resource::Buffer(&own.displacements)),
            ("last_moves", Resource::Buffer(&own.moves)),
        ];
        let and = |more: &[_]| gather.iter().chain(more).copied().collect::<Vec<_>>();
        Ok(LevelState {
            nodes: level.nodes() as u32,
            cells: level.cells.len() as u32,
            size: level.size,
            corner_quads: own.at_node.1,
            stiffness: [own.nodes.clone(), own.weights.clone()],
            forces: self.forces.bind(&[
                ("corners", Resource::Texels(&own.corners, Texel::Uint4)),
                ("displacements", texels(&own.displacements)),
                ("bases", texels(&own.bases)),
                ("weights", Resource::Texels(&own.weights, Texel::Float)),
                ("rotations", texels(&own.rotations)),
                ("turned", Resource::Buffer(&own.rotations)),
                ("corner_forces", Resource::Buffer(&own.forces)),
            ])?,
            residual: self.residual.bind(&and(&[("residuals", Resource::Buffer(&own.residuals))]))?,
            step: self.step.bind(&and(&moves))?,
            transfer: match finer {
                Some((finer, above)) => Some(self.transfer(level, own, finer, above)?),
                None => None,
            },
        })
    }

    fn transfer(
        &self,
        level: &Level,
        own: &LevelBuffers,
        finer: &LevelBuffers,
        below: &Level,
    ) -> Result<Transfer> {
        let (device, texels) = (own.nodes.device(), LevelBuffers::texels);
        let (child_offsets, children) = upload_lists(device, "finer cubes", &level.children)?;
        let finer_nodes = below.nodes() as u32;
        let (restrict_shares, share_quads) =
            upload_quads(device, "finer nodes", level.restrict.quads(Share::packed, finer_nodes))?;
        let prolong_shares = upload(device, "coarser nodes", &below.eighths(level.nodes() as u32))?;
        Ok(Transfer {
            share_quads,
            coarsen: self.coarsen.bind(&[
                ("child_offsets", Resource::Buffer(&child_offsets)),
                ("children", Resource::Buffer(&children)),
                ("corners", Resource::Texels(&finer.corners, Texel::Uint4)),
                ("displacements", texels(&finer.displacements)),
                ("bases", texels(&finer.bases)),
                ("rotations", texels(&finer.rotations)),
                ("coarse_weights", Resource::Texels(&own.weights, Texel::Float)),
                ("coarse_bases", Resource::Buffer(&own.bases)),
                ("coarse_rotations", Resource::Buffer(&own.rotations)),
                ("corner_forces", Resource::Buffer(&own.forces)),
            ])?,
            load: self.load.bind(&[
                ("nodes", texels(&own.nodes)),
                ("contacts", Resource::Buffer(&own.contacts)),
                ("node_corners", Resource::Texels(&own.at_node.0, Texel::Uint4)),
                ("corner_forces", texels(&own.forces)),
                ("restrict_shares", Resource::Texels(&restrict_shares, Texel::Uint4)),
                ("residuals", texels(&finer.residuals)),
                ("loads", Resource::Buffer(&own.loads)),
                ("displacements", Resource::Buffer(&own.displacements)),
                ("moves", Resource::Buffer(&own.moves)),
                ("own_residuals", Resource::Buffer(&own.residuals)),
            ])?,
            prolong: self.prolong.bind(&[
                ("prolong_shares", Resource::Texels(&prolong_shares, Texel::Uint4)),
                ("coarse_displacements", texels(&own.displacements)),
                ("displacements", texels(&finer.displacements)),
                ("moved", Resource::Buffer(&finer.displacements)),
            ])?,
        })
    }

    /// Sets the offsets of the sculpt layers, `SculptOffset` each, and their number, for [`Rest::Bind`]. Allocates.
    ///
    /// # Errors
    /// If memory is short.
    pub fn set_sculpts(&self, state: &mut VolumeState, offsets: Option<(&Buffer, u32)>) -> Result<()> {
        state.resculpted = true;
        match &mut state.contact {
            Some(contact) => self.contact.set_sculpts(contact, offsets),
            None => Ok(()),
        }
    }

    /// Records the transfer of the sculpt offsets to the contact stages, if the layers have `changed` or have been
    /// replaced. The caller must add a barrier after it.
    pub fn sculpt(&self, state: &mut VolumeState, changed: bool, frame: &mut Frame) {
        if let Some(contact) = state.contact.as_ref().filter(|_| changed || state.resculpted) {
            self.contact.sculpt(contact, frame);
        }
        state.resculpted = false;
    }

    /// Records a frame's solve up to and including the placing of the skin. Before it, the rig must be uploaded and the
    /// geometric method must have posed the skin, followed by a barrier. Substeps upload other poses to `buffers`, and at
    /// the end `rig` again.
    pub fn record(
        &self,
        geometric: &GeometricPipelines,
        state: &mut VolumeState,
        buffers: &mut RigBuffers,
        rig: &PosedRig,
        frame: &mut Frame,
    ) {
        let cells = state.tissue.cells.clone();
        let skeleton = &cells.nodes.character.skeleton;
        let plan = Plan::of(&state.params, state.step.as_ref(), skeleton, rig);
        for k in 1..=plan.count {
            if plan.count > 1 {
                state.step = state.substeps.pose(skeleton, rig, (k, plan), &mut state.motion);
                // The previous commands read the buffers that the next ones write.
                frame.barrier();
                state.upload_carry(frame);
                let rig = if k < plan.count { &state.substeps.rig } else { rig };
                buffers.update(frame, rig);
                if let Some(start) = &mut state.start {
                    start.update(frame, rig);
                }
                frame.barrier();
            }
            let (Some(start), Some(starting)) = (&state.start, &state.starting) else { return };
            geometric.record(start, buffers, frame);
            let mut contact = 0.0;
            for op in &state.schedule[..state.placed] {
                if *op == Op::Skin && k < plan.count {
                    break;
                }
                if matches!(op, Op::Touch(_)) && state.scaled == 1.0 {
                    contact = contact::STIFFNESS;
                }
                frame.barrier();
                self.dispatch(*op, state, starting, contact, frame);
            }
        }
    }

    /// Records the contact stages that move the skin. They run after the displacement by sculpt layers. The commands
    /// begin with a barrier.
    pub fn record_skin(&self, state: &VolumeState, frame: &mut Frame) {
        let Some(starting) = &state.starting else { return };
        for op in &state.schedule[state.placed..] {
            frame.barrier();
            self.dispatch(*op, state, starting, 0.0, frame);
        }
    }

    fn dispatch(&self, op: Op, state: &VolumeState, starting: &Starting, contact: f32, frame: &mut Frame) {
        let push = VolumePush {
            lambda: state.params.lambda(),
            firmness: state.params.firmness,
            turns: 1,
            contact,
            ..VolumePush::default()
        };
        let levels = &state.levels;
        let stiffness = Stiffness::new(&state.params);
        let at = |level: usize, count: u32| VolumePush {
            count,
            inertia: stiffness.moving(state.step.as_ref(), level).inertia,
            size: levels[level].size * state.scaled,
            has_base: u32::from(level > 0),
            corner_quads: levels[level].corner_quads,
            share_quads: levels[level].transfer.as_ref().map_or(0, |t| t.share_quads),
            ..push
        };
        if op.is_contact() && state.scaled != 1.0 {
            return;
        }
        let between = |level: usize| levels[level].transfer.as_ref();
        if let Some(contact) = &state.contact {
            match op {
                Op::Touch(touch) => return self.contact.touch(contact, touch, frame),
                Op::Press => return self.contact.press(contact, at(0, 0), frame),
                Op::Brace(level) => return self.contact.brace(contact, level, frame),
                Op::Part => return self.contact.part(contact, frame),
                Op::Follow => return self.contact.follow(contact, frame),
                _ => {}
            }
        }
        let groups = |count: u32| [count.div_ceil(GROUP_SIZE * self.span), 1, 1];
        let mut run = |stage: &Compute, bindings: &Bindings, push: VolumePush| {
            frame.dispatch_groups(stage, bindings, &push, groups(push.count));
        };
        match op {
            Op::Start => match &state.step {
                None => run(&self.start, &starting.start, at(0, levels[0].nodes)),
                Some(step) => {
                    let push = VolumeStep {
                        has_tail: starting.has_tail.into(),
                        ..VolumeStep::new(levels[0].nodes, &stiffness, step)
                    };
                    frame.dispatch_groups(&self.onward, &starting.onward, &push, groups(push.count));
                }
            },
            Op::Orient => {
                run(
                    &self.orient,
                    &starting.orient,
                    VolumePush {
                        turns: START_TURNS,
                        from_joint: state.step.is_none().into(),
                        ..at(0, levels[0].cells)
                    },
                );
            }
            Op::Forces(level) => {
                let push = VolumePush { turns: turns(state.params.rest), ..at(level, levels[level].cells) };
                run(&self.forces, &levels[level].forces, push);
            }
            Op::Residual(level) => {
                run(&self.residual, &levels[level].residual, at(level, levels[level].nodes))
            }
            Op::Coarsen(level) => {
                let Some(transfer) = between(level) else { return };
                let finer_has_base = u32::from(level > 1);
                let turns = coarse_turns(state.params.rest);
                let push = VolumePush { turns, has_base: finer_has_base, ..at(level, levels[level].cells) };
                run(&self.coarsen, &transfer.coarsen, push);
            }
            Op::Load { level, step } => {
                let Some(transfer) = between(level) else { return };
                let push = VolumePush { step, ..at(level, levels[level].nodes) };
                run(&self.load, &transfer.load, push);
            }
            Op::Step { level, keep, step } => {
                let push = VolumePush { keep, step, ..at(level, levels[level].nodes) };
                run(&self.step, &levels[level].step, push);
            }
            Op::Prolong { level, factor } => {
                let Some(transfer) = between(level + 1) else { return };
                let push = VolumePush { step: factor, ..at(level, levels[level].nodes) };
                run(&self.prolong, &transfer.prolong, push);
            }
            Op::Rest => run(&self.rest, &starting.rest, at(0, levels[0].nodes)),
            Op::Touch(_) | Op::Press | Op::Brace(_) | Op::Part | Op::Follow => {}
            Op::Skin => run(&self.skin, &starting.skin, at(0, state.vertices)),
        }
    }
}

/// Number of stages up to the placing of the skin.
fn placed(schedule: &[Op]) -> usize {
    schedule.iter().position(|op| *op == Op::Skin).map_or(0, |k| k + 1)
}

impl VolumeState {
    /// Changes the parameters without a new binding. Allocates only if the number of cycles grows.
    pub fn set(&mut self, params: &Params) {
        let params = params.sane();
        if params != self.params {
            self.params = params;
            reschedule(&mut self.schedule, &params, &self.tissue.cells.levels, self.swinging);
            self.placed = placed(&self.schedule);
        }
    }

    /// Sets the firm and soft regions. The next frame uploads them. Does not allocate.
    pub fn set_firm(&mut self, firm: &Firm) {
        self.stiffened |= self.tissue.set(firm);
    }

    /// Sets settings of the start method that need no new binding.
    pub fn set_start(&mut self, method: &Geometric) {
        if let Some(start) = &mut self.start {
            start.set(&start_of(method));
        }
    }

    /// Sets the time of the next frames, seconds, like [`crate::deform::Graph::set_time`].
    pub fn set_time(&mut self, seconds: Option<f64>) {
        self.motion.set_time(seconds);
    }

    /// Makes the next frame start at the geometric method's shape.
    pub fn forget(&mut self) {
        self.motion.forget();
    }

    /// Uploads the motion of the joints since the last solve, if this solve starts from its result.
    fn upload_carry(&mut self, frame: &mut Frame) {
        if let (Some(starting), true) = (&self.starting, self.step.is_some()) {
            self.carry.clear();
            self.carry.extend(self.motion.carry.iter().map(Rows::from));
            frame.upload(&starting.carry, 0, &self.carry);
        }
    }

    /// Begins a frame. Records the upload of per-frame data as copy commands; the caller must add a barrier or a phase
    /// after them.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) {
        if let Some(level) = self.levels.first() {
            self.scaled = rig.scale;
            let (size, thickness) = (level.size * self.scaled, self.thickness * self.scaled);
            self.step = self.motion.begin(&self.params, size, thickness, rig);
            if self.swinging != self.step.as_ref().is_some_and(Step::swings) {
                self.swinging = !self.swinging;
                reschedule(&mut self.schedule, &self.params, &self.tissue.cells.levels, self.swinging);
            }
            self.upload_carry(frame);
        }
        if std::mem::take(&mut self.stiffened) {
            for (level, LevelStiffness { weight, nodes }) in self.levels.iter().zip(&self.tissue.levels) {
                let [of_nodes, of_cubes] = &level.stiffness;
                frame.upload(of_nodes, 0, nodes);
                frame.upload(of_cubes, 0, weight);
            }
        }
        if let Some(start) = &mut self.start {
            start.update(frame, rig);
        }
    }
}
