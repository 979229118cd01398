//! The outer loop of `sinew edit` and `sinew vr`. The loop passes one session from the window to the headset and back.
//!
//! `AppSession` holds the document, undo history, journal, tool and selection. The window and the headset each keep
//! their own view state, such as the window's camera, and their own GPU device; no GPU object is handed over.

use super::display::Display;
use super::jobs::Left;
use super::preferences::PREFERENCES;
use super::session::AppSession;
use super::xr::{Sign, Start};
use super::{window, xr};
use crate::base::Result;
use std::path::Path;

/// The place where a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// In the window.
    Window,
    /// In the headset.
    Headset,
}

enum Next {
    Window(Start, Option<String>),
    Headset(Option<Box<xr::XrConnection>>),
}

/// Runs the editor until the user quits, beginning in the window or in the headset. `window_options` and `headset`
/// hold the options; the output folder for both modes is in `headset`.
///
/// # Errors
/// Fails if a window is required and there is no display, if there is neither a display nor a headset, if the first
/// file cannot be opened, or if the GPU device fails. The loss of the OpenXR runtime is not an error.
pub fn run(
    window_options: &window::Options,
    headset: &xr::Options,
    first: Face,
    mut display: Option<&mut Display>,
) -> Result<()> {
    let switches = (window_options.report, window_options.forget);
    let mut app_session = match &display {
        Some(display) => AppSession::new(switches, headset.out.clone(), display.wake())?,
        None => AppSession::new(switches, headset.out.clone(), || {})?,
    };
    if let Some(scale) = headset.render_scale {
        app_session.preferences.set_render_scale(scale);
        if let Some(keeper) = &app_session.keeper {
            keeper.keep(PREFERENCES, &app_session.preferences);
        }
    }
    let mut window = window::WindowMemory::new(window_options);
    let mut goggles = xr::XrMemory::default();
    let folder = window_options.file.as_deref().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
    app_session.list(folder.unwrap_or(Path::new(".")).to_owned());
    if let Some(file) = &window_options.file {
        app_session.open(file.clone(), if first == Face::Window { Left::Offer } else { Left::GoOn });
    }
    let mut next = match first {
        Face::Window => Next::Window(Start::Alone(Sign::now()), None),
        Face::Headset => Next::Headset(None),
    };
    loop {
        match (next, display.as_deref_mut()) {
            (Next::Window(start, told), Some(display)) => {
                let watch: window::StartWatch<_> =
                    Box::new(|window, wake| xr::Watch::new(headset, start, window, wake));
                let (end, s, m) = window::visit(window_options, app_session, window, (watch, told), display);
                (app_session, window) = (s, m);
                next = match end {
                    window::End::Quit => break,
                    window::End::Headset(link) => Next::Headset(Some(link)),
                    window::End::Failed(error) => {
                        app_session.failure = Some(error);
                        break;
                    }
                }
            }
            // Unreachable: without a display, a headset visit never ends with a switch to the window.
            (Next::Window(..), None) => break,
            (Next::Headset(link), display) => {
                let (shows, before) = (display.is_some() && headset.record.is_none(), Sign::now());
                let (end, s, m) = xr::visit(headset, app_session, goggles, link, display);
                (app_session, goggles) = (s, m);
                next = match end {
                    xr::End::Quit => break,
                    xr::End::Off(link) => Next::Window(Start::Off(link), None),
                    xr::End::Left(link) => Next::Window(Start::Left(link), None),
                    // No runtime or no headset: open the same document in a window if there is a display.
                    xr::End::Absent(error) if shows => {
                        eprintln!("sinew: {error}; going on in a window");
                        Next::Window(Start::Alone(before), Some(error.to_string()))
                    }
                    xr::End::Absent(error) | xr::End::Failed(error) => {
                        app_session.abandon();
                        return Err(error);
                    }
                }
            }
        }
    }
    app_session.finish()
}
