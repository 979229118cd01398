//! Measures cages: the preparation, the updates in both directions, and frames whose rest shape changes. Some of the
//! times stand beside those of a plain implementation on one thread.

mod plain;
mod subjects;
mod tables;

pub(super) use tables::text;

use super::measure::{Effort, ROUNDS, Sample};
use super::{load, poses};
use crate::app::context::{Context, stage};
use crate::base::math::{DMat3, DVec3, Mat3};
use crate::base::{Progress, Result};
use crate::bind::Character;
use crate::bind::shapes::Shape;
use crate::cage::{
    Cage, CageMesh, Coordinates, Coupling, Reverse, Workspace, joint_coordinates, max_volume_rows, mean_value,
};
use crate::deform::rest::SkinCage;
use crate::deform::{Geometric, Graph, Kernels, Recipe};
use crate::generate::Kind;
use crate::rig::{PosedRig, RestShift};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use subjects::{Subject, arm, generated, tube};

/// Generated characters and wanted numbers of cage vertices.
const MADE: [(Kind, usize); 3] = [(Kind::Human, 60), (Kind::Human, 120), (Kind::Golem, 60)];
/// The tube has 120,002 vertices and 98 joints, about as many as the paper's largest model.
const TUBE: Shape = Shape { bones: 98, rings: 1151, segments: 100, radius: 0.1, length: 3.0, blend: 0.8 };
/// Sides and rows of the tube's cage; it has 44 vertices.
const TUBE_CAGE: [usize; 2] = [6, 6];
/// Name of the tube's row, and of the row of the authors' arm.
const NAMES: [&str; 2] = ["tube", "arm"];
/// Minimum time of a batch of runs, seconds. It is far above the clock's resolution.
const BATCH: f64 = 1e-3;

/// Times of a cage.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CageTimes {
    /// The device of the frames; `None` without Vulkan.
    pub device: Option<String>,
    /// Number of CPU threads.
    pub cores: usize,
    /// Linux's load average before the measurement.
    pub load: Option<f64>,
    /// One row per mesh and cage.
    pub rows: Vec<CageRow>,
    /// Published times and aims, with the measured times.
    pub known: Vec<KnownTime>,
}

/// Times of one mesh with a cage.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CageRow {
    /// Name of the mesh.
    pub mesh: String,
    /// Number of control vertices.
    pub vertices: usize,
    /// Number of joints.
    pub joints: usize,
    /// Number of cage vertices.
    pub cage: usize,
    /// Mean value coordinates of the skin.
    pub coordinates: Compared,
    /// Coordinates of the joints (preparation of SkelUp).
    pub joint_coordinates: Sample,
    /// MaxVol: selection of the vertices that determine the cage.
    pub max_vol: Sample,
    /// The whole preparation: coordinates of skin, joints and tails, MaxVol and the factor of CageUp.
    pub preparation: Sample,
    /// CageUp, one call.
    pub cage_up: Compared,
    /// CageRev: assembling and factoring the map of one pose.
    pub reverse_factor: Sample,
    /// CageRev: one call for a factored pose.
    pub reverse_solve: Sample,
    /// CageRev without preparation: assembling, factoring and one solve, against the plain implementation.
    pub reverse: Compared,
    /// Rest offsets of the skin from those of the cage, on the CPU.
    pub skin_offsets: Compared,
    /// Frames on the device; `None` without Vulkan.
    pub frames: Option<RestFrames>,
}

/// A time beside the time of the plain implementation.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Compared {
    /// Sinew's time.
    pub time: Sample,
    /// Time of the plain implementation on one thread.
    pub plain: Sample,
    /// The shortest plain time divided by Sinew's shortest time.
    pub ratio: f64,
}

impl Compared {
    fn new(time: Sample, plain: Sample) -> Self {
        Self { time, plain, ratio: plain.min_ms / time.min_ms }
    }
}

/// Device times of whole frames of linear blend skinning with normals, in poses that change every frame.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct RestFrames {
    /// The rest shape is edited, but stays constant.
    pub still: Sample,
    /// The rest shape changes every frame.
    pub moving: Sample,
    /// Additional time of a changing rest shape relative to `still`: median over rounds. 0.01 means one percent.
    pub share: f64,
}

/// A published time and an aim, milliseconds.
#[derive(Clone, Debug, serde::Serialize)]
pub struct KnownTime {
    /// Name of the mesh.
    pub mesh: &'static str,
    /// The measured work.
    pub what: &'static str,
    /// Time in the paper's table 1, on one thread.
    pub paper_ms: Option<f64>,
    /// Time of the authors' program.
    pub authors_ms: Option<f64>,
    /// The aim.
    pub aim_ms: f64,
    /// Median of the measured times.
    pub measured_ms: f64,
    /// Whether the measured time is below the aim.
    pub met: bool,
}

/// Measures all meshes.
///
/// # Errors
/// Any error from generating, coupling or deforming.
pub(super) fn measure(context: &mut Context, effort: &Effort) -> Result<CageTimes> {
    let load = load();
    // Without Vulkan, only the CPU is measured.
    let kernels = context.kernels().ok();
    let mut rows = Vec::new();
    for (kind, vertices) in MADE {
        let name = kind.name();
        let subject = stage(&format!("{name}: cage of {vertices}"), || generated(kind, vertices))?.0;
        rows.push(stage(&format!("{name}: times"), || row(kernels.as_ref(), &subject, effort))?.0);
    }
    let subject = stage("tube", || tube(&TUBE, TUBE_CAGE))?.0;
    rows.push(stage("tube: times", || row(kernels.as_ref(), &subject, effort))?.0);
    let folder = subjects::arm_folder();
    if folder.exists() {
        let subject = stage("arm", || arm(&folder))?.0;
        rows.push(stage("arm: times", || row(kernels.as_ref(), &subject, effort))?.0);
    }
    Ok(CageTimes {
        device: kernels.map(|k| k.device().name().to_owned()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        load,
        known: known(&rows),
        rows,
    })
}

/// Times a function within the limits of `effort`; runs that are shorter than a batch are timed in batches. A run longer
/// than the budget is timed once.
fn timed(effort: &Effort, mut run: impl FnMut() -> Result<()>) -> Result<Sample> {
    let first = Instant::now();
    run()?;
    let first = first.elapsed();
    if first > effort.budget {
        return Ok(Sample::of(&[first.as_secs_f64() * 1e3]));
    }
    let batch = (BATCH / first.as_secs_f64().max(1e-7)).clamp(1.0, 1e4) as u32;
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || begin.elapsed() < effort.budget && times.len() < effort.most {
        let start = Instant::now();
        (0..batch).try_for_each(|_| run())?;
        times.push(start.elapsed().as_secs_f64() * 1e3 / f64::from(batch));
    }
    Ok(Sample::of(&times))
}

fn row(kernels: Option<&Arc<Kernels>>, subject: &Subject, effort: &Effort) -> Result<CageRow> {
    let (character, cage) = (&*subject.bound.character, &subject.cage);
    let (skeleton, columns) = (&character.skeleton, cage.positions.len());
    let points: Vec<DVec3> = character.control.positions.iter().map(|x| x.as_dvec3()).collect();
    let triangles: Vec<[u32; 3]> = cage.triangles().collect();
    let progress = Progress::default();
    let coordinates = timed(effort, || {
        black_box(mean_value(&cage.positions, &triangles, &points));
        Ok(())
    })?;
    let plain_coordinates = timed(effort, || {
        black_box(plain::mean_value(&cage.positions, &triangles, &points));
        Ok(())
    })?;
    let phi = mean_value(&cage.positions, &triangles, &points);
    let joint_times = timed(effort, || joint_coordinates(character, cage, &phi, &progress).map(drop))?;
    let max_vol = timed(effort, || max_volume_rows(&phi, columns, |_| true).map(drop))?;
    let preparation = timed(effort, || Coupling::bind(character, cage, None, &progress).map(drop))?;
    let coupling = Coupling::bind(character, cage, None, &progress)?;
    let work = Work::new(character, &coupling, &phi);

    let mut turn = 0;
    let mut next = || {
        turn = 1 - turn;
        turn
    };
    let (mut workspace, mut out) = (Workspace::default(), Vec::new());
    let cage_up = timed(effort, || {
        coupling.cage_up(&work.posed[next()], &mut workspace, &mut out);
        black_box(&out);
        Ok(())
    })?;
    let plain_cage_up = timed(effort, || {
        black_box(plain::cage_up(&work.forward, &work.posed[next()]));
        Ok(())
    })?;
    let edit = waves(cage, 0.0);
    let factored = |k: usize| Reverse::new(&coupling, &work.linear[k], &work.rigs[k].carriers(skeleton));
    let reverse_factor = timed(effort, || factored(next()).map(drop))?;
    let reverse = factored(0)?;
    let reverse_solve = timed(effort, || {
        reverse.rest_offsets(&edit, &mut out);
        black_box(&out);
        Ok(())
    })?;
    let whole = timed(effort, || {
        factored(next())?.rest_offsets(&edit, &mut out);
        black_box(&out);
        Ok(())
    })?;
    let given = work.given(&coupling);
    let plain_reverse = timed(effort, || {
        black_box(plain::reverse(&given, &work.linear[next()], &edit));
        Ok(())
    })?;
    let mut skin = Vec::new();
    let skin_offsets = timed(effort, || {
        coupling.skin_offsets(&edit, &mut skin);
        black_box(&skin);
        Ok(())
    })?;
    let plain_skin = timed(effort, || {
        black_box(plain::skin_offsets(coupling.phi(), &edit));
        Ok(())
    })?;
    let frames = kernels.map(|kernels| frames(kernels, subject, &coupling, &work, effort)).transpose()?;
    Ok(CageRow {
        mesh: subject.name.clone(),
        vertices: points.len(),
        joints: skeleton.joints.len(),
        cage: columns,
        coordinates: Compared::new(coordinates, plain_coordinates),
        joint_coordinates: joint_times,
        max_vol,
        preparation,
        cage_up: Compared::new(cage_up, plain_cage_up),
        reverse_factor,
        reverse_solve,
        reverse: Compared::new(whole, plain_reverse),
        skin_offsets: Compared::new(skin_offsets, plain_skin),
        frames,
    })
}

/// Two poses, and the input of the updates in each pose.
struct Work {
    rigs: [PosedRig; 2],
    /// Linear part of each joint's transform.
    linear: [Vec<DMat3>; 2],
    /// Posed positions of the selected vertices.
    posed: [Vec<DVec3>; 2],
    /// Coordinates of the selected vertices, C x C.
    forward: Vec<f64>,
    weights: Vec<Vec<(usize, f64)>>,
    parents: Vec<Option<usize>>,
}

impl Work {
    fn new(character: &Character, coupling: &Coupling, phi: &[f64]) -> Self {
        let (control, columns) = (&character.control, coupling.cage_vertices());
        let rigs = poses::pair(&character.skeleton);
        let weights: Vec<Vec<(usize, f64)>> = (coupling.rows().iter())
            .map(|&v| {
                let entries = || control.influences.of(v as usize);
                let sum: f64 = entries().map(|e| f64::from(e.1)).sum();
                entries().map(|(j, w)| (usize::from(j), f64::from(w) / sum)).collect()
            })
            .collect();
        let posed = |rig: &PosedRig| -> Vec<DVec3> {
            let vertices = coupling.rows().iter().zip(&weights);
            let of = |(&v, weights): (&u32, &Vec<(usize, f64)>)| {
                let x = control.positions[v as usize];
                weights.iter().map(|&(j, w)| rig.skinning[j].transform_point3(x).as_dvec3() * w).sum()
            };
            vertices.map(of).collect()
        };
        let linear = |rig: &PosedRig| rig.skinning.iter().map(|m| Mat3::from(m.matrix3).as_dmat3()).collect();
        let rows = coupling.rows().iter().flat_map(|&v| &phi[v as usize * columns..][..columns]);
        Self {
            linear: [0, 1].map(|k| linear(&rigs[k])),
            posed: [0, 1].map(|k| posed(&rigs[k])),
            forward: rows.copied().collect(),
            parents: character.skeleton.joints.iter().map(|j| j.parent.map(|p| p.index())).collect(),
            weights,
            rigs,
        }
    }

    fn given<'a>(&'a self, coupling: &'a Coupling) -> plain::Given<'a> {
        plain::Given {
            forward: &self.forward,
            psi: coupling.psi(),
            weights: &self.weights,
            parents: &self.parents,
        }
    }
}

/// Returns offsets of the cage's vertices: waves of a tenth of the cage's height.
fn waves(cage: &CageMesh, phase: f64) -> Vec<DVec3> {
    let low = cage.positions.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = cage.positions.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let size = (high - low).max_element().max(1e-9);
    let of = |x: &DVec3| {
        let at = 6.0 * (*x - low) / size + phase;
        0.1 * size * DVec3::new(at.y.sin(), at.z.cos(), at.x.sin())
    };
    cage.positions.iter().map(of).collect()
}

/// Measures in turn frames whose rest shape stays constant and frames whose rest shape changes.
fn frames(
    kernels: &Arc<Kernels>,
    subject: &Subject,
    coupling: &Coupling,
    work: &Work,
    effort: &Effort,
) -> Result<RestFrames> {
    let skeleton = &subject.bound.character.skeleton;
    let skin = SkinCage { cage: coupling.cage_vertices(), rows: coupling.phi().to_vec() };
    let narrow = |values: &[f64]| values.iter().map(|w| *w as f32).collect();
    let shift = |phase: f64| -> RestShift {
        let cage = Cage {
            name: String::new(),
            mesh: subject.cage.clone(),
            coordinates: Coordinates::MeanValue,
            joints: narrow(coupling.psi()),
            tails: narrow(coupling.tips()),
            offsets: waves(&subject.cage, phase).iter().map(|d| d.as_vec3().to_array()).collect(),
        };
        cage.rest(skeleton)
    };
    let shifts = [shift(0.0), shift(1.0)];
    let shifted = |pose: usize, rest: usize| {
        let mut out = PosedRig::default();
        work.rigs[pose].with_rest_into(skeleton, &shifts[rest], &mut out);
        out
    };
    let rigs = [[shifted(0, 0), shifted(1, 0)], [shifted(0, 0), shifted(1, 1)]];
    let graph = || -> Result<Graph> {
        let mut graph = Graph::new(kernels, &subject.bound, &Recipe::geometric(Geometric::Lbs), false)?;
        graph.set_cage(Some(&skin))?;
        Ok(graph)
    };
    let mut graphs = [graph()?, graph()?];
    let mut times = [Vec::new(), Vec::new()];
    let mut begin = Instant::now();
    for round in 0.. {
        // The first two rounds warm up both poses.
        if round == 2 {
            begin = Instant::now();
        }
        let done = times[0].len();
        if done >= effort.most || done >= ROUNDS && begin.elapsed() >= effort.budget {
            break;
        }
        for k in 0..2 {
            let variant = if round % 2 == 0 { k } else { 1 - k };
            let timings = kernels.device().run(|frame| {
                graphs[variant].record(frame, &rigs[variant][round % 2]);
                Ok(())
            })?;
            if round >= 2 {
                times[variant].push(timings.iter().map(|(_, time)| time.as_secs_f64() * 1e3).sum::<f64>());
            }
        }
    }
    let [still, moving] = &times;
    Ok(RestFrames {
        still: Sample::of(still),
        moving: Sample::of(moving),
        share: super::measure::longer(still, moving),
    })
}

/// Returns the published times and the aims for the rows that were measured.
fn known(rows: &[CageRow]) -> Vec<KnownTime> {
    let [tube, arm] = NAMES;
    type Of = fn(&CageRow) -> f64;
    type Row = (&'static str, &'static str, Option<f64>, Option<f64>, f64, Of);
    let table: [Row; 4] = [
        (arm, "preparation", Some(446.0), Some(158.0), 30.0, |r| r.preparation.median_ms),
        (arm, "CageUp", None, Some(0.19), 0.05, |r| r.cage_up.time.median_ms),
        (arm, "CageRev, assembled and solved", Some(20.0), Some(7.0), 3.0, |r| r.reverse.time.median_ms),
        (tube, "preparation", Some(46_803.0), Some(19_000.0), 2000.0, |r| r.preparation.median_ms),
    ];
    let of = |(mesh, what, paper_ms, authors_ms, aim_ms, of): Row| {
        let measured_ms = of(rows.iter().find(|r| r.mesh == mesh)?);
        Some(KnownTime { mesh, what, paper_ms, authors_ms, aim_ms, measured_ms, met: measured_ms < aim_ms })
    };
    table.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn small() -> Subject {
        let shape = Shape { bones: 4, rings: 30, segments: 16, radius: 0.1, length: 1.0, blend: 0.6 };
        tube(&shape, [5, 3]).unwrap()
    }

    #[test]
    fn the_plain_implementations_give_the_same_results() {
        let subject = small();
        let (character, cage) = (&*subject.bound.character, &subject.cage);
        let points: Vec<DVec3> = character.control.positions.iter().map(|x| x.as_dvec3()).collect();
        let triangles: Vec<_> = cage.triangles().collect();
        let phi = mean_value(&cage.positions, &triangles, &points);
        let plain_phi = plain::mean_value(&cage.positions, &triangles, &points);
        let worst = phi.iter().zip(&plain_phi).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{worst}");
        let coupling = Coupling::bind(character, cage, None, &Progress::default()).unwrap();
        let work = Work::new(character, &coupling, &phi);
        let apart = |a: &[DVec3], b: &[DVec3]| {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
        };
        let mut out = Vec::new();
        coupling.cage_up(&work.posed[0], &mut Workspace::default(), &mut out);
        let worst = apart(&out, &plain::cage_up(&work.forward, &work.posed[0]));
        assert!(worst < 1e-9, "{worst}");
        let edit = waves(cage, 0.3);
        let carriers = work.rigs[1].carriers(&character.skeleton);
        Reverse::new(&coupling, &work.linear[1], &carriers).unwrap().rest_offsets(&edit, &mut out);
        let worst = apart(&out, &plain::reverse(&work.given(&coupling), &work.linear[1], &edit));
        assert!(worst < 1e-3, "{worst}");
        coupling.skin_offsets(&edit, &mut out);
        assert!(apart(&out, &plain::skin_offsets(coupling.phi(), &edit)) < 1e-12);
    }

    #[test]
    fn a_small_tube_is_measured_whole() {
        let effort = Effort { budget: Duration::ZERO, most: 1 };
        let subject = small();
        assert_eq!(subject.cage.positions.len(), 22);
        let kernels = crate::gpu::testing::device().map(|_| Context::new(None).kernels().unwrap());
        let row = row(kernels.as_ref(), &subject, &effort).unwrap();
        assert_eq!((row.cage, row.joints), (22, 4));
        assert!(row.coordinates.ratio > 0.0 && row.cage_up.time.min_ms > 0.0 && row.reverse.ratio > 0.0);
        assert_eq!(row.frames.is_some(), kernels.is_some());
        let times = CageTimes {
            device: None,
            cores: 2,
            load: None,
            known: known(std::slice::from_ref(&row)),
            rows: vec![row],
        };
        let text = text(&times);
        assert!(text.contains("CageRev") && text.contains("tube: preparation"), "{text}");
    }
}
