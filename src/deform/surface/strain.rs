//! Colours of the skin by its strain, on the GPU. The stage runs only while the colours are shown.

use super::SurfacePipelines;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::bind::Character;
use crate::deform::rig_buffers::ControlBuffers;
use crate::gpu::{Bindings, Buffer, Frame};
use crate::shared_with_shaders;

/// Strain that the last colour shows: a length that changes by 80 %.
pub const HOT: f32 = 0.8;
/// Opacity of the colours over the skin's own colour, 0..=1.
pub const OPACITY: f32 = 225.0 / 255.0;
/// Edges of slivers, shorter than this fraction of the mean edge, are left out: their relative change is noise.
const SLIVER: f32 = 1e-4;

shared_with_shaders! {
    struct Push as "Push" {
        /// Number of display vertices.
        count: u32,
        /// Factor by which most joints scale the bind shape.
        scale: f32,
        /// Strain of the last colour.
        hot: f32,
        /// Opacity of the colours.
        opacity: f32,
    }
}

/// The bindings of a character's strain colours.
pub struct StrainState {
    bindings: Bindings,
    count: u32,
}

/// Returns the linear colour of a strain: from grey over yellow (0.4) to red (0.8 and more).
pub fn color_of_strain(strain: f32) -> Vec3 {
    let t = (strain / HOT).clamp(0.0, 1.0);
    let [cold, warm, hot] = [[0.35, 0.38, 0.42], [0.9, 0.6, 0.02], [0.7, 0.01, 0.01]].map(Vec3::from);
    if t < 0.5 { cold.lerp(warm, 2.0 * t) } else { warm.lerp(hot, 2.0 * t - 1.0) }
}

/// Returns the neighbours of every vertex along edges that are no slivers, as offsets and indices.
fn edges(character: &Character) -> (Vec<u32>, Vec<u32>) {
    let control = &character.control;
    let adjacency = &control.adjacency;
    let length = |a: u32, b: u32| control.positions[a as usize].distance(control.positions[b as usize]);
    let (sum, count) =
        adjacency.edges().fold((0.0, 0.0f64), |(s, n), (a, b)| (s + f64::from(length(a, b)), n + 1.0));
    let least = SLIVER * (sum / count.max(1.0)) as f32;
    let mut lists = vec![Vec::new(); control.positions.len()];
    for (a, b) in adjacency.edges().filter(|&(a, b)| length(a, b) > least) {
        lists[a as usize].push(b);
        lists[b as usize].push(a);
    }
    let mut offsets = vec![0];
    for list in &lists {
        offsets.push(offsets[offsets.len() - 1] + list.len() as u32);
    }
    (offsets, lists.concat())
}

impl SurfacePipelines {
    /// Binds the strain colours of a character. `position` is the displayed stream; `colors` holds a packed linear RGBA
    /// colour per display vertex.
    ///
    /// # Errors
    /// If memory is short.
    pub fn bind_strain(
        &self,
        character: &Character,
        control: &ControlBuffers,
        position: &Buffer,
        colors: &Buffer,
    ) -> Result<StrainState> {
        let device = position.device();
        let (offsets, neighbors) = edges(character);
        let control_of = &character.display.control_of;
        let bindings = self.strain.bind(&[
            ("positions", position),
            ("bind_positions", &control.bind_positions),
            ("control_of", &Buffer::from_slice(device, "control of display", control_of)?),
            ("offsets", &Buffer::from_slice(device, "edge offsets", &offsets)?),
            ("neighbors", &Buffer::from_slice(device, "edge ends", &neighbors)?),
            ("colors", colors),
        ])?;
        Ok(StrainState { bindings, count: control_of.len() as u32 })
    }

    /// Records the colours of a pose. `scale` is the factor by which most joints scale the bind shape. Before it, the
    /// position stream must be complete, followed by a barrier.
    pub fn record_strain(&self, state: &StrainState, scale: f32, frame: &mut Frame) {
        let push = Push { count: state.count, scale, hot: HOT, opacity: OPACITY };
        frame.dispatch(&self.strain, &state.bindings, &push, state.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::testing::{cylinder, rest};
    use crate::deform::tests::contorted;
    use crate::deform::{Geometric, Graph, Kernels, Recipe};
    use crate::geom::Distortion;
    use crate::gpu::testing::{assert_silent, device};
    use crate::rig::{Pose, PosedRig};
    use std::sync::Arc;

    fn channels(packed: u32) -> [f32; 4] {
        std::array::from_fn(|k| ((packed >> (8 * k)) & 255) as f32 / 255.0)
    }

    #[test]
    fn the_colors_show_the_strain_of_every_pose_and_of_any_unit_of_length() {
        let Some(device) = device() else { return };
        let bound = cylinder(3, 16, 24);
        let control = &bound.character.control;
        let kernels = Arc::new(Kernels::new(&device).unwrap());
        let mut graph = Graph::new(&kernels, &bound, &Recipe::geometric(Geometric::Lbs), false).unwrap();
        let colors = Buffer::zeroed::<u32>(&device, "colors", control.positions.len()).unwrap();
        graph.show_strain(Some(&colors)).unwrap();
        let mut run = |pose: &Pose| {
            let rig = PosedRig::new(&bound.character.skeleton, pose);
            let record = |frame: &mut Frame| {
                graph.record(frame, &rig);
                Ok(())
            };
            device.run(record).unwrap();
            let points: Vec<[f32; 4]> =
                device.read(graph.control_positions(), control.positions.len()).unwrap();
            let points: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], p[2])).collect();
            (points, device.read::<u32>(&colors, control.positions.len()).unwrap())
        };
        let (_, still) = run(&rest(&bound));
        for color in still {
            let [r, g, b, a] = channels(color);
            assert!(Vec3::new(r, g, b).distance(color_of_strain(0.0)) < 0.01, "{color:x}");
            assert!((a - OPACITY).abs() < 0.01);
        }
        let mut pose = contorted(&bound);
        let last = bound.character.skeleton.joints[2].node;
        pose.local[last.index()].scale = [2.0; 3];
        let (points, bent) = run(&pose);
        let strains = Distortion::new(control).strain(&points);
        let (least, most) = strains.iter().fold((f32::MAX, 0.0f32), |(a, b), s| (a.min(*s), b.max(*s)));
        assert!(least < 0.5 * HOT && most > 0.75 * HOT, "{least} to {most}");
        for (strain, color) in strains.iter().zip(&bent) {
            let [r, g, b, _] = channels(*color);
            let wanted = color_of_strain(*strain);
            assert!(Vec3::new(r, g, b).distance(wanted) < 0.01, "{strain}: {r} {g} {b}, {wanted}");
        }
        // Joints that convert a unit of length do not count as strain.
        let mut small = pose.clone();
        small.local[0].scale = [0.01; 3];
        let (_, converted) = run(&small);
        for (a, b) in bent.iter().zip(&converted) {
            let ([r, g, b, _], [x, y, z, _]) = (channels(*a), channels(*b));
            assert!(Vec3::new(r, g, b).distance(Vec3::new(x, y, z)) < 0.02);
        }
        // Without the view no frame writes the colours.
        graph.show_strain(None).unwrap();
        let rig = PosedRig::new(&bound.character.skeleton, &rest(&bound));
        let record = |frame: &mut Frame| {
            graph.record(frame, &rig);
            Ok(())
        };
        device.run(record).unwrap();
        assert_eq!(device.read::<u32>(&colors, control.positions.len()).unwrap(), converted);
        assert_silent(&device);
    }
}
