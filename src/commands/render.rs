//! `sinew render`: renders a picture of a file in any pose.

use super::arguments::{FrameArgs, MethodArgs, parse_samples, parse_size, positive};
use super::pose::{PoseArgs, finite};
use super::{headset_picture, window_picture};
use crate::app::context::{Context, wanted_samples, write_png};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::document::Document;
use crate::render::{BASELINE, Camera, Lines, OFFSET, Shading};
use crate::rig::{PosedRig, named_node};
use crate::scene::{Angle, Evaluator, Model, Studio, onion};
use std::path::PathBuf;

/// What to show, from where, and into which file.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A rigged glTF file or a project
    pub file: PathBuf,
    /// The pose
    #[command(flatten)]
    pub pose: PoseArgs,
    /// The method
    #[command(flatten)]
    pub method: MethodArgs,
    /// The .png to write
    #[arg(long)]
    pub out: PathBuf,
    /// Draw both eyes side by side, each in --size
    #[arg(long)]
    pub stereo: bool,
    /// Draw both eyes in one picture for red and cyan glasses
    #[arg(long, conflicts_with_all = ["stereo", "panels"])]
    pub anaglyph: bool,
    /// Draw the bones
    #[arg(long)]
    pub skeleton: bool,
    /// Draw the triangles' edges
    #[arg(long)]
    pub wire: bool,
    /// Draw triangles curved between their vertices (Phong tessellation)
    #[arg(long, conflicts_with = "wire")]
    pub phong: bool,
    /// Draw clay instead of the file's materials
    #[arg(long)]
    pub clay: bool,
    /// Darken the surface where other parts of it are near (ambient occlusion)
    #[arg(long)]
    pub occlusion: bool,
    /// Draw a project's strokes
    #[arg(long)]
    pub strokes: bool,
    /// Omit floor and shadows
    #[arg(long)]
    pub plain: bool,
    /// Draw outlines of the character at this many keys before and after the rendered time (projects only)
    #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "1")]
    pub onion: Option<usize>,
    /// Draw the path of a joint in the project's motion
    #[arg(long, alias = "arc", value_name = "JOINT")]
    pub motion_path: Vec<String>,
    /// Draw what a user sees: the headset with a page of the palette, or the window with its panels
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "pose")]
    pub panels: Option<headset_picture::Show>,
    /// Rotation of the camera about the vertical axis, degrees; 0: front
    #[arg(long, default_value_t = 30.0, value_parser = finite, allow_hyphen_values = true)]
    pub yaw: f32,
    /// Camera pitch, degrees; positive looks from above
    #[arg(long, default_value_t = 8.0, value_parser = finite, allow_hyphen_values = true)]
    pub pitch: f32,
    /// The part of the character to show
    #[command(flatten)]
    pub frame: FrameArgs,
    /// Size of a picture, pixels
    #[arg(long, value_parser = parse_size, default_value = "960x1280")]
    pub size: [u32; 2],
    /// Line width, pixels per point; by default proportional to the picture: 1 if its shorter side has 960 pixels
    #[arg(long, value_parser = positive)]
    pub scale: Option<f32>,
    /// Samples per pixel: 1, or 4 for smooth edges
    #[arg(long, value_parser = parse_samples, default_value = "4")]
    pub samples: u32,
}

/// Renders a file and writes the picture.
///
/// # Errors
/// Any error from loading, posing, rendering or writing.
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    let out = &*args.out;
    let angle = Angle { yaw: args.yaw.to_radians(), pitch: args.pitch.to_radians() };
    if out.extension().is_none_or(|e| !e.eq_ignore_ascii_case("png")) {
        let problem = format!("{}: unknown kind of file", out.display());
        return Err(Error::input(problem, "end the name of --out in .png"));
    }
    let model = Model::load(&args.file, &BindOptions::default())?;
    let pose = args.pose.resolve(&model)?;
    let center = args.frame.center(model.skeleton(), &pose)?;
    let side = context.side(false)?;
    let recipe = args.method.recipe(&model)?;
    let mut evaluator = Evaluator::new(&side, &model, &recipe)?;
    evaluator.set_sculpt_states(&model.shown_at(args.pose.time.map(f64::from)).sculpts);
    let shape = evaluator.evaluate(&model, &pose)?;
    if let Some(show) = args.panels.filter(|s| window_picture::is_window(*s)) {
        let picture = window_picture::picture(context, (&model, &pose, &shape), show, args.size)?;
        return write_png(out, &picture);
    }
    if let Some(show) = args.panels {
        let picture =
            headset_picture::picture(context, (&model, &pose, &shape), show, (args.size, args.stereo))?;
        return write_png(out, &picture);
    }
    let mut bounds = Aabb::of(shape.positions.iter().copied());
    let mut lines = Lines::default();
    if args.skeleton {
        draw_bones(&model, &PosedRig::new(model.skeleton(), &pose), &mut lines);
    }
    if let Some(document) = model.document.as_ref().filter(|_| args.strokes) {
        bounds = draw_strokes(document, &bounds, &mut lines);
    }
    if let Some(document) = &model.document {
        for name in &args.motion_path {
            let node = named_node(model.skeleton(), name)?;
            let path = onion::MotionPath::new(model.skeleton(), document, node);
            path.points.iter().for_each(|p| {
                bounds = Aabb { min: bounds.min.min(*p), max: bounds.max.max(*p) };
            });
            path.lines(None, &mut lines);
        }
        if let Some(count) = args.onion {
            let aspect = args.size[0] as f32 / args.size[1] as f32;
            let eye = Camera::framing(&bounds, aspect, angle.yaw, angle.pitch).eye;
            let time = args.pose.time.map_or(0.0, f64::from);
            let mut skins = Lines::default();
            onion::onion(&model, document, &mut evaluator, (time, count), eye, &mut skins)?;
            // Onion skins are drawn first, below all other lines.
            skins.segments.append(&mut lines.segments);
            lines.segments = skins.segments;
        }
    } else if args.onion.is_some() || !args.motion_path.is_empty() {
        return Err(Error::input(
            "--onion and --motion-path need a project with a motion",
            "give a project; `sinew save` makes one",
        ));
    }
    let bounds = args.frame.bounds(center, bounds);
    let mut studio = Studio::new(&context.renderer()?, &model)?;
    studio.hide(model.document.as_ref().map_or(&[], |d| d.hidden()));
    studio.set_samples(wanted_samples(context.renderer()?.device(), Some(args.samples), true));
    let look = studio.look_mut();
    look.scale = args.scale.unwrap_or_else(|| size_scale(args.size));
    (look.wire, look.phong, look.occlusion) = (args.wire, args.phong, args.occlusion);
    look.shading = if args.clay { Shading::Clay } else { Shading::Textured };
    (look.floor, look.shadows) = (!args.plain, !args.plain);
    let picture = match args {
        Args { anaglyph: true, .. } => studio.anaglyph(&shape, &bounds, angle, args.size, &lines)?,
        Args { stereo: true, .. } => studio.stereo(&shape, &bounds, angle, args.size, &lines)?,
        _ => studio.picture(&shape, &bounds, angle, args.size, &lines)?,
    };
    write_png(out, &picture)
}

/// Returns the scale of lines, pixels per point: proportional to the picture's shorter side, 1 for 960 pixels.
pub fn size_scale(size: [u32; 2]) -> f32 {
    size[0].min(size[1]) as f32 / 960.0
}

/// Adds a document's strokes to `lines`; returns the bounds enlarged by the strokes.
pub fn draw_strokes(document: &Document, bounds: &Aabb, lines: &mut Lines) -> Aabb {
    let mut out = *bounds;
    for layer in document.strokes() {
        for (stroke, color) in [(Some(&layer.baseline), BASELINE), (layer.offset.as_ref(), OFFSET)] {
            let Some(stroke) = stroke else { continue };
            let spline = stroke.spline();
            // 65 points per spline are enough to look like a smooth curve.
            let at = |k: u32| spline.at_length(spline.length() * f64::from(k) / 64.0);
            let points: Vec<Vec3> = (0..=64).map(|k| spline.position(at(k)).as_vec3()).collect();
            lines.stroke(&points, color, 6.0);
            for p in points {
                out = Aabb { min: out.min.min(p), max: out.max.max(p) };
            }
        }
    }
    out
}

/// Adds the pose's body-deforming bones to `lines`.
pub fn draw_bones(model: &Model, rig: &PosedRig, lines: &mut Lines) {
    let deforming = model.bound.character.deforming_bones();
    for ((bone, posed), deforming) in model.skeleton().bones.iter().zip(&rig.bones).zip(deforming) {
        if deforming && bone.head != bone.tail {
            lines.bone(posed.head, posed.tail, 2.0);
        }
    }
}
