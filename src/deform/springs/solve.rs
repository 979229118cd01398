//! The CPU reference of the springs in a frame. The reference executes the schedule that the shaders execute.

use super::bind::Binding;
use super::corrections::bind::Corrections;
use super::corrections::cpu::correct;
use super::cpu::{PosedVertex, advance, force, plain_step, pose};
use super::dynamics::cpu::{VertexMotion, advance_all};
use super::dynamics::{Rest, rest};
use super::edits::{self, LevelEdits};
use super::levels::{Level, Levels};
use super::schedule::{Iteration, Op, Schedule};
use super::{Params, Stop, Variant, thesis};
use crate::base::math::{Quat, Vec3};
use crate::deform::clock::{Clock, Frames};
use crate::deform::rest::Rested;
use crate::deform::sculpt::Field;
use crate::deform::{Bound, Reference, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The spring node's CPU reference, bound to a character.
pub struct Springs {
    bound: Bound,
    levels: Arc<Levels>,
    params: Params,
    first: Schedule,
    next: Schedule,
    /// The last frame's result, stored for [`Frames::Dependent`].
    last: Mutex<Option<Vec<Carried>>>,
    /// Sculpt layers per level; empty without sculpt layers.
    edits: Vec<LevelEdits>,
    /// The corrections that replace `levels.corrections` while sculpt layers are on.
    edited: Option<Corrections>,
    /// Vertices of the sculpt layers.
    edited_vertices: Vec<u32>,
    /// Dynamics constants per vertex. `swinging` holds the current state.
    rests: Vec<Rest>,
    swinging: Mutex<(Clock, Vec<VertexMotion>)>,
}

/// The result of the last frame at a vertex.
#[derive(Clone, Copy)]
struct Carried {
    /// Position relative to the attachment point, world, metres.
    offset: Vec3,
    /// Rotation `Q` from bind to world, blended by skin weight.
    rotation: Quat,
}

/// Statistics of the iterations.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Iterations on the original mesh.
    pub iterations: u32,
    /// Largest move of a vertex per iteration, metres.
    pub moves: Vec<f32>,
}

/// State of a level during the iterations.
struct SpringLevel {
    posed: Vec<PosedVertex>,
    x: Vec<Vec3>,
    /// Positions before the last iteration.
    previous: Vec<Vec3>,
    /// Force stored for the coarser level, or force per density received from the finer level.
    residual: Vec<Vec3>,
    /// Largest move, or the measure of the stop test.
    measure: f32,
}

impl Springs {
    /// Creates the springs from rest measures that [`Levels::bind`] computed for the same character.
    pub fn new(bound: &Bound, levels: &Arc<Levels>, params: &Params) -> Self {
        let params = params.sane();
        Self {
            bound: bound.clone(),
            first: Schedule::new(&params, levels, false),
            next: Schedule::new(&params, levels, true),
            levels: levels.clone(),
            params,
            last: Mutex::new(None),
            edits: Vec::new(),
            edited: None,
            edited_vertices: Vec::new(),
            rests: rest(&levels.fine),
            swinging: Mutex::default(),
        }
    }

    /// Measures the character in a changed rest shape.
    fn measure(&mut self, rested: &Bound) {
        let mut levels = (*self.levels).clone();
        levels.measure(rested);
        self.levels = Arc::new(levels);
        self.rests = rest(&self.levels.fine);
        self.edited = self.edited.as_ref().map(|_| self.levels.corrections.without(&self.edited_vertices));
    }

    /// Replaces the sculpt layers and applies the field's current state.
    pub fn set_edits(&mut self, field: &Field) {
        self.edited_vertices.clone_from(&field.vertices);
        self.edited = (!field.is_empty()).then(|| self.levels.corrections.without(&field.vertices));
        self.edits = if field.is_empty() { Vec::new() } else { edits::bind(&self.levels, field) };
        self.set_moment(field);
    }

    /// The spring parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Sets the spring parameters. The variant must be the same as before.
    pub fn set_params(&mut self, params: &Params) {
        self.params = params.sane();
        self.first = Schedule::new(&self.params, &self.levels, false);
        self.next = Schedule::new(&self.params, &self.levels, true);
    }

    /// Sets the time of the next frames, seconds, which advances the dynamics. With `None` the next frame is static.
    pub fn set_time(&mut self, seconds: Option<f64>) {
        self.swinging.get_mut().unwrap_or_else(PoisonError::into_inner).0.set(seconds);
    }

    /// Applies a new state of the current sculpt layers.
    pub fn set_moment(&mut self, field: &Field) {
        edits::set(&mut self.edits, field);
    }

    fn binding(&self, level: usize) -> &Binding {
        if level == 0 { &self.levels.fine } else { &self.levels.coarse[level - 1].binding }
    }

    /// Relaxes the position stream and returns statistics.
    pub fn solve(&self, rig: &PosedRig, streams: &mut Streams) -> Report {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let carry = last.take().filter(|_| self.params.frames == Frames::Dependent);
        let schedule = if carry.is_some() { &self.next } else { &self.first };
        let mut states: Vec<SpringLevel> =
            (0..schedule.levels).map(|k| self.start(k, rig, &streams.position)).collect();
        if let Some(last) = carry {
            let fine = &mut states[0];
            for (i, (v, was)) in fine.posed.iter().zip(&last).enumerate() {
                fine.x[i] = v.attachment + v.rotation * (was.rotation.conjugate() * was.offset);
            }
            fine.previous = fine.x.clone();
        }
        let report = self.run(schedule, &mut states);
        let fine = &states[0];
        if self.params.frames == Frames::Dependent {
            let carried = fine.posed.iter().zip(&fine.x);
            *last = Some(
                carried.map(|(v, x)| Carried { offset: *x - v.attachment, rotation: v.rotation }).collect(),
            );
        }
        streams.position.clone_from(&fine.x);
        let corrections =
            self.edited.as_ref().filter(|_| edits::on(&self.edits)).unwrap_or(&self.levels.corrections);
        correct(corrections, &self.params, &fine.posed, &mut streams.position);
        let mut swinging = self.swinging.lock().unwrap_or_else(PoisonError::into_inner);
        let (clock, state) = &mut *swinging;
        let (frequency, damping) = (self.params.dynamics, self.params.damping);
        if let Some(way) = clock.tick(frequency > 0.0) {
            advance_all(&self.rests, frequency, damping, way, state, &mut streams.position);
        }
        report
    }

    fn start(&self, level: usize, rig: &PosedRig, positions: &[Vec3]) -> SpringLevel {
        let coarse = level.checked_sub(1).map(|k| &self.levels.coarse[k]);
        let control = coarse.map_or(&self.bound, |l| &l.mesh.bound);
        let x = match coarse {
            None => positions.to_vec(),
            Some(l) => l.origin.iter().map(|&v| positions[v as usize]).collect(),
        };
        let mut posed = match self.params.variant {
            Variant::Sinew => pose(self.binding(level), &self.params, &control.character, rig),
            Variant::Thesis => thesis::cpu::pose(self.binding(level), &self.params, control, rig),
        };
        if let Some(level) = self.edits.get(level) {
            edits::apply(&level.edits, self.params.omega, &mut posed);
        }
        SpringLevel { posed, previous: x.clone(), residual: vec![Vec3::ZERO; x.len()], x, measure: 0.0 }
    }

    fn run(&self, schedule: &Schedule, states: &mut [SpringLevel]) -> Report {
        let mut report = Report::default();
        let mut corrected = 0.0f32;
        let fine = &self.levels.fine;
        let threshold = self.params.threshold(fine.thickness, fine.vertices.len());
        for op in &schedule.ops {
            match *op {
                Op::Iterate(ref iteration) => {
                    let moved = self.iterate(iteration, &mut states[iteration.level]);
                    if iteration.level == 0 {
                        report.iterations += 1;
                        report.moves.push(moved);
                    }
                }
                Op::Restrict { to, .. } => {
                    let (finer, coarser) = states.split_at_mut(to);
                    restrict(&self.levels.coarse[to - 1], &finer[to - 1], &mut coarser[0]);
                }
                Op::Prolong { from, tested, .. } => {
                    let (finer, coarser) = states.split_at_mut(from);
                    let moved = prolong(&self.levels.coarse[from - 1], &coarser[0].x, &mut finer[from - 1]);
                    if tested {
                        corrected = corrected.max(moved);
                    }
                }
                Op::Test { .. } => {
                    let correction = corrected * self.params.stop.correction();
                    if states[0].measure.max(correction) < threshold {
                        break;
                    }
                    corrected = 0.0;
                }
            }
        }
        report
    }

    /// Runs one iteration and returns the largest move, metres.
    fn iterate(&self, iteration: &Iteration, state: &mut SpringLevel) -> f32 {
        let binding = self.binding(iteration.level);
        if self.params.variant == Variant::Thesis {
            return self.iterate_thesis(state);
        }
        let mut forces: Vec<Vec3> = (0..state.x.len())
            .into_par_iter()
            .map(|i| force(binding, &self.params, &state.posed, &state.x, i))
            .collect();
        if iteration.take {
            // The load compensates the difference, so that the equilibria of both levels are equal from here on.
            for (i, force) in forces.iter_mut().enumerate() {
                let wanted = state.residual[i] * state.posed[i].density;
                state.posed[i].load += wanted - *force;
                *force = wanted;
            }
        }
        if iteration.keep {
            for (i, force) in forces.iter().enumerate() {
                state.residual[i] = *force;
            }
        }
        let next: Vec<Vec3> = (0..state.x.len())
            .into_par_iter()
            .map(|i| {
                let (me, radius, x) = (&state.posed[i], binding.vertices[i].radius, state.x[i]);
                let step = plain_step(binding, &self.params, me, i, x, forces[i]);
                advance(x, state.previous[i], me.attachment, radius, step, iteration.weight)
            })
            .collect();
        self.arrive(state, next, &forces)
    }

    /// Runs one iteration of [`thesis`].
    fn iterate_thesis(&self, state: &mut SpringLevel) -> f32 {
        let (binding, params) = (&self.levels.fine, &self.params);
        let stepped = (0..state.x.len()).into_par_iter().map(|i| {
            let forces = thesis::cpu::forces(binding, params, &state.posed, &state.x, i);
            let next = thesis::cpu::advance(binding, params, &state.posed[i], i, state.x[i], &forces);
            (forces.net(), next)
        });
        let (forces, next): (Vec<Vec3>, Vec<Vec3>) = stepped.unzip();
        self.arrive(state, next, &forces)
    }

    /// Moves a level to the next iterate, computes the measure of the stop test and returns the largest move, metres.
    fn arrive(&self, state: &mut SpringLevel, next: Vec<Vec3>, forces: &[Vec3]) -> f32 {
        state.previous = std::mem::replace(&mut state.x, next);
        let moves = state.x.iter().zip(&state.previous).map(|(a, b)| *a - *b);
        let largest = moves.clone().map(Vec3::length).fold(0.0, f32::max);
        state.measure = match self.params.stop {
            Stop::Never | Stop::Move(_) => largest,
            Stop::Force(_) => forces.iter().map(|f| f.length()).fold(0.0, f32::max),
            Stop::Energy(_) => moves.zip(forces).map(|(m, f)| m.dot(*f)).sum(),
        };
        largest
    }
}

/// Transfers a finer level to a coarser level: the positions before the finer level's last iteration, and the sum of
/// its stored forces over the sum of its densities. A mean of the individual quotients would give one sliver triangle
/// more weight than all of its neighbours.
fn restrict(level: &Level, fine: &SpringLevel, coarse: &mut SpringLevel) {
    for (c, &seed) in level.mesh.seeds.iter().enumerate() {
        coarse.x[c] = fine.previous[seed as usize];
        let children = &level.children[level.child_offset[c] as usize..level.child_offset[c + 1] as usize];
        let (mut sum, mut area) = (Vec3::ZERO, 0.0f32);
        for v in children.iter().map(|&v| v as usize) {
            sum += fine.residual[v];
            area += fine.posed[v].density;
        }
        coarse.residual[c] = if area > 0.0 { sum / area } else { Vec3::ZERO };
    }
    coarse.previous.clone_from(&coarse.x);
}

/// Moves the finer level by the coarse vertices' moves since its previous iterate. Returns the largest move, metres.
fn prolong(level: &Level, solved: &[Vec3], fine: &mut SpringLevel) -> f32 {
    let moved = |c: u32| solved[c as usize] - fine.previous[level.mesh.seeds[c as usize] as usize];
    let change = level.mesh.parents.iter().zip(&level.mesh.weights);
    let change =
        change.map(|(parents, weights)| parents.iter().zip(weights).map(|(&p, &w)| moved(p) * w).sum());
    let mut largest = 0.0f32;
    for (x, change) in fine.x.iter_mut().zip(change) {
        let change: Vec3 = change;
        *x += change;
        largest = largest.max(change.length());
    }
    largest
}

impl Reference for Springs {
    fn set_rest(&mut self, rested: &Rested) {
        self.measure(&rested.bound);
    }

    fn name(&self) -> &'static str {
        "springs"
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        self.solve(rig, streams);
    }
}
