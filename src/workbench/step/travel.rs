//! The stick of the free hand: snap turns, jumps and flight. The viewpoints that the user keeps.

use super::{FLICK, Workbench};
use crate::base::math::{Quat, Vec3};
use crate::render::Lines;
use crate::workbench::navigation::{JumpArc, Rules, Travel};
use crate::workbench::{Command, Haptic, Viewpoint};
use std::f32::consts::TAU;

/// Speed of flight at full deflection, metres of the room per second.
const FLIGHT: f32 = 1.5;
/// Smallest deflection that flies.
const STILL: f32 = 0.2;
/// Number of segments of the arc of a jump, and of the circle at its end.
const SEGMENTS: usize = 24;
/// Radius of that circle, metres of the room.
const RING: f32 = 0.25;
const JUMP: [u8; 4] = [84, 226, 160, 230];

/// State of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jump {
    /// The stick is not pushed forward.
    None,
    /// The free hand shows where the jump would end.
    Shown,
    /// The jump was cancelled. The stick must come back before it shows another one.
    Cancelled,
}

impl Workbench {
    /// Applies the stick of the free hand.
    pub(super) fn travel(&mut self) {
        let free = 1 - self.tool_hand();
        let hand = &self.hands.hands[free];
        let [side, ahead] = hand.stick;
        // On a panel, the stick scrolls. Takes of earlier versions know no travel.
        let usable = !self.windowed && !hand.on_panel && self.navigation.rules() >= Rules::Fourth;
        let way = self.preferences.travel;
        let released = ahead < FLICK[1] && side.abs() < FLICK[0];
        match self.jump {
            Jump::None => {}
            Jump::Shown if !usable || way != Travel::Jump => self.drop_jump(),
            Jump::Shown if released => {
                let arc = self.jump_arc().filter(|_| !self.is_busy());
                self.jump = Jump::None;
                if let Some(arc) = arc {
                    self.navigation.jump(self.head.position, arc.place());
                    self.felt[free] = self.preferences.haptics.then_some(Haptic::Selection);
                }
            }
            Jump::Cancelled if released => self.jump = Jump::None,
            Jump::Shown | Jump::Cancelled => return,
        }
        if self.flicked {
            self.flicked = side.abs() > FLICK[1];
        } else if side.abs() > FLICK[0] {
            self.flicked = true;
            self.run_command(Command::SnapTurn(side.signum() as i32));
        }
        if usable && way == Travel::Jump && ahead > FLICK[0] && !self.flicked {
            self.jump = Jump::Shown;
        }
        if usable && way == Travel::Fly && ahead.abs() > STILL && !self.is_busy() {
            let forward = self.hands.hands[free].tip.forward();
            let speed = ahead * FLIGHT * self.navigation.world_from_room().scale;
            self.navigation.fly(forward * (speed * self.hands.step as f32));
        } else {
            self.navigation.stop_flying();
        }
    }

    /// Cancels the jump that the free hand shows.
    pub(super) fn drop_jump(&mut self) {
        if self.jump == Jump::Shown {
            self.jump = Jump::Cancelled;
        }
    }

    /// Whether the free hand shows where a jump would end.
    pub fn is_jumping(&self) -> bool {
        self.jump == Jump::Shown
    }

    /// The arc of the jump that the free hand shows.
    pub(super) fn jump_arc(&self) -> Option<JumpArc> {
        if !self.is_jumping() {
            return None;
        }
        let hand = &self.hands.hands[1 - self.tool_hand()];
        let ground = if self.bounds.is_empty() { 0.0 } else { self.bounds.min.y };
        JumpArc::throw(&hand.tip, ground, self.navigation.world_from_room().scale)
    }

    /// Keeps the headset's viewpoint.
    pub(super) fn keep_view(&mut self, slot: usize) {
        let viewpoint = self.navigation.viewpoint(&self.bounds, &self.head);
        self.keep_viewpoint(slot, viewpoint);
    }

    /// Keeps a viewpoint.
    pub fn keep_viewpoint(&mut self, slot: usize, viewpoint: Viewpoint) {
        if let Some(kept) = self.preferences.viewpoints.get_mut(slot) {
            *kept = Some(viewpoint).filter(Viewpoint::is_sane);
        }
    }

    /// The kept viewpoint with this index. Without one, says so.
    pub fn kept_viewpoint(&mut self, slot: usize) -> Option<Viewpoint> {
        let kept = self.preferences.viewpoints.get(slot).copied().flatten();
        if kept.is_none() {
            self.context.notice = Some(format!("view {} is empty: keep a view there first", slot + 1).into());
            self.limit();
        }
        kept
    }

    /// Moves the user to a kept viewpoint and stops the turntable.
    pub(super) fn go_to_view(&mut self, slot: usize) {
        if let Some(viewpoint) = self.kept_viewpoint(slot) {
            self.preferences.turntable = false;
            self.navigation.go_to(&viewpoint, &self.bounds, &self.head);
        }
    }
}

/// Draws the arc of a jump and a circle where it ends. `scale` is the number of world metres per room metre.
pub(super) fn jump_lines(arc: &JumpArc, scale: f32, out: &mut Lines) {
    let share = |i: usize| i as f32 / SEGMENTS as f32;
    let points: [Vec3; SEGMENTS + 1] = std::array::from_fn(|i| arc.point(share(i)));
    out.polyline(&points, JUMP, 3.0, 0.0);
    let ring: [Vec3; SEGMENTS + 1] = std::array::from_fn(|i| {
        arc.place() + Quat::from_rotation_y(TAU * share(i)) * Vec3::X * (RING * scale)
    });
    out.polyline(&ring, JUMP, 3.0, 0.0);
}
