//! Records the commands of the springs in a frame.

use super::super::cpu::RESOLVED;
use super::super::edits_gpu::EditState;
use super::super::schedule::{Iteration, Op, Schedule};
use super::super::thesis::gpu::{ThesisIteratePush, ThesisPreparePush};
use super::super::{Params, Stop, Torque, Variant};
use super::bind::LevelState;
use super::layout::{IteratePush, PreparePush, ProlongPush, RestrictPush, StiffenPush, TestPush};
use super::layout::{SPRING_FORCE, SPRING_KEEP, SPRING_LARGEST, SPRING_SUBGROUPS, SPRING_TAKE, SPRING_WORK};
use super::{MAX_ITERATIONS, SpringPipelines, SpringState};
use crate::base::Result;
use crate::deform::clock::Way;
use crate::deform::rig_buffers::RigBuffers;
use crate::gpu::{Bindings, Compute, Device, Frame, Layout};
use std::sync::Arc;

impl SpringPipelines {
    /// Records the data that depends only on the parameters: once before the first frame and after every change.
    pub fn stiffen(&self, state: &SpringState, params: &Params, schedule: &Schedule, frame: &mut Frame) {
        let params = params.sane();
        let plain = params.variant == Variant::Thesis;
        let base = if plain { 1.0 } else { params.torsion };
        for level in &state.levels[..schedule.levels] {
            let push = StiffenPush {
                count: level.count,
                surface: params.surface,
                length_gain: params.length,
                torsion: params.torsion,
                bone: params.bone * base,
                hold: params.hold * base,
                girth: params.girth * base,
                bend_reach: params.bend_reach,
                hold_reach: params.hold_reach,
                girth_reach: params.girth_reach,
                largest_step: params.largest_step(),
                omega: params.omega,
                on_bone: level.on_bone,
                resolved: RESOLVED,
                plain: plain.into(),
            };
            frame.dispatch(&self.stiffen, &level.stiffen, &push, level.count);
        }
        frame.barrier();
    }

    /// Records the springs of a frame. The schedule must match the parameters of the last call to
    /// [`SpringPipelines::stiffen`]. With `from_last`, the iterations start from the last frame's result. After a
    /// change of sculpt layers, [`EditState::update`] must be recorded first.
    #[allow(clippy::too_many_arguments, reason = "what a frame of springs depends on")]
    pub fn record(
        &self,
        state: &SpringState,
        params: &Params,
        schedule: &Schedule,
        from_last: bool,
        edits: Option<&EditState>,
        rig: &RigBuffers,
        frame: &mut Frame,
    ) {
        let params = params.sane();
        let fine = &state.levels[0];
        frame.copy(&state.groups, &state.arguments, state.groups.bytes());
        let thesis = state.variant == Variant::Thesis;
        for (k, level) in state.levels[..schedule.levels].iter().enumerate() {
            if thesis {
                let push = ThesisPreparePush { count: level.count, from_last: from_last.into() };
                let groups = [level.groups, 1, 1];
                frame.dispatch_groups(&self.thesis.prepare, &level.prepare, &push, groups);
                continue;
            }
            let prepare = PreparePush {
                count: level.count,
                has_tail: level.has_tail.into(),
                coarse: (k > 0).into(),
                from_last: (k == 0 && from_last).into(),
                keep: (edits.is_some() || k == 0).into(),
                scaled: rig.scaled().into(),
                torsion: params.torsion,
            };
            frame.dispatch_groups(&self.prepare, &level.prepare, &prepare, [level.groups, 1, 1]);
        }
        frame.barrier();
        if let Some(edits) = edits {
            edits.load(self, &params, schedule.levels, frame);
        }
        frame.fill(&fine.state, 0);
        let mut tested = false;
        for op in &schedule.ops {
            frame.barrier();
            match *op {
                Op::Iterate(ref iteration) => {
                    if iteration.level == 0 && iteration.index >= MAX_ITERATIONS {
                        break;
                    }
                    let level = &state.levels[iteration.level];
                    if thesis {
                        let push = thesis_push(level, &params, iteration);
                        state.dispatch(tested, 0, &self.thesis.iterate, &level.iterate, &push, frame);
                    } else {
                        let push = iterate_push(level, &params, iteration);
                        state.dispatch(tested, iteration.level, &self.iterate, &level.iterate, &push, frame);
                    }
                }
                Op::Restrict { to, before } => {
                    let (finer, coarser) = (&state.levels[to - 1], &state.levels[to]);
                    let push = RestrictPush { count: coarser.count, before: before * finer.count };
                    state.dispatch(tested, to, &self.restrict, &state.links[to - 1].restrict, &push, frame);
                }
                Op::Prolong { from, half, before, after, tested: told } => {
                    let (finer, coarser) = (&state.levels[from - 1], &state.levels[from]);
                    let push = ProlongPush {
                        count: finer.count,
                        coarse: half * coarser.count,
                        before: before * finer.count,
                        after: after * finer.count,
                        tested: told.into(),
                    };
                    let prolong = &state.links[from - 1].prolong;
                    state.dispatch(tested, from - 1, &self.prolong, prolong, &push, frame);
                }
                Op::Test { iteration } => {
                    let energy = matches!(params.stop, Stop::Energy(_));
                    let push = TestPush {
                        iteration,
                        stages: state.levels.len() as u32 + 1,
                        threshold: params.threshold(state.thickness, fine.count as usize),
                        correction: params.stop.correction(),
                        work_count: if energy { fine.groups * SPRING_SUBGROUPS } else { 0 },
                    };
                    let arguments = 12 * state.levels.len() as u64;
                    if tested {
                        frame.dispatch_indirect(&self.test, &state.test, &push, &state.arguments, arguments);
                    } else {
                        frame.dispatch_groups(&self.test, &state.test, &push, [1, 1, 1]);
                    }
                    tested = true;
                }
            }
        }
        frame.barrier();
        frame.dispatch_groups(&self.finish, &state.finish, &fine.count, [fine.groups, 1, 1]);
        let left = state.left.as_ref().filter(|_| edits.is_some_and(EditState::on));
        self.corrections.record(left.unwrap_or(&state.corrections), &params, frame);
    }
}

impl SpringPipelines {
    /// Records the dynamics for the equilibrium that was recorded last.
    pub fn advance(&self, state: &SpringState, params: &Params, way: Way, frame: &mut Frame) {
        let params = params.sane();
        state.dynamics.record(&self.dynamics, params.dynamics, params.damping, way, frame);
    }
}

fn iterate_push(level: &LevelState, params: &Params, iteration: &Iteration) -> IteratePush {
    let mut flags = 0;
    for (on, flag) in [(iteration.take, SPRING_TAKE), (iteration.keep, SPRING_KEEP)] {
        flags |= if on { flag } else { 0 };
    }
    IteratePush {
        count: level.count,
        iteration: iteration.index,
        half_read: iteration.half,
        flags: flags | measured(params, iteration),
        weight: iteration.weight,
        surface: params.surface,
        length_gain: params.length,
        torsion: params.torsion,
        thesis_unit: if params.torque == Torque::Thesis { level.unit } else { 0.0 },
        omega: params.omega,
    }
}

fn thesis_push(level: &LevelState, params: &Params, iteration: &Iteration) -> ThesisIteratePush {
    ThesisIteratePush {
        count: level.count,
        iteration: iteration.index,
        half_read: iteration.half,
        flags: measured(params, iteration),
        surface: params.surface,
        length_gain: params.length,
        torsion: params.torsion,
        unit: level.unit,
        dt: params.dt,
        omega: params.omega,
        on_bone: level.on_bone,
    }
}

/// Returns the flags of what the stop test measures in an iteration.
fn measured(params: &Params, iteration: &Iteration) -> u32 {
    match params.stop {
        _ if !iteration.tested => 0,
        Stop::Never => 0,
        Stop::Move(_) => SPRING_LARGEST,
        Stop::Force(_) => SPRING_LARGEST | SPRING_FORCE,
        Stop::Energy(_) => SPRING_WORK,
    }
}

impl SpringState {
    /// Dispatches over a level's vertices. If a stop test found convergence, the dispatch does nothing.
    fn dispatch<P: Layout>(
        &self,
        tested: bool,
        level: usize,
        pipeline: &Compute,
        bindings: &Bindings,
        push: &P,
        frame: &mut Frame,
    ) {
        if tested {
            frame.dispatch_indirect(pipeline, bindings, push, &self.arguments, 12 * level as u64);
        } else {
            frame.dispatch_groups(pipeline, bindings, push, [self.levels[level].groups, 1, 1]);
        }
    }

    /// Returns the number of iterations on the original mesh in the last finished frame. Waits for the device.
    pub fn iterations(&self, device: &Arc<Device>) -> Result<u32> {
        Ok(device.read::<u32>(&self.levels[0].state, 1)?[0])
    }
}
