//! Sculpt layers in the springs on the GPU: uploads stiffness when it changes and computes loads in every frame.

use super::Params;
use super::edits::{self, LevelEdits, SpringEdit};
use super::gpu::{GpuGains, SpringPipelines, SpringState};
use super::levels::Levels;
use crate::base::Result;
use crate::deform::sculpt::Field;
use crate::gpu::{Bindings, Buffer, Device, Frame};
use crate::{shared_constants, shared_with_shaders};
use std::sync::Arc;

shared_constants! {
    "types/springs.glsl" {
        /// Spring edit flag: adds the edit's load to the load of the posed vertex and leaves the vertex's stiffness
        /// unchanged.
        const SPRING_EDIT_LOAD: u32 = 1;
        /// Spring edit flag: the stiffness without edits was recomputed, so the stored copy must be replaced.
        const SPRING_EDIT_FRESH: u32 = 2;
    }
}

shared_with_shaders! {
    struct EditPush as "Push" {
        count: u32,
        mode: u32,
        omega: f32,
    }
}

/// GPU buffers of the sculpt layers' effect on a character's springs.
pub struct EditState {
    levels: Vec<LevelEdits>,
    on_gpu: Vec<LevelState>,
}

struct LevelState {
    count: u32,
    edits: Buffer,
    bindings: Bindings,
}

impl EditState {
    /// Whether any sculpt layer is on.
    pub fn on(&self) -> bool {
        edits::on(&self.levels)
    }

    /// Creates the state for a field on all levels. Returns `None` for an empty field. Errors if memory is short.
    pub fn new(
        pipelines: &SpringPipelines,
        device: &Arc<Device>,
        levels: &Levels,
        springs: &SpringState,
        field: &Field,
    ) -> Result<Option<Self>> {
        if field.is_empty() {
            return Ok(None);
        }
        let levels = edits::bind(levels, field);
        let mut on_gpu = Vec::new();
        for (level, springs) in levels.iter().zip(&springs.levels) {
            let count = level.edits.len();
            let edits = Buffer::zeroed::<SpringEdit>(device, "spring edits", count)?;
            let plain = Buffer::zeroed::<GpuGains>(device, "spring gains without edits", count)?;
            let bindings = pipelines.edit.bind(&[
                ("edits", &edits),
                ("gains", &springs.gains),
                ("plain", &plain),
                ("posed", &springs.posed),
                ("turns", &springs.turns),
            ])?;
            on_gpu.push(LevelState { count: count as u32, edits, bindings });
        }
        Ok(Some(Self { levels, on_gpu }))
    }

    /// Records the field's current state. `fresh` is true if the springs' own stiffness has just been recomputed.
    pub fn update(
        &mut self,
        pipelines: &SpringPipelines,
        params: &Params,
        field: &Field,
        fresh: bool,
        frame: &mut Frame,
    ) {
        edits::set(&mut self.levels, field);
        for (level, on_gpu) in self.levels.iter().zip(&self.on_gpu) {
            frame.upload(&on_gpu.edits, 0, &level.edits);
        }
        frame.barrier();
        let mode = if fresh { SPRING_EDIT_FRESH } else { 0 };
        self.dispatch(pipelines, params, self.on_gpu.len(), mode, frame);
        frame.barrier();
    }

    /// Records the loads for the current pose, followed by a barrier.
    pub(super) fn load(
        &self,
        pipelines: &SpringPipelines,
        params: &Params,
        levels: usize,
        frame: &mut Frame,
    ) {
        self.dispatch(pipelines, params, levels, SPRING_EDIT_LOAD, frame);
        frame.barrier();
    }

    fn dispatch(
        &self,
        pipelines: &SpringPipelines,
        params: &Params,
        levels: usize,
        mode: u32,
        frame: &mut Frame,
    ) {
        for level in self.on_gpu.iter().take(levels).filter(|l| l.count > 0) {
            let push = EditPush { count: level.count, mode, omega: params.omega };
            frame.dispatch(&pipelines.edit, &level.bindings, &push, level.count);
        }
    }
}
