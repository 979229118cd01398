//! The mirror: a window on the desktop that shows what the headset sees.
//!
//! It is filled when the display has an image at hand (`gpu/mirror.rs`), after the headset's own pictures, and shown after
//! the frame was ended: nothing in the headset waits for it. Closing it ends nothing else.

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

/// What the mirror shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mirrored {
    /// The left eye, cut to fill the window.
    #[default]
    Left,
    /// The right eye.
    Right,
    /// Both, side by side.
    Both,
    /// No window.
    None,
}

/// The window, and what it shows: none without a display, or where none is wanted.
pub struct MirrorWindow<'d> {
    display: Option<&'d mut Display>,
    pane: Pane,
    /// On the device of the session.
    mirror: Option<Mirror>,
    shown: u64,
}

struct Pane {
    eyes: Mirrored,
    window: Option<Arc<Window>>,
    /// It was tried to open it.
    tried: bool,
    /// The user has closed it.
    closed: bool,
}

impl<'d> MirrorWindow<'d> {
    /// Opens nothing yet; `shown` pictures were shown before.
    pub fn new(display: Option<&'d mut Display>, eyes: Mirrored, shown: u64) -> Self {
        let display = display.filter(|_| eyes != Mirrored::None);
        let pane = Pane { eyes, window: None, tried: false, closed: false };
        Self { display, pane, mirror: None, shown }
    }

    /// Takes the window's events; never waits.
    pub fn attend(&mut self) {
        if let Some(display) = &mut self.display {
            display.events.pump_app_events(Some(Duration::ZERO), &mut self.pane);
        }
    }

    /// The window, opened now if there has not been one.
    pub fn window(&mut self) -> Option<Arc<Window>> {
        if !self.pane.tried {
            self.attend();
        }
        self.pane.window.clone().filter(|_| !self.pane.closed)
    }

    /// A session begins on a device; `lack` is why it cannot show anything in the window.
    pub fn begin(&mut self, device: &Arc<Device>, lack: Option<String>) {
        let Some(window) = self.window() else { return };
        let made = lack.map_or_else(|| Mirror::new(device, window).map_err(|e| e.to_string()), Err);
        match made {
            Ok(mirror) => self.mirror = Some(mirror),
            Err(problem) => self.break_by(&problem),
        }
    }

    /// The session has ended; its GPU is idle.
    pub fn end(&mut self) {
        self.shown = self.shown();
        self.mirror = None;
    }

    /// Pictures shown so far.
    pub fn shown(&self) -> u64 {
        self.shown + self.mirror.as_ref().map_or(0, Mirror::shown)
    }

    fn break_by(&mut self, problem: &str) {
        eprintln!("sinew: no mirror: {problem}; the headset goes on");
        self.pane.close();
    }

    /// An image for this frame, if the display has one.
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

    /// Records what it is to show: the stage's finished pictures.
    pub fn record(&self, frame: &mut Frame, held: &Held, stage: &Stage) {
        frame.phase("mirror");
        let picture = &stage.targets().picture;
        let pieces = pieces(self.pane.eyes, picture.size(), held.image.size());
        frame.blit_pieces_to_foreign(picture, &pieces, &held.image, vk::ImageLayout::PRESENT_SRC_KHR);
    }

    /// Shows what was recorded and submitted.
    pub fn present(&mut self, held: &Held, value: u64) {
        let result: Result<()> = self.mirror.as_mut().map_or(Ok(()), |m| m.present(held, value));
        if let Err(error) = result {
            self.break_by(&error.to_string());
        }
    }
}

/// What of an eye's picture fills a window of this size: cut at two sides, the middle stays.
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

    /// Hidden, since the display may still show its last picture; it goes with the session.
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
        // As wide as tall: a wide window loses top and bottom, a tall one the sides.
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
