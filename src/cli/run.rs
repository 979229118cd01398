//! Hands each command to its front end.

use super::args::{DeskArgs, MethodArgs, Side};
use super::{Cli, Command, XrCommand};
use clap::CommandFactory;
use clap::error::ErrorKind;
use sinew::app::context::{Context, folder_of, say};
use sinew::app::display::{Display, has_display};
use sinew::app::faces;
use sinew::app::faces::Face;
use sinew::base::{Error, Result};
use sinew::commands::joints::Motion;
use sinew::commands::recover::Act;
use sinew::generate;
use sinew::project::Saving;
use sinew::project::bake::Joining;
use sinew::scene::Angle;

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let device = self.device;
        let mut context = Context::new(device.clone());
        let command = match (self.command, self.file) {
            (Some(command), _) => command,
            (None, None) if !has_display() => {
                let help = Self::command().render_help();
                let kind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
                Self::command().error(kind, format!("there is no display for a window\n\n{help}")).exit();
            }
            // Rather a command written wrongly.
            (None, Some(file)) if file.extension().is_none() && !file.exists() => {
                let text = format!("unrecognized subcommand or file '{}'", file.display());
                Self::command().error(ErrorKind::InvalidSubcommand, text).exit();
            }
            (None, file) => {
                Command::Edit { file, desk: DeskArgs { samples: None, report: false, forget: false } }
            }
        };
        match command {
            Command::Demo { file, out } => sinew::commands::demo::demo(&mut context, file.as_deref(), &out)?,
            Command::Inspect { file, json } => {
                say(sinew::commands::inspect::inspect(&file, json)?.trim_end())
            }
            Command::Bind { file, bind, weigh, out, json } => {
                let bind = bind.options();
                let job = sinew::commands::bind::Job { file: &file, bind: &bind, weigh: &weigh, out, json };
                say(sinew::commands::bind::bind_report(&job)?.trim_end());
            }
            Command::Deform { file, pose, method, bind, on, out, compatible, clips, size, json } => {
                let job = sinew::commands::deform::Job {
                    file: &file,
                    pose: &pose,
                    deformer: &method.settings()?,
                    bind: &bind.options(),
                    cpu: matches!(on, Side::Cpu),
                    out,
                    compatible,
                    clips,
                    size,
                    json,
                };
                say(sinew::commands::deform::deform(&mut context, &job)?.trim_end());
            }
            Command::Fast { file, args, size } => {
                say(sinew::commands::fast::fast(&mut context, &file, size, &args)?.trim_end());
            }
            Command::Sculpt { file, edits, pose, method, on, seconds, region, zoom, yaw, size, out } => {
                let job = sinew::commands::sculpt::Job {
                    file: &file,
                    pose: &pose,
                    deformer: &method.settings()?,
                    edits: &edits,
                    cpu: matches!(on, Side::Cpu),
                    seconds: &seconds,
                    region,
                    zoom,
                    yaw,
                    size,
                    out: &out,
                };
                sinew::commands::sculpt::sculpt(&mut context, &job)?;
            }
            Command::Compare { files, methods, bends, twists, set, on, out, .. } if bends || twists => {
                let settings = |method: &String| {
                    let set = if method == "springs" { set.clone() } else { Vec::new() };
                    MethodArgs { method: Some(method.clone()), set }.settings()
                };
                let methods = methods.iter().map(settings).collect::<Result<Vec<_>>>()?;
                let mut motions = Vec::new();
                motions.extend(bends.then_some(Motion::Bend(90.0)));
                motions.extend(
                    twists.then_some([Motion::Twist(120.0), Motion::Twist(180.0)]).into_iter().flatten(),
                );
                let cpu = matches!(on, Side::Cpu);
                let table = sinew::commands::joints::compare_joints(
                    &mut context,
                    &files,
                    &motions,
                    &methods,
                    cpu,
                    &out,
                )?;
                say(table.trim_end());
            }
            Command::Compare { files, pose, methods, on, out, .. } => {
                let cpu = matches!(on, Side::Cpu);
                say(sinew::commands::compare::compare(&mut context, &files, &pose, &methods, cpu, &out)?
                    .trim_end());
            }
            Command::Render {
                file,
                pose,
                method,
                out,
                stereo,
                anaglyph,
                skeleton,
                wire,
                strokes,
                plain,
                onion,
                arc,
                panels,
                yaw,
                pitch,
                size,
                scale,
                samples,
            } => {
                let angle = Angle { yaw: yaw.to_radians(), pitch: pitch.to_radians() };
                let deformer = method.settings()?;
                let (pose, deformer) = (&pose, &deformer);
                let shot = sinew::commands::render::Shot {
                    pose,
                    deformer,
                    angle,
                    size,
                    scale,
                    samples,
                    stereo,
                    anaglyph,
                    skeleton,
                    wire,
                    strokes,
                    plain,
                    onion,
                    arcs: &arc,
                    panels,
                };
                sinew::commands::render::render(&mut context, &file, &shot, &out)?;
            }
            Command::Play { journal, out } => sinew::commands::play::play(&mut context, &journal, &out)?,
            Command::Save { input, out, clip, clips, budget_mm, compatible, on } => {
                let saving = Saving { budget_mm, compatible, clips, every_frame: true };
                sinew::commands::save::save(
                    &mut context,
                    &input,
                    &clip,
                    &out,
                    saving,
                    matches!(on, Side::Cpu),
                )?;
            }
            Command::Bake {
                join: Some(folder), frames, budget_mm, exact, compatible, clips, out, ..
            } => {
                let budget_mm = if exact { Some(0.0) } else { budget_mm };
                let joining = Joining { frames, budget_mm, compatible, clips };
                sinew::commands::bake::join_frames(&folder, joining, out)?;
            }
            Command::Bake { project, frames, fps, out, on, .. } => {
                let input = project.unwrap_or_default();
                let out = out.unwrap_or_else(|| "out/bake".into());
                let cpu = matches!(on, Side::Cpu);
                sinew::commands::bake::bake(
                    &mut context,
                    &sinew::commands::bake::Job { input, frames, rate: fps, out, cpu },
                )?;
            }
            Command::Recover { which, restore, discard, on, json, .. } => {
                let act = match restore {
                    Some(out) => Act::Restore(out),
                    None if discard => Act::Discard,
                    None => Act::List,
                };
                let cpu = matches!(on, Side::Cpu);
                sinew::commands::recover::recover(&mut context, which.as_deref(), &act, cpu, json)?;
            }
            Command::Edit { file, desk: DeskArgs { samples, report, forget } } => {
                let desk = sinew::app::window::Options { file, device, report, samples, forget };
                let headset = sinew::app::xr::Options { report, samples, forget, ..Default::default() };
                faces::run(&desk, &headset, Face::Desk, Some(&mut Display::open()?))?;
            }
            Command::Vr {
                file,
                out,
                record,
                wait,
                samples,
                frames,
                report,
                layers,
                profile,
                mirror,
                forget,
            } => {
                let desk = sinew::app::window::Options { file: Some(file), device, report, samples, forget };
                let headset = sinew::app::xr::Options {
                    out,
                    record,
                    frames,
                    report,
                    wait,
                    layers,
                    samples,
                    profile,
                    forget,
                    mirror,
                };
                // A display that cannot be reached is none: headsets need no desktop.
                let mut display = has_display().then(|| Display::open().ok()).flatten();
                faces::run(&desk, &headset, Face::Headset, display.as_mut())?;
            }
            Command::Xr { command: XrCommand::Doctor { json, runtime } } => {
                let (text, well) = sinew::app::xr::doctor::doctor(json, runtime)?;
                say(text.trim_end());
                if !well {
                    return Err(Error::input(
                        "not all is well with the headset",
                        "see OUT OF REACH and the advice above",
                    ));
                }
            }
            Command::Silsketch { file, pose, method, job } => {
                let how = (&pose, &method.settings()?);
                say(sinew::commands::silsketch::run(&mut context, &file, how, &job)?);
            }
            Command::Roi(job) => say(sinew::commands::roi::run(&job)?),
            Command::Figures(job) => sinew::lab::figures::figures(&mut context, &job)?,
            Command::Bench { classic: true, json, .. } => say(sinew::lab::bench::classic(json)?.trim_end()),
            Command::Bench { sculpt: true, json, .. } => {
                say(sinew::lab::bench::sculpt(&mut context, json)?.trim_end());
            }
            Command::Bench { fast: true, json, .. } => say(sinew::lab::bench::fast(json)?.trim_end()),
            Command::Bench { files, equilibrium, json, .. } => {
                let bench =
                    if equilibrium { sinew::lab::bench::equilibrium } else { sinew::lab::bench::bench };
                say(bench(&mut context, &files, json)?.trim_end());
            }
            Command::Generate { name, out } => {
                let kind = generate::Kind::from_name(&name)?;
                folder_of(&out)?;
                generate::generate(kind, &out)?;
            }
        }
        Ok(())
    }
}
