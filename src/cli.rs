//! The command line.

mod args;
mod run;

use args::{BindArgs, DeskArgs, MethodArgs, Side, parse_samples, parse_size, positive};
use clap::{Parser, Subcommand};
use sinew::commands::pose::{PoseArgs, finite};
use sinew::export::Clips;
use sinew::project::bake::parse_frames;
use std::path::PathBuf;

/// Poses and deforms 3D characters: strokes move the skeleton, springs between bones and skin shape the flesh.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Without a command: what to open in a window, a rigged glTF file, a project or a journal
    file: Option<PathBuf>,
    /// Vulkan device whose name contains this; otherwise the best one
    #[arg(long, global = true, value_name = "NAME")]
    device: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Bind a character, pose it by strokes along its own skeleton, deform, render and export it
    Demo {
        /// A rigged glTF file; without one, a generated character
        file: Option<PathBuf>,
        /// Folder for pictures, .glb and journal
        #[arg(long, default_value = "out")]
        out: PathBuf,
    },
    /// Show what is in a glTF file and every problem found
    Inspect {
        file: PathBuf,
        #[arg(long)]
        json: bool,
    },
    /// Attach the skin to the bones and show how well it hangs
    Bind {
        file: PathBuf,
        #[command(flatten)]
        bind: BindArgs,
        #[command(flatten)]
        weigh: sinew::commands::bind::WeighArgs,
        /// Where no mesh has weights: a .glb with those that were made
        #[arg(long)]
        out: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Deform one pose by one method
    Deform {
        file: PathBuf,
        #[command(flatten)]
        pose: PoseArgs,
        #[command(flatten)]
        method: MethodArgs,
        #[command(flatten)]
        bind: BindArgs,
        /// Where to evaluate
        #[arg(long, value_enum, default_value_t = Side::Gpu)]
        on: Side,
        /// .glb, .obj or .png
        #[arg(long)]
        out: Option<PathBuf>,
        /// At most 4 influences per vertex in a .glb; the receipt tells what it costs
        #[arg(long)]
        compatible: bool,
        /// What becomes of the file's own animations in a .glb
        #[arg(long, value_enum, default_value_t)]
        clips: Clips,
        /// Pixels of a picture
        #[arg(long, value_parser = parse_size, default_value = "960x1280")]
        size: [u32; 2],
        #[arg(long)]
        json: bool,
    },
    /// Place some joints and let the whole shape find its pose
    Fast {
        file: PathBuf,
        #[command(flatten)]
        args: sinew::commands::fast::FastArgs,
        /// Pixels of a picture
        #[arg(long, value_parser = parse_size, default_value = "960x1280")]
        size: [u32; 2],
    },
    /// Shape the surface: bulges, waves and profiles on a ring, a line or a bone, in any pose
    Sculpt {
        file: PathBuf,
        /// An edit, in words: a place (ring=JOINT@0.5, line=JOINT@0.1..0.9@DEGREES or bone=JOINT), profile=even (parabola,
        /// wave, or an easing such as cubic-in), amount=0.25 (share of the distance to the bone), along=stroke (bone),
        /// reach=4 (edges; 0.1m along the skin, 0.1m-air), soft=1, stiffness, amplitude; count, speed, phase of a wave
        #[arg(long = "edit", value_name = "WORDS")]
        edits: Vec<String>,
        #[command(flatten)]
        pose: PoseArgs,
        #[command(flatten)]
        method: MethodArgs,
        /// Where to evaluate
        #[arg(long, value_enum, default_value_t = Side::Gpu)]
        on: Side,
        /// Times of waves, seconds: a picture each, side by side
        #[arg(long, value_delimiter = ',')]
        seconds: Vec<f64>,
        /// Show the regions: kinematic green, passive blue, fixed red
        #[arg(long)]
        region: bool,
        /// Show what lies around the regions only, so many times their size
        #[arg(long, value_parser = sinew::commands::pose::finite)]
        zoom: Option<f32>,
        /// Degrees from which to look; 0 sees the front
        #[arg(long, default_value = "34", value_parser = sinew::commands::pose::finite, allow_hyphen_values = true)]
        yaw: f32,
        /// Pixels of a picture
        #[arg(long, value_parser = parse_size, default_value = "640x800")]
        size: [u32; 2],
        /// .png, or .glb for a project
        #[arg(long)]
        out: PathBuf,
    },
    /// Compare methods on one pose: a contact sheet and a table
    Compare {
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        pose: PoseArgs,
        /// Comma-separated
        #[arg(long, value_delimiter = ',', default_values_t = ["lbs".to_owned(), "dqs".into(), "springs".into()])]
        methods: Vec<String>,
        /// Bend each of the character's main joints by 90 degrees, one at a time, in place of a pose
        #[arg(long)]
        bends: bool,
        /// Twist each of the character's main joints by 120 and 180 degrees, one at a time
        #[arg(long)]
        twists: bool,
        /// With --bends or --twists: a parameter of the springs, e.g. torsion=0.5
        #[arg(long = "set", value_name = "NAME=VALUE")]
        set: Vec<String>,
        #[arg(long, value_enum, default_value_t = Side::Gpu)]
        on: Side,
        #[arg(long, default_value = "out")]
        out: PathBuf,
    },
    /// Take a picture
    Render {
        file: PathBuf,
        #[command(flatten)]
        pose: PoseArgs,
        #[command(flatten)]
        method: MethodArgs,
        /// The .png
        #[arg(long)]
        out: PathBuf,
        /// Both eyes side by side, each of --size
        #[arg(long)]
        stereo: bool,
        /// Both eyes in one picture, for red and cyan glasses
        #[arg(long, conflicts_with_all = ["stereo", "panels"])]
        anaglyph: bool,
        /// Draw the bones
        #[arg(long)]
        skeleton: bool,
        /// Draw the triangles' edges
        #[arg(long)]
        wire: bool,
        /// Draw a project's strokes
        #[arg(long)]
        strokes: bool,
        /// Without floor and shadows
        #[arg(long)]
        plain: bool,
        /// Outlines of so many keys of a project before and after the time
        #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "1")]
        onion: Option<usize>,
        /// The path of a joint over a project's motion
        #[arg(long, value_name = "JOINT")]
        arc: Vec<String>,
        /// What a user in a headset sees, with the palette at hand
        #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "pose")]
        panels: Option<sinew::commands::headset_picture::Show>,
        /// Degrees about the vertical; 0 is the front
        #[arg(long, default_value_t = 30.0, value_parser = finite, allow_hyphen_values = true)]
        yaw: f32,
        /// Degrees upwards
        #[arg(long, default_value_t = 8.0, value_parser = finite, allow_hyphen_values = true)]
        pitch: f32,
        #[arg(long, value_parser = parse_size, default_value = "960x1280")]
        size: [u32; 2],
        /// Pixels per point of lines; without it in proportion to the picture, 1 where its shorter side has 960
        #[arg(long, value_parser = positive)]
        scale: Option<f32>,
        /// Samples per pixel: 1, or 4 for smooth edges
        #[arg(long, value_parser = parse_samples, default_value = "4")]
        samples: u32,
    },
    /// Replay a take or a journal, or open a project, without a display, to the same document
    Play {
        #[arg(value_name = "TAKE|JOURNAL|PROJECT")]
        journal: PathBuf,
        #[arg(long, default_value = "out")]
        out: PathBuf,
    },
    /// Save a journal, a project or any character as a project file
    Save {
        #[arg(value_name = "JOURNAL|FILE")]
        input: PathBuf,
        /// The project, a .glb
        #[arg(long)]
        out: PathBuf,
        /// Plays a clip of the file below the strokes, by name or number, over those before:
        /// Walk,speed=1.5,start=0.5,weight=0.7,loop
        #[arg(long, value_name = "NAME,...")]
        clip: Vec<String>,
        /// What becomes of the file's own animations in what viewers show; the original keeps them
        #[arg(long, value_enum, default_value_t)]
        clips: Clips,
        /// Few morph targets that all frames share, none of whose vertices is off by more; without it every shape has its own,
        /// at most 240
        #[arg(long, value_name = "X")]
        budget_mm: Option<f64>,
        /// At most 4 influences per vertex in what other programs see; the original comes back whole
        #[arg(long)]
        compatible: bool,
        #[arg(long, value_enum, default_value_t = Side::Gpu)]
        on: Side,
    },
    /// Bake frames of a project's motion into a folder; or join a folder's frames into a .glb
    #[command(after_help = SPREAD)]
    Bake {
        /// A project, a journal, or a character
        #[arg(value_name = "PROJECT", required_unless_present = "join", conflicts_with = "join")]
        project: Option<PathBuf>,
        /// First and last frame; without it the whole motion
        #[arg(long, value_name = "A-B", value_parser = parse_frames)]
        frames: Option<[u32; 2]>,
        /// Frames per second; without it the project's
        #[arg(long, value_name = "N", conflicts_with = "join")]
        fps: Option<f64>,
        /// The folder of the frames; with --join the .glb
        #[arg(long)]
        out: Option<PathBuf>,
        /// A folder of frames to join, with a receipt of them all
        #[arg(long, value_name = "DIR")]
        join: Option<PathBuf>,
        /// No vertex of the joined file is off by more, at any frame; without it 1e-4 of the character's size
        #[arg(long, value_name = "X", requires = "join")]
        budget_mm: Option<f64>,
        /// What becomes of the file's own animations in the joined .glb
        #[arg(long, value_enum, default_value_t, requires = "join")]
        clips: Clips,
        /// A morph target for every frame, as --budget-mm 0
        #[arg(long, requires = "join", conflicts_with = "budget_mm")]
        exact: bool,
        /// At most 4 influences per vertex in the joined file
        #[arg(long, requires = "join")]
        compatible: bool,
        #[arg(long, value_enum, default_value_t = Side::Gpu)]
        on: Side,
    },
    /// List sessions that ended without saving; restore or discard one
    Recover {
        /// Its number in the list, or a part of the name of its file or journal; not needed for the only one
        which: Option<String>,
        /// List them, the newest first (the default)
        #[arg(long, conflicts_with_all = ["restore", "discard"])]
        list: bool,
        /// Save its document as a project and remove its journal
        #[arg(long, value_name = "PROJECT.glb", conflicts_with = "discard")]
        restore: Option<PathBuf>,
        /// Remove its journal
        #[arg(long)]
        discard: bool,
        #[arg(long, value_enum, default_value_t = Side::Gpu)]
        on: Side,
        /// The list as JSON
        #[arg(long, conflicts_with_all = ["restore", "discard"])]
        json: bool,
    },
    /// Pose in a window, by mouse, pen and keyboard
    Edit {
        /// A rigged glTF file, a project or a journal; without one an empty window, to drop files on
        file: Option<PathBuf>,
        #[command(flatten)]
        desk: DeskArgs,
    },
    /// Pose in a headset, on any OpenXR runtime
    Vr {
        /// A rigged glTF file or a project
        file: PathBuf,
        /// Folder for what is left at the end: pictures of both eyes, project, posed .glb and receipt
        #[arg(long)]
        out: Option<PathBuf>,
        /// Record the devices' input in this file
        #[arg(long, value_name = "TAKE")]
        record: Option<PathBuf>,
        /// Wait for a runtime where there is none
        #[arg(long)]
        wait: bool,
        /// Samples per pixel, 1 or 4, in place of your choice of smooth edges
        #[arg(long, value_parser = parse_samples)]
        samples: Option<u32>,
        /// End after so many frames
        #[arg(long)]
        frames: Option<u64>,
        /// For tests and scripts: a line of JSON per frame on standard output, requests on standard input
        #[arg(long)]
        report: bool,
        /// For tests: OpenXR API layers by name, e.g. XR_APILAYER_LUNARG_core_validation
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        layers: Vec<String>,
        /// What a window shows of it, where there is a display
        #[arg(long, value_enum, default_value_t = sinew::app::xr::Mirrored::Left)]
        mirror: sinew::app::xr::Mirrored,
        /// For tests: only this controller's bindings, e.g. khr/simple
        #[arg(long, value_name = "PROFILE")]
        profile: Option<String>,
        /// For tests: neither use nor keep your choices of earlier sessions
        #[arg(long)]
        forget: bool,
    },
    /// Headset and controllers
    Xr {
        #[command(subcommand)]
        command: XrCommand,
    },
    /// Give a silhouette another course by one accent stroke over the picture (SilSketch)
    Silsketch {
        file: PathBuf,
        #[command(flatten)]
        pose: PoseArgs,
        #[command(flatten)]
        method: MethodArgs,
        #[command(flatten)]
        job: sinew::commands::silsketch::Job,
    },
    /// Solve a region of any mesh by LSE or ARAP
    Roi(sinew::commands::roi::Job),
    /// Draw the papers' figures on Sinew's own characters, with captions
    Figures(sinew::lab::figures::Job),
    /// Measure this machine's device: binding, skinning, springs, drawing, growth
    Bench {
        /// Rigged glTF files; without any, the meshes of the thesis's Table 1
        files: Vec<PathBuf>,
        /// Only how many iterations the springs need, plain and accelerated, to the same equilibrium
        #[arg(long)]
        equilibrium: bool,
        /// Only LSE and ARAP against the vertices of their region
        #[arg(long, conflicts_with_all = ["equilibrium", "files"])]
        classic: bool,
        /// Only FAST, on the processor
        #[arg(long, conflicts_with_all = ["equilibrium", "classic", "files"])]
        fast: bool,
        /// Only edits of the surface in the springs, and baking
        #[arg(long, conflicts_with_all = ["equilibrium", "classic", "fast", "files"])]
        sculpt: bool,
        #[arg(long)]
        json: bool,
    },
    /// Make one of Sinew's own characters: box, plus, human, chibi, golem
    Generate {
        name: String,
        #[arg(long)]
        out: PathBuf,
    },
}

/// How frames are baked on many machines.
const SPREAD: &str = "\
Frames depend on nothing before them: ranges may be baked in any order, on any number of machines, into one shared
folder; the files are the same to the byte. What is finished stays when a bake is started again. Where flesh swings
(dynamics) a range that starts late computes all frames before it too, without writing them: its files are the same to the
byte as well, but the time is that of the whole motion up to its end, so few long ranges are better. With Slurm, 120 frames
as a job array of 12 tasks:

  #!/bin/sh
  #SBATCH --array=0-11
  #SBATCH --requeue
  first=$((1 + 10 * SLURM_ARRAY_TASK_ID))
  sinew bake hero.glb --frames $first-$((first + 9)) --fps 24 --on cpu --out /shared/bake

then, with the number that sbatch has told,

  sbatch --dependency=afterok:JOB --wrap \"sinew bake --join /shared/bake --out hero-baked.glb\"";

#[derive(Subcommand)]
enum XrCommand {
    /// Prove that every command is in reach on every controller, with either hand and with one controller alone, and
    /// tell what runtime and headset are here; fails where something is out of reach
    Doctor {
        #[arg(long)]
        json: bool,
        /// Fail too where no runtime and headset are ready
        #[arg(long)]
        runtime: bool,
    },
}
