//! Where panels stand in the room. Their size is an angle: they look the same at any distance and any world scale.

use super::theme::PER_DEGREE;
use super::{Panel, Panels};
use crate::base::math::{Mat3, Quat, Vec2, Vec3};
use crate::editor::{Input, Rigid, Tracked, Tracking};

/// Nearest and farthest distance for which a panel is sized, metres.
const DISTANCES: [f32; 2] = [0.25, 3.0];
/// The file panel stands so far before the user, metres.
const BEFORE: f32 = 1.0;
/// The palette without an off hand, metres.
const REACH: f32 = 0.7;
/// After so long without tracking there is no off hand, seconds.
const GONE: f64 = 1.0;
/// Time in which a panel at the hand follows two thirds of a movement, seconds: takes the tremble out.
const FOLLOW: f64 = 0.06;

/// A panel in the room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Which.
    pub panel: Panel,
    /// Room from panel: its middle; +X to the reader's right, +Y up, +Z towards the reader.
    pub pose: Rigid,
    /// Width and height, metres.
    pub size: [f32; 2],
}

impl Placement {
    /// The room point at a place of its picture, 0..=1 from the upper left.
    pub fn point(&self, at: [f32; 2]) -> Vec3 {
        let local = Vec3::new((at[0] - 0.5) * self.size[0], (0.5 - at[1]) * self.size[1], 0.0);
        self.pose.point(local)
    }

    /// Where a ray from `ray`'s origin along its -Z meets the panel's plane from the reader's side: the distance,
    /// metres, and the place of the picture, not bounded to it.
    pub fn meet(&self, ray: &Rigid) -> Option<(f32, Vec2)> {
        let inverse = self.pose.orientation.inverse();
        let origin = inverse * (ray.position - self.pose.position);
        let direction = inverse * ray.forward();
        let distance = -origin.z / direction.z;
        if !(origin.z > 0.0 && direction.z < 0.0 && distance.is_finite()) {
            return None;
        }
        let hit = origin + direction * distance;
        Some((distance, Vec2::new(0.5 + hit.x / self.size[0], 0.5 - hit.y / self.size[1])))
    }
}

/// What is remembered between frames.
#[derive(Default)]
pub(super) struct Places {
    head: Option<Rigid>,
    /// The off hand's palm and when it was last tracked.
    palm: Option<(Rigid, f64)>,
    /// Stand where they were opened.
    fixed: [Option<Rigid>; Panel::ALL.len()],
    /// Away from the tool hand: -1 is left.
    outside: f32,
    /// Smoothed, at the hand.
    followed: [Option<Rigid>; Panel::ALL.len()],
    time: f64,
}

/// The pose of what stands at `center` and faces `head`, upright.
fn facing(center: Vec3, head: Vec3) -> Rigid {
    let z = (head - center).try_normalize().unwrap_or(Vec3::Z);
    let x = Vec3::Y.cross(z).try_normalize().unwrap_or(Vec3::X);
    Rigid { position: center, orientation: Quat::from_mat3(&Mat3::from_cols(x, z.cross(x), z)) }
}

/// Metres that a panel's pixels cover at a distance.
fn size_at(panel: Panel, distance: f32) -> [f32; 2] {
    let distance = distance.clamp(DISTANCES[0], DISTANCES[1]);
    panel.size().map(|n| 2.0 * distance * (0.5 * (n as f32 / PER_DEGREE).to_radians()).tan())
}

fn checked(tracked: &Tracked) -> Option<Rigid> {
    let pose = tracked.pose;
    let sound = pose.position.is_finite() && pose.orientation.is_finite();
    let unit = (pose.orientation.length_squared() - 1.0).abs() < 0.1;
    (tracked.tracking != Tracking::Lost && sound && unit).then_some(pose)
}

/// Ahead of the head, level, metres away and metres above it.
fn before(head: &Rigid, away: f32, above: f32) -> Vec3 {
    let forward = head.forward();
    // Straight up or down there is no ahead; the top of the head tells.
    let ahead = Vec3::new(forward.x, 0.0, forward.z);
    let ahead = if ahead.length() > 0.2 { ahead } else { head.orientation * Vec3::Y * -forward.y.signum() };
    let ahead = Vec3::new(ahead.x, 0.0, ahead.z).normalize_or(Vec3::NEG_Z);
    head.position + ahead * away + Vec3::Y * above
}

impl Places {
    /// Takes a frame's poses in.
    pub fn update(&mut self, input: &Input, tool_hand: usize) -> f64 {
        let step = (input.time - self.time).clamp(0.0, 0.1);
        self.time = input.time;
        if let Some(moved) = input.recentred.filter(|m| m.position.is_finite() && m.orientation.is_finite()) {
            let carry = |pose: &mut Rigid| {
                pose.position = moved.point(pose.position);
                pose.orientation = moved.orientation * pose.orientation;
            };
            self.head.iter_mut().for_each(carry);
            self.palm.iter_mut().for_each(|p| carry(&mut p.0));
            self.fixed.iter_mut().chain(&mut self.followed).flatten().for_each(carry);
        }
        self.outside = if tool_hand == 0 { 1.0 } else { -1.0 };
        self.head = checked(&input.head).or(self.head);
        match checked(&input.hands[1 - tool_hand].grip) {
            Some(palm) => self.palm = Some((palm, input.time)),
            None if self.palm.is_some_and(|(_, seen)| input.time - seen > GONE) => self.palm = None,
            None => {}
        }
        step
    }

    /// Where the head is.
    pub fn head(&self) -> Option<Rigid> {
        self.head
    }

    /// Forgets where panels stood: other hands hold them.
    pub fn forget(&mut self) {
        self.palm = None;
        self.followed = Default::default();
    }

    /// Places the panels that show.
    pub fn place(&mut self, shown: &[bool; Panel::ALL.len()], step: f64, out: &mut Vec<Placement>) {
        out.clear();
        let Some(head) = self.head else { return };
        for panel in Panel::ALL {
            let index = panel as usize;
            if !shown[index] {
                self.fixed[index] = None;
                self.followed[index] = None;
            }
        }
        let eye = head.position;
        let mut palette = None;
        for panel in Panel::ALL.into_iter().filter(|p| shown[*p as usize]) {
            let index = panel as usize;
            let mut fixed = |center: Vec3| *self.fixed[index].get_or_insert_with(|| facing(center, eye));
            let pose = match (panel, self.palm) {
                (Panel::Files, _) => fixed(before(&head, BEFORE, -0.12)),
                (Panel::Message, _) => fixed(before(&head, BEFORE * 0.9, -0.32)),
                (Panel::Palette, None) => fixed(before(&head, REACH, -0.2)),
                // Under the palette, in its plane: seen from above, the hand itself is behind its lower edge.
                (Panel::Wrist, _) if palette.is_some() => {
                    self.followed[index] = None;
                    palette.map_or(head, |p| beside(&p, panel, eye, [0.0, -1.0]))
                }
                (Panel::Palette | Panel::Wrist, Some((palm, _))) => {
                    // Taken up by a hand, it stays with the hand.
                    self.fixed[index] = None;
                    let height = size_at(panel, palm.position.distance(eye))[1];
                    let lift = if panel == Panel::Palette { 0.045 + height * 0.5 } else { 0.01 };
                    self.follow(index, facing(palm.position + Vec3::Y * lift, eye), step)
                }
                (Panel::Wrist, None) => fixed(before(&head, REACH, -0.38)),
                (Panel::Strain, _) => match palette {
                    Some(p) => beside(&p, panel, eye, [self.outside, 0.0]),
                    None => continue,
                },
            };
            let size = size_at(panel, pose.position.distance(eye));
            let placement = Placement { panel, pose, size };
            if panel == Panel::Palette {
                palette = Some(placement);
            }
            out.push(placement);
        }
    }

    fn follow(&mut self, index: usize, wanted: Rigid, step: f64) -> Rigid {
        let share = 1.0 - (-step / FOLLOW).exp() as f32;
        let now = match self.followed[index] {
            Some(last) => Rigid {
                position: last.position.lerp(wanted.position, share),
                orientation: last.orientation.slerp(wanted.orientation, share).normalize(),
            },
            None => wanted,
        };
        *self.followed[index].insert(now)
    }
}

/// Next to a panel, in its plane: one to the right is (1, 0), one above (0, 1).
fn beside(other: &Placement, panel: Panel, eye: Vec3, side: [f32; 2]) -> Rigid {
    let size = size_at(panel, other.pose.position.distance(eye));
    let gap = 0.03 * other.size[0];
    let along = |i: usize| side[i] * ((other.size[i] + size[i]) * 0.5 + gap);
    Rigid { position: other.pose.point(Vec3::new(along(0), along(1), 0.0)), ..other.pose }
}

impl Panels {
    /// The room point of something that can be pressed, where its panel shows it: what a script aims at.
    pub fn target(&self, spot: &super::Spot) -> Option<Vec3> {
        let (panel, at) = self.find(spot)?;
        self.place_of(panel, at)
    }

    /// The room point of a place of a slider's track, see [`Panels::find_track`].
    pub fn slider(&self, kind: crate::editor::CommandKind, share: f32) -> Option<Vec3> {
        let (panel, at) = self.find_track(kind, share)?;
        self.place_of(panel, at)
    }

    fn place_of(&self, panel: Panel, at: [f32; 2]) -> Option<Vec3> {
        self.out.placements.iter().find(|p| p.panel == panel).map(|p| p.point(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_face_the_head_upright_and_keep_their_angle() {
        let head = Vec3::new(0.2, 1.6, 0.1);
        for center in [Vec3::new(0.0, 1.2, -0.4), Vec3::new(1.4, 0.9, -1.0), Vec3::new(0.2, 0.9, 0.1)] {
            let pose = facing(center, head);
            assert!((pose.orientation * Vec3::Z).dot((head - center).normalize()) > 0.9999);
            assert!((pose.orientation * Vec3::X).y.abs() < 1e-5, "level");
            let [w, _] = size_at(Panel::Palette, center.distance(head));
            let angle = 2.0 * (0.5 * w / center.distance(head)).atan().to_degrees();
            assert!((angle - Panel::Palette.size()[0] as f32 / PER_DEGREE).abs() < 1e-3, "{angle}");
        }
    }

    #[test]
    fn rays_meet_panels_from_the_readers_side_only() {
        let pose = facing(Vec3::new(0.0, 1.0, -1.0), Vec3::new(0.0, 1.0, 0.0));
        let placement = Placement { panel: Panel::Files, pose, size: [0.8, 0.4] };
        let from = |position: Vec3, target: Vec3| {
            let turn = Quat::from_rotation_arc(Vec3::NEG_Z, (target - position).normalize());
            placement.meet(&Rigid { position, orientation: turn })
        };
        let place = placement.point([0.25, 0.75]);
        assert!((place - Vec3::new(-0.2, 0.9, -1.0)).length() < 1e-6);
        let (distance, at) = from(Vec3::new(0.3, 0.5, 0.5), place).unwrap();
        assert!((at - Vec2::new(0.25, 0.75)).length() < 1e-4);
        assert!((distance - place.distance(Vec3::new(0.3, 0.5, 0.5))).abs() < 1e-4);
        assert!(from(Vec3::new(0.0, 1.0, -2.0), place).is_none(), "from behind");
        assert!(from(Vec3::ZERO, Vec3::new(0.0, 1.0, 1.0)).is_none(), "away");
        assert!(from(Vec3::ZERO, Vec3::X).is_none(), "along");
    }

    #[test]
    fn ahead_is_known_even_when_looking_straight_down() {
        for pitch in [-1.5, -0.4, 0.0, 1.5] {
            let head = Rigid { position: Vec3::Y, orientation: Quat::from_rotation_x(pitch) };
            let there = before(&head, 1.0, 0.0);
            assert!((there - Vec3::new(0.0, 1.0, -1.0)).length() < 1e-3, "{pitch} {there}");
        }
    }
}
