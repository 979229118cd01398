//! Measures the springs on the GPU in frames in which a cage changes the rest shape.

use super::bind::LevelState;
use super::layout::RestPush;
use super::{SpringPipelines, SpringState};
use crate::base::Result;
use crate::deform::rest::gpu::RestState;
use crate::deform::rig_buffers::ControlBuffers;
use crate::deform::springs::corrections::gpu::CorrectionRest;
use crate::gpu::{Bindings, Buffer, Device, Frame};
use std::sync::Arc;

/// The springs' measures of the file's rest shape on all levels, and the stages that measure a changed rest shape.
pub(super) struct SpringRest {
    levels: Vec<LevelRest>,
    corrections: CorrectionRest,
    /// Rest data of the corrections that replace the others while sculpt layers are on.
    left: Option<CorrectionRest>,
    /// Rest positions of the control vertices.
    pub(super) bind_positions: Buffer,
}

struct LevelRest {
    measure: Bindings,
    /// Copies of [`LevelState::measured`].
    file: [Buffer; 3],
}

impl SpringRest {
    pub(super) fn set_left(&mut self, left: CorrectionRest) {
        self.left = Some(left);
    }
}

impl SpringState {
    /// Frees the data that a cage needs. Call this while the buffers hold the file's rest shape.
    pub fn leave_rest(&mut self) {
        self.rest = None;
    }
}

impl LevelState {
    /// The buffers that depend on the rest shape.
    fn measured(&self) -> [&Buffer; 3] {
        [&self.measures, &self.rest, &self.edges]
    }
}

impl SpringPipelines {
    /// Binds the stages that measure a changed rest shape. Call this while the buffers hold the file's rest shape.
    ///
    /// # Errors
    /// If memory is short.
    pub fn bind_rest(
        &self,
        device: &Arc<Device>,
        control: &ControlBuffers,
        rest: &RestState,
        state: &mut SpringState,
    ) -> Result<()> {
        let level = |level: &LevelState| {
            let [measures, current, edges] = level.measured();
            let file = [measures.copied(device)?, current.copied(device)?, edges.copied(device)?];
            let measure = self.rest.bind(&[
                ("bind_positions", &control.bind_positions),
                ("rest_anchors", &control.rest_anchors),
                ("file_anchors", rest.file_anchors()),
                ("targets", &control.targets),
                ("rest_bones", rest.bones()),
                ("seeds", &level.origin),
                ("file_rest", &file[1]),
                ("rest", current),
                ("measures", measures),
                ("edges", edges),
            ])?;
            Ok(LevelRest { measure, file })
        };
        let (positions, fine) = (&control.bind_positions, &state.levels[0].rest);
        let corrections = |of| self.corrections.rest(device, of, positions, fine);
        state.rest = Some(SpringRest {
            levels: state.levels.iter().map(level).collect::<Result<_>>()?,
            corrections: corrections(&state.corrections)?,
            left: state.left.as_ref().map(corrections).transpose()?,
            bind_positions: control.bind_positions.clone(),
        });
        Ok(())
    }

    /// Records commands that measure the rest shape that the rest stage has written. The commands start with a barrier;
    /// the caller adds another one after them, and then recomputes the stiffness.
    pub fn measure(&self, state: &SpringState, frame: &mut Frame) {
        let Some(rest) = &state.rest else { return };
        frame.barrier();
        for (k, (level, of)) in state.levels.iter().zip(&rest.levels).enumerate() {
            let push = RestPush { count: level.count, coarse: (k > 0).into(), on_bone: level.on_bone };
            frame.dispatch(&self.rest, &of.measure, &push, level.count);
        }
        frame.barrier();
        self.corrections.record_rest(&state.corrections, &rest.corrections, frame);
        if let (Some(state), Some(left)) = (&state.left, &rest.left) {
            self.corrections.record_rest(state, left, frame);
        }
    }

    /// Records commands that copy the measures of the file's rest shape. The commands start with a barrier; the caller
    /// adds another one after them, and then recomputes the stiffness.
    pub fn restore(&self, state: &SpringState, frame: &mut Frame) {
        let Some(rest) = &state.rest else { return };
        frame.barrier();
        for (level, of) in state.levels.iter().zip(&rest.levels) {
            for (from, to) in of.file.iter().zip(level.measured()) {
                frame.copy(from, to, from.bytes());
            }
        }
        rest.corrections.restore(&state.corrections, frame);
        if let (Some(state), Some(left)) = (&state.left, &rest.left) {
            left.restore(state, frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bind::{edges_of, measures_of, rest_of};
    use super::*;
    use crate::deform::rest::Rested;
    use crate::deform::rest::gpu::Followers;
    use crate::deform::rest::gpu::RestPipelines;
    use crate::deform::rest::tests::{shift, skin_of};
    use crate::deform::rig_buffers::{RigBuffers, StreamBuffers};
    use crate::deform::springs::Variant;
    use crate::deform::springs::levels::Levels;
    use crate::deform::testing::cylinder;
    use crate::gpu::testing::{assert_silent, device};

    /// Compares two lists word by word: as floats, up to the relative tolerance `within`, where `is_float` returns
    /// true; as integers elsewhere.
    fn compare<T: bytemuck::Pod>(
        name: &str,
        got: &[T],
        wanted: &[T],
        is_float: impl Fn(usize) -> bool,
        within: f32,
    ) {
        let words = |list: &[T]| bytemuck::cast_slice::<T, u32>(list).to_vec();
        let size = size_of::<T>() / 4;
        for (k, (g, w)) in words(got).into_iter().zip(words(wanted)).enumerate() {
            let (a, b) = (f32::from_bits(g), f32::from_bits(w));
            let same = if is_float(k % size) { (a - b).abs() <= within * b.abs().max(1.0) } else { g == w };
            assert!(same, "{name}: element {}, word {}: {a} ({g}), wanted {b} ({w})", k / size, k % size);
        }
    }

    #[test]
    fn the_gpu_measures_all_levels_like_the_reference_and_returns_to_the_same_bits() {
        let Some(device) = device() else { return };
        let pipelines = SpringPipelines::new(&device).unwrap();
        let stage = RestPipelines::new(&device).unwrap();
        let bound = cylinder(3, 40, 60);
        let (skin, to) = (skin_of(&bound), shift(&bound));
        let control = ControlBuffers::new(&device, &bound).unwrap();
        let rig = RigBuffers::new(&device, &bound.character.skeleton).unwrap();
        let streams = StreamBuffers::new(&device, bound.character.control.positions.len()).unwrap();
        let mut levels = Levels::bind(&bound, Variant::Sinew);
        assert!(!levels.coarse.is_empty() && !levels.corrections.entries.is_empty());
        let mut state = pipelines.bind(&device, &levels, Variant::Sinew, &control, &rig, &streams).unwrap();
        let edited: Vec<u32> = (100..140).collect();
        pipelines.leave(&device, &levels, &edited, &streams, &mut state).unwrap();
        let posed = (&rig, &streams.position);
        let mut rest = stage.bind(&device, &bound, &skin, &control, posed, &Followers::Nothing).unwrap();
        pipelines.bind_rest(&device, &control, &rest, &mut state).unwrap();
        device
            .run(|frame| {
                stage.record(&mut rest, &to, frame);
                pipelines.measure(&state, frame);
                Ok(())
            })
            .unwrap();
        let before = levels.clone();
        levels.measure(&Rested::new(&bound, &skin, &to).bound);
        let check = |levels: &Levels, within: f32| {
            let bindings = std::iter::once(&levels.fine).chain(levels.coarse.iter().map(|l| &l.binding));
            for (level, binding) in state.levels.iter().zip(bindings) {
                let count = binding.vertices.len();
                let measures = device.read(&level.measures, count).unwrap();
                compare("measures", &measures, &measures_of(binding), |k| k < 5, within);
                let texels = device.read(&level.rest, count).unwrap();
                compare("rest", &texels, &rest_of(binding), |_| true, within);
                let edges = device.read(&level.edges, binding.edges.len()).unwrap();
                compare("edges", &edges, &edges_of(binding), |k| k == 1, within);
            }
            let left = levels.corrections.without(&edited);
            for (state, corrections) in
                [(&state.corrections, &levels.corrections), (state.left.as_ref().unwrap(), &left)]
            {
                state.compare(&device, corrections, |name, got, wanted, first| {
                    compare(name, got, wanted, |k| first.contains(&k), within);
                });
            }
        };
        check(&levels, 2e-5);
        device
            .run(|frame| {
                pipelines.restore(&state, frame);
                Ok(())
            })
            .unwrap();
        check(&before, 0.0);
        assert_silent(&device);
    }
}
