//! Command-line arguments that several commands share.

use crate::base::math::{Aabb, EulerRot, Quat, Vec3};
use crate::base::{Error, Result};
use crate::bind::{BindOptions, Binding, Smoothing};
use crate::deform::Recipe;
use crate::document::DeformerSettings;
use crate::rig::{Pose, PosedRig, Skeleton, named_node, parse_rotation};
use crate::scene::Model;
use clap::{Args, ValueEnum};
use std::path::Path;

/// Refuses an output file that is the input file.
///
/// # Errors
/// [`Error::Input`] if both paths lead to the same file.
pub(super) fn keeps_input(input: &Path, out: &Path) -> Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    if real(input).is_some_and(|input| real(out) == Some(input)) {
        let problem = format!("{}: the output would replace the input", out.display());
        return Err(Error::input(problem, "give --out another path"));
    }
    Ok(())
}

/// The error of a command whose output cannot contain the edits of its input.
pub(super) fn leaves_edits_out(input: &Path, remedy: &str) -> Error {
    Error::input(format!("{}: the new file would not contain the edits", input.display()), remedy)
}

/// How the window or the headset runs.
#[derive(Args, Clone, Debug, Default)]
pub struct WindowArgs {
    /// Samples per pixel, 1 or 4; overrides your setting of smooth edges
    #[arg(long, value_parser = parse_samples)]
    pub samples: Option<u32>,
    /// For tests and scripts: write one line of JSON per iteration of the event loop to standard output, read requests
    /// from standard input
    #[arg(long)]
    pub report: bool,
    /// For tests: neither read nor write your settings
    #[arg(long)]
    pub forget: bool,
}

/// The part of the character that a picture shows.
#[derive(Args, Clone, Debug)]
pub struct FrameArgs {
    /// Look at this joint or node in place of the whole character
    #[arg(long, value_name = "NODE")]
    pub focus: Option<String>,
    /// Zoom factor; with 1, the picture shows the whole character
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    pub zoom: f32,
}

impl FrameArgs {
    /// Returns the posed position of the node of `focus`, if given.
    ///
    /// # Errors
    /// An error if no node matches, or if several nodes match.
    pub fn center(&self, skeleton: &Skeleton, pose: &Pose) -> Result<Option<Vec3>> {
        let node = self.focus.as_deref().map(|name| named_node(skeleton, name)).transpose()?;
        Ok(node.map(|n| PosedRig::new(skeleton, pose).world[n.index()].translation.into()))
    }

    /// Returns the bounds that the camera frames. `whole` are the bounds of everything that is drawn.
    pub fn bounds(&self, center: Option<Vec3>, whole: Aabb) -> Aabb {
        if center.is_none() && self.zoom == 1.0 {
            return whole;
        }
        let center = center.unwrap_or_else(|| whole.center());
        let half = Vec3::splat(0.5 * whole.size().max_element() / self.zoom);
        Aabb { min: center - half, max: center + half }
    }
}

/// Parses a finite number above 0.
///
/// # Errors
/// An error message if `text` is not a finite number above 0.
pub fn positive(text: &str) -> std::result::Result<f32, String> {
    match text.parse() {
        Ok(value) if f32::is_finite(value) && value > 0.0 => Ok(value),
        _ => Err("give a number above 0".into()),
    }
}

/// Parses the number of samples per pixel.
///
/// # Errors
/// An error message if `text` is neither 1 nor 4.
pub fn parse_samples(text: &str) -> std::result::Result<u32, String> {
    match text {
        "1" => Ok(1),
        "4" => Ok(4),
        _ => Err("give 1, or 4 for smooth edges".into()),
    }
}

/// Parses a factor on the size of the headset's pictures.
pub fn parse_render_scale(text: &str) -> std::result::Result<f32, String> {
    let [least, most] = crate::workbench::RENDER_SCALE_RANGE;
    let scale = text.parse().ok().filter(|scale| (least..=most).contains(scale));
    scale.ok_or_else(|| format!("give a number from {least} to {most}"))
}

/// Which processor evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// The GPU, by Vulkan.
    Gpu,
    /// The CPU reference.
    Cpu,
}

impl Side {
    /// Returns true if the CPU reference evaluates the deformation.
    pub fn is_cpu(self) -> bool {
        self == Self::Cpu
    }
}

/// How the skin is attached to the bones. Options that are not given keep the project's setting, or else the default.
#[derive(Args, Clone, Debug, Default)]
pub struct BindArgs {
    /// How a vertex gets its bone; default weights
    #[arg(long, value_enum)]
    pub binding: Option<Binding>,
    /// Smoothing rounds of the attachment points, 0 to 10; default 6
    #[arg(long, value_name = "N")]
    pub smooth: Option<u32>,
    /// What a smoothing round does; default bounded
    #[arg(long, value_enum)]
    pub smoothing: Option<Smoothing>,
    /// Turn the planes of the planar binding at a joint, degrees about the axes of the rest pose, in the given order:
    /// Elbow=x:10,z:-20
    #[arg(long, value_name = "JOINT=x:10")]
    pub plane: Vec<String>,
}

impl BindArgs {
    /// Returns the settings `own` with these changes.
    ///
    /// # Errors
    /// [`Error::Input`] for an unknown joint or axis, or if the new settings are not valid.
    pub fn options(&self, own: &BindOptions, skeleton: &Skeleton) -> Result<BindOptions> {
        let mut new = own.clone();
        new.method = self.binding.unwrap_or(own.method);
        new.smooth = self.smooth.unwrap_or(own.smooth);
        new.smoothing = self.smoothing.unwrap_or(own.smoothing);
        for text in &self.plane {
            let (node, turns) = parse_rotation(skeleton, text)?;
            let joint = skeleton.nodes[node.index()].joint.ok_or_else(|| {
                Error::input(format!("--plane {text}: that node is no joint"), "name a joint of the skin")
            })?;
            let turn = turns.iter().fold(Quat::IDENTITY, |q, (axis, degrees)| {
                Quat::from_axis_angle(axis.unit().as_vec3(), degrees.to_radians()) * q
            });
            let (z, y, x) = turn.to_euler(EulerRot::ZYX);
            // Adding zero turns negative zero into zero.
            let degrees = [x, y, z].map(|angle| angle.to_degrees() + 0.0);
            match degrees == [0.0; 3] {
                true => drop(new.planes.remove(&joint)),
                false => drop(new.planes.insert(joint, degrees)),
            }
        }
        new.validate(skeleton)?;
        Ok(new)
    }

    /// Returns a model with these changes of its binding.
    ///
    /// # Errors
    /// As [`BindArgs::options`] and [`Model::rebound`].
    pub fn applied(&self, model: Model) -> Result<Model> {
        let options = self.options(model.binding(), model.skeleton())?;
        if options == *model.binding() { Ok(model) } else { model.rebound(&options) }
    }
}

/// The deformation method with its parameters.
#[derive(Args, Clone, Debug, Default)]
pub struct MethodArgs {
    /// The name of a method.
    #[arg(long, value_parser = parse_method, help = format!(
        "{}; by default the project's method, else springs, or lbs for a file that Sinew has exported", Recipe::NAMES.join(", ")
    ))]
    pub method: Option<String>,
    /// A parameter of the method, e.g. torsion=0.5 or solver=jacobi
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

impl MethodArgs {
    /// Converts the arguments to the deformer settings that a document stores.
    ///
    /// # Errors
    /// [`Error::Input`] if a parameter is not written as NAME=VALUE.
    pub fn settings(&self) -> Result<DeformerSettings> {
        let method = self.method.clone().unwrap_or_default();
        let mut out = DeformerSettings { method, ..DeformerSettings::default() };
        for text in &self.set {
            let Some((name, value)) = text.split_once('=') else {
                return Err(Error::input(format!("--set {text}"), "write NAME=VALUE"));
            };
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            out.parameters.insert(name.to_owned(), value);
        }
        Ok(out)
    }

    /// Returns the recipe for a character: the method of the arguments, or else the project's. Prints a line for each
    /// number out of range.
    ///
    /// # Errors
    /// [`Error::Input`] for a wrong parameter, or if the character cannot be deformed by the method.
    pub fn recipe(&self, model: &Model) -> Result<Recipe> {
        let settings = model.deformer(&self.settings()?);
        let recipe = model.recipe(&settings)?;
        for (name, given) in &settings.parameters {
            if let (Some(given), Some(used)) = (given.as_f64(), recipe.number(name))
                && given as f32 != used
            {
                eprintln!("sinew: {name}={given} is not possible; the nearest value is {used}");
            }
        }
        Ok(recipe)
    }
}

/// Checks a method name and returns its canonical spelling.
///
/// # Errors
/// An error message if no method has this name.
pub fn parse_method(text: &str) -> std::result::Result<String, String> {
    Recipe::from_name(text).map(|r| r.name().to_owned()).map_err(|e| e.to_string())
}

/// Parses an image size in pixels, written as WIDTHxHEIGHT.
///
/// # Errors
/// An error message if the syntax is wrong or a size lies outside 1..=16384.
pub fn parse_size(text: &str) -> std::result::Result<[u32; 2], String> {
    let size = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    match size {
        Some([w, h]) if (1..=16384).contains(&w) && (1..=16384).contains(&h) => Ok([w, h]),
        _ => Err("write WIDTHxHEIGHT, 1 to 16384 pixels each".into()),
    }
}
