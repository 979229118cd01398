//! The `sinew-lab` program for developers. It measures speed, draws the papers' figures, generates Sinew's own characters,
//! and studies rigging and methods of the papers.

use clap::{Parser, Subcommand};
use sinew::app::context::{Context, said, say};
use sinew::base::Result;
use sinew::lab::{bench, figures, generate, rigging, roi, silsketch};

/// Measures Sinew, draws the papers' figures and generates Sinew's own characters.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Use the Vulkan device whose name contains NAME; by default the best device
    #[arg(long, global = true, value_name = "NAME")]
    device: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Benchmark this machine's GPU: binding, skinning, springs, rendering, growth
    Bench(bench::Args),
    /// Draw the papers' figures on Sinew's own characters, with captions
    Figures(figures::Args),
    /// Generate one of Sinew's own characters: box, plus, human, chibi, golem
    Generate(generate::Args),
    /// Remove bones and weights from characters, rig the bare meshes again and compare the weights
    Rigging(rigging::Args),
    /// Deform a region of any mesh by LSE or ARAP
    Roi(roi::Args),
    /// Reshape a silhouette by an accent stroke drawn over the image (SilSketch)
    Silsketch(Box<silsketch::Args>),
}

fn run(cli: Cli) -> Result<()> {
    let context = &mut Context::new(cli.device);
    match cli.command {
        Command::Bench(args) => say(bench::run(context, &args)?.trim_end()),
        Command::Figures(args) => figures::figures(context, &args)?,
        Command::Generate(args) => generate::run(&args)?,
        Command::Rigging(args) => rigging::run(&args)?,
        Command::Roi(args) => say(roi::run(&args)?),
        Command::Silsketch(args) => say(silsketch::run(context, &args)?),
    }
    said()
}

fn main() -> std::process::ExitCode {
    match run(Cli::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sinew-lab: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
