//! The headset visit: shows the editor in the headset while OpenXR sessions and runtimes begin and end.

use super::Options;
use super::app::{HeadsetApp, XrMemory};
use super::connection::XrConnection;
use super::error::{Result, XrError, failed};
use super::mirror::MirrorWindow;
use super::panel_layers::PanelLayers;
use super::session::{Begun, Eyes, Happened, Session};
use super::session_state::Transition;
use crate::app::display::Display;
use crate::app::report::Event;
use crate::app::session::AppSession;
use crate::base::{Error, Result as CoreResult};
use crate::gpu::{Frame, Held, Semaphores};
use crate::render::Lines;
use crate::scene::{Aim, Pipelines, Stage};
use crate::workbench::Similarity;
use openxr as xr;
use std::time::{Duration, Instant};

/// Interval between two attempts to connect to a runtime.
const SEARCH: Duration = Duration::from_millis(500);
/// Interval between two polls for events while the session is not running.
const IDLE: Duration = Duration::from_millis(4);
/// Time for which the size of the pictures must stay the same before the pictures are made again: a slider is dragged.
const SETTLE: Duration = Duration::from_millis(250);

/// Reason for which an OpenXR session is no longer shown.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// The user or the runtime quits the program.
    Done,
    /// The runtime demands a new session.
    Again,
    /// The session is alive, but the user took the headset off and there is a window.
    Off,
    /// The session is alive, but the user asked for the window.
    Left,
}

/// Reason for which the headset visit ended.
pub enum End {
    /// The user or the runtime quit.
    Quit,
    /// The user took the headset off; holds the open connection.
    Off(Box<XrConnection>),
    /// The user asked for the window; holds the open connection.
    Left(Box<XrConnection>),
    /// No runtime or no headset is available (any more).
    Absent(Error),
    /// A fatal error.
    Failed(Error),
}

/// Runs the editor in a headset, with a mirror window on the display. The visit ends when the user or the runtime
/// quits or, with a display, when the user takes the headset off. `link` is an open connection, if there is one.
/// Without a display, the visit waits for a lost runtime to return.
pub fn visit(
    options: &Options,
    app_session: AppSession,
    memory: XrMemory,
    link: Option<Box<XrConnection>>,
    display: Option<&mut Display>,
) -> (End, AppSession, XrMemory) {
    let mut app = HeadsetApp::new(options, app_session, memory, display.is_some());
    let mut mirror_window = MirrorWindow::new(display, options.mirror, app.app_session.mirrored);
    let end = sessions(&mut app, &mut mirror_window, link).unwrap_or_else(End::Failed);
    drop(mirror_window);
    let (app_session, memory) = app.leave();
    (end, app_session, memory)
}

fn sessions(
    app: &mut HeadsetApp<'_>,
    mirror_window: &mut MirrorWindow<'_>,
    mut link: Option<Box<XrConnection>>,
) -> CoreResult<End> {
    let (mut met, mut told) = (link.is_some(), false);
    while !app.app_session.quit {
        let at_hand = link.take().map_or_else(
            || {
                let window = mirror_window.window();
                XrConnection::open(app.options, window.as_ref().map(|w| w as _)).map(Box::new)
            },
            Ok,
        );
        let ended = at_hand.and_then(|link| {
            (met, told) = (true, false);
            attend(app, mirror_window, link)
        });
        match ended {
            Ok((Ended::Done, _)) => break,
            Ok((Ended::Off, Some(link))) => return Ok(End::Off(link)),
            Ok((Ended::Left, Some(link))) => return Ok(End::Left(link)),
            Ok(_) => app.lost("the runtime ended the session".into()),
            Err(XrError::SessionLost(problem) | XrError::InstanceLost(problem)) => {
                app.lost(problem.clone());
                if app.has_window && !app.options.wait {
                    return Ok(End::Absent(XrError::InstanceLost(problem).into_error()));
                }
            }
            Err(XrError::Absent(error)) => {
                if !told {
                    app.app_session.reporter.event(Event::NoRuntime(error.to_string()));
                    if !met && !app.options.wait {
                        return Ok(End::Absent(error));
                    }
                    eprintln!("sinew: {error} (waiting for it)");
                    told = true;
                }
                mirror_window.attend();
                app.without_session(SEARCH);
            }
            Err(XrError::Fatal(error)) => return Err(error),
        }
    }
    app.app_session.quit = true;
    Ok(End::Quit)
}

/// Shows one OpenXR session; returns the connection if the session is still alive, and closes it otherwise.
fn attend(
    app: &mut HeadsetApp<'_>,
    mirror_window: &mut MirrorWindow<'_>,
    mut link: Box<XrConnection>,
) -> Result<(Ended, Option<Box<XrConnection>>)> {
    let shown = show(app, mirror_window, &mut link);
    app.app_session.missed += link.session.missed();
    match shown {
        Ok(ended @ (Ended::Off | Ended::Left)) => Ok((ended, Some(link))),
        other => {
            link.close();
            other.map(|ended| (ended, None))
        }
    }
}

/// Creates the stage, the panels and the mirror of a session and runs the frame loop.
fn show(
    app: &mut HeadsetApp<'_>,
    mirror_window: &mut MirrorWindow<'_>,
    link: &mut XrConnection,
) -> Result<Ended> {
    mirror_window.begin(&link.device, link.no_mirror.clone());
    let pipelines = Pipelines::new(&link.device)?;
    let samples = app.samples(&link.device);
    let size = app.picture_size(&link.runtime);
    if size != link.session.size() {
        link.session.resize(size)?;
    }
    let mut stage = Stage::new(&pipelines, size, 2, samples)?;
    app.began(&link.runtime, &link.session);
    app.relabel(link.controls.labels());
    let panel_layers = PanelLayers::new(&link.session, &stage, link.runtime.max_layers, &mut app.panels)?;
    let mut parts = Parts { panel_layers, mirror_window };
    let result = turns(app, link, &mut parts, &mut stage);
    // GPU commands that use the runtime's images must finish before the images are destroyed.
    let idle = link.device.wait_idle();
    app.ended(&stage);
    parts.mirror_window.end();
    idle?;
    result
}

/// Objects that exist only as long as a session.
struct Parts<'g, 'd> {
    panel_layers: PanelLayers,
    mirror_window: &'g mut MirrorWindow<'d>,
}

fn turns(
    app: &mut HeadsetApp<'_>,
    link: &mut XrConnection,
    parts: &mut Parts<'_, '_>,
    stage: &mut Stage,
) -> Result<Ended> {
    let mut events = xr::EventDataBuffer::new();
    let mut leaving = false;
    let mut size = (link.session.size(), Instant::now());
    loop {
        let session = &mut link.session;
        let mut off = false;
        while let Some(happened) = session.poll(&link.runtime.instance, &mut events)? {
            match happened {
                Happened::Turned(turn) => {
                    app.app_session.reporter.event(Event::State(session.life().name().into()));
                    match turn {
                        Transition::Quit => return Ok(Ended::Done),
                        Transition::Rebuild => return Ok(Ended::Again),
                        Transition::End | Transition::Hidden => off = true,
                        Transition::Begin | Transition::Stay => {}
                    }
                }
                Happened::Profiles => {
                    link.controls.refresh(session)?;
                    app.relabel(link.controls.labels());
                }
                Happened::TakenOff => off = true,
                Happened::LossPending => return Ok(Ended::Again),
            }
        }
        if off {
            app.interrupted();
        }
        // After the program has requested an exit, the session passes through the same states as when the user takes
        // the headset off. Ignore these states.
        if !leaving && app.has_window && (off || app.to_window) {
            return Ok(if off { Ended::Off } else { Ended::Left });
        }
        parts.mirror_window.attend();
        app.attend(Some(&mut *stage));
        app.app_session.quit |= app.options.frames.is_some_and(|n| app.app_session.frame >= n);
        if app.app_session.quit && !leaving {
            if !session.life().running() {
                return Ok(Ended::Done);
            }
            session.request_exit()?;
            leaving = true;
        }
        let wanted = app.picture_size(&link.runtime);
        if wanted != size.0 {
            size = (wanted, Instant::now());
        }
        if wanted != session.size() && size.1.elapsed() >= SETTLE {
            session.resize(wanted)?;
            app.resized(wanted);
        }
        let samples = app.samples(stage.device());
        if (session.size(), samples) != (stage.targets().size, stage.targets().samples) {
            stage.resize(session.size(), 2, samples)?;
            parts.panel_layers.rebind(stage)?;
        }
        let preferences = app.preferences();
        session.choose(preferences.refresh_rate, preferences.passthrough)?;
        if let Some(hidden) = session.new_hidden(&link.runtime.instance)? {
            stage.set_hidden(&hidden)?;
        }
        if session.life().running() {
            frame(app, link, parts, stage, leaving)?;
        } else {
            std::thread::sleep(IDLE);
        }
    }
}

/// Runs one frame: wait, begin, input, tools, rendering, end.
fn frame(
    app: &mut HeadsetApp<'_>,
    link: &mut XrConnection,
    parts: &mut Parts<'_, '_>,
    stage: &mut Stage,
    leaving: bool,
) -> Result<()> {
    let XrConnection { session, controls, .. } = link;
    app.stages.start();
    let begun = session.begin()?;
    app.stages.lap(0);
    app.app_session.frame += 1;
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
    if begun.render {
        let (frame, samples) = stage.begin()?;
        commands = Some(frame);
        for (hand, surface) in input.hands.iter_mut().zip(samples) {
            hand.surface = surface;
        }
    } else {
        // The hands keep their last samples of the surface, so that a press in this frame is not lost.
        stage.skip();
    }
    app.stages.lap(1);
    if recentred.is_some() {
        app.app_session.reporter.event(Event::Recentred);
    }
    app.step();
    let felt = controls.actions.feel(&handle, &app.haptics).inspect(|()| app.tell_felt());
    app.stages.lap(2);
    let made = match commands {
        Some(commands) => pictures(app, session, parts, stage, commands, &begun, leaving),
        None => Ok(Made::default()),
    };
    // Record the frame even if the runtime is lost, because the tools have used the frame's input already.
    app.record(made.as_ref().ok().and_then(|made| made.eyes).map(|e| e.room));
    felt.map_err(failed("xrApplyHapticFeedback"))?;
    let Made { eyes, mirrored } = made?;
    app.stages.lap(4);
    parts.panel_layers.release()?;
    session.end(&begun, eyes.as_ref(), &parts.panel_layers.layers(&app.panels))?;
    if let Some((held, value)) = mirrored {
        parts.mirror_window.present(&held, value);
    }
    app.app_session.mirrored = parts.mirror_window.shown();
    app.stages.lap(5);
    Ok(app.after_frame(session, || controls.profiles(), eyes.is_some(), stage)?)
}

/// Result of recording and submitting a frame.
#[derive(Default)]
struct Made {
    /// Poses of the eyes; `None` if the runtime cannot locate them.
    eyes: Option<Eyes>,
    /// The mirror's swapchain image, and the timeline value of the submission that fills it.
    mirrored: Option<(Held, u64)>,
}

/// Records and submits the GPU work of a frame.
fn pictures(
    app: &mut HeadsetApp<'_>,
    session: &mut Session,
    parts: &mut Parts<'_, '_>,
    stage: &mut Stage,
    mut commands: Frame,
    begun: &Begun,
    leaving: bool,
) -> Result<Made> {
    let Parts { panel_layers, mirror_window, .. } = parts;
    let mut held = None;
    let mut world_from_room = Similarity::default();
    let mut aim =
        Aim { time: app.input.time, draw: [0, 1].map(|h| app.input.hands[h].draw), ..Aim::default() };
    let mut pose = None;
    let shown = app.app_session.is_on(stage);
    if shown {
        app.app_session.suits(stage);
        app.app_session.bring_up(stage.actor_mut());
        app.app_session.follow_ghosts(stage);
    }
    if let Some(bench) = &app.app_session.bench {
        let output = bench.output();
        world_from_room = output.world_from_room;
        let software = stage.device().is_software();
        bench.preferences().set_look(stage.look_mut(), software);
        // Saved and mirrored images of the eyes are complete.
        let whole = leaving || !app.pictures.is_empty() || mirror_window.window().is_some();
        stage.omit_hidden(bench.preferences().hidden_area && !whole);
        stage.look_mut().clear = session.shows_room();
        stage.look_mut().silhouettes = bench.shown_silhouettes();
        stage.look_mut().world_from_floor = output.world_from_floor;
        if shown {
            aim.views = output.probes;
            pose = Some(bench.shown_pose());
        }
    }
    stage.record_body(&mut commands, pose, &aim)?;
    let eyes = session.eyes(begun, &world_from_room)?;
    if let Some(eyes) = &eyes {
        stage.look_mut().scale = eyes.views[0].eye_scale(stage.targets().size);
        let lines: &Lines = match &app.app_session.bench {
            Some(_) if shown => &app.lines,
            _ => app.spinner(&world_from_room),
        };
        stage.record_eyes(&mut commands, &eyes.views, lines)?;
        panel_layers.paint(&mut commands, &mut app.panels)?;
        if panel_layers.in_scene() {
            panel_layers.draw(&mut commands, stage, &app.panels, &world_from_room);
        }
        app.stages.lap(3);
        session.take_pictures(&mut commands, stage)?;
        held = mirror_window.hold();
        if !panel_layers.in_scene() && (leaving || held.is_some() || !app.pictures.is_empty()) {
            // The compositor adds quad layers only after the eye images are submitted. Therefore draw the panels into
            // images that are saved or mirrored.
            panel_layers.draw(&mut commands, stage, &app.panels, &world_from_room);
        }
        if let Some(held) = &held {
            mirror_window.record(&mut commands, held, stage);
        }
    } else {
        app.stages.lap(3);
    }
    let signal = held.as_ref().map(Held::signal);
    let value = stage.submit(commands, &Semaphores { wait: None, signal })?;
    Ok(Made { eyes, mirrored: held.map(|h| (h, value)) })
}
