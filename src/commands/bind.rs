//! `sinew bind`: reports how well a skin is attached to its bones, and computes skin weights.

use super::arguments::{BindArgs, keeps_input, leaves_edits_out};
use super::joints::{Motion, every, study};
use super::play::opened;
use super::save::{ending, write};
use crate::app::context::{Context, folder_of, progress};
use crate::asset::Asset;
use crate::base::{Error, JointId, Result};
use crate::bind::weights::{WeightMethod, diagnose};
use crate::bind::{BindOptions, BindReport, Cache, Character, bind_attachments};
use crate::document::{DeformerSettings, Document, Edit};
use crate::export::{Weighed, is_model, project, weigh, weigh_again, write_model};
use crate::geom::mean_edge_span;
use crate::project::{Opened, Saving};
use crate::rig::{limb_joints, named_node};
use crate::scene::{Model, Where};
use crate::workbench::SkinPart;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of bones that a finding names.
const SOME: usize = 8;

/// Options for computing skin weights for meshes that have none.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WeighArgs {
    /// The topmost bone of the skeleton to compute weights for, in a file without skin weights
    #[arg(long, value_name = "NODE")]
    pub bones: Option<String>,
}

impl WeighArgs {
    /// Returns the file with computed weights if it has bones but no weights; otherwise `None`.
    ///
    /// # Errors
    /// Any error of [`weigh`], and [`Error::Input`] if `--bones` is given but no mesh needs weights.
    pub fn weighed(&self, asset: &Asset) -> Result<Option<Weighed>> {
        let weighed = weigh(asset, self.bones.as_deref(), Cache::platform().as_ref())?;
        if weighed.is_none() && self.bones.is_some() {
            return Err(nothing_to_weigh(&asset.path));
        }
        Ok(weighed)
    }
}

fn nothing_to_weigh(path: &Path) -> Error {
    let problem = format!(
        "{}: the file has weights already, or it has no bones, or no mesh outside the bones",
        path.display()
    );
    Error::input(problem, "leave out --bones and --out")
}

/// The binding report in the layout of the JSON output.
#[derive(serde::Serialize)]
struct Json<'a> {
    file: String,
    joints: usize,
    display_vertices: usize,
    triangles: usize,
    /// Mean difference `|i - j|` of the vertex indices `i` and `j` of an edge, over all edges of the control mesh.
    mean_edge_span: f64,
    /// Names of the meshes whose weights Sinew computed.
    weighed: &'a [String],
    /// Problems of bones and weights, as sentences.
    findings: Vec<String>,
    #[serde(flatten)]
    report: &'a BindReport,
    /// The settings of the binding, as documents store them.
    settings: &'a BindOptions,
    bones: Vec<BoneLine>,
}

#[derive(serde::Serialize)]
struct BoneLine {
    /// Name of the joint's node.
    from: String,
    /// Name of the child joint's node; `None` for a tip or a prop.
    to: Option<String>,
    /// Bone length in the bind pose, metres.
    length: f32,
    vertices: u32,
}

/// The file to bind, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A rigged glTF file, a project or a journal
    pub file: PathBuf,
    /// The attachment
    #[command(flatten)]
    pub bind: BindArgs,
    /// Weights for a file without any
    #[command(flatten)]
    pub weigh: WeighArgs,
    /// Compute new skin weights, also for a file that has weights: heat, quasi-harmonic, biharmonic or elastic
    #[arg(long, value_name = "METHOD", value_parser = WeightMethod::parse)]
    pub weights: Option<WeightMethod>,
    /// Number of cubes in which the weights are computed. Default: 16000, 8000 (quasi-harmonic) or 4000 (biharmonic)
    #[arg(long, requires = "weights", value_parser = clap::value_parser!(u32).range(100..=60_000))]
    pub cubes: Option<u32>,
    /// Compare old and new weights: bend and twist each main joint, and print the elastic energy of the skin by LBS and
    /// DQS, divided by the energy of the converged solution (`gold`). Takes seconds per joint
    #[arg(long, requires = "weights", conflicts_with = "json")]
    pub compare: bool,
    /// The .glb to write with the computed weights
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Start from the default settings, not from those of the project
    #[arg(long)]
    pub reset: bool,
    /// Attach the region around a mark, or of a sculpt layer, to a joint's bones: "Mark 1=LeftArm"
    #[arg(long, value_name = "REGION=JOINT")]
    pub attach: Vec<String>,
    /// Place the attachment points of such a region along their bones, 0 at the head, 1 at the tail: "Mark 1=0.5"
    #[arg(long, value_name = "REGION=T")]
    pub place: Vec<String>,
    /// Rings of vertices around a mark that --attach and --place include, 0 to 32
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=32))]
    pub rings: u32,
    /// The project to write with this binding and the computed weights, a .glb. It has the edits of the project
    #[arg(long, conflicts_with_all = ["out", "json"])]
    pub project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Loads a file, binds it and describes the binding as text or JSON. If the file has a skeleton but no weights, this
/// function computes weights.
///
/// # Errors
/// Any error of [`opened`], [`weigh`], [`Character::from_asset`] or [`bind_attachments`]. Also [`Error::Input`] if
/// `--out` is given but no weights were computed, or a region is not found.
pub fn run(context: &mut Context, args: &Args) -> Result<String> {
    let path = &*args.file;
    if let Some(out) = &args.project {
        ending(out)?;
    }
    if let Some(out) = &args.out {
        keeps_input(path, out)?;
    }
    let Source { asset, opened } = Source::open(path)?;
    if args.out.is_some() && opened.as_ref().is_some_and(|o| o.model.document.is_some() || !is_model(path)) {
        return Err(leaves_edits_out(path, "write a project by --project in place of --out"));
    }
    let mut weighed = args.weigh.weighed(&asset)?;
    let mut told_more = String::new();
    if let Some(method) = args.weights {
        let better = better(method, args.cubes, weighed.as_ref().map_or(&asset, |w| &w.asset))?;
        if args.compare {
            told_more = comparison(weighed.is_none().then_some(&asset), &better.asset)?;
        }
        weighed = Some(better);
    }
    if let Some(out) = &args.out {
        let weighed = weighed.as_ref().ok_or_else(|| nothing_to_weigh(path))?;
        folder_of(out)?;
        write_model(out, &weighed.glb)?;
    }
    let meshes = weighed.as_ref().map_or(&[][..], |w| &w.meshes);
    let character = Character::from_asset(weighed.as_ref().map_or(&asset, |w| &w.asset))?;
    let document = opened.as_ref().map(|o| o.session.document());
    let options = options(args, &character, document)?;
    let (_, report) = bind_attachments(&character, &options)?;
    if let Some(out) = &args.project {
        save(context, opened, weighed.as_ref().map(|w| w.asset.clone()), options.clone(), out)?;
    }
    let bones = bone_lines(&character, &report);
    let findings = findings(&character);
    if !args.json {
        let findings: String = findings.iter().map(|line| format!("{line}\n")).collect();
        return Ok(told(&weighed)
            + &told_more
            + &text(path, &character, &options, &report, &bones)
            + &findings);
    }
    let document = Json {
        file: path.display().to_string(),
        joints: character.skeleton.joints.len(),
        display_vertices: character.display.positions.len(),
        triangles: character.display.triangles.len(),
        mean_edge_span: mean_edge_span(&character.control.adjacency),
        weighed: meshes,
        findings,
        report: &report,
        settings: &options,
        bones,
    };
    serde_json::to_string_pretty(&document).map_err(|error| {
        Error::input(format!("the report cannot be written as JSON: {error}"), "bind the file without --json")
    })
}

/// What the command binds.
struct Source {
    asset: Arc<Asset>,
    /// The model and its document, if the file has weights.
    opened: Option<Opened>,
}

impl Source {
    /// Opens a file. Without skin weights, there is no model yet.
    fn open(path: &Path) -> Result<Self> {
        match opened(path) {
            Ok(opened) => Ok(Self { asset: opened.model.asset.clone(), opened: Some(opened) }),
            Err(error) => match project::open(path) {
                Ok((asset, None)) => Ok(Self { asset: Arc::new(asset), opened: None }),
                _ => Err(error),
            },
        }
    }
}

/// Returns the settings of the document, or the defaults, with the changes of the arguments.
fn options(args: &Args, character: &Character, document: Option<&Document>) -> Result<BindOptions> {
    let own = document.filter(|_| !args.reset).map(|d| d.binding().clone()).unwrap_or_default();
    let mut new = args.bind.options(&own, &character.skeleton)?;
    let split = |text: &str, option: &str| {
        let parts = text.rsplit_once('=').map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned()));
        parts.ok_or_else(|| Error::input(format!("--{option} {text:?} has no '='"), "write REGION=VALUE"))
    };
    let region = |name: &str| {
        let parts = document.map(|d| parts(d, args.rings)).unwrap_or_default();
        let part = parts.iter().find(|(own, _)| own == name).ok_or_else(|| {
            let names: Vec<&str> = parts.iter().map(|(name, _)| &**name).collect();
            let remedy = match names.is_empty() {
                true => "the file has no mark and no sculpt layer: draw one on the skin".to_owned(),
                false => format!("name one of {}", names.join(", ")),
            };
            Error::input(format!("there is no region {name:?}"), remedy)
        })?;
        let none = || Error::input("the file has no document", "save it as a project first");
        part.1.vertices(document.ok_or_else(none)?, character)
    };
    for text in &args.attach {
        let (name, joint) = split(text, "attach")?;
        let node = named_node(&character.skeleton, &joint)?;
        let joint = character.skeleton.nodes[node.index()].joint.ok_or_else(|| {
            Error::input(format!("--attach {text:?}: that node is no joint"), "name a joint of the skin")
        })?;
        let (name, vertices) = region(&name)?;
        new.region(&name, vertices).joint = Some(joint);
    }
    for text in &args.place {
        let (name, t) = split(text, "place")?;
        let t = t.parse().ok().filter(|t| (0.0..=1.0).contains(t)).ok_or_else(|| {
            Error::input(
                format!("--place {text:?}: that is no place along a bone"),
                "give a number from 0 to 1",
            )
        })?;
        let (name, vertices) = region(&name)?;
        new.region(&name, vertices).t = Some(t);
    }
    Ok(new)
}

/// Writes a project whose document has these settings. `weighed` is the file with computed weights, if any.
fn save(
    context: &mut Context,
    opened: Option<Opened>,
    weighed: Option<Asset>,
    options: BindOptions,
    out: &Path,
) -> Result<()> {
    let (model, mut session) = match (weighed, opened) {
        (Some(weighed), opened) => {
            let model = Model::bind(weighed, &options, Duration::ZERO)?;
            let mut session = model.start(None)?;
            if let Some(opened) = opened {
                let document = model.adopted(opened.session.document())?;
                session.apply(Edit::Replace(Box::new(document)))?;
            }
            (model, session)
        }
        (None, Some(Opened { model, session, .. })) => (model.rebound(&options)?, session),
        (None, None) => {
            let problem = "the file has no skin weights, so it makes no project";
            return Err(Error::input(problem, "name the topmost bone by --bones"));
        }
    };
    session.apply(Edit::SetBinding(Box::new(options)))?;
    write(context, &model, session.document(), out, Saving::default(), true)
}

/// The parts of the skin that the document names: its marks and sculpt layers.
fn parts(document: &Document, rings: u32) -> Vec<(String, SkinPart)> {
    let marks = document.marks().iter().map(|m| (m.name.clone(), SkinPart::Mark { id: m.id, rings }));
    let shapes = document.sculpts().iter().map(|s| (s.name.clone(), SkinPart::Shape(s.id)));
    marks.chain(shapes).collect()
}

/// Replaces the weights of a file by those of a method. Shows progress in the terminal.
pub fn better(method: WeightMethod, cubes: Option<u32>, asset: &Asset) -> Result<Weighed> {
    let (weighed, _) = progress(&format!("{} weights", method.name()), |done| {
        weigh_again(asset, method, cubes.map(|c| c as usize), Cache::platform().as_ref(), &|part| {
            done(part);
            true
        })
    })?;
    weighed.ok_or_else(|| Error::input("the weights were cancelled", "compute them again"))
}

/// Bends and twists every main joint. Returns a table of elastic energies, divided by the smallest possible energy, for
/// the old weights (if any) and for the new ones. The smallest energy is that of the method `gold` with the new
/// weights.
fn comparison(old: Option<&Asset>, new: &Asset) -> Result<String> {
    let bind = |asset: &Asset| Model::bind(asset.clone(), &BindOptions::default(), Default::default());
    let methods = |names: &[&str]| names.iter().map(|n| DeformerSettings::of(n)).collect::<Vec<_>>();
    let run = |model: &Model, names: &[&str]| {
        let poses = every(model, &[Motion::Bend(90.0), Motion::Twist(120.0)]);
        study(&Where::Cpu, model, &poses, &methods(names), |_, _, _| Ok(()))
    };
    let new = bind(new)?;
    if limb_joints(new.skeleton()).is_empty() {
        return Ok("no joint lies between two bones of a limb: nothing to compare\n".to_owned());
    }
    let after = run(&new, &["lbs", "dqs", "gold"])?;
    let before = old.map(|old| bind(old).and_then(|old| run(&old, &["lbs", "dqs"]))).transpose()?;
    let mut out = String::from("elastic energy divided by the smallest possible energy:\n");
    let heads = if before.is_some() { "lbs old  lbs new  dqs old  dqs new" } else { "lbs new  dqs new" };
    let mut sums: Vec<f64> = Vec::new();
    let mut rows = 0;
    let line = |values: &[f64], of: &str| {
        let values: String = values.iter().map(|v| format!("{v:>9.2}")).collect();
        format!("{values}  {of}\n")
    };
    let _ = writeln!(out, "  {heads}");
    for (row, new) in after.chunks(3).enumerate() {
        let gold = new[2].distortion.energy.max(f64::MIN_POSITIVE);
        let energies: Vec<f64> = (0..2)
            .flat_map(|k| {
                let old =
                    before.as_ref().and_then(|b| b.get(2 * row + k)).map(|l| l.distortion.energy / gold);
                old.into_iter().chain([new[k].distortion.energy / gold])
            })
            .collect();
        sums.resize(energies.len(), 0.0);
        sums.iter_mut().zip(&energies).for_each(|(sum, e)| *sum += e);
        rows += 1;
        out += &line(&energies, &format!("{} {}", new[0].joint, new[0].motion));
    }
    sums.iter_mut().for_each(|sum| *sum /= f64::from(rows.max(1)));
    Ok(out + &line(&sums, "mean"))
}

/// Returns a line of text that names the meshes with computed weights; empty without computed weights.
pub fn told(weighed: &Option<Weighed>) -> String {
    let line = |w: &Weighed| format!("weights computed for {} with {} bones\n", w.meshes.join(", "), w.bones);
    weighed.as_ref().map_or_else(String::new, line)
}

/// Returns sentences about bones and weights that do not fit the mesh.
pub fn findings(character: &Character) -> Vec<String> {
    let skeleton = &character.skeleton;
    let name = |j: &JointId| skeleton.nodes[skeleton.joints[j.index()].node.index()].name.clone();
    let found = diagnose(character);
    let mut out = Vec::new();
    if found.boneless_vertices > 0 {
        out.push(format!("{} vertices lie in parts of the mesh without a bone", found.boneless_vertices));
    }
    if !found.idle.is_empty() {
        let names: Vec<String> = found.idle.iter().map(name).collect();
        out.push(format!("bones in the mesh that move no vertex: {}", names.join(", ")));
    }
    if !found.outside.is_empty() {
        let names: Vec<String> = found.outside.iter().map(name).collect();
        out.push(format!(
            "bones outside of the mesh that move no vertex: {}; move them inside",
            names.join(", ")
        ));
    }
    if !found.crowded.is_empty() {
        let names: Vec<String> = found.crowded.iter().take(SOME).map(name).collect();
        let more = if found.crowded.len() > SOME { ", ..." } else { "" };
        out.push(format!(
            "{} bones are too small for the cubes of the weights: {}{more}; use more --cubes, or fewer bones",
            found.crowded.len(),
            names.join(", ")
        ));
    }
    if let Some(([large, small], ratio)) = found.uneven {
        let name = |n: crate::base::NodeId| skeleton.nodes[n.index()].name.clone();
        out.push(format!(
            "the mesh {} is {ratio:.0} times as large as the mesh {}: one of them may be in millimetres; scale it",
            name(large),
            name(small)
        ));
    }
    if found.flat_triangles > 0 {
        out.push(format!("{} triangles have no area; weights ignore them", found.flat_triangles));
    }
    if let Some((count, [a, b])) = &found.torn {
        let (a, b) = (name(a), name(b));
        out.push(format!("{count} vertices follow joints of different limbs, for example {a} and {b}"));
    }
    out
}

fn bone_lines(character: &Character, report: &BindReport) -> Vec<BoneLine> {
    let skeleton = &character.skeleton;
    let name = |j: JointId| skeleton.nodes[skeleton.joints[j.index()].node.index()].name.clone();
    let line = |(bone, &vertices): (&crate::rig::Bone, &u32)| BoneLine {
        from: name(bone.parent),
        to: bone.child.map(name),
        length: bone.head.distance(bone.tail),
        vertices,
    };
    skeleton.bones.iter().zip(&report.vertices_per_bone).map(line).collect()
}

fn text(
    path: &Path,
    character: &Character,
    options: &BindOptions,
    report: &BindReport,
    bones: &[BoneLine],
) -> String {
    let mut out = String::new();
    let skeleton = &character.skeleton;
    let joint = |j: &JointId| &*skeleton.nodes[skeleton.joints[j.index()].node.index()].name;
    // Writing to a string cannot fail.
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    let (method, smoothing) = (options.method.name(), options.smoothing.name());
    line(format!("{}: {method} binding, {} rounds of {smoothing} smoothing", path.display(), options.smooth));
    for (at, [x, y, z]) in &options.planes {
        line(format!("planes at {} turned by {x:.1}, {y:.1}, {z:.1} degrees about x, y, z", joint(at)));
    }
    for region in &options.reattached {
        let to = region.joint.as_ref().map_or_else(String::new, |j| format!(" to {}", joint(j)));
        let t = region.t.map_or_else(String::new, |t| format!(" at t = {t:.3}"));
        line(format!("{} attached by hand{to}{t}: {} vertices", region.name, region.vertices.count()));
    }
    line(format!(
        "{} display vertices -> {} control vertices ({} of props), {} joints, {} bones",
        character.display.positions.len(),
        report.vertices,
        report.rigid_vertices,
        character.skeleton.joints.len(),
        bones.len()
    ));
    line(format!("|s|  mean {:.4} m, largest {:.4} m", report.mean_length, report.max_length));
    line(format!(
        "gap  largest {:.2} -> {:.2}, mean {:.3} -> {:.3} (before -> after smoothing)",
        report.before.max, report.after.max, report.before.mean, report.after.mean
    ));
    for bone in bones {
        let to = bone.to.as_deref().unwrap_or("(tip)");
        line(format!("{:>8} vertices  {:.4} m  {} -> {to}", bone.vertices, bone.length, bone.from));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BoneId, MarkId};
    use crate::bind::shapes::{Shape, capsule};
    use crate::surface::ring_mark;

    #[test]
    fn every_bone_has_its_line() {
        let character = capsule(3, 12, 8, 0.1, 1.0);
        let (_, report) = bind_attachments(&character, &BindOptions::default()).unwrap();
        let bones = bone_lines(&character, &report);
        assert_eq!(
            bones.iter().map(|b| b.vertices as usize).sum::<usize>(),
            character.control.positions.len()
        );
        let text = text(Path::new("a.glb"), &character, &BindOptions::default(), &report, &bones);
        assert!(text.contains("a.glb: weights binding, 6 rounds of bounded"), "{text}");
        assert!(text.contains("joint 0 -> joint 1") && text.contains("joint 2 -> (tip)"), "{text}");
    }

    #[derive(clap::Parser)]
    struct BindLine {
        #[command(flatten)]
        args: Args,
    }

    fn args(file: &Path) -> Args {
        let line = [Path::new("bind"), file, Path::new("--json")];
        <BindLine as clap::Parser>::parse_from(line).args
    }

    #[test]
    fn a_file_without_weights_is_weighed_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut asset =
            Shape { bones: 3, rings: 24, segments: 8, radius: 0.1, length: 1.5, blend: 0.2 }.capsule_asset();
        let whole = folder.path().join("whole.glb");
        std::fs::write(&whole, crate::export::unedited(&asset).unwrap()).unwrap();
        asset.skins.clear();
        asset.nodes.iter_mut().for_each(|n| n.skin = None);
        asset.meshes[0].primitives[0].influences = Default::default();
        let bare = folder.path().join("bare.glb");
        std::fs::write(&bare, crate::export::unedited(&asset).unwrap()).unwrap();
        let out = folder.path().join("new/weighed.glb");
        let text = run(&mut Context::default(), &Args { out: Some(out.clone()), ..args(&bare) }).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["joints"], value["weighed"].as_array().unwrap().len()), (&3.into(), 1));
        let text = run(&mut Context::default(), &Args { json: false, ..args(&out) }).unwrap();
        assert!(!text.contains("weights computed"), "{text}");
        let refused = run(&mut Context::default(), &Args { out: Some(out.clone()), ..args(&whole) })
            .unwrap_err()
            .to_string();
        assert!(refused.contains("whole.glb") && refused.contains("leave out"), "{refused}");
    }

    #[test]
    fn a_project_keeps_its_binding_and_names_its_regions() {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape { bones: 3, rings: 24, segments: 8, radius: 0.15, length: 1.5, blend: 0.2 };
        let [file, start, out] = ["a.glb", "start.glb", "out.glb"].map(|name| folder.path().join(name));
        std::fs::write(&file, crate::export::unedited(&shape.capsule_asset()).unwrap()).unwrap();
        let Opened { model, mut session, .. } = opened(&file).unwrap();
        let (character, attachments) = (&model.bound.character, &model.bound.attachments);
        let mark = ring_mark(character, attachments, MarkId(0), BoneId(1), 0.5).unwrap();
        let (name, vertices) = (mark.name.clone(), character.control.positions.len());
        session.apply(Edit::AddMark { index: None, mark: Box::new(mark) }).unwrap();
        let context = &mut Context::default();
        write(context, &model, session.document(), &start, Saving::default(), true).unwrap();
        let mut bind = |file: &Path, rest: &[&str]| {
            let line = [&["bind", file.to_str().unwrap()], rest].concat();
            run(context, &<BindLine as clap::Parser>::parse_from(line).args).map_err(|e| e.to_string())
        };
        let (attach, place) = (format!("{name}=joint 2"), format!("{name}=0.25"));
        let plain = bind(&start, &[]).unwrap();
        let rest = ["--binding", "planar", "--smooth", "2", "--plane", "joint 1=z:20", "--rings", "1"];
        let rest = [&rest[..], &["--attach", &attach, "--place", &place]].concat();
        let told = bind(&start, &[&rest[..], &["--project", out.to_str().unwrap()]].concat()).unwrap();
        let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        for wanted in [
            "planar binding, 2 rounds of bounded smoothing",
            "planes at joint 1 turned by 0.0, 0.0, 20.0 degrees",
            &format!("{name} attached by hand to joint 2 at t = 0.250: "),
        ] {
            assert!(told.contains(wanted), "{told}");
        }
        assert_eq!(lines(&bind(&out, &[]).unwrap()), lines(&told));
        let other = bind(&out, &["--plane", "joint 1=z:0", "--smoothing", "plain"]).unwrap();
        assert!(other.contains("2 rounds of plain smoothing") && !other.contains("planes at"), "{other}");
        assert_eq!(lines(&bind(&out, &["--reset"]).unwrap()), lines(&plain));
        let json: serde_json::Value = serde_json::from_str(&bind(&out, &["--json"]).unwrap()).unwrap();
        let settings: BindOptions = serde_json::from_value(json["settings"].clone()).unwrap();
        assert_eq!(Model::load(&out, &BindOptions::default()).unwrap().binding(), &settings);
        assert!((1..vertices).contains(&settings.reattached[0].vertices.count()));
        for (option, value, wanted) in [
            ("--attach", "Nothing=joint 2", format!("name one of {name}")),
            ("--attach", &attach.replace('2', "9"), "no node".to_owned()),
            ("--attach", "Nothing", "write REGION=VALUE".to_owned()),
            ("--place", &place.replace("0.25", "1.25"), "give a number from 0 to 1".to_owned()),
            ("--plane", "joint 1=q:20", "no axis".to_owned()),
            ("--smooth", "11", "at most 10".to_owned()),
        ] {
            let error = bind(&out, &[option, value]).unwrap_err();
            assert!(error.contains(&wanted), "{option} {value}: {error}");
        }
    }

    #[test]
    fn weights_are_replaced_written_and_compared() {
        let folder = tempfile::tempdir().unwrap();
        let asset =
            Shape { bones: 3, rings: 24, segments: 8, radius: 0.15, length: 1.5, blend: 0.2 }.capsule_asset();
        let file = folder.path().join("whole.glb");
        std::fs::write(&file, crate::export::unedited(&asset).unwrap()).unwrap();
        let old = Character::from_asset(&Asset::load(&file).unwrap()).unwrap();
        for method in WeightMethod::ALL {
            let out = folder.path().join(format!("{}.glb", method.name()));
            let compare = method == WeightMethod::Elastic;
            let (weights, json) = (Some(method), !compare);
            let args =
                Args { weights, cubes: Some(500), compare, json, out: Some(out.clone()), ..args(&file) };
            let text = run(&mut Context::default(), &args).unwrap();
            assert_eq!(compare, text.contains("lbs old  lbs new") && text.contains("  mean\n"), "{text}");
            let new = Character::from_asset(&Asset::load(&out).unwrap()).unwrap();
            assert_eq!(new.display.positions, old.display.positions);
            let row = |c: &Character, v: u32| {
                c.control.influences.of(c.display.control_of[v as usize] as usize).collect::<Vec<_>>()
            };
            let changed = (0..new.display.positions.len() as u32).filter(|&v| row(&new, v) != row(&old, v));
            assert!(changed.count() > 50, "{}", method.name());
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let e = run(&mut Context::default(), &args(Path::new("no such file.glb"))).unwrap_err();
        assert!(e.to_string().contains("no such file.glb"));
    }
}
