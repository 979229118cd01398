//! Command-line arguments that several commands share.

use crate::base::{Error, Result};
use crate::bind::{BindOptions, Binding};
use crate::deform::Recipe;
use crate::document::DeformerSettings;
use clap::{Args, ValueEnum};

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

/// How the skin is attached to the bones.
#[derive(Args, Clone, Copy, Debug)]
pub struct BindArgs {
    /// How a vertex gets its bone
    #[arg(long, value_enum, default_value_t = BindingArg::Weights)]
    pub binding: BindingArg,
    /// Smoothing rounds of the attachment points, 0 to 10
    #[arg(long, default_value_t = 6, value_name = "N")]
    pub smooth: u32,
}

/// See [`Binding`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BindingArg {
    /// The nearest of all bones.
    Direct,
    /// The nearest of the bones at the joint with the largest skin weight.
    Weights,
    /// The bone of the region around the vertex; planes at the joints bound the regions.
    Planar,
}

impl BindArgs {
    /// Converts the arguments to the library's bind options.
    pub fn options(&self) -> BindOptions {
        let method = match self.binding {
            BindingArg::Direct => Binding::Direct,
            BindingArg::Weights => Binding::Weights,
            BindingArg::Planar => Binding::Planar,
        };
        BindOptions { method, smooth: self.smooth, ..BindOptions::default() }
    }
}

/// The deformation method with its parameters.
#[derive(Args, Clone, Debug, Default)]
pub struct MethodArgs {
    /// The name of a method.
    #[arg(long, value_parser = parse_method, help = format!(
        "{}; by default the project's method, else springs", Recipe::NAMES.join(", ")
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
