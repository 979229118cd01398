//! What `sinew-lab bench --json` prints.

use super::desk::DeskFrame;
use super::fast::FastTimes;
use super::measure::Sample;
use super::thesis::ThesisRow;
use super::vr::{EYES, VrFrame};
use crate::deform::springs::Solver;
use crate::gpu::Device;
use serde::Serialize;

/// Everything measured in one run, milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct BenchReport {
    /// The device's name.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// Whether it is a program on the CPU.
    pub software: bool,
    /// Threads of the CPU.
    pub cores: usize,
    /// Processes that wanted to run in the minute before; `None` if the system does not say. Beyond an idle
    /// machine's, all figures of a software device are too high.
    pub load: Option<f64>,
    /// The device's copy bandwidth.
    pub copy: Copy,
    /// One per mesh.
    pub meshes: Vec<MeshReport>,
    /// Frames of a headset: characters at two sizes of the eyes.
    pub vr: Vec<VrFrame>,
    /// Frames of a window: characters while the view moves and while a stroke is drawn.
    pub desk: Vec<DeskFrame>,
    /// Tubes of growing size; empty where files were given.
    pub growth: Vec<Growth>,
    /// FAST on the processor; empty where files were given.
    pub fast: Vec<FastTimes>,
    /// What should be reached with the meshes that were measured: on a software device deformation, on others a headset's
    /// frame.
    pub targets: Vec<Target>,
    /// The thesis's own figures, on its GPU.
    pub thesis: Vec<ThesisRow>,
}

/// A large buffer copied on the device.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Copy {
    /// Bytes copied.
    pub bytes: u64,
    /// Time of one copy.
    pub time: Sample,
    /// Bytes read and bytes written, together.
    pub gigabytes_per_second: f64,
}

/// From file to bound character.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Preparation {
    /// File to asset.
    pub load: Sample,
    /// Asset to control mesh and skeleton.
    pub weld: Sample,
    /// Attachment of the skin to the bones.
    pub bind: Sample,
}

/// A geometric method.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DeformTimes {
    /// The stage alone, on the device.
    pub skinning: Sample,
    /// Upload of the pose, skinning, display copy and normals, on the device.
    pub frame: Sample,
    /// From the start of recording until the device was done.
    pub wall: Sample,
}

/// Plain Jacobi for a fixed number of iterations.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Springs {
    /// How many.
    pub iterations: u32,
    /// Preparation, iterations and copy of the result, on the device.
    pub springs: Sample,
    /// The whole deformation on the device, skinning and normals included.
    pub frame: Sample,
    /// From the start of recording until the device was done.
    pub wall: Sample,
}

/// Springs until the default stop.
#[derive(Clone, Debug, Serialize)]
pub struct Converged {
    /// How they iterate. The stop looks at the move of one iteration; the plain solver's steps are smaller, so that
    /// it stops further from equilibrium.
    pub solver: Solver,
    /// How many iterations each of the two poses took, on the mesh itself.
    pub iterations: [u32; 2],
    /// How many the frame held.
    pub limit: u32,
    /// Whether both poses got there.
    pub reached: bool,
    /// Whether they did within the default limit.
    pub within_default: bool,
    /// Preparation, iterations and copy of the result, on the device.
    pub springs: Sample,
    /// The whole deformation on the device, skinning and normals included.
    pub frame: Sample,
    /// From the start of recording until the device was done.
    pub wall: Sample,
}

/// One spring iteration.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Iteration {
    /// Slope between 1 and 100 iterations, of the shortest runs.
    pub milliseconds: f64,
    /// The same per control vertex.
    pub ns_per_vertex: f64,
    /// One after convergence, which returns at once.
    pub skipped_ms: f64,
    /// What springs cost beside their iterations.
    pub prepare_and_finish_ms: f64,
    /// Bytes of every array that an iteration reads or writes, each element counted once: what a cache that holds
    /// a vertex's neighbours moves.
    pub bytes_once: u64,
    /// The same with every neighbour counted each time it is read: what no cache at all moves.
    pub bytes_gathered: u64,
    /// `bytes_once` over the time.
    pub gigabytes_per_second: f64,
    /// That over the copy bandwidth.
    pub share_of_copy: f64,
}

/// Drawing of the posed mesh.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DrawTimes {
    /// Surface and backdrop of 1920 x 1080, with one sample per pixel and with four (where the device has them).
    pub window: [Sample; 2],
    /// The same of two eyes of 1024 x 1024.
    pub stereo: [Sample; 2],
    /// G-buffer of a picked pixel.
    pub pick: Sample,
    /// A brush's camera of 16 x 16.
    pub probe: Sample,
}

/// One mesh.
#[derive(Clone, Debug, Serialize)]
pub struct MeshReport {
    /// Name of the generated mesh or of the file.
    pub name: String,
    /// Joints of the skeleton.
    pub joints: usize,
    /// Bones of the skeleton.
    pub bones: usize,
    /// Control vertices, which are deformed.
    pub vertices: usize,
    /// Directed edges between them.
    pub half_edges: usize,
    /// Vertices that are drawn.
    pub display_vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// Loading and binding.
    pub preparation: Preparation,
    /// The yardstick: linear blend skinning of the control vertices by one thread of the CPU, positions only.
    pub cpu_lbs: Sample,
    /// Linear blend skinning.
    pub lbs: DeformTimes,
    /// Dual quaternion skinning.
    pub dqs: DeformTimes,
    /// Plain Jacobi for 1, 25, 50 and 100 iterations.
    pub springs: Vec<Springs>,
    /// To convergence: over coarse levels (the default), accelerated, plain.
    pub converged: Vec<Converged>,
    /// What an iteration costs.
    pub iteration: Iteration,
    /// Display copy and normals, on the device.
    pub normals: Sample,
    /// Dynamics of a frame at 60 frames per second, on the device; springs do not count.
    pub swing: Sample,
    /// Drawing.
    pub draw: DrawTimes,
}

/// A tube.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Growth {
    /// Control vertices.
    pub vertices: usize,
    /// File to asset.
    pub load_ms: f64,
    /// Asset to control mesh and skeleton.
    pub weld_ms: f64,
    /// Attachment.
    pub bind_ms: f64,
    /// Display copy and normals, the shortest run.
    pub normals_ms: f64,
    /// One spring iteration, of the shortest runs.
    pub iteration_ms: f64,
    /// Attachment per control vertex.
    pub bind_ns_per_vertex: f64,
    /// One spring iteration per control vertex.
    pub iteration_ns_per_vertex: f64,
}

/// A time to keep.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// What should be done in it.
    pub what: String,
    /// The time to keep.
    pub target_ms: f64,
    /// Median on the device.
    pub measured_ms: f64,
    /// Whether it was kept.
    pub met: bool,
}

impl Target {
    fn new(what: String, target_ms: f64, measured_ms: f64) -> Self {
        Self { what, target_ms, measured_ms, met: measured_ms < target_ms }
    }
}

/// On a software device, half of the time that Blender's armature with Corrective Smooth (50 iterations) takes on
/// two cores for meshes of these sizes.
const SOFTWARE_TARGETS: [(&str, f64); 2] = [("chibi", 13.0), ("golem", 31.0)];
/// On others, a headset's frame of this mesh at the larger size.
const VR_TARGET: (&str, f64) = ("human", 4.0);

/// The targets that belong to a device and what was measured.
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
