//! `sinew-lab bench`: measures the thesis's Table 1 on this machine's device, and the time of each stage.
//!
//! Every result is the median and the minimum of repeated runs. A warm-up lets the driver finish lazy compilation. Runs
//! alternate between two full-body poses (or two cameras), so a run cannot reuse a cached result of the previous run. A
//! timed frame allocates no device memory.

mod cage;
mod classic;
mod deform;
mod desk;
mod draw;
mod equilibrium;
mod fast;
mod growth;
mod lbs;
mod measure;
mod panels;
mod poses;
mod report;
mod sculpt;
mod tets;
mod text;
mod thesis;
mod volume;
mod vr;
mod weights;

pub use cage::{CageRow, CageTimes, Compared, KnownTime, RestFrames};
pub use classic::ClassicTimes;
pub use desk::{DeskAct, DeskFrame};
pub use equilibrium::Equilibrium;
pub use fast::FastTimes;
pub use measure::Sample;
pub use panels::{PanelAct, PanelRow};
pub use report::{
    BenchReport, Converged, Copy, DeformTimes, DrawTimes, Growth, Iteration, MeshReport, Preparation, Target,
};
pub use sculpt::{BakeRate, EditTimes, SculptTimes};
pub use tets::TetTimes;
pub use thesis::{THESIS_TABLE_1, ThesisRow};
pub use volume::VolumeTimes;
pub use vr::VrFrame;

use crate::app::context::{Context, stage};
use crate::asset::Asset;
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::generate;
use crate::generate::Kind;
use crate::gpu::{Buffer, Device, Memory};
use crate::scene::{Model, Pipelines};
use measure::{Effort, repeat};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Size of the buffer copy that measures the device's bandwidth, bytes; far larger than any cache.
const COPY_BYTES: u64 = 128 << 20;
/// Vertex counts of the tubes that show how time grows with mesh size.
const TUBES: [usize; 5] = [10_000, 30_000, 100_000, 300_000, 1_000_000];

/// Generated characters that are also measured in a headset frame.
const SHOWN_IN_VR: [&str; 3] = ["human", "chibi", "golem"];

/// Generated characters that are also measured in a window frame.
const SHOWN_AT_DESK: [&str; 2] = ["human", "chibi"];

/// A mesh to measure: a file's path, or a name and a file's bytes.
enum Source {
    File(PathBuf),
    Memory(String, Vec<u8>),
}

impl Source {
    fn name(&self) -> String {
        match self {
            Self::File(path) => {
                path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
            }
            Self::Memory(name, _) => name.clone(),
        }
    }

    fn load(&self) -> Result<Asset> {
        match self {
            Self::File(path) => Asset::load(path),
            Self::Memory(name, bytes) => Asset::from_slice(bytes, name),
        }
    }

    /// Loads and binds the mesh repeatedly, within the limits of `effort`, and measures each stage.
    fn prepare(&self, effort: &Effort) -> Result<(Model, Preparation)> {
        let begin = Instant::now();
        let mut laps: [Vec<f64>; 3] = Default::default();
        loop {
            let start = Instant::now();
            let asset = self.load()?;
            let model = Model::bind(asset, &BindOptions::default(), start.elapsed())?;
            for (lap, (_, time)) in laps.iter_mut().zip(&model.stages) {
                lap.push(time.as_secs_f64() * 1e3);
            }
            if begin.elapsed() >= effort.budget || laps[0].len() >= effort.most {
                let [load, weld, bind] = laps.map(|lap| Sample::of(&lap));
                return Ok((model, Preparation { load, weld, bind }));
            }
        }
    }
}

/// Effort of a single run without repetition.
const ONCE: Effort = Effort { budget: Duration::ZERO, most: 1 };

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Rigged glTF files; without any, the meshes of the thesis's Table 1
    pub files: Vec<PathBuf>,
    /// Only the number of iterations in which the springs' plain and accelerated solvers reach the same equilibrium
    #[arg(long)]
    pub equilibrium: bool,
    /// Only LSE and ARAP against the vertices of their region
    #[arg(long, conflicts_with_all = ["equilibrium", "files"])]
    pub classic: bool,
    /// Only FAST, on the processor
    #[arg(long, conflicts_with_all = ["equilibrium", "classic", "files"])]
    pub fast: bool,
    /// Only sculpt layers in the springs, and baking
    #[arg(long, conflicts_with_all = ["equilibrium", "classic", "fast", "files"])]
    pub sculpt: bool,
    /// Only the tetrahedra of the method `tets`, on the processor
    #[arg(long, conflicts_with_all = ["equilibrium", "classic", "fast", "sculpt"])]
    pub tets: bool,
    /// Only weights that are computed inside the body, on the processor
    #[arg(long, conflicts_with_all = ["equilibrium", "classic", "fast", "sculpt", "tets"])]
    pub weights: bool,
    /// Only cages: their coordinates, CageUp, CageRev and a changing rest shape
    #[arg(long, conflicts_with_all = ["equilibrium", "classic", "fast", "sculpt", "tets", "weights", "files"])]
    pub cage: bool,
    /// Only the panels of headset and window, on the processor
    #[arg(long, conflicts_with_all = ["equilibrium", "classic", "fast", "sculpt", "tets", "weights", "cage"])]
    pub panels: bool,
    /// Only frames of the method `volume`, beside linear blend skinning and springs
    #[arg(long, conflicts_with_all = ["equilibrium", "classic", "fast", "sculpt", "tets", "weights", "cage", "panels"])]
    pub volume: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the benchmarks that the arguments select.
///
/// # Errors
/// Any error from loading, binding or evaluating.
pub fn run(context: &mut Context, args: &Args) -> Result<String> {
    match *args {
        Args { classic: true, json, .. } => classic(json),
        Args { sculpt: true, json, .. } => sculpt(context, json),
        Args { fast: true, json, .. } => fast(json),
        Args { tets: true, ref files, json, .. } => tets(files, json),
        Args { weights: true, ref files, json, .. } => weights(files, json),
        Args { cage: true, json, .. } => cage(context, json),
        Args { panels: true, ref files, json, .. } => panels(files, json),
        Args { volume: true, ref files, json, .. } => volume(context, files, json),
        Args { equilibrium: true, ref files, json, .. } => equilibrium(context, files, json),
        Args { ref files, json, .. } => bench(context, files, json),
    }
}

/// Counts the iterations that plain Jacobi and the default solver need to reach the same equilibrium. Measures
/// `files`, or the meshes of the thesis's Table 1 if `files` is empty. Returns a table, or a JSON list with `json`.
///
/// # Errors
/// Any error from loading, binding or deforming.
fn equilibrium(context: &mut Context, files: &[PathBuf], json: bool) -> Result<String> {
    let lines = equilibrium::measure(context, &sources(files)?)?;
    if json { as_json(&lines) } else { Ok(equilibrium::text(&lines)) }
}

/// Measures LSE and ARAP on regions of growing size; returns a table, or a JSON list with `json`.
///
/// # Errors
/// Any error from generating, binding or solving.
fn classic(json: bool) -> Result<String> {
    let times = classic::measure()?;
    if json { as_json(&times) } else { Ok(classic::text(&times)) }
}

/// Measures the cost of sculpt layers in the spring solver and of baking; returns tables, or JSON with `json`.
///
/// # Errors
/// Any error from generating, binding, deforming or writing.
fn sculpt(context: &mut Context, json: bool) -> Result<String> {
    let times = sculpt::measure(context, &Effort { budget: Duration::from_secs(4), most: 200 })?;
    if json { as_json(&times) } else { Ok(sculpt::text(&times)) }
}

/// Measures FAST on the CPU; returns a table, or a JSON list with `json`.
///
/// # Errors
/// Any error from binding.
fn fast(json: bool) -> Result<String> {
    let rows = fast::measure(&Effort { budget: Duration::from_millis(250), most: 40 })?;
    if json { as_json(&rows) } else { Ok(fast::text(&rows)) }
}

/// Measures the tetrahedra of [`crate::deform::volume::tets`] in `files`, or in the characters of the thesis's Table 1 if `files` is empty. Returns a
/// table, or a JSON list with `json`.
///
/// # Errors
/// Any error from loading or binding.
fn tets(files: &[PathBuf], json: bool) -> Result<String> {
    let rows = tets::measure(&sources(files)?, &Effort { budget: Duration::from_secs(2), most: 40 })?;
    if json { as_json(&rows) } else { Ok(tets::text(&rows)) }
}

/// Measures the weights of [`crate::bind::weights`] in `files`, or in the characters of the thesis's Table 1 if `files` is
/// empty. Returns a table, or a JSON list with `json`.
///
/// # Errors
/// Any error from loading, binding or solving.
fn weights(files: &[PathBuf], json: bool) -> Result<String> {
    let rows = weights::measure(&sources(files)?)?;
    if json { as_json(&rows) } else { Ok(weights::text(&rows)) }
}

/// Measures cages; returns tables, or JSON with `json`.
///
/// # Errors
/// Any error from generating, coupling or deforming.
fn cage(context: &mut Context, json: bool) -> Result<String> {
    let times = cage::measure(context, &Effort { budget: Duration::from_secs(1), most: 60 })?;
    if json { as_json(&times) } else { Ok(cage::text(&times)) }
}

/// Measures the panels with the characters in `files`, or with the human if `files` is empty. Returns a table, or a JSON
/// list with `json`.
///
/// # Errors
/// Any error from loading or binding.
fn panels(files: &[PathBuf], json: bool) -> Result<String> {
    let effort = Effort { budget: Duration::from_millis(300), most: 100 };
    let mut rows = Vec::new();
    let human = || Ok(vec![Source::Memory("human".to_owned(), generate::glb(Kind::Human)?)]);
    for source in if files.is_empty() { human()? } else { sources(files)? } {
        let model = Arc::new(source.prepare(&ONCE)?.0);
        rows.extend(panels::measure(&source.name(), &model, &effort)?);
    }
    if json { as_json(&rows) } else { Ok(panels::text(&rows)) }
}

/// Measures frames of the method `volume` in `files`. Without files, measures the meshes of the thesis's Table 1 and tubes
/// of 10 thousand to 1 million vertices. Returns a table, or a JSON list with `json`.
///
/// # Errors
/// Any error from loading, binding or deforming.
fn volume(context: &mut Context, files: &[PathBuf], json: bool) -> Result<String> {
    let effort = Effort { budget: Duration::from_secs(2), most: 60 };
    let mut all = sources(files)?;
    for vertices in if files.is_empty() { &TUBES[..] } else { &[] } {
        all.push(Source::Memory(format!("tube of {vertices}"), generate::tube(*vertices)?));
    }
    let rows = volume::measure(context, &all, &effort)?;
    if json { as_json(&rows) } else { Ok(volume::text(&rows)) }
}

fn as_json(report: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string_pretty(report)
        .map_err(|e| Error::input(format!("the report is not JSON: {e}"), "report it as a bug"))
}

fn sources(files: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources: Vec<Source> = files.iter().cloned().map(Source::File).collect();
    if files.is_empty() {
        for kind in Kind::ALL {
            let bytes = stage(&format!("generate {}", kind.name()), || generate::glb(kind))?.0;
            sources.push(Source::Memory(kind.name().to_owned(), bytes));
        }
    }
    Ok(sources)
}

/// Measures the files. Without files, measures the meshes of the thesis's Table 1 and tubes of 10 thousand to 1
/// million vertices. Returns tables, or JSON with `json`.
///
/// # Errors
/// Any error from loading, binding, deforming or drawing.
fn bench(context: &mut Context, files: &[PathBuf], json: bool) -> Result<String> {
    let effort = Effort { budget: Duration::from_millis(250), most: 40 };
    let report = measure(context, files, &effort)?;
    if json { as_json(&report) } else { Ok(text::text(&report)) }
}

fn measure(context: &mut Context, files: &[PathBuf], effort: &Effort) -> Result<BenchReport> {
    let load = load();
    let device = context.device()?;
    let copy = stage("copy bandwidth", || copy_bandwidth(&device, COPY_BYTES, effort))?.0;
    let sources = sources(files)?;
    let pipelines = Pipelines { kernels: context.kernels()?, renderer: context.renderer()? };
    let (mut meshes, mut vr, mut window) = (Vec::new(), Vec::new(), Vec::new());
    for source in &sources {
        let name = source.name();
        let (model, preparation) = stage(&format!("{name}: bind"), || source.prepare(effort))?.0;
        let mut mesh = deform::mesh(context, name.clone(), &model, preparation, effort)?;
        mesh.iteration.share_of_copy = mesh.iteration.gigabytes_per_second / copy.gigabytes_per_second;
        meshes.push(mesh);
        let model = Arc::new(model);
        if !files.is_empty() || SHOWN_AT_DESK.contains(&name.as_str()) {
            let title = format!("{name}: the window's frame");
            let frames = || desk::measure(&pipelines, &name, &model, desk::WINDOW, effort);
            window.extend(stage(&title, frames)?.0);
        }
        // Among the thesis's meshes, only characters are measured in the headset.
        if !files.is_empty() || SHOWN_IN_VR.contains(&name.as_str()) {
            let title = format!("{name}: the headset's frame");
            vr.extend(stage(&title, || vr::measure(&pipelines, &name, &model, effort))?.0);
        }
    }
    let mut growth = Vec::new();
    if files.is_empty() {
        for vertices in TUBES {
            growth.push(growth::tube(context, vertices, effort)?);
        }
    }
    let fast = if files.is_empty() { fast::measure(effort)? } else { Vec::new() };
    Ok(BenchReport {
        device: device.name().to_owned(),
        driver: device.driver(),
        software: device.is_software(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        load,
        copy,
        targets: report::targets(&device, &meshes, &vr),
        meshes,
        vr,
        desk: window,
        growth,
        fast,
        thesis: THESIS_TABLE_1.to_vec(),
    })
}

/// Returns Linux's load average of the last minute; `None` on other systems.
fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Measures the device's copy bandwidth by copying a large buffer to a second buffer and back.
fn copy_bandwidth(device: &Arc<Device>, wanted: u64, effort: &Effort) -> Result<Copy> {
    let bytes = wanted.min(u64::from(device.limits().max_storage_buffer_range));
    let pair = [
        Buffer::new(device, "copy there", bytes, Memory::Device)?,
        Buffer::new(device, "copy back", bytes, Memory::Device)?,
    ];
    let runs = repeat(device, effort, |i, frame| {
        frame.phase("copy");
        frame.copy(&pair[i % 2], &pair[(i + 1) % 2], bytes);
        Ok(())
    })?;
    let time = runs.device();
    Ok(Copy { bytes, time, gigabytes_per_second: 2.0 * bytes as f64 / (time.min_ms * 1e6) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::Shape;
    use crate::gpu::testing;

    #[test]
    fn a_small_mesh_is_measured_whole_and_the_report_says_so() {
        if testing::device().is_none() {
            return;
        }
        let effort = Effort { budget: Duration::ZERO, most: 2 };
        let mut context = Context::new(None);
        let asset =
            Shape { bones: 3, rings: 30, segments: 16, radius: 0.1, length: 1.0, blend: 0.5 }.capsule_asset();
        let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
        let none = Sample::of(&[1.0]);
        let preparation = Preparation { load: none, weld: none, bind: none };
        // The name `golem` makes the report compare this mesh with the thesis's largest mesh.
        let mesh = deform::mesh(&mut context, "golem".into(), &model, preparation, &effort).unwrap();
        assert_eq!(mesh.springs.iter().map(|s| s.iterations).collect::<Vec<_>>(), [1, 25, 50, 100]);
        let known =
            mesh.springs.iter().filter(|s| s.frame.median_ms <= report::FRAME_MS).map(|s| s.iterations);
        assert!(mesh.largest >= known.max().unwrap_or(0), "{mesh:?}");
        for c in &mesh.converged {
            assert!(c.reached && c.iterations.iter().all(|&n| n > 0), "{c:?}");
        }
        let [_, chebyshev, jacobi] = &mesh.converged[..] else { panic!("{:?}", mesh.converged) };
        assert!(chebyshev.iterations[0] < jacobi.iterations[0], "{chebyshev:?} {jacobi:?}");
        let device = context.device().unwrap();
        let pipelines =
            Pipelines { kernels: context.kernels().unwrap(), renderer: context.renderer().unwrap() };
        let model = Arc::new(model);
        let small = vr::frame(&pipelines, "human", &model, [32, 24], &effort).unwrap();
        let window = desk::measure(&pipelines, "human", &model, [300, 200], &effort).unwrap();
        for frame in &window {
            let [editor, cpu, whole] = [frame.editor, frame.cpu, frame.interval].map(|s| s.min_ms);
            assert!(editor > 0.0 && cpu > editor && whole > cpu && frame.device.min_ms > 0.0, "{frame:?}");
        }
        assert!(
            small.groups.iter().all(|(group, time)| time.median_ms > 0.0 || *group == "panels"),
            "{small:?}"
        );
        let parts: f64 = small.phases.iter().map(|(_, time)| time.min_ms).sum();
        assert!(parts <= small.device.median_ms && small.cpu.median_ms > small.editor.median_ms, "{small:?}");
        let copy = copy_bandwidth(&device, 1 << 20, &effort).unwrap();
        assert!(copy.gigabytes_per_second > 0.0);
        let report = BenchReport {
            device: device.name().to_owned(),
            driver: device.driver(),
            software: device.is_software(),
            cores: 2,
            load: Some(5.0),
            copy,
            targets: report::targets(&device, std::slice::from_ref(&mesh), std::slice::from_ref(&small)),
            meshes: vec![mesh],
            vr: vec![small],
            desk: window,
            growth: vec![growth::tube(&mut context, 600, &effort).unwrap()],
            fast: Vec::new(),
            thesis: THESIS_TABLE_1.to_vec(),
        };
        let text = text::text(&report);
        assert!(
            text.contains("thesis: Armadillo")
                && text.contains("3.04")
                && text.contains("largest I")
                && text.contains("323")
                && (!report.software || text.contains("too long"))
                && text.contains("human, 2 x 32 x 24")
                && text.contains("human, 300 x 200, stroke")
                && text.contains(device.name()),
            "{text}"
        );
        let value = serde_json::to_value(&report).unwrap();
        assert!(value["meshes"][0]["iteration"]["bytes_once"].as_u64().unwrap() > 0, "{value}");
    }
}
