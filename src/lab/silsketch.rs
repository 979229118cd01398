//! `sinew-lab silsketch`: draws an accent stroke over a picture and reshapes the character's silhouette to follow it.

use crate::app::context::{Context, human, write_png};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::commands::arguments::{FrameArgs, MethodArgs};
use crate::commands::pose::{PoseArgs, finite};
use crate::deform::classic::{Energy, Lists, LseOptions};
use crate::render::{BASELINE, Camera, Filter, Lines, OFFSET};
use crate::scene::{Angle, Classic, Evaluator, Model, Studio, reshape};
use crate::surface::{Accent, Reach, SilSketch, silsketch};
use std::path::{Path, PathBuf};

/// Rounds of ARAP. The command computes only one picture, so many rounds are affordable.
const ROUNDS: u32 = 40;

/// The character, the stroke, the solver and the camera.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The character
    pub file: PathBuf,
    /// The pose
    #[command(flatten)]
    pub pose: PoseArgs,
    /// The method
    #[command(flatten)]
    pub method: MethodArgs,
    /// Accent stroke: a JSON list of [x, y], pixels from the upper left corner of the picture
    #[arg(long, value_name = "POINTS.json")]
    stroke: Option<PathBuf>,
    /// The .png to write; without a stroke it shows the silhouettes
    #[arg(long)]
    out: PathBuf,
    /// G-buffer image in which silhouettes are detected
    #[arg(long, value_enum, default_value_t = FilterArg::Normal)]
    filter: FilterArg,
    /// Minimum strength of a silhouette; the default depends on the filter
    #[arg(long, value_parser = finite)]
    threshold: Option<f32>,
    /// Width of the region: number of mesh edges from the silhouette to the region's rim
    #[arg(long, default_value_t = 4)]
    reach: u32,
    /// Solver that moves the region
    #[arg(long, value_enum, default_value_t = Solver::Lse)]
    solver: Solver,
    /// Show only the result, without stroke and silhouette
    #[arg(long)]
    plain: bool,
    /// Show the triangles' edges
    #[arg(long)]
    wire: bool,
    /// Rotation of the camera about the vertical axis, degrees; 0: front
    #[arg(long, default_value_t = 90.0, value_parser = finite, allow_hyphen_values = true)]
    yaw: f32,
    /// Camera pitch, degrees; positive looks from above
    #[arg(long, default_value_t = 0.0, value_parser = finite, allow_hyphen_values = true)]
    pitch: f32,
    /// The part of the character to show
    #[command(flatten)]
    frame: FrameArgs,
    /// Pixels of the picture, WIDTHxHEIGHT
    #[arg(long, value_parser = size, default_value = "960x960")]
    size: [u32; 2],
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FilterArg {
    Normal,
    Depth,
    Position,
}

/// A classical tool, as named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Solver {
    /// Laplacian surface editing
    Lse,
    /// As rigid as possible, with rims
    Arap,
    /// As rigid as possible, spokes only
    ArapSpokes,
    /// As-rigid-as-possible scale vectors
    ArapScale,
}

impl Solver {
    /// Returns the solver; `rounds` sets the number of ARAP rounds.
    pub fn tool(self, rounds: u32) -> Classic {
        match self {
            Self::Lse => Classic::Lse(LseOptions::default()),
            Self::Arap => Classic::Arap(Energy::SpokesAndRims, rounds),
            Self::ArapSpokes => Classic::Arap(Energy::Spokes, rounds),
            Self::ArapScale => Classic::ArapScale,
        }
    }
}

fn size(text: &str) -> std::result::Result<[u32; 2], String> {
    let size = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    size.filter(|s| s.iter().all(|n| (16..=8192).contains(n)))
        .ok_or_else(|| "write WIDTHxHEIGHT, 16 to 8192".into())
}

/// Renders the picture; returns a summary of the results.
///
/// # Errors
/// Any error from loading, posing, finding the silhouette, solving or writing.
pub fn run(context: &mut Context, args: &Args) -> Result<String> {
    let model = Model::load(&args.file, &BindOptions::default())?;
    let pose = args.pose.resolve(&model)?;
    let center = args.frame.center(model.skeleton(), &pose)?;
    let side = context.side(false)?;
    let shape = Evaluator::new(&side, &model, &args.method.recipe(&model)?)?.evaluate(&model, &pose)?;
    let mut studio = Studio::new(&context.renderer()?, &model)?;
    studio.look_mut().wire = args.wire;
    let bounds = args.frame.bounds(center, Aabb::of(shape.positions.iter().copied()));
    let angle = Angle { yaw: args.yaw.to_radians(), pitch: args.pitch.to_radians() };
    let aspect = args.size[0] as f32 / args.size[1] as f32;
    let view = Camera::framing(&bounds, aspect, angle.yaw, angle.pitch).view(aspect);
    let mut options = match args.filter {
        FilterArg::Normal => Filter::Normal,
        FilterArg::Depth => Filter::Depth,
        FilterArg::Position => Filter::Position,
    }
    .options();
    options.threshold = args.threshold.unwrap_or(options.threshold);
    let points = studio.silhouettes(&shape, &view, args.size, &options)?;
    let mut lines = Lines::default();
    let Some(path) = &args.stroke else {
        points.iter().for_each(|p| lines.dot(p.position.into(), BASELINE, 2.0));
        write_png(&args.out, &studio.picture(&shape, &bounds, angle, args.size, &lines)?)?;
        return Ok(format!("{} pixels on silhouettes", points.len()));
    };
    let stroke = read_stroke(path)?;
    let accent = Accent {
        stroke: &stroke,
        view: &view,
        size: args.size,
        depths: None,
        reach: Reach::Edges(args.reach),
    };
    let SilSketch { chain, region, to, .. } =
        silsketch(&model.bound.character, &shape.control, &points, &accent)?;
    let lists = Lists { kinematic: &region.kinematic, passive: &region.passive, fixed: &region.fixed };
    let new = reshape(&model, (&pose, &shape), (&lists, &to), args.solver.tool(ROUNDS))?;
    if !args.plain {
        let baseline: Vec<Vec3> = chain.iter().map(|p| p.position.into()).collect();
        lines.stroke(&baseline, BASELINE, 3.0);
        // The stroke is placed close to the camera, so that nothing occludes it.
        let near = |p: &[f32; 2]| {
            let ray = view.ray(p[0] / args.size[0] as f32, p[1] / args.size[1] as f32);
            view.eye + ray * (0.5 * bounds.center().distance(view.eye))
        };
        lines.stroke(&stroke.iter().map(near).collect::<Vec<_>>(), OFFSET, 3.0);
    }
    write_png(&args.out, &studio.picture(&new.shape, &bounds, angle, args.size, &lines)?)?;
    Ok(format!(
        "{} pixels on silhouettes, {} of them meant; {} kinematic, {} passive, {} static vertices; factored in {}, solved in {}",
        points.len(),
        chain.len(),
        region.kinematic.len(),
        region.passive.len(),
        region.fixed.len(),
        human(new.factor),
        human(new.solve)
    ))
}

/// Reads a stroke of at least two points.
fn read_stroke(path: &Path) -> Result<Vec<[f32; 2]>> {
    /// Maximum number of points; longer than any stroke drawn by hand.
    const MOST: usize = 1 << 16;
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let wrong = |problem: String| Error::broken(path, "stroke", problem, "write a list of [x, y] in pixels");
    let stroke: Vec<[f32; 2]> = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if !(2..=MOST).contains(&stroke.len()) || stroke.iter().flatten().any(|x| !x.is_finite()) {
        return Err(wrong(format!("has {} places; it needs 2 to {MOST} finite ones", stroke.len())));
    }
    Ok(stroke)
}
