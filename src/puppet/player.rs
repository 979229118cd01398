//! Plays a puppet script frame by frame.

use super::packet::PuppetState;
use super::script::{Action, Device, Script, What};
use crate::base::math::{Quat, Vec3};
use crate::workbench::Rigid;
use std::collections::VecDeque;

/// Plays a script frame by frame. Each group of actions takes as many frames as its duration requires, at least one.
/// The last frame of a group has exactly the end state of the group. Therefore no short action is lost between two
/// frames, and the same time step always gives the same states.
#[derive(Clone, Debug, Default)]
pub struct Player {
    groups: VecDeque<Vec<Action>>,
    /// Seconds since the running group began, and the state when it began; `None` between two groups.
    now: Option<(f64, PuppetState)>,
}

impl Player {
    /// Creates a player at the start of a script.
    pub fn new(script: Script) -> Self {
        Self { groups: script.groups.into(), now: None }
    }

    /// Appends a script to the actions that are still queued.
    pub fn append(&mut self, script: Script) {
        self.groups.extend(script.groups);
    }

    /// Advances the state by one frame of `step` seconds; returns `false` if no action is left.
    pub fn advance(&mut self, step: f64, state: &mut PuppetState) -> bool {
        let Some(group) = self.groups.front() else { return false };
        let (time, from) = self.now.get_or_insert_with(|| (0.0, state.clone()));
        *time += step.max(1e-6);
        let mut over = true;
        for action in group {
            // Tolerance for rounding errors: if less than a ten-thousandth of a frame remains, the action is finished.
            let done = *time + step * 1e-4 >= action.over;
            over &= done;
            let s = if done { 1.0 } else { (*time / action.over) as f32 };
            action.apply(s, from, state);
        }
        if over {
            self.groups.pop_front();
            self.now = None;
        }
        true
    }
}

impl Action {
    /// Sets the state at the fraction `s`, 0..=1, of an action that started in the state `from`.
    fn apply(&self, s: f32, from: &PuppetState, state: &mut PuppetState) {
        let mut start = from.clone();
        let old = *self.device.pose(&mut start);
        let pose = self.device.pose(state);
        match &self.what {
            What::At(to) => pose.position = if s < 1.0 { old.position.lerp(*to, s) } else { *to },
            What::By(way) => pose.position = old.position + *way * s,
            What::Turn(to) => pose.orientation = old.orientation.slerp(*to, s),
            What::Look(at) => {
                let to = looking(old.position, *at).unwrap_or(old.orientation);
                pose.orientation = old.orientation.slerp(to, s);
            }
            What::Arc { centre, axis, angle } => {
                let turn = Quat::from_axis_angle(*axis, *angle * s);
                *pose = Rigid {
                    position: *centre + turn * (old.position - *centre),
                    orientation: turn * old.orientation,
                };
            }
            What::Value(value, to) => {
                if let Device::Hand(i) = self.device {
                    let old = value.get(&from.hands[i]);
                    value.set(&mut state.hands[i], [0, 1].map(|k| old[k] + (to[k] - old[k]) * s));
                }
            }
            What::Button(button, down) => {
                if let Device::Hand(i) = self.device {
                    button.set(&mut state.hands[i], *down);
                }
            }
            What::Tracked(tracked) => {
                if let Device::Hand(i) = self.device {
                    state.hands[i].active = *tracked;
                }
            }
            What::Wait => {}
        }
    }
}

/// Returns the orientation in which a device at `from` looks at `to` with y up; `None` if the points coincide.
fn looking(from: Vec3, to: Vec3) -> Option<Quat> {
    let back = (from - to).try_normalize()?;
    let up = if back.y.abs() > 0.999 { Vec3::NEG_Z * back.y } else { Vec3::Y };
    let right = up.cross(back).normalize();
    Some(Quat::from_mat3(&crate::base::math::Mat3::from_cols(right, back.cross(right), back)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const STEP: f64 = 1.0 / 30.0;

    /// Plays a script and returns the state after every frame.
    fn play(text: &str) -> Vec<PuppetState> {
        let mut player = Player::new(Script::read(text, Path::new("x")).unwrap());
        let (mut state, mut out) = (PuppetState::default(), Vec::new());
        while player.advance(STEP, &mut state) {
            out.push(state.clone());
        }
        out
    }

    #[test]
    fn a_line_is_walked_at_constant_speed_and_reached_exactly() {
        let states = play("right at 0 1 0\nright at 0.3 1 0 over 0.1\nwait 0.1");
        let x: Vec<f32> = states.iter().map(|s| s.hands[1].pose.position.x).collect();
        let expected = [0.0, 0.1, 0.2, 0.3, 0.3, 0.3, 0.3];
        assert_eq!(x.len(), expected.len());
        assert!(x.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{x:?}");
        assert_eq!(x[3], 0.3);
    }

    #[test]
    fn what_happens_at_once_is_seen_in_a_frame_of_its_own() {
        let states =
            play("right trigger 1\nright trigger 0\nlose left\nfind left\nright press a\nright release a");
        assert_eq!(
            states.iter().map(|s| s.hands[1].trigger).collect::<Vec<_>>(),
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(
            states.iter().map(|s| s.hands[0].active).collect::<Vec<_>>(),
            [true, true, false, true, true, true]
        );
        assert!(states[4].hands[1].buttons.a_click && states[4].hands[1].buttons.a_touch);
        assert!(!states[5].hands[1].buttons.a_click && !states[5].hands[1].buttons.a_touch);
    }

    #[test]
    fn an_arc_keeps_its_radius_and_turns_the_hand_with_it() {
        let states = play(
            "right at 0.5 1 0\nright turn 0 0 0\nright arc 0 1 0 0 1 0 90 over 1 &\nleft trigger 1 over 0.5",
        );
        assert_eq!(states.len(), 32);
        for s in &states {
            assert!((s.hands[1].pose.position.distance(Vec3::Y) - 0.5).abs() < 1e-6);
        }
        let end = &states[31].hands;
        assert!(end[1].pose.position.distance(Vec3::new(0.0, 1.0, -0.5)) < 1e-6);
        assert!(end[1].pose.forward().distance(Vec3::NEG_X) < 1e-6);
        assert!((states[9].hands[0].trigger - 8.0 / 15.0).abs() < 1e-5 && end[0].trigger == 1.0);
    }

    #[test]
    fn a_device_points_where_it_is_told() {
        for target in ["0.3 1.2 -2", "0 5 0", "0 -5 0", "1 1 3"] {
            let states = play(&format!("right at 0 1 0\nright look {target}"));
            let pose = states.last().unwrap().hands[1].pose;
            let [x, y, z]: [f32; 3] =
                target.split(' ').map(|n| n.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap();
            let wanted = (Vec3::new(x, y, z) - pose.position).normalize();
            assert!(pose.forward().distance(wanted) < 1e-5, "{target}: {}", pose.forward());
            assert!((pose.orientation * Vec3::Y).y > -1e-6);
        }
    }
}
