//! The report that `sinew-lab bench --json` prints.

use super::desk::DeskFrame;
use super::fast::FastTimes;
use super::measure::Sample;
use super::thesis::ThesisRow;
use super::vr::{EYES, VrFrame};
use crate::deform::springs::Solver;
use crate::gpu::Device;
use serde::Serialize;

/// Time of a frame at 60 frames per second, milliseconds.
pub(super) const FRAME_MS: f64 = 1000.0 / 60.0;

/// All measurements of one run, milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct BenchReport {
    /// Name of the device.
    pub device: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Whether the device is a software renderer on the CPU.
    pub software: bool,
    /// Number of CPU threads.
    pub cores: usize,
    /// Load average of the last minute; `None` if the system does not report it. On a busy machine, all times of a
    /// software device are too high.
    pub load: Option<f64>,
    /// Copy bandwidth of the device.
    pub copy: Copy,
    /// Deformation and drawing times, one entry per mesh.
    pub meshes: Vec<MeshReport>,
    /// Headset frames: characters at two eye sizes.
    pub vr: Vec<VrFrame>,
    /// Times of the window's frame, for each character while the view moves and while a stroke is drawn.
    pub desk: Vec<DeskFrame>,
    /// Tubes of increasing size; empty if files were given.
    pub growth: Vec<Growth>,
    /// FAST on the CPU; empty if files were given.
    pub fast: Vec<FastTimes>,
    /// Target times of the measured meshes. On a software device the targets are for deformation, on other devices for
    /// a headset frame.
    pub targets: Vec<Target>,
    /// The thesis's published times, on its GPU.
    pub thesis: Vec<ThesisRow>,
}

/// Result of copying a large buffer on the device.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Copy {
    /// Size of the buffer, bytes.
    pub bytes: u64,
    /// Time of one copy.
    pub time: Sample,
    /// Bytes read plus bytes written per second, in gigabytes.
    pub gigabytes_per_second: f64,
}

/// Times from file to bound character.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Preparation {
    /// Time from file to asset.
    pub load: Sample,
    /// Time from asset to control mesh and skeleton.
    pub weld: Sample,
    /// Time of attaching the skin to the bones.
    pub bind: Sample,
}

/// Times of a geometric skinning method.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DeformTimes {
    /// Device time of the skinning stage.
    pub skinning: Sample,
    /// Device time of pose upload, skinning, display copy and normals.
    pub frame: Sample,
    /// Time from the start of recording until the device finished.
    pub wall: Sample,
}

/// Times of plain Jacobi with a fixed number of iterations.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Springs {
    /// Number of iterations.
    pub iterations: u32,
    /// Device time of preparation, iterations and copy of the result.
    pub springs: Sample,
    /// Device time of the whole deformation, skinning and normals included.
    pub frame: Sample,
    /// Time from the start of recording until the device finished.
    pub wall: Sample,
}

/// Times of the springs until the default stop criterion.
#[derive(Clone, Debug, Serialize)]
pub struct Converged {
    /// The solver. The stop criterion tests the step of one iteration. Plain Jacobi makes smaller steps than the other
    /// solvers, so it stops further from the equilibrium.
    pub solver: Solver,
    /// Fine-level iterations of each of the two poses.
    pub iterations: [u32; 2],
    /// Number of iterations recorded in the frame.
    pub limit: u32,
    /// Whether both poses converged.
    pub reached: bool,
    /// Whether both poses converged within the default limit.
    pub within_default: bool,
    /// Device time of preparation, iterations and copy of the result.
    pub springs: Sample,
    /// Device time of the whole deformation, skinning and normals included.
    pub frame: Sample,
    /// Time from the start of recording until the device finished.
    pub wall: Sample,
}

/// Cost of one spring iteration.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Iteration {
    /// Time per iteration: the difference between the shortest runs of 100 iterations and of 1 iteration, divided by
    /// 99.
    pub milliseconds: f64,
    /// Time per iteration and control vertex, nanoseconds.
    pub ns_per_vertex: f64,
    /// Time of an iteration after convergence, in which all invocations return immediately.
    pub skipped_ms: f64,
    /// Time of the springs apart from their iterations.
    pub prepare_and_finish_ms: f64,
    /// Bytes of all arrays that an iteration reads or writes, each element counted once. This is the traffic with a
    /// perfect cache.
    pub bytes_once: u64,
    /// As `bytes_once`, but with a neighbour's data counted each time a vertex reads it. This is the traffic without a
    /// cache.
    pub bytes_gathered: u64,
    /// `bytes_once` divided by the time of an iteration.
    pub gigabytes_per_second: f64,
    /// `gigabytes_per_second` divided by the device's copy bandwidth.
    pub share_of_copy: f64,
}

/// Times of drawing the posed mesh.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DrawTimes {
    /// Surface and backdrop at 1920 x 1080, with one sample per pixel and with four (if the device supports four).
    pub window: [Sample; 2],
    /// Surface and backdrop for two eyes of 1024 x 1024, with one sample per pixel and with four.
    pub stereo: [Sample; 2],
    /// The same with Phong tessellation.
    pub phong: [Sample; 2],
    /// What the silhouettes of the silhouette tool add at 1920 x 1080, and for two eyes of 1024 x 1024.
    pub silhouettes: [Sample; 2],
    /// What ambient occlusion adds before the surface is drawn, at 1920 x 1080, and for two eyes of 1024 x 1024.
    pub occlusion: [Sample; 2],
    /// What the outline of the whole character adds at 1920 x 1080, and for two eyes of 1024 x 1024.
    pub outline: [Sample; 2],
    /// What eight ghosts of an onion skin add at 1920 x 1080, and for two eyes of 1024 x 1024.
    pub ghosts: [Sample; 2],
    /// Time to render the one-pixel G-buffer of a pick.
    pub pick: Sample,
    /// Time to render the G-buffer of a brush's camera, 16 x 16 pixels.
    pub probe: Sample,
}

/// All measurements of one mesh.
#[derive(Clone, Debug, Serialize)]
pub struct MeshReport {
    /// Name of the generated mesh or of the file.
    pub name: String,
    /// Number of joints of the skeleton.
    pub joints: usize,
    /// Number of bones of the skeleton.
    pub bones: usize,
    /// Number of control vertices; deformation moves these vertices.
    pub vertices: usize,
    /// Number of directed edges between control vertices.
    pub half_edges: usize,
    /// Number of display vertices.
    pub display_vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Times of loading and binding.
    pub preparation: Preparation,
    /// Baseline for comparison: linear blend skinning of the control vertices on one CPU thread, positions only.
    pub cpu_lbs: Sample,
    /// Times of linear blend skinning.
    pub lbs: DeformTimes,
    /// Times of dual quaternion skinning.
    pub dqs: DeformTimes,
    /// Times of swing-twist deformers.
    pub swing_twist: DeformTimes,
    /// Times of the method `volume` with its default settings; here `skinning` is the time of the solver.
    pub volume: DeformTimes,
    /// As `volume`, with 3 additional multigrid cycles with contact.
    pub contact: DeformTimes,
    /// Plain Jacobi with 1, 25, 50 and 100 iterations.
    pub springs: Vec<Springs>,
    /// Largest number of plain iterations at 60 frames per second: the median of measured frames (skinning, springs and
    /// normals) takes at most a sixtieth of a second. 0 if a frame with one iteration takes longer. Accurate to 2 %.
    pub largest: u32,
    /// Springs to convergence: multigrid (the default), Chebyshev acceleration, plain Jacobi.
    pub converged: Vec<Converged>,
    /// Cost of one spring iteration.
    pub iteration: Iteration,
    /// Device time of display copy and normals.
    pub normals: Sample,
    /// Device time of dynamics per frame at 60 frames per second, without springs.
    pub swing: Sample,
    /// Times of drawing.
    pub draw: DrawTimes,
}

/// Times of a tube.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Growth {
    /// Number of control vertices.
    pub vertices: usize,
    /// Time from file to asset.
    pub load_ms: f64,
    /// Time from asset to control mesh and skeleton.
    pub weld_ms: f64,
    /// Time of attaching the skin to the bones.
    pub bind_ms: f64,
    /// Time of display copy and normals in the shortest run.
    pub normals_ms: f64,
    /// Time of one spring iteration, from the shortest runs.
    pub iteration_ms: f64,
    /// Attachment time per control vertex, nanoseconds.
    pub bind_ns_per_vertex: f64,
    /// Time of one spring iteration per control vertex, nanoseconds.
    pub iteration_ns_per_vertex: f64,
}

/// A target time and its measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// Description of the measured work.
    pub what: String,
    /// The target time.
    pub target_ms: f64,
    /// Median time measured on the device.
    pub measured_ms: f64,
    /// Whether the measurement met the target.
    pub met: bool,
}

impl Target {
    fn new(what: String, target_ms: f64, measured_ms: f64) -> Self {
        Self { what, target_ms, measured_ms, met: measured_ms < target_ms }
    }
}

/// Targets on a software device: name of a mesh and milliseconds. Each target is half of Blender's time for a mesh of
/// the same size on two cores. Blender ran its armature and Corrective Smooth (50 iterations).
const SOFTWARE_TARGETS: [(&str, f64); 2] = [("chibi", 13.0), ("golem", 31.0)];
/// Target on other devices: a headset frame of this mesh at the larger eye size.
const VR_TARGET: (&str, f64) = ("human", 4.0);

/// Returns the device's targets with the measured times.
pub(super) fn targets(device: &Device, meshes: &[MeshReport], vr: &[VrFrame]) -> Vec<Target> {
    let deformation = meshes.iter().filter_map(|mesh| {
        let (_, target) = *SOFTWARE_TARGETS.iter().find(|(name, _)| *name == mesh.name)?;
        let what = format!("{}: {} vertices to convergence, normals included", mesh.name, mesh.vertices);
        Some(Target::new(what, target, mesh.converged.first()?.frame.median_ms))
    });
    let frames = vr.iter().filter(|f| f.mesh == VR_TARGET.0 && f.eye == EYES[1]).map(|f| {
        let [w, h] = f.eye;
        Target::new(
            format!("{}: a headset's frame of 2 x {w} x {h}", f.mesh),
            VR_TARGET.1,
            f.device.median_ms,
        )
    });
    if device.is_software() { deformation.collect() } else { frames.collect() }
}
