//! What a window tells the window in a frame.

use crate::scene::SurfaceSample;
use std::path::PathBuf;

/// A frame of a window's input.
#[derive(Clone, Debug, Default)]
pub struct WindowInput {
    /// Seconds since the session began; never falls.
    pub time: f64,
    /// The window's size, pixels.
    pub size: [u32; 2],
    /// Pixels per point of the display, without the user's own zoom: 2 where it has twice the usual density.
    pub scale: f32,
    /// The window has the keyboard.
    pub focused: bool,
    /// What happened since the last frame, in order, as egui's events but with positions in pixels of the window.
    pub events: Vec<egui::Event>,
    /// Files that were dropped on the window.
    pub dropped: Vec<PathBuf>,
    /// Files are held over the window.
    pub hovering: bool,
    /// Whether the system is dark, where it tells.
    pub theme: Option<egui::Theme>,
    /// Pressure of the pen, 0..=1; none from a mouse.
    pub pressure: Option<f32>,
    /// The newest answer to a [`Pick`] that has come since the last frame.
    pub picked: Option<Picked>,
}

impl WindowInput {
    /// From what egui's own adapters for windows gather: positions in points, `scale` pixels each.
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

/// A question for the picture's G-buffer, asked of the frame that is drawn with this output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    /// Pixel of the view's picture, from the upper left.
    pub pixel: [u32; 2],
    /// View in which it lies: 1 is the right half of side by side.
    pub view: u32,
    /// Time of its frame, seconds.
    pub time: f64,
    /// The button or the pen's pressure at that time, 0..=1.
    pub draw: f32,
}

/// What it shows there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picked {
    /// The question.
    pub pick: Pick,
    /// The skin under the pixel, with time and pressure of the question; `None` if there is none.
    pub surface: Option<SurfaceSample>,
}
