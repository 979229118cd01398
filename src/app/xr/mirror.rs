//! The mirror: a window on the desktop that shows the headset's view.
//!
//! The mirror image is drawn after the eye images if the window's swapchain has a free image (`gpu/mirror.rs`). It is
//! presented after the headset's frame has ended, so the headset never waits for the mirror. Closing the mirror window
//! does not end the headset session.

use crate::app::display::{Display, Wake};
use crate::base::Result;
use crate::gpu::{Device, Frame, Held, Mirror, Piece};
use crate::scene::Stage;
use ash::vk;
use std::sync::Arc;
use std::time::Duration;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::WindowEvent;
use winit::event_loop::ActiveEventLoop;
use winit::platform::pump_events::EventLoopExtPumpEvents;
use winit::window::{Window, WindowId};

/// Content of the mirror window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mirrored {
    /// The left eye, cropped to fill the window.
    #[default]
    Left,
    /// The right eye, cropped to fill the window.
    Right,
    /// Both eyes, side by side.
    Both,
    /// No mirror window.
    None,
}

/// The mirror window and its swapchain; both are missing without a display or if the mirror is switched off.
pub struct MirrorWindow<'d> {
    display: Option<&'d mut Display>,
    pane: Pane,
    /// The mirror's swapchain, on the session's device.
    mirror: Option<Mirror>,
    shown: u64,
}

struct Pane {
    eyes: Mirrored,
    window: Option<Arc<Window>>,
    /// Whether opening the window was attempted.
    tried: bool,
    /// Whether the window is closed.
    closed: bool,
}

impl<'d> MirrorWindow<'d> {
    /// Creates the mirror without a window. `shown` is the number of frames shown by earlier mirrors.
    pub fn new(display: Option<&'d mut Display>, eyes: Mirrored, shown: u64) -> Self {
        let display = display.filter(|_| eyes != Mirrored::None);
        let pane = Pane { eyes, window: None, tried: false, closed: false };
        Self { display, pane, mirror: None, shown }
    }

    /// Handles the window's events without blocking.
    pub fn attend(&mut self) {
        if let Some(display) = &mut self.display {
            display.events.pump_app_events(Some(Duration::ZERO), &mut self.pane);
        }
    }

    /// Returns the window; opens it on the first call.
    pub fn window(&mut self) -> Option<Arc<Window>> {
        if !self.pane.tried {
            self.attend();
        }
        self.pane.window.clone().filter(|_| !self.pane.closed)
    }

    /// Starts the mirror for a session's device; `lack` is the reason if the device cannot present to the window.
    pub fn begin(&mut self, device: &Arc<Device>, lack: Option<String>) {
        let Some(window) = self.window() else { return };
        let made = lack.map_or_else(|| Mirror::new(device, window).map_err(|e| e.to_string()), Err);
        match made {
            Ok(mirror) => self.mirror = Some(mirror),
            Err(problem) => self.break_by(&problem),
        }
    }

    /// Stops the mirror at the end of a session. The GPU must be idle.
    pub fn end(&mut self) {
        self.shown = self.shown();
        self.mirror = None;
    }

    /// Returns the number of frames shown so far.
    pub fn shown(&self) -> u64 {
        self.shown + self.mirror.as_ref().map_or(0, Mirror::shown)
    }

    fn break_by(&mut self, problem: &str) {
        eprintln!("sinew: no mirror: {problem}; the headset goes on");
        self.pane.close();
    }

    /// Returns a swapchain image for this frame, if one is available.
    pub fn hold(&mut self) -> Option<Held> {
        let (Some(mirror), Some(window), false) = (&mut self.mirror, &self.pane.window, self.pane.closed)
        else {
            return None;
        };
        match mirror.hold(window.inner_size().into()) {
            Ok(held) => held,
            Err(error) => {
                self.break_by(&error.to_string());
                None
            }
        }
    }

    /// Records the blit of the stage's eye images into the swapchain image.
    pub fn record(&self, frame: &mut Frame, held: &Held, stage: &Stage) {
        frame.phase("mirror");
        let picture = &stage.targets().picture;
        let pieces = pieces(self.pane.eyes, picture.size(), held.image.size());
        frame.blit_pieces_to_foreign(picture, &pieces, &held.image, vk::ImageLayout::PRESENT_SRC_KHR);
    }

    /// Presents the swapchain image after its commands were submitted.
    pub fn present(&mut self, held: &Held, value: u64) {
        let result: Result<()> = self.mirror.as_mut().map_or(Ok(()), |m| m.present(held, value));
        if let Err(error) = result {
            self.break_by(&error.to_string());
        }
    }
}

/// Returns the centred crop of an eye image (corners `[min, max]`, pixels) with the aspect ratio of the window.
fn cut(picture: [u32; 2], window: [u32; 2]) -> [[u32; 2]; 2] {
    let [pw, ph, ww, wh] = [picture[0], picture[1], window[0].max(1), window[1].max(1)].map(u64::from);
    let size = if pw * wh > ww * ph { [ph * ww / wh, ph] } else { [pw, pw * wh / ww] };
    let size = [size[0].clamp(1, pw) as u32, size[1].clamp(1, ph) as u32];
    let corner = [0, 1].map(|i| (picture[i] - size[i]) / 2);
    [corner, [0, 1].map(|i| corner[i] + size[i])]
}

fn pieces(eyes: Mirrored, picture: [u32; 2], window: [u32; 2]) -> Vec<Piece> {
    let whole = |layer| vec![Piece { layer, from: cut(picture, window), to: [[0, 0], window] }];
    let half = window[0] / 2;
    match eyes {
        Mirrored::Right => whole(1),
        Mirrored::Both if half > 0 => [(0, [0, half]), (1, [half, window[0]])]
            .into_iter()
            .map(|(layer, [left, right])| Piece {
                layer,
                from: cut(picture, [right - left, window[1]]),
                to: [[left, 0], [right, window[1]]],
            })
            .collect(),
        _ => whole(0),
    }
}

impl Pane {
    fn open(&mut self, events: &ActiveEventLoop) {
        if std::mem::replace(&mut self.tried, true) {
            return;
        }
        let attributes =
            Window::default_attributes().with_title("Sinew: what the headset sees").with_inner_size(
                LogicalSize::new(if self.eyes == Mirrored::Both { 1200.0 } else { 800.0 }, 600.0),
            );
        match events.create_window(attributes) {
            Ok(window) => self.window = Some(Arc::new(window)),
            Err(error) => eprintln!("sinew: no mirror: {error}; the headset goes on"),
        }
    }

    /// Hides the window. The window is destroyed only when the session ends, because the display may still read the
    /// last presented image.
    fn close(&mut self) {
        self.closed = true;
        if let Some(window) = &self.window {
            window.set_visible(false);
        }
    }
}

impl ApplicationHandler<Wake> for Pane {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        self.open(events);
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if matches!(event, WindowEvent::CloseRequested) && !self.closed {
            eprintln!("sinew: the mirror is closed; the headset goes on (its palette ends the session)");
            self.close();
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        self.open(events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eye_is_cut_to_fill_and_both_share_the_window() {
        // In a wide window, a square image loses its top and bottom; in a tall window, it loses its sides.
        assert_eq!(cut([100, 100], [200, 100]), [[0, 25], [100, 75]]);
        assert_eq!(cut([100, 100], [50, 100]), [[25, 0], [75, 100]]);
        assert_eq!(cut([320, 240], [640, 480]), [[0, 0], [320, 240]]);
        for window in [[1, 1], [1, 4000], [4000, 1], [0, 7]] {
            let [from, to] = cut([320, 240], window);
            assert!(from[0] < to[0] && from[1] < to[1] && to[0] <= 320 && to[1] <= 240, "{window:?}");
        }
        let both = pieces(Mirrored::Both, [320, 240], [801, 300]);
        assert_eq!((both[0].layer, both[0].to), (0, [[0, 0], [400, 300]]));
        assert_eq!((both[1].layer, both[1].to), (1, [[400, 0], [801, 300]]));
        assert_eq!(pieces(Mirrored::Right, [320, 240], [64, 64])[0].layer, 1);
        assert_eq!(pieces(Mirrored::Both, [320, 240], [1, 64]).len(), 1);
    }
}
