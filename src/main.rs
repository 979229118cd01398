//! The `sinew` program: parses arguments and runs a command.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use sinew::app::context::{Context, said, say};
use sinew::app::display::has_display;
use sinew::base::{Error, Result};
use sinew::commands::{
    bake, bind, cage, compare, deform, demo, edit, fast, inspect, play, recover, render, rig, save, sculpt,
    vr, xr,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Poses and deforms 3D characters: strokes move the skeleton; springs or elastic volumes shape the flesh.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Without a command: the rigged glTF file, project or journal to open in a window
    file: Option<PathBuf>,
    /// Use the Vulkan device whose name contains NAME; by default the best device
    #[arg(long, global = true, value_name = "NAME")]
    device: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Bind a character, pose it by strokes along its own skeleton, deform, render and export it
    Demo(demo::Args),
    /// Show the contents of a glTF file and all its problems
    Inspect(inspect::Args),
    /// Attach the skin to the bones and report the quality of the attachment
    Bind(bind::Args),
    /// Give a mesh a skeleton and skin weights
    Rig(rig::Args),
    /// Give a character a cage whose vertices move skin and skeleton of the rest shape
    Cage(cage::Args),
    /// Deform one pose by one method
    Deform(deform::Args),
    /// Place some joints; FAST finds the pose of the others
    Fast(fast::Args),
    /// Shape the surface: bulges, waves and profiles on a ring, a line or a bone, in any pose
    Sculpt(sculpt::Args),
    /// Compare methods on one pose: a contact sheet and a table
    Compare(compare::Args),
    /// Draw a picture
    Render(render::Args),
    /// Replay a take or a journal, or open a project, without a display; the document is identical
    Play(play::Args),
    /// Save a journal, a project or any character as a project file
    Save(save::Args),
    /// Bake frames of a project's motion into a folder; or join a folder's frames into a .glb
    Bake(bake::Args),
    /// List sessions that ended without saving; restore or discard one
    Recover(recover::Args),
    /// Pose in a window, by mouse, pen and keyboard
    Edit(edit::Args),
    /// Pose in a headset, on any OpenXR runtime
    Vr(vr::Args),
    /// Check headset and controllers
    #[command(subcommand)]
    Xr(xr::Xr),
}

impl Cli {
    /// The command; without one the window.
    fn command(self) -> Command {
        match (self.command, self.file) {
            (Some(command), _) => command,
            (None, None) if !has_display() => {
                let help = <Self as CommandFactory>::command().render_help();
                let kind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
                let text = format!("there is no display for a window\n\n{help}");
                <Self as CommandFactory>::command().error(kind, text).exit();
            }
            // Rather a command written wrongly.
            (None, Some(file)) if file.extension().is_none() && !file.exists() => {
                let text = format!("unrecognized subcommand or file '{}'", file.display());
                <Self as CommandFactory>::command().error(ErrorKind::InvalidSubcommand, text).exit();
            }
            (None, file) => Command::Edit(edit::Args { file, window: Default::default() }),
        }
    }
}

/// Parses the arguments. A first word that is neither a command nor a file gets an error of its own: clap would call the
/// second word a command.
fn parsed() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let first =
            std::env::args().nth(1).filter(|word| !word.starts_with('-') && !Path::new(word).exists());
        let known = |word: &String| <Cli as CommandFactory>::command().find_subcommand(word).is_some();
        match first {
            Some(first) if error.kind() == ErrorKind::ArgumentConflict && !known(&first) => {
                let text = format!("there is no command '{first}'");
                <Cli as CommandFactory>::command().error(ErrorKind::InvalidSubcommand, text).exit()
            }
            _ => error.exit(),
        }
    })
}

fn run(cli: Cli) -> Result<()> {
    let device = cli.device.clone();
    let context = &mut Context::new(device.clone());
    match cli.command() {
        Command::Demo(args) => demo::run(context, &args),
        Command::Inspect(args) => inspect::run(&args).map(print),
        Command::Bind(args) => bind::run(context, &args).map(print),
        Command::Rig(args) => rig::run(&args).map(print),
        Command::Cage(args) => cage::run(context, &args),
        Command::Deform(args) => deform::run(context, &args).map(print),
        Command::Fast(args) => fast::run(context, &args).map(print),
        Command::Sculpt(args) => sculpt::run(context, &args),
        Command::Compare(args) => compare::run(context, &args).map(print),
        Command::Render(args) => render::run(context, &args),
        Command::Play(args) => play::run(context, &args),
        Command::Save(args) => save::run(context, &args),
        Command::Bake(args) => bake::run(context, &args),
        Command::Recover(args) => recover::run(context, &args),
        Command::Edit(args) => edit::run(device, args),
        Command::Vr(args) => vr::run(device, args),
        Command::Xr(command) => xr::run(&command),
    }
}

fn print(text: String) {
    say(text.trim_end());
}

fn main() -> ExitCode {
    match run(parsed()).and_then(|()| said()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sinew: {error}");
            // Scripts tell "no headset" from what is wrong with a file.
            match error {
                Error::Xr { .. } => ExitCode::from(3),
                _ => ExitCode::FAILURE,
            }
        }
    }
}
