//! `sinew vr`: runtimes come and go, the document stays.

use super::Options;
use super::app::App;
use super::instance::{Runtime, Wishes};
use super::life::Turn;
use super::mirror::Glass;
use super::session::{Begun, Eyes, Happened, Session};
use super::trouble::{Result, Trouble};
use super::walls::Walls;
use super::{actions, device, trouble::failed};
use crate::base::Result as CoreResult;
use crate::editor::{Aim, Pipelines, Similarity, Stage};
use crate::front::display::Display;
use crate::front::report::Event;
use crate::gpu::{DeviceOptions, Frame, Held, Sync};
use crate::render::Lines;
use openxr as xr;
use std::time::Duration;

/// Between two looks for a runtime.
const SEARCH: Duration = Duration::from_millis(500);
/// Between two looks for events while no frames are wanted.
const IDLE: Duration = Duration::from_millis(4);

/// Why a session has ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// For good.
    Done,
    /// The runtime wants another one.
    Again,
}

/// Runs the editor in a headset, until its user or the runtime ends it, with a mirror on the display.
///
/// # Errors
/// Without a runtime or headset, unless [`Options::wait`] is set; where the file cannot be opened; what a device or a
/// runtime cannot do. A runtime that is lost is no error: it is waited for.
pub fn vr(options: &Options, display: Option<&mut Display>) -> CoreResult<()> {
    let mut app = App::new(options)?;
    let mut glass = Glass::new(display, options.mirror);
    let profiles = actions::chosen(options.profile.as_deref())?;
    let mut met = false;
    let mut told = false;
    while !app.quit {
        let wishes = Wishes { layers: options.layers.clone() };
        let ended = Runtime::open(&wishes, |version, there| actions::extensions(&profiles, version, there))
            .and_then(|runtime| {
                met = true;
                told = false;
                attend(&mut app, &mut glass, &runtime, profiles.clone())
            });
        match ended {
            Ok(Ended::Done) => break,
            Ok(Ended::Again) => app.lost("the runtime ended the session".into()),
            Err(Trouble::SessionLost(problem) | Trouble::InstanceLost(problem)) => app.lost(problem),
            Err(Trouble::Absent(error)) => {
                if !told {
                    app.reporter.event(Event::NoRuntime(error.to_string()));
                    if !met && !options.wait {
                        app.abandon();
                        return Err(error);
                    }
                    eprintln!("sinew: {error} (waiting for it)");
                    told = true;
                }
                glass.attend();
                app.without_session(SEARCH);
            }
            Err(Trouble::Fatal(error)) => {
                app.abandon();
                return Err(error);
            }
        }
    }
    app.finish()
}

/// A runtime's time with us.
fn attend(
    app: &mut App<'_>,
    glass: &mut Glass<'_>,
    runtime: &Runtime,
    profiles: Vec<super::profiles::Profile>,
) -> Result<Ended> {
    let window = glass.window();
    let opened = device::open(runtime, &DeviceOptions::default(), window.as_ref().map(|w| w as _))?;
    let device = opened.device;
    glass.begin(&device, opened.no_mirror);
    let pipelines = Pipelines::new(&device)?;
    let mut session = Session::new(runtime, &device)?;
    let controls = Controls::new(runtime, &session, profiles)?;
    let mut stage = Stage::new(&pipelines, session.size(), 2, app.options.samples.clamp(1, 2))?;
    app.began(runtime, &session);
    app.relabel(controls.devices.labels(&controls.actions));
    let walls = Walls::new(&session, &stage, runtime.max_layers, &mut app.panels)?;
    let mut parts = Parts { controls, walls, glass };
    let result = turns(app, runtime, &mut session, &mut parts, &mut stage);
    // Commands that use the runtime's images must have ended before it takes them back.
    let idle = device.wait_idle();
    app.ended(&stage);
    app.missed += session.missed();
    parts.glass.end();
    drop(parts);
    session.close();
    drop(stage);
    idle?;
    result
}

/// What hangs on a session.
struct Parts<'g, 'd> {
    controls: Controls,
    walls: Walls,
    glass: &'g mut Glass<'d>,
}

/// The controllers on a session.
struct Controls {
    actions: actions::Actions,
    devices: actions::Devices,
}

impl Controls {
    fn new(runtime: &Runtime, session: &Session, profiles: Vec<super::profiles::Profile>) -> Result<Self> {
        let actions = actions::Actions::new(&runtime.instance, runtime.version, &runtime.enabled, profiles)
            .map_err(failed("xrSuggestInteractionProfileBindings"))?;
        for note in &actions.notes {
            eprintln!("sinew: {note}");
        }
        let devices = actions.attach(session.handle()).map_err(failed("xrAttachSessionActionSets"))?;
        Ok(Self { actions, devices })
    }

    /// What is in the hands.
    fn profiles(&self) -> [String; 2] {
        [0, 1].map(|hand| self.devices.profile(&self.actions, hand).map_or_else(String::new, |p| p.path()))
    }
}

fn turns(
    app: &mut App<'_>,
    runtime: &Runtime,
    session: &mut Session,
    parts: &mut Parts<'_, '_>,
    stage: &mut Stage,
) -> Result<Ended> {
    let mut events = xr::EventDataBuffer::new();
    let mut leaving = false;
    loop {
        while let Some(happened) = session.poll(&runtime.instance, &mut events)? {
            match happened {
                Happened::Turned(turn) => {
                    app.reporter.event(Event::State(session.life().name().into()));
                    match turn {
                        Turn::Quit => return Ok(Ended::Done),
                        Turn::Rebuild => return Ok(Ended::Again),
                        Turn::End | Turn::Hidden => app.interrupted(),
                        Turn::Begin | Turn::Stay => {}
                    }
                }
                Happened::Profiles => {
                    let Controls { actions, devices } = &mut parts.controls;
                    devices
                        .refresh(actions, session.handle())
                        .map_err(failed("xrGetCurrentInteractionProfile"))?;
                    app.relabel(devices.labels(actions));
                }
                Happened::TakenOff => app.interrupted(),
                Happened::LossPending => return Ok(Ended::Again),
            }
        }
        parts.glass.attend();
        app.attend(Some(&mut *stage));
        app.quit |= app.options.frames.is_some_and(|n| app.frame >= n);
        if app.quit && !leaving {
            if !session.life().running() {
                return Ok(Ended::Done);
            }
            session.request_exit()?;
            leaving = true;
        }
        if session.life().running() {
            frame(app, session, parts, stage, leaving)?;
        } else {
            std::thread::sleep(IDLE);
        }
    }
}

/// One frame: wait, begin, input, tools, pictures, end.
fn frame(
    app: &mut App<'_>,
    session: &mut Session,
    parts: &mut Parts<'_, '_>,
    stage: &mut Stage,
    leaving: bool,
) -> Result<()> {
    let controls = &mut parts.controls;
    app.stages.start();
    let begun = session.begin()?;
    app.stages.lap(0);
    app.frame += 1;
    let handle = session.handle().clone();
    controls.actions.sync(&handle).map_err(failed("xrSyncActions"))?;
    let (head, recentred) = session.head(&begun)?;
    let input = &mut app.input;
    input.time = app.clock.seconds(begun.time.as_nanos());
    input.head = head;
    input.recentred = recentred;
    input.focused = session.life().focused();
    controls
        .devices
        .read(&controls.actions, &handle, &session.room().space, begun.time, input)
        .map_err(failed("xrLocateSpace"))?;
    let mut commands = None;
    let mut surfaces = [None; 2];
    if begun.render {
        let (frame, samples) = stage.begin()?;
        (commands, surfaces) = (Some(frame), samples);
    } else {
        stage.skip();
    }
    for (hand, surface) in input.hands.iter_mut().zip(surfaces) {
        hand.surface = surface;
    }
    app.stages.lap(1);
    if recentred.is_some() {
        app.reporter.event(Event::Recentred);
    }
    app.step();
    let felt = controls.actions.feel(&handle, &app.haptics);
    app.stages.lap(2);
    let made = match commands {
        Some(commands) => pictures(app, session, parts, stage, commands, &begun, leaving),
        None => Ok(Made::default()),
    };
    // Even where the runtime is gone: the tools have had this frame.
    app.record(made.as_ref().ok().and_then(|made| made.eyes).map(|e| e.room));
    felt.map_err(failed("xrApplyHapticFeedback"))?;
    let Made { eyes, mirrored } = made?;
    app.stages.lap(4);
    parts.walls.release()?;
    session.end(&begun, eyes.as_ref(), &parts.walls.layers(&app.panels))?;
    if let Some((held, value)) = mirrored {
        parts.glass.present(&held, value);
    }
    app.mirrored = parts.glass.shown();
    app.stages.lap(5);
    Ok(app.after_frame(session, || parts.controls.profiles(), eyes.is_some(), stage)?)
}

/// What a frame's pictures are.
#[derive(Default)]
struct Made {
    /// None where the runtime does not know where they are.
    eyes: Option<Eyes>,
    /// The mirror's image, and the submission that fills it.
    mirrored: Option<(Held, u64)>,
}

/// Records and submits the frame's GPU work.
fn pictures(
    app: &mut App<'_>,
    session: &mut Session,
    parts: &mut Parts<'_, '_>,
    stage: &mut Stage,
    mut commands: Frame,
    begun: &Begun,
    leaving: bool,
) -> Result<Made> {
    let Parts { walls, glass, .. } = parts;
    let mut held = None;
    let mut world_from_room = Similarity::default();
    let mut aim =
        Aim { time: app.input.time, draw: [0, 1].map(|h| app.input.hands[h].draw), ..Aim::default() };
    let mut posed = None;
    let shown =
        stage.actor().model().zip(app.model.as_ref()).is_some_and(|(a, b)| std::sync::Arc::ptr_eq(a, b));
    if let Some(bench) = &app.bench {
        let output = bench.output();
        world_from_room = output.world_from_room;
        stage.look_mut().wire = bench.preferences().wire;
        if shown {
            // What does not fit the character is told once and not shown.
            let worn = stage.actor_mut().wear(bench.sculpts(), bench.sculpt_states());
            app.unposed |= worn.unwrap_or_else(|error| {
                eprintln!("sinew: {error}");
                true
            });
            if let Some(settings) = bench.keyed_settings() {
                app.unposed |= stage.actor_mut().follow(&settings);
            }
            aim.views = output.probes;
            posed = app.unposed.then(|| (bench.pose(), bench.rig()));
        }
    }
    let has_pose = posed.is_some();
    stage.record_body(&mut commands, posed, &aim)?;
    let eyes = session.eyes(begun, &world_from_room)?;
    if let Some(eyes) = &eyes {
        let lines: &Lines = match &app.bench {
            Some(_) if shown => &app.lines,
            _ => app.spinner(&world_from_room),
        };
        stage.record_eyes(&mut commands, &eyes.views, lines)?;
        walls.paint(&mut commands, &mut app.panels)?;
        if walls.in_scene() {
            walls.draw(&mut commands, stage, &app.panels, &world_from_room);
        }
        app.stages.lap(3);
        session.take_pictures(&mut commands, stage)?;
        held = glass.hold();
        if !walls.in_scene() && (leaving || held.is_some() || !app.pictures.is_empty()) {
            // Layers are not in the pictures: for those that go to disk or mirror they are drawn there.
            walls.draw(&mut commands, stage, &app.panels, &world_from_room);
        }
        if let Some(held) = &held {
            glass.record(&mut commands, held, stage);
        }
    } else {
        app.stages.lap(3);
    }
    let signal = held.as_ref().map(Held::signal);
    let value = stage.submit(commands, &Sync { wait: &[], signal: signal.as_ref().map_or(&[], |s| s) })?;
    if has_pose {
        app.unposed = false;
    }
    Ok(Made { eyes, mirrored: held.map(|h| (h, value)) })
}
