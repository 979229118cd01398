//! `sinew fast`: places some joints or points of the skin, computes the pose of the whole body by FAST (fast automatic
//! skinning transformations), and writes a picture or a model.

mod points;

use super::arguments::{keeps_input, parse_size};
use super::bind::{WeighArgs, told};
use crate::app::context::{Context, folder_of, write_png};
use crate::base::math::{Aabb, Affine3A, DQuat, DVec3, Vec3};
use crate::base::{Error, NodeId, Result};
use crate::bind::{BindOptions, Cache};
use crate::deform::fast::{Body, Constraint, Energy, Params, Parts, Solved, Solver, Target};
use crate::deform::surface;
use crate::deform::surface::{Crease, Display};
use crate::export;
use crate::geom::{DistortionReport, MeasureReport};
use crate::pose::{FullBodyGrab, Goal};
use crate::render::Lines;
use crate::rig::{Pose, PosedRig, named_node, parse_rotation};
use crate::scene::{Angle, Evaluation, Model, Studio};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of solver iterations. It is large enough for full convergence: more iterations change no bit of the
/// picture.
const ITERATIONS: u32 = 300;

/// What to do.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The character
    pub file: PathBuf,
    /// Target of a joint in world space, metres; a leading + makes it relative to the joint's position
    #[arg(long, value_name = "JOINT=X,Y,Z", allow_hyphen_values = true)]
    pub grab: Vec<String>,
    /// Make the vertex nearest to a place in the rest pose a handle and set its target, world space, metres; a leading +
    /// makes the target relative to the vertex, `free` lets the vertex follow the others. The mesh needs no skeleton
    #[arg(long, value_name = "X,Y,Z=X,Y,Z", allow_hyphen_values = true)]
    pub point: Vec<String>,
    /// The same with all vertices within a radius; the target is that of their mean
    #[arg(long, value_name = "X,Y,Z,RADIUS=X,Y,Z", allow_hyphen_values = true)]
    pub region: Vec<String>,
    /// Rotate a placed or pinned joint and its flesh about the world axes, degrees
    #[arg(long, value_name = "JOINT=z:90")]
    pub turn: Vec<String>,
    /// Keep a joint's position and rotation
    #[arg(long, value_name = "JOINT")]
    pub pin: Vec<String>,
    /// Number of abstract handles, which let flesh bend between joints
    #[arg(long, default_value_t = 0)]
    pub extra: u32,
    /// Number of rotation clusters; 0: twice the number of handles
    #[arg(long, default_value_t = 0)]
    pub clusters: u32,
    /// Energy that keeps the shape rigid: by default `triangles` for a flat mesh, `volume` for a mesh with a closed
    /// part, otherwise `rims`
    #[arg(long, value_parser = energy)]
    pub energy: Option<Energy>,
    /// Weights where the file has none
    #[command(flatten)]
    pub weigh: WeighArgs,
    /// Stiffness that keeps neighbouring joints together
    #[arg(long, default_value_t = 0.0)]
    pub hinge: f32,
    /// File to write: a .png or .obj of the shape, or a .glb whose bones have the nearest pose and whose morph targets
    /// hold the rest of the deformation
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Project to write, a .glb: its document has the points and regions as grips, and the method `fast`
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// Whether a .glb keeps the file's own animations
    #[arg(long, value_enum, default_value_t)]
    pub clips: export::Clips,
    /// Rotation of the camera about the vertical axis, degrees; 0: front
    #[arg(long, default_value_t = 30.0, value_parser = super::pose::finite, allow_hyphen_values = true)]
    pub yaw: f32,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// Size of a picture, pixels
    #[arg(long, value_parser = parse_size, default_value = "960x1280")]
    pub size: [u32; 2],
}

/// What `--json` prints.
#[derive(serde::Serialize)]
struct FastReport {
    file: String,
    vertices: usize,
    handles: usize,
    clusters: usize,
    energy_of: Energy,
    #[serde(flatten)]
    parts: Parts,
    bind_ms: f64,
    switch_ms: f64,
    iterations: u32,
    converged: bool,
    energy: f64,
    #[serde(flatten)]
    measure: MeasureReport,
    #[serde(flatten)]
    distortion: DistortionReport,
    /// Largest distance between the solved shape and the closest skeletal pose, metres.
    pose_off: f32,
    /// Largest distance between a placed joint and its target, metres. It is not zero if bone lengths or pins keep a
    /// joint from its target.
    missed: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<export::Receipt>,
}

/// The constraints that the command line requests for one joint.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    place: Option<DVec3>,
    turn: Option<DQuat>,
    pinned: bool,
}

/// Solves for the pose, writes the output and returns the report.
///
/// # Errors
/// Any error from loading, binding, solving or writing; [`Error::Input`] for an unknown joint.
pub fn run(context: &mut Context, args: &Args) -> Result<String> {
    let (file, size) = (&*args.file, args.size);
    if let Some(path) = &args.out {
        keeps_input(&args.file, path)?;
        ending(path)?;
    }
    let mut model = Model::load(file, &BindOptions::default())?;
    let weighed = args.weigh.weighed(&model.asset)?;
    let line = told(&weighed);
    if let Some(weighed) = weighed {
        model = Model::bind(weighed.asset, &BindOptions::default(), Duration::ZERO)?;
    }
    let (skeleton, rest) = (model.skeleton(), model.rest());
    let rig = PosedRig::new(skeleton, &rest);
    let wishes = wishes(&model, &rig, args)?;
    let points = points::points(&model, &rig, &args.point, &args.region)?;
    let params = Params {
        extra: args.extra,
        clusters: args.clusters,
        hinge: args.hinge,
        energy: args.energy,
        grips: points::grips(&points),
        ..Params::default()
    };
    let start = std::time::Instant::now();
    let body = Body::kept(Cache::platform().as_ref(), &model.bound.character, &params.clone().sane())
        .map_err(|e| model.named(e))?;
    let bind_ms = start.elapsed().as_secs_f64() * 1e3;
    // The skeleton is solved first because it preserves bone lengths and pins; the shape then follows its joints.
    let body = Arc::new(body);
    let (pose, missed, mut leashes) = match wishes.is_empty() {
        true => (rest.clone(), 0.0, Vec::new()),
        false => reach(&model, &body, &rig, &wishes)?,
    };
    let posed = PosedRig::new(skeleton, &pose);
    let (mut constraints, mut targets) = constraints(&model, &body, &rig, &posed, &wishes);
    points::constrain(&points, (skeleton, &body), (&mut constraints, &mut targets), &mut leashes);
    let start = std::time::Instant::now();
    let constrained = body.reduced.constrain(constraints)?;
    let mut solver = Solver::new(&body.reduced, &constrained);
    let switch_ms = start.elapsed().as_secs_f64() * 1e3;
    solver.set_targets(&body.reduced, &constrained, &targets);
    solver.start_from(&body.reduced, &body.posed(&posed));
    let solved: Solved = solver.solve(ITERATIONS, params.acceleration);

    let maps = solver.transforms(&body.reduced);
    let shape = shape(&model, &body, &rig, &maps);
    let receipt = match &args.out {
        Some(path) => write(context, &model, (&pose, &shape), &leashes, (path, size, args))?,
        None => None,
    };
    if let Some(path) = &args.project {
        points::save(context, &model, &points, &params, path)?;
    }
    let report = FastReport {
        file: file.display().to_string(),
        vertices: shape.control.len(),
        handles: body.reduced.handles,
        clusters: body.reduced.clusters,
        energy_of: body.reduced.energy,
        parts: body.reduced.parts,
        bind_ms,
        switch_ms,
        iterations: solved.iterations,
        converged: solved.converged,
        energy: solver.energy(&body.reduced),
        measure: model.measure(&shape.control),
        distortion: model.distortion().report(&shape.control),
        pose_off: off(&model, &posed, &shape.control),
        missed,
        receipt,
    };
    if args.json {
        return serde_json::to_string_pretty(&report)
            .map_err(|e| Error::input(format!("the report is not JSON: {e}"), "report it as a bug"));
    }
    Ok(line + &text(&report))
}

fn energy(name: &str) -> std::result::Result<Energy, String> {
    serde_json::from_value(name.into()).map_err(|_| "choose rims, triangles or volume".to_owned())
}

/// Collects the requested constraints of every named joint.
fn wishes(model: &Model, rig: &PosedRig, args: &Args) -> Result<BTreeMap<NodeId, Wish>> {
    let skeleton = model.skeleton();
    let joint = |name: &str| {
        let node = named_node(skeleton, name)?;
        match skeleton.nodes[node.index()].joint {
            Some(_) => Ok(node),
            None => {
                Err(Error::input(format!("node \"{name}\" is no joint"), "`sinew inspect` lists the joints"))
            }
        }
    };
    let mut out: BTreeMap<NodeId, Wish> = BTreeMap::new();
    for text in &args.grab {
        let shape = "write JOINT=X,Y,Z or JOINT=+X,Y,Z, e.g. Hand.L=+0.2,0,0.1";
        let (name, place) =
            text.rsplit_once('=').ok_or_else(|| Error::input(format!("--grab {text}"), shape))?;
        let node = joint(name)?;
        let numbers: Option<Vec<f64>> = place
            .trim_start_matches('+')
            .split(',')
            .map(|n| n.trim().parse().ok().filter(|v: &f64| v.is_finite()))
            .collect();
        let Some([x, y, z]) = numbers.as_deref() else {
            return Err(Error::input(format!("--grab {text}"), shape));
        };
        let from: Vec3 = rig.world[node.index()].translation.into();
        let from = if place.starts_with('+') { from.as_dvec3() } else { DVec3::ZERO };
        out.entry(node).or_default().place = Some(from + DVec3::new(*x, *y, *z));
    }
    for text in &args.turn {
        let (node, turns) = parse_rotation(skeleton, text)?;
        joint(&skeleton.nodes[node.index()].name)?;
        let turn = turns.iter().fold(DQuat::IDENTITY, |q, (axis, degrees)| {
            DQuat::from_axis_angle(axis.unit(), f64::from(*degrees).to_radians()) * q
        });
        out.entry(node).or_default().turn = Some(turn);
    }
    for name in &args.pin {
        out.entry(joint(name)?).or_default().pinned = true;
    }
    Ok(out)
}

/// Solves for the pose that brings placed joints closest to their targets. Returns the pose, the largest remaining
/// distance, and a segment from reached position to target per placed joint.
fn reach(
    model: &Model,
    body: &Arc<Body>,
    rig: &PosedRig,
    wishes: &BTreeMap<NodeId, Wish>,
) -> Result<(Pose, f64, Vec<[Vec3; 2]>)> {
    let (skeleton, rest) = (model.skeleton(), model.rest());
    let stays = |w: &Wish| w.place.is_none() && w.turn.is_none();
    let pins: Vec<NodeId> = wishes.iter().filter(|(_, w)| stays(w)).map(|(n, _)| *n).collect();
    let mut grab = FullBodyGrab::new(skeleton, body, &rest, &pins);
    let mut goals = Vec::new();
    for (node, wish) in wishes.iter().filter(|(_, w)| !stays(w)) {
        let at = place_of(rig, *node);
        if wish.pinned || wish.turn.is_some() {
            grab.hold(*node, at);
        } else {
            grab.hold_point(*node, at);
        }
        goals.push(Goal { position: wish.place.unwrap_or(at), turn: wish.turn.unwrap_or(DQuat::IDENTITY) });
    }
    let (pose, missed) = grab.solve(skeleton, &goals)?;
    let posed = PosedRig::new(skeleton, &pose);
    let leash = |(n, w): (&NodeId, &Wish)| Some([place_of(&posed, *n).as_vec3(), w.place?.as_vec3()]);
    let leashes = wishes.iter().filter_map(leash).collect();
    Ok((pose, missed, leashes))
}

fn place_of(rig: &PosedRig, node: NodeId) -> DVec3 {
    Vec3::from(rig.world[node.index()].translation).as_dvec3()
}

/// Builds the solver's constraints: the full transform for pinned and rotated joints, only the position otherwise.
fn constraints(
    model: &Model,
    body: &Body,
    rig: &PosedRig,
    posed: &PosedRig,
    wishes: &BTreeMap<NodeId, Wish>,
) -> (Vec<Constraint>, Vec<Target>) {
    let skeleton = model.skeleton();
    let maps = body.posed(posed);
    let (mut constraints, mut targets) = (Vec::new(), Vec::new());
    for (node, wish) in wishes {
        let Some(joint) = skeleton.nodes[node.index()].joint else { continue };
        let handle = body.handle(skeleton, joint);
        if wish.pinned || wish.turn.is_some() {
            constraints.push(Constraint::Full { handle });
            targets.push(Target::Map(maps[handle]));
        } else {
            let at = place_of(rig, *node).as_vec3();
            let bind = rig.skinning[joint.index()].inverse().transform_point3(at);
            constraints.push(Constraint::on_handle(handle, bind));
            targets.push(Target::Point(place_of(posed, *node)));
        }
    }
    (constraints, targets)
}

/// Returns the display surface that the handle transforms `maps` produce.
pub(crate) fn shape(model: &Model, body: &Body, rig: &PosedRig, maps: &[Affine3A]) -> Evaluation {
    let character = &model.bound.character;
    let weights = &body.reduced.weights;
    let skinned = |(v, x): (usize, &Vec3)| {
        weights.of(v).map(|(j, w)| maps[j].transform_point3(*x) * w as f32).sum::<Vec3>()
    };
    let control: Vec<Vec3> = character.control.positions.iter().enumerate().map(skinned).collect();
    surfaced(model, rig, control)
}

/// Returns the display surface of a posed control mesh.
pub(crate) fn surfaced(model: &Model, rig: &PosedRig, control: Vec<Vec3>) -> Evaluation {
    let mut display = Display::default();
    surface::bind(&model.bound.character, Crease::Source).reference(rig, &control, &[], &mut display);
    Evaluation { positions: display.positions, normals: display.normals, control, ..Evaluation::default() }
}

/// Returns the largest distance between the shape and linear blend skinning of a pose.
fn off(model: &Model, rig: &PosedRig, control: &[Vec3]) -> f32 {
    let mesh = &model.bound.character.control;
    let skinned = |v: usize| -> Vec3 {
        let of = mesh.influences.of(v);
        of.map(|(j, w)| rig.skinning[usize::from(j)].transform_point3(mesh.positions[v]) * w).sum()
    };
    control.iter().enumerate().map(|(v, x)| skinned(v).distance(*x)).fold(0.0, f32::max)
}

fn text(report: &FastReport) -> String {
    let mut out = String::new();
    let r = report;
    let ratio = r.measure.volume_ratio.map_or("-".to_owned(), |v| format!("{v:.4}"));
    let _ =
        writeln!(out, "{}: {} vertices, {} handles, {} clusters", r.file, r.vertices, r.handles, r.clusters);
    let of = match (r.energy_of, r.parts) {
        (Energy::Triangles, _) => "a sheet: the shape is flat".to_owned(),
        (Energy::Rims, Parts { all: 0, .. }) => "a shell".to_owned(),
        (Energy::Rims, _) => "a shell: no part of the mesh is closed".to_owned(),
        (Energy::Volume, Parts { cubes, open: 0, .. }) => format!("the inside, {cubes} cubes"),
        (Energy::Volume, Parts { all, open, cubes }) => {
            format!("the inside, {cubes} cubes; {open} of {all} parts are open and stay shells")
        }
    };
    let _ = writeln!(out, "  kept rigid: {of}");
    let done = if r.converged { "converged" } else { "not converged" };
    let _ = writeln!(out, "  {} iterations, {done}, energy {:.3e}", r.iterations, r.energy);
    let _ = writeln!(out, "  bind {:.1} ms  switch {:.3} ms", r.bind_ms, r.switch_ms);
    let _ = writeln!(out, "  volume {ratio}  turned over {}", r.distortion.turned_over);
    let _ = writeln!(out, "  nearest pose off by {:.4} m, its goals missed by {:.4} m", r.pose_off, r.missed);
    if let Some(receipt) = &r.receipt {
        let _ = write!(out, "{receipt}");
    }
    out
}

enum Ending {
    Png,
    Obj,
    Model,
}

fn ending(path: &Path) -> Result<Ending> {
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("png") => Ok(Ending::Png),
        Some("obj") => Ok(Ending::Obj),
        _ if export::is_model(path) => Ok(Ending::Model),
        _ => {
            let problem = format!("{}: unknown kind of file", path.display());
            Err(Error::input(problem, "end the name of --out in .png, .obj, .glb, .gltf or .vrm"))
        }
    }
}

fn write(
    context: &mut Context,
    model: &Model,
    (pose, shape): (&Pose, &Evaluation),
    leashes: &[[Vec3; 2]],
    (path, size, args): (&Path, [u32; 2], &Args),
) -> Result<Option<export::Receipt>> {
    folder_of(path)?;
    match ending(path)? {
        Ending::Png => {}
        Ending::Obj => {
            let character = &model.bound.character;
            export::obj(path, character, &shape.positions, Some(&shape.normals))?;
            return Ok(None);
        }
        Ending::Model => {
            let drawn = export::Shape { positions: &shape.positions, normals: &shape.normals };
            let keys = [export::Key { time_s: 0.0, pose, shape: Some(drawn) }];
            let options = export::Options { clips: args.clips, ..export::Options::default() };
            let made = export::posed(&model.asset, &model.bound.character, &keys, &options)?;
            return Ok(Some(made.write(path, &keys)?));
        }
    }
    let mut lines = Lines::default();
    for [at, wanted] in leashes {
        lines.polyline(&[*at, *wanted], [255, 200, 0, 255], 3.0, 1.0);
        lines.dot(*wanted, [255, 200, 0, 255], 12.0);
    }
    let bounds = Aabb::of(shape.positions.iter().copied());
    let mut studio = Studio::new(&context.renderer()?, model)?;
    let angle = Angle { yaw: args.yaw.to_radians(), pitch: 0.15 };
    write_png(path, &studio.picture(shape, &bounds, angle, size, &lines)?)?;
    Ok(None)
}
