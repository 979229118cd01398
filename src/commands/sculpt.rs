//! `sinew sculpt`: creates sculpt layers from the command line and writes a picture or a project.

use super::arguments::{MethodArgs, Side, parse_size};
use super::pose::{PoseArgs, finite};
use crate::app::context::{Context, folder_of, say, write_png};
use crate::base::math::{Aabb, Vec3};
use crate::base::{BoneId, Error, Result};
use crate::bind::BindOptions;
use crate::deform::classic::Method;
use crate::deform::sculpt::{Along, Around, BoundForm, Curve, Easing, Profile, Wave};
use crate::document::{DeformerSettings, Document, Edit};
use crate::export::is_model;
use crate::project;
use crate::render::Lines;
use crate::rig::named_node;
use crate::scene::{Angle, Cell, Evaluation, Evaluator, Model, Studio, Where, recipe, sheet, surroundings};
use crate::surface::{Form, Reach, Region, Sculpt, SurfaceStroke, line_mark, ring_mark, segment_bones};
use std::path::PathBuf;

/// What to sculpt, and how to show it.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A rigged glTF file or a project
    pub file: PathBuf,
    /// An edit as words NAME=VALUE. One place is required: ring=JOINT@0.5, line=JOINT@0.1..0.9@DEGREES or bone=JOINT.
    /// Optional words: profile=even (or parabola, wave, or an easing such as cubic-in), amount=0.25 (fraction of the
    /// distance to the bone), along=stroke (or bone), around=parabola@90 (a profile around the bone that faces this
    /// direction; 0: front, degrees), tilt=20 (rotation towards the bone's tail, degrees), reach=4 (in edges; 0.1m for metres along the skin, 0.1m-air for
    /// metres through the air), soft=1, surroundings=lse (or arap, arap-scale: a classical tool moves the skin around the
    /// place), stiffness, amplitude; for a wave also count, speed, phase
    #[arg(long = "edit", value_name = "WORDS")]
    pub edits: Vec<String>,
    /// The pose
    #[command(flatten)]
    pub pose: PoseArgs,
    /// The method
    #[command(flatten)]
    pub method: MethodArgs,
    /// Processor that evaluates
    #[arg(long, value_enum, default_value_t = Side::Gpu)]
    pub on: Side,
    /// Times at which to show the waves, seconds; draws one picture per time, side by side
    #[arg(long, value_delimiter = ',')]
    pub seconds: Vec<f64>,
    /// Colour the regions: kinematic green, passive blue, fixed red
    #[arg(long)]
    pub region: bool,
    /// Show only the sculpted regions and their surroundings, this many times the size of the regions
    #[arg(long, value_parser = finite)]
    pub zoom: Option<f32>,
    /// Rotation of the camera about the vertical axis, degrees; 0: front
    #[arg(long, default_value = "34", value_parser = finite, allow_hyphen_values = true)]
    pub yaw: f32,
    /// Size of a picture, pixels
    #[arg(long, value_parser = parse_size, default_value = "640x800")]
    pub size: [u32; 2],
    /// .png, or .glb for a project
    #[arg(long)]
    pub out: PathBuf,
}

/// Colours of kinematic, passive and fixed vertices (thesis figure 34).
const COLORS: [[u8; 4]; 3] = [[60, 220, 90, 255], [70, 130, 255, 255], [255, 70, 60, 255]];
/// Help text about the syntax of an edit.
const SHAPE: &str =
    "write e.g. \"ring=UpperArm@0.5 profile=even amount=0.3 reach=4\"; see sinew sculpt --help";

/// Applies the edits and writes the output file.
///
/// # Errors
/// Any error from loading, posing, parsing, evaluating or writing.
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    let ending = args.out.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let project = match ending.as_deref() {
        Some("png") => false,
        _ if is_model(&args.out) => true,
        _ => {
            let problem = format!("{}: unknown kind of file", args.out.display());
            return Err(Error::input(problem, "end the name of --out in .png, .glb, .gltf or .vrm"));
        }
    };
    let model = Model::load(&args.file, &BindOptions::default())?;
    let mut session = model.start(None)?;
    let settings = model.deformer(&args.method.settings()?);
    if *session.document().deformer() != settings {
        session.apply(Edit::SetDeformer(settings))?;
    }
    let pose = args.pose.resolve(&model)?;
    if pose != session.posed() {
        session.apply(Edit::SetPose(pose.clone()))?;
    }
    for text in &args.edits {
        let (mark, sculpt) = parse(&model, session.document(), text)?;
        let add = Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) };
        session.apply(match mark {
            Some(mark) => Edit::Group(vec![Edit::AddMark { index: None, mark: Box::new(mark) }, add]),
            None => add,
        })?;
    }
    let document = session.document();
    let side = context.side(args.on.is_cpu())?;
    let mut evaluator = Evaluator::new(&side, &model, &document.recipe()?)?;
    folder_of(&args.out)?;
    if project {
        let receipt = project::save(&args.out, &model, document, &mut evaluator)?;
        say(receipt.to_string().trim_end());
        return Ok(());
    }
    evaluator.set_document(&model, document)?;
    let mut studio = Studio::new(&context.renderer()?, &model)?;
    let mut row = Vec::new();
    for &seconds in if args.seconds.is_empty() { &[0.0][..] } else { &args.seconds } {
        evaluator.set_sculpt_states(&document.sculpt_states(seconds));
        let shape = evaluator.evaluate(&model, &pose)?;
        let bounds = framed(document, &shape, args.zoom);
        let mut lines = Lines::default();
        if args.region {
            dots(document, &shape, &mut lines);
        }
        let angle = Angle { yaw: args.yaw.to_radians(), pitch: 0.05 };
        let picture = studio.picture(&shape, &bounds, angle, args.size, &lines)?;
        row.push((seconds, picture));
    }
    let picture = match row.len() {
        1 => row.swap_remove(0).1,
        _ => sheet(&[row
            .into_iter()
            .map(|(s, picture)| Cell { caption: vec![format!("{s} s")], picture })
            .collect()]),
    };
    write_png(&args.out, &picture)?;
    for sculpt in document.sculpts() {
        let r = &sculpt.region;
        let counts = [&r.kinematic, &r.passive, &r.fixed].map(Vec::len);
        say(format_args!(
            "{}: {} kinematic, {} passive, {} fixed",
            sculpt.name, counts[0], counts[1], counts[2]
        ));
    }
    say(args.out.display());
    Ok(())
}

/// Returns the bounds that the picture shows: the whole character, or the surroundings of the sculpted regions.
fn framed(document: &Document, shape: &Evaluation, zoom: Option<f32>) -> Aabb {
    let all = Aabb::of(shape.positions.iter().copied());
    let vertices = document.sculpts().iter().flat_map(|s| s.region.kinematic.iter().chain(&s.region.fixed));
    let near = Aabb::of(vertices.map(|&v| shape.control[v as usize]));
    match zoom {
        Some(zoom) if !near.is_empty() => {
            let half = Vec3::splat(0.5 * zoom * near.size().max_element());
            Aabb { min: near.center() - half, max: near.center() + half }
        }
        _ => all,
    }
}

fn dots(document: &Document, shape: &Evaluation, lines: &mut Lines) {
    for region in document.sculpts().iter().map(|s| &s.region) {
        for (list, color) in [&region.kinematic, &region.passive, &region.fixed].into_iter().zip(COLORS) {
            list.iter().for_each(|&v| lines.dot(shape.control[v as usize], color, 5.0));
        }
    }
}

/// Parses an edit from words `NAME=VALUE`. The place is `ring=JOINT@T`, `line=JOINT@FROM..TO@DEGREES` or
/// `bone=JOINT`. Other words: `profile` (even, parabola, wave, easing), `amount`, `along` (stroke, bone), `around` (a
/// profile around the bone and its direction, as `parabola@90`), `tilt` (degrees), `reach` (edges, metres as `0.1m`,
/// through the air as `0.1m-air`), `soft`, `stiffness`, `amplitude`; `count`, `speed`, `phase` for a wave. Separate words by spaces, or by semicolons if names contain spaces.
///
/// # Errors
/// [`Error::Input`] if the text does not parse, a joint does not exist, or the place has no skin.
pub fn parse(model: &Model, document: &Document, text: &str) -> Result<(Option<SurfaceStroke>, Sculpt)> {
    let apart = if text.contains(';') { ';' } else { ' ' };
    let mut words: Vec<(&str, &str)> = Vec::new();
    for word in text.split(apart).map(str::trim).filter(|w| !w.is_empty()) {
        words.push(word.split_once('=').ok_or_else(|| bad(word))?);
    }
    let mut take = |name: &str| words.iter().position(|w| w.0 == name).map(|i| words.swap_remove(i).1);
    let (ring, line, bone) = (take("ring"), take("line"), take("bone"));
    let profile = take("profile").unwrap_or("even");
    let mut number = |name: &str, default: f32| {
        take(name)
            .map_or(Ok(default), |v| v.parse().ok().filter(|v: &f32| v.is_finite()).ok_or_else(|| bad(v)))
    };
    let (amount, soft) = (number("amount", 0.25)?, number("soft", 1.0)?);
    let tilt = number("tilt", 0.0)?.to_radians();
    let (amplitude, stiffness) = (number("amplitude", 1.0)?, number("stiffness", crate::surface::STIFFNESS)?);
    let wave =
        Wave { count: number("count", 2.0)?, speed: number("speed", 1.0)?, phase: number("phase", 0.0)? };
    let reach = take("reach").map_or(Ok(Reach::default()), reach)?;
    let surroundings = take("surroundings").map(|name| {
        Method::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
            let names = Method::ALL.map(Method::name).join(", ");
            Error::input(format!("there are no surroundings {name:?}"), names)
        })
    });
    let bones = bone.map(|name| bones_of(model, name)).transpose()?;
    let along = match take("along") {
        None if bones.as_ref().is_some_and(|b| b.len() == 1) => Along::Bone,
        None | Some("stroke") => Along::Stroke,
        Some("bone") => Along::Bone,
        Some(other) => return Err(bad(other)),
    };
    let around = take("around").map(|text| -> Result<Around> {
        let (name, degrees) = text.split_once('@').unwrap_or((text, "0"));
        let degrees = degrees.parse().ok().filter(|v: &f32| v.abs() <= 180.0).ok_or_else(|| bad(text))?;
        Ok(Around { curve: curve(name, wave)?, facing: degrees.to_radians() })
    });
    if let Some((name, _)) = words.first() {
        return Err(bad(name));
    }
    let (curve, around, surroundings) =
        (curve(profile, wave)?, around.transpose()?, surroundings.transpose()?);
    let (character, attachments) = (&*model.bound.character, &*model.bound.attachments);
    let id = document.unused_mark_id();
    let (mark, region) = match (ring, line, &bones) {
        (Some(text), None, None) => {
            let (name, t) = text.rsplit_once('@').ok_or_else(|| bad(text))?;
            let t = t.parse().map_err(|_| bad(t))?;
            let mark = ring_mark(character, attachments, id, bone_of(model, name)?, t)?;
            let region = Region::from_mark(character, &mark, reach)?;
            (Some(mark), region)
        }
        (None, Some(text), None) => {
            let mut parts = text.rsplitn(3, '@');
            let (angle, span, name) = (parts.next(), parts.next(), parts.next());
            let span = span.and_then(|s| s.split_once(".."));
            let number = |t: &str| t.parse::<f32>().ok().filter(|v| v.is_finite());
            let all = (|| Some((name?, number(span?.0)?, number(span?.1)?, number(angle?)?)))();
            let (name, from, to, angle) = all.ok_or_else(|| bad(text))?;
            let bone = bone_of(model, name)?;
            let mark = line_mark(character, attachments, id, bone, [from, to], angle.to_radians())?;
            let region = Region::from_mark(character, &mark, reach)?;
            (Some(mark), region)
        }
        (None, None, Some(bones)) => (None, Region::on_bones(character, attachments, bones)?),
        _ => return Err(Error::input("an edit needs one place: ring, line or bone", SHAPE)),
    };
    let region = region.softened(character, soft)?;
    let form = Form::Profile(Profile { curve, amount, along, around, tilt });
    let mark_id = mark.as_ref().map(|m| m.id);
    let sculpt = Sculpt::new(document.unused_sculpt_id(), mark_id, region, form);
    let sculpt = Sculpt { amplitude, stiffness, ..sculpt };
    Ok((mark, surroundings.map_or(Ok(sculpt.clone()), |method| surrounded(model, sculpt, method))?))
}

/// Converts a layer with a profile to a drawn layer. The kinematic vertices get the offsets that the profile has in the
/// rest pose. A classical tool moves the passive vertices.
fn surrounded(model: &Model, sculpt: Sculpt, method: Method) -> Result<Sculpt> {
    let bound = sculpt.bind(&model.bound.character, &model.bound.attachments)?;
    let BoundForm::Profile { profile, t, about } = &bound.form else { return Ok(sculpt) };
    let offset = |i: usize| profile.offset(bound.scale_vectors[i], t[i], &about[i], 1.0, 0.0).to_array();
    let form = Form::Drawn((0..sculpt.region.kinematic.len()).map(offset).collect());
    let drawn = Sculpt { form, ..sculpt };
    let pose = model.rest();
    let lbs = recipe(&DeformerSettings::of("lbs"))?;
    let shape = Evaluator::new(&Where::Cpu, model, &lbs)?.evaluate(model, &pose)?;
    let found = surroundings(model, &pose, &shape.control, &drawn, method)?;
    Ok(Sculpt { surroundings: Some(found), ..drawn })
}

/// Returns the curve with this name. `wave` gives the numbers of a wave.
fn curve(name: &str, wave: Wave) -> Result<Curve> {
    Ok(match name {
        "even" => Curve::Even,
        "parabola" => Curve::Parabola,
        "wave" => Curve::Wave(wave),
        name => {
            let easing = Easing::ALL.iter().copied().find(|e| e.name() == name);
            Curve::Ease(easing.ok_or_else(|| {
                let all: Vec<&str> = Easing::ALL.iter().map(|e| e.name()).collect();
                Error::input(
                    format!("there is no profile {name:?}"),
                    format!("even, parabola, wave, {}", all.join(", ")),
                )
            })?)
        }
    })
}

fn bad(word: &str) -> Error {
    Error::input(format!("{word:?} is no part of an edit"), SHAPE)
}

fn reach(text: &str) -> Result<Reach> {
    let metres = |t: &str| t.parse::<f32>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    let parsed = match (text.strip_suffix("m-air"), text.strip_suffix('m')) {
        (Some(air), _) => metres(air).map(Reach::Euclidean),
        (_, Some(along)) => metres(along).map(Reach::Along),
        _ => text.parse().ok().map(Reach::Edges),
    };
    parsed.ok_or_else(|| bad(text))
}

/// Returns the longest bone that starts at the joint with this name.
fn bone_of(model: &Model, name: &str) -> Result<BoneId> {
    bones_of(model, name).map(|bones| bones[0])
}

/// Returns the bones of the segment that starts at the joint with this name, longest first; at least one.
fn bones_of(model: &Model, name: &str) -> Result<Vec<BoneId>> {
    let skeleton = model.skeleton();
    let node = named_node(skeleton, name)?;
    let joint = skeleton.nodes[node.index()].joint;
    let bones = joint.map(|j| segment_bones(skeleton, j)).filter(|b| !b.is_empty());
    bones.ok_or_else(|| Error::input(format!("{name:?} is no joint of a skin"), "sinew inspect lists them"))
}
