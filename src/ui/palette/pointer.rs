//! The tool hand's ray on the panels: which one it meets, and presses with hysteresis.

use super::Panel;
use super::place::Placement;
use super::theme::PER_DEGREE;
use crate::base::math::{Vec2, Vec3};
use crate::workbench::{Input, Rigid, Tracking};
use egui::Pos2;

/// Trigger values at which it is pressed and let go.
const PRESS: [f32; 2] = [0.6, 0.4];
/// A press holds the pointer still until it has moved so far, pixels.
const STILL: f32 = 0.75 * PER_DEGREE;
/// Around a panel the ray still counts as pointing at it, share of its size.
const RIM: f32 = 0.04;

/// State between frames.
#[derive(Default)]
pub(super) struct Pointer {
    pressed: bool,
    /// The panel that was pressed, where, and whether the pointer has moved since.
    held: Option<(Panel, Vec2, bool)>,
    /// Trigger or squeeze was pulled elsewhere: the ray is the tool's until both are let go.
    elsewhere: bool,
    /// This frame's result.
    pub at: Option<At>,
    /// The ray to draw: from and to, room; `None` if it meets no panel.
    pub ray: Option<[Vec3; 2]>,
}

/// Where the pointer is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub panel: Panel,
    /// Pixel; none beside the panel.
    pub pixel: Option<Pos2>,
    pub down: bool,
}

impl Pointer {
    /// One frame; `panels` are those that can be pointed at.
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
        // Whole pixels: a hand that rests changes nothing.
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

    /// The held panel's plane is not met: the hand is turned away.
    fn keep(&mut self) {
        if let Some((panel, ..)) = self.held {
            self.at = Some(At { panel, pixel: None, down: self.pressed });
        }
        if !self.pressed {
            self.held = None;
        }
    }
}

/// The nearest panel that the ray meets: distance and place.
fn nearest(ray: &Rigid, panels: impl Iterator<Item = Placement>) -> Option<(Placement, f32, Vec2)> {
    let met = panels.filter_map(|p| {
        let (distance, at) = p.meet(ray)?;
        let near = at.cmpge(Vec2::splat(-RIM)).all() && at.cmple(Vec2::splat(1.0 + RIM)).all();
        near.then_some((p, distance, at))
    });
    met.min_by(|a, b| a.1.total_cmp(&b.1))
}
