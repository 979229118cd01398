//! The pointer of the tool hand: finds the panel that the hand's ray hits, and detects presses with hysteresis.

use super::Panel;
use super::place::Placement;
use super::theme::PER_DEGREE;
use crate::base::math::{Vec2, Vec3};
use crate::workbench::{Input, Rigid, Tracking};
use egui::Pos2;

/// Trigger values that begin and end a press.
const PRESS: [f32; 2] = [0.6, 0.4];
/// Distance from the point of the press within which movement of the hand does not move the pointer, pixels.
const STILL: f32 = 0.75 * PER_DEGREE;
/// Margin around a panel that counts as part of the panel, as a fraction of the panel's size.
const RIM: f32 = 0.04;

/// State of the pointer between frames.
#[derive(Default)]
pub(super) struct Pointer {
    pressed: bool,
    /// The pressed panel, the point of the press on the panel's image (0..=1), and whether the pointer has moved since
    /// the press.
    held: Option<(Panel, Vec2, bool)>,
    /// Whether the hand pulled the trigger or the squeeze while its ray hit no panel. The panels then ignore the ray
    /// until both are released.
    elsewhere: bool,
    /// The pointer's position in this frame; `None` off the panels.
    pub at: Option<At>,
    /// Start and end of the ray to draw, room space; `None` if the ray hits no panel.
    pub ray: Option<[Vec3; 2]>,
}

/// Position of the pointer on a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub panel: Panel,
    /// Pixel of the panel's image; `None` in the margin around the panel.
    pub pixel: Option<Pos2>,
    pub down: bool,
}

impl Pointer {
    /// Runs one frame. `panels` are the panels that can be pressed.
    pub fn step(&mut self, input: &Input, hand: usize, panels: impl Iterator<Item = Placement> + Clone) {
        let hand = &input.hands[hand];
        let ray = hand.aim.pose;
        let sound =
            ray.position.is_finite() && ray.orientation.is_finite() && hand.aim.tracking != Tracking::Lost;
        self.at = None;
        self.ray = None;
        if !input.focused || !sound {
            self.pressed = false;
            self.held = None;
            self.elsewhere = hand.draw > PRESS[1] || hand.grab > PRESS[1];
            return;
        }
        let was = self.pressed;
        self.pressed = hand.draw > PRESS[usize::from(was)];
        let busy = self.pressed || hand.grab > PRESS[usize::from(was)];
        let met = nearest(&ray, panels.clone());
        if self.held.is_none() && (self.elsewhere || (busy && met.is_none())) {
            self.elsewhere = busy;
            if busy {
                return;
            }
        }
        if self.pressed && !was && self.held.is_none() {
            self.held = met.map(|(p, _, at)| (p.panel, at, false));
        }
        let holding = self.held.and_then(|(held, ..)| panels.clone().find(|p| p.panel == held));
        let (placement, distance, at) = match (holding, met) {
            (Some(placement), _) => match placement.meet(&ray) {
                Some((distance, at)) => (placement, distance, at),
                None => return self.keep(),
            },
            (None, Some(met)) => met,
            (None, None) => {
                self.held = None;
                return;
            }
        };
        let size = Vec2::from(placement.panel.size().map(|n| n as f32));
        let mut at = at;
        if let Some((_, from, moved)) = &mut self.held {
            *moved |= ((at - *from) * size).length() > STILL;
            at = if *moved { at } else { *from };
        }
        let inside = at.cmpge(Vec2::ZERO).all() && at.cmplt(Vec2::ONE).all();
        // Rounding to whole pixels prevents redraws while the hand rests.
        let pixel = (at * size).round();
        let shown = inside || self.held.is_some();
        self.at = Some(At {
            panel: placement.panel,
            pixel: shown.then(|| Pos2::new(pixel.x, pixel.y)),
            down: self.pressed && self.held.is_some(),
        });
        self.ray = Some([ray.position, ray.position + ray.forward() * distance]);
        if !self.pressed {
            self.held = None;
        }
    }

    /// Whether a press on a panel is in progress.
    pub fn is_down(&self) -> bool {
        self.pressed && self.held.is_some()
    }

    /// Ends the press in progress. The next press begins after the trigger is released.
    pub fn let_go(&mut self) {
        self.held = None;
    }

    /// Keeps the press while the ray misses the plane of the pressed panel.
    fn keep(&mut self) {
        if let Some((panel, ..)) = self.held {
            self.at = Some(At { panel, pixel: None, down: self.pressed });
        }
        if !self.pressed {
            self.held = None;
        }
    }
}

/// Returns the nearest panel that the ray hits, the distance in metres and the point of the panel's image, 0..=1.
fn nearest(ray: &Rigid, panels: impl Iterator<Item = Placement>) -> Option<(Placement, f32, Vec2)> {
    let met = panels.filter_map(|p| {
        let (distance, at) = p.meet(ray)?;
        let near = at.cmpge(Vec2::splat(-RIM)).all() && at.cmple(Vec2::splat(1.0 + RIM)).all();
        near.then_some((p, distance, at))
    });
    met.min_by(|a, b| a.1.total_cmp(&b.1))
}
