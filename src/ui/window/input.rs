//! The input of the window editor in one frame.

use crate::scene::SurfaceSample;
use std::path::PathBuf;

/// Input of one frame.
#[derive(Clone, Debug, Default)]
pub struct WindowInput {
    /// Time since the session began, seconds; never decreases.
    pub time: f64,
    /// Size of the window, pixels.
    pub size: [u32; 2],
    /// Pixels per logical pixel of the display, without the user's zoom factor. For example 2 on a display of twice the
    /// usual density.
    pub scale: f32,
    /// Whether the window has the keyboard focus.
    pub focused: bool,
    /// Events since the last frame, in order: egui events, but with positions in pixels of the window.
    pub events: Vec<egui::Event>,
    /// Files that were dropped on the window.
    pub dropped: Vec<PathBuf>,
    /// Whether files are being dragged over the window.
    pub hovering: bool,
    /// Colour theme of the operating system; `None` if unknown.
    pub theme: Option<egui::Theme>,
    /// Pressure of the pen, 0..=1; `None` for a mouse.
    pub pressure: Option<f32>,
    /// The newest result of a [`Pick`] since the last frame.
    pub picked: Option<Picked>,
}

impl WindowInput {
    /// Converts the input of egui's window adapters. egui's positions are in logical pixels of `scale` pixels each.
    pub fn from_egui(raw: egui::RawInput, size: [u32; 2], scale: f32) -> Self {
        let mut events = raw.events;
        for event in &mut events {
            match event {
                egui::Event::PointerMoved(pos)
                | egui::Event::PointerButton { pos, .. }
                | egui::Event::Touch { pos, .. } => *pos = egui::pos2(pos.x * scale, pos.y * scale),
                _ => {}
            }
        }
        Self {
            time: raw.time.unwrap_or_default(),
            size,
            scale,
            focused: raw.focused,
            events,
            dropped: raw.dropped_files.iter().map(|f| f.path().to_owned()).collect(),
            hovering: !raw.hovered_files.is_empty(),
            theme: raw.system_theme,
            pressure: None,
            picked: None,
        }
    }
}

/// A request to look up a pixel in the G-buffer of the frame that is drawn with the same output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    /// Pixel of the view, from the upper left.
    pub pixel: [u32; 2],
    /// Index of the view: 0, or 1 for the right half in side-by-side mode.
    pub view: u32,
    /// Time of the requesting frame, seconds.
    pub time: f64,
    /// State of the button, or pressure of the pen, in the requesting frame, 0..=1.
    pub draw: f32,
}

/// The result of a [`Pick`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picked {
    /// The request.
    pub pick: Pick,
    /// The skin under the pixel, with the request's time and pressure; `None` if there is no skin.
    pub surface: Option<SurfaceSample>,
}
