//! Tests of the corrections: known results, and the shaders against the CPU reference.

use super::MOST;
use super::bind::{Corrections, Face, bind as bind_corrections};
use super::cpu::{correct, side};
use super::gpu::{CorrectionPipelines, CorrectionState, FleshStreams};
use crate::base::math::{Quat, Vec3};
use crate::bind::shapes::Shape;
use crate::bind::{BindOptions, bind_attachments};
use crate::deform::springs::Params;
use crate::deform::springs::bind::bind;
use crate::deform::springs::cpu::{PosedVertex, pose};
use crate::deform::{Bound, Geometric, Streams};
use crate::gpu::testing::{assert_silent, device};
use crate::gpu::{Buffer, Device};
use crate::rig::{Pose, PosedRig};
use std::f32::consts::PI;
use std::sync::Arc;

/// A capsule with an elbow bent by dual quaternion skinning, as input of the corrections.
struct Case {
    bound: Bound,
    corrections: Corrections,
    posed: Vec<PosedVertex>,
    start: Vec<Vec3>,
}

impl Case {
    fn new(root: Quat, elbow: Quat) -> Self {
        let shape = Shape { bones: 2, rings: 40, segments: 24, radius: 0.15, length: 2.0, blend: 0.3 };
        let character = shape.capsule();
        let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
        let bound = Bound::new(Arc::new(character), Arc::new(attachments));
        let binding = bind(&bound, crate::deform::springs::Variant::Sinew);
        let skeleton = &bound.character.skeleton;
        let mut pose_of = Pose::rest(skeleton);
        let node = skeleton.joints[skeleton.bones[1].parent.index()].node;
        pose_of.local[0].rotation = root.into();
        pose_of.local[node.index()].rotation = elbow.into();
        let rig = PosedRig::new(skeleton, &pose_of);
        let mut streams = Streams::default();
        Geometric::Dqs.bind(&bound).unwrap().reference(&rig, &mut streams);
        let posed = pose(&binding, &Params::default(), &bound.character, &rig);
        let corrections = bind_corrections(&bound, &binding);
        Self { bound, corrections, posed, start: streams.position }
    }

    fn corrected(&self, params: &Params) -> Vec<Vec3> {
        let mut x = self.start.clone();
        correct(&self.corrections, params, &self.posed, &mut x);
        x
    }

    /// Returns the number of inverted triangles: their normals oppose their rotated rest normals.
    fn inverted(&self, x: &[Vec3]) -> usize {
        let opposes = |f: &&Face| {
            let [a, b, c] = f.triangle.map(|v| x[v as usize]);
            (b - a).cross(c - a).dot(side(f, &self.posed)) < 0.0
        };
        self.corrections.faces.iter().filter(opposes).count()
    }

    fn diagonal(&self) -> f32 {
        self.bound.character.control.aabb.diagonal()
    }
}

/// A [`Case`] on a Vulkan device.
struct OnGpu {
    device: Arc<Device>,
    pipelines: CorrectionPipelines,
    state: CorrectionState,
    start: Vec<[f32; 4]>,
    positions: Buffer,
}

impl OnGpu {
    fn new(device: &Arc<Device>, case: &Case) -> Self {
        let texels =
            |of: &dyn Fn(&PosedVertex) -> [f32; 4]| -> Vec<[f32; 4]> { case.posed.iter().map(of).collect() };
        let buffer = |data: &[[f32; 4]]| Buffer::from_slice(device, "test", data).unwrap();
        let anchors = buffer(&texels(&|v| v.attachment.extend(0.0).to_array()));
        let turns = buffer(&texels(&|v| v.rotation.to_array()));
        let start: Vec<[f32; 4]> = case.start.iter().map(|x| x.extend(1.0).to_array()).collect();
        let positions = buffer(&start);
        let pipelines = CorrectionPipelines::new(device, 8).unwrap();
        let rest = buffer(&[case.corrections.first_attachment.extend(0.0).to_array()]);
        let streams = FleshStreams { rest: &rest, anchors: &anchors, turns: &turns, positions: &positions };
        let state = pipelines.bind(device, &case.corrections, &streams).unwrap();
        Self { device: device.clone(), pipelines, state, start, positions }
    }

    fn corrected(&self, params: &Params) -> Vec<[f32; 4]> {
        let frame = self.device.run(|frame| {
            frame.upload(&self.positions, 0, &self.start);
            self.pipelines.record(&self.state, params, frame);
            Ok(())
        });
        frame.unwrap();
        self.device.read(&self.positions, self.start.len()).unwrap()
    }
}

fn bend(degrees: f32) -> Quat {
    Quat::from_rotation_z(degrees.to_radians())
}

#[test]
fn gpu_equals_twin_and_repeats_itself_to_the_bit() {
    let Some(device) = device() else { return };
    for elbow in [bend(90.0), bend(150.0), Quat::from_rotation_y(PI - 1e-4), Quat::IDENTITY] {
        let case = Case::new(Quat::IDENTITY, elbow);
        let gpu = OnGpu::new(&device, &case);
        for params in [
            Params::default(),
            Params { volume: 0.0, ..Params::default() },
            Params { untangle: 0, ..Params::default() },
            Params { volume: 0.5, untangle: 3, ..Params::default() },
        ] {
            let (once, twin) = (gpu.corrected(&params), case.corrected(&params));
            for (v, (g, c)) in once.iter().zip(&twin).enumerate() {
                let off = Vec3::new(g[0], g[1], g[2]).distance(*c);
                assert!(off < 1e-4 * case.diagonal(), "{elbow}, {params:?}: vertex {v} off by {off}");
            }
            for _ in 0..3 {
                assert_eq!(
                    bytemuck::cast_slice::<_, u32>(&once),
                    bytemuck::cast_slice::<_, u32>(&gpu.corrected(&params))
                );
            }
        }
    }
    assert_silent(&device);
}

#[test]
fn rounds_open_inverted_triangles() {
    for elbow in [bend(120.0), bend(150.0)] {
        let case = Case::new(Quat::IDENTITY, elbow);
        let plain = Params { volume: 0.0, untangle: 0, ..Params::default() };
        let counts =
            [0, 2, MOST].map(|untangle| case.inverted(&case.corrected(&Params { untangle, ..plain })));
        assert!(counts.is_sorted_by(|a, b| a > b), "{elbow}: {counts:?} after 0, 2 and {MOST} rounds");
    }
}

#[test]
fn bind_pose_and_rigid_motion_stay_to_rounding() {
    for root in [Quat::IDENTITY, Quat::from_euler(glam::EulerRot::XYZ, 1.0, 2.0, -0.7)] {
        let case = Case::new(root, Quat::IDENTITY);
        let after = case.corrected(&Params { untangle: MOST, ..Params::default() });
        let off = after.iter().zip(&case.start).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off < 1e-6 * case.diagonal(), "{root}: {off}");
    }
}
