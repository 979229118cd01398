//! Poses of the panels in the room. Panels keep their angular size at any distance and any scale of the world.

use super::clear::{DEGREE, Sight, Wanted, Way, along, heading, nearest, wrapped};
use super::theme::PER_DEGREE;
use super::{Panel, Panels};
use crate::base::math::{Mat3, Quat, Vec2, Vec3};
use crate::workbench::{Capsule, Input, Rigid, Surroundings, Tracked, Tracking};

/// Smallest and largest distance for which panels are sized, metres.
const DISTANCES: [f32; 2] = [0.25, 3.0];
/// Largest distance of the file panel in front of the head, metres.
const BEFORE: f32 = 1.0;
/// Smallest distance of the file panel and of messages, metres, and their distance relative to the nearest flesh of the
/// character.
const CLOSEST: f32 = 0.4;
const CLEAR: f32 = 0.85;
/// Height relative to the head over horizontal distance: of the file panel and of messages.
const LOWER: f32 = -0.12;
const LOWEST: f32 = -0.36;
/// Angle beyond which a message is out of view and comes back, radians.
const AWAY: f32 = 35.0 * DEGREE;
/// Distance of the palette from the head if no off hand is tracked, metres.
const REACH: f32 = 0.5;
/// Direction of the palette if no off hand is tracked, radians: the heading away from the character, and the elevation.
const ASIDE: [f32; 2] = [30.0 * DEGREE, -22.0 * DEGREE];
/// Distance of the details panel from the head, metres, and its elevation, radians.
const WITHIN: f32 = 0.8;
const LOW: f32 = -15.0 * DEGREE;
const LABEL: f32 = -30.0 * DEGREE;
/// Extra cost of a place on the tool hand's side, in the search for a place where a panel can open, radians.
const WRONG_SIDE: f32 = 15.0 * DEGREE;
/// Extra cost of moving a panel from the off hand towards the tool hand's side, radians.
const ACROSS: f32 = 6.0 * DEGREE;
/// Horizontal angle between the head's forward axis and the direction of the character beyond which the user looks
/// elsewhere, radians.
const LOOKED_AT: f32 = 60.0 * DEGREE;
/// Time without tracking after which the off hand counts as absent, seconds.
const GONE: f64 = 1.0;
/// Time constant of the smoothing that removes hand tremor from panels at the hand, seconds.
const FOLLOW: f64 = 0.06;

/// A panel's pose and size in the room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The placed panel.
    pub panel: Panel,
    /// Transform from panel to room: origin at the panel's centre, +X to the reader's right, +Y up, +Z to the reader.
    pub pose: Rigid,
    /// Width and height of the panel, metres.
    pub size: [f32; 2],
}

impl Placement {
    /// A panel at a pose, with its size for an eye.
    fn new(panel: Panel, pose: Rigid, eye: Vec3) -> Self {
        Self { panel, pose, size: size_at(panel, pose.position.distance(eye)) }
    }

    /// Returns the room point at a point of the panel's image, 0..=1 from the upper left.
    pub fn point(&self, at: [f32; 2]) -> Vec3 {
        let local = Vec3::new((at[0] - 0.5) * self.size[0], (0.5 - at[1]) * self.size[1], 0.0);
        self.pose.point(local)
    }

    /// Intersects a ray (origin and -Z of `ray`) with the panel's plane, from the front only. Returns the distance in
    /// metres and the point of the image, which can lie outside of 0..=1.
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

/// State of the placement between frames.
#[derive(Default)]
pub(super) struct Places {
    head: Option<Rigid>,
    /// Pose of the off hand's palm, and the time of its last tracking, seconds.
    palm: Option<(Rigid, f64)>,
    /// Poses of panels that stay where they opened.
    fixed: [Option<Rigid>; Panel::ALL.len()],
    /// The side away from the tool hand: -1 is left, 1 is right.
    outside: f32,
    /// Smoothed poses of panels at the hand.
    followed: [Option<Rigid>; Panel::ALL.len()],
    /// Poses at which panels wait while the off hand holds something.
    parked: [Option<Rigid>; Panel::ALL.len()],
    /// Whether the off hand holds the character or the world.
    held: bool,
    /// The panel that the tool hand points at.
    pointed: Option<Panel>,
    /// Distance from the head to the nearest flesh of the character, metres.
    clearance: f32,
    /// The character's bones as rectangles of directions from the head, relative to `reference`.
    sights: Vec<Sight>,
    /// Heading from the head to the character's centre, radians. Without a character, the heading of the head's forward
    /// axis.
    reference: f32,
    /// Whether there is a character.
    seen: bool,
    /// The last detour around the character of each panel at the hand; `None` if the panel needed no detour.
    ways: [Option<Way>; Panel::ALL.len()],
    /// Direction of each panel at the hand relative to the direction without a detour: heading and elevation, radians.
    detours: [Vec2; Panel::ALL.len()],
    time: f64,
}

/// Returns the upright pose at `center` that faces `head`.
pub(super) fn facing(center: Vec3, head: Vec3) -> Rigid {
    let z = (head - center).try_normalize().unwrap_or(Vec3::Z);
    let x = Vec3::Y.cross(z).try_normalize().unwrap_or(Vec3::X);
    Rigid { position: center, orientation: Quat::from_mat3(&Mat3::from_cols(x, z.cross(x), z)) }
}

/// Returns width and height of a panel, metres, for the panel's fixed angular size at a distance in metres.
pub(super) fn size_at(panel: Panel, distance: f32) -> [f32; 2] {
    let distance = distance.clamp(DISTANCES[0], DISTANCES[1]);
    panel.size().map(|n| 2.0 * distance * (0.5 * (n as f32 / PER_DEGREE).to_radians()).tan())
}

fn checked(tracked: &Tracked) -> Option<Rigid> {
    let pose = tracked.pose;
    let sound = pose.position.is_finite() && pose.orientation.is_finite();
    let unit = (pose.orientation.length_squared() - 1.0).abs() < 0.1;
    (tracked.tracking != Tracking::Lost && sound && unit).then_some(pose)
}

/// Returns the point that is `away` metres horizontally ahead of the head and `above` metres above the head.
fn before(head: &Rigid, away: f32, above: f32) -> Vec3 {
    let forward = head.forward();
    // If the user looks straight up or down, the axis through the top of the head gives the direction ahead.
    let ahead = Vec3::new(forward.x, 0.0, forward.z);
    let ahead = if ahead.length() > 0.2 { ahead } else { head.orientation * Vec3::Y * -forward.y.signum() };
    let ahead = Vec3::new(ahead.x, 0.0, ahead.z).normalize_or(Vec3::NEG_Z);
    head.position + ahead * away + Vec3::Y * above
}

impl Places {
    /// Updates head and off hand from the input. Returns the time step, seconds.
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
            let standing = self.fixed.iter_mut().chain(&mut self.followed).chain(&mut self.parked);
            standing.flatten().for_each(carry);
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

    /// Updates the character that panels must not cover, whether the off hand holds something, and the panel that the
    /// tool hand points at.
    pub fn look(&mut self, about: &Surroundings, tool_hand: usize, pointed: Option<Panel>) {
        self.pointed = pointed;
        self.held = about.holds[1 - tool_hand];
        self.sights.clear();
        let Some(head) = self.head else { return };
        let eye = head.position;
        let middle = about.middle().filter(|m| m.is_finite() && m.distance(eye) > 1e-3);
        self.seen = middle.is_some();
        self.reference = heading(middle.unwrap_or_else(|| before(&head, 1.0, 0.0)) - eye).x;
        self.sights.extend(about.body.iter().filter_map(|c| Sight::of(c, eye, self.reference)));
        let near = |c: &Capsule| {
            let along = c.ends[1] - c.ends[0];
            let share = (eye - c.ends[0]).dot(along) / along.length_squared().max(1e-12);
            (c.ends[0] + along * share.clamp(0.0, 1.0)).distance(eye) - c.radius
        };
        self.clearance = about.body.iter().map(near).fold(f32::INFINITY, f32::min);
    }

    /// The last known pose of the head, room space.
    pub fn head(&self) -> Option<Rigid> {
        self.head
    }

    /// Forgets the off hand, the poses of its panels and that of the details panel, because the tool hand changed.
    pub fn forget(&mut self) {
        self.palm = None;
        self.fixed[Panel::Details as usize] = None;
        self.followed = Default::default();
        self.parked = Default::default();
        self.ways = Default::default();
        self.detours = Default::default();
    }

    /// Computes the placements of the visible panels.
    pub fn place(&mut self, shown: &[bool; Panel::ALL.len()], step: f64, out: &mut Vec<Placement>) {
        out.clear();
        let Some(head) = self.head else { return };
        for panel in Panel::ALL {
            let index = panel as usize;
            if !shown[index] {
                self.fixed[index] = None;
                self.followed[index] = None;
                self.parked[index] = None;
                self.ways[index] = None;
                self.detours[index] = Vec2::ZERO;
            }
        }
        let eye = head.position;
        let (mut palette, mut details) = (None, None);
        for panel in Panel::ALL.into_iter().filter(|p| shown[*p as usize] && *p != Panel::Message) {
            let index = panel as usize;
            let stands = self.fixed[index];
            let fixed = |center: Vec3| stands.unwrap_or_else(|| facing(center, eye));
            let pose = match (panel, self.palm) {
                (Panel::Files, _) => fixed(self.ahead(&head, BEFORE, LOWER)),
                (Panel::Details, _) => stands.unwrap_or_else(|| self.aside(&head, out)),
                (Panel::Message, _) => continue,
                (Panel::Palette, None) => stands.unwrap_or_else(|| self.open(panel, &head, ASIDE[1])),
                // The wrist panel hangs below the palette, in the palette's plane.
                (Panel::Wrist, _) if palette.is_some() => {
                    self.followed[index] = None;
                    palette.map_or(head, |p| beside(&p, panel, eye, [0.0, -1.0]))
                }
                (Panel::Palette | Panel::Wrist, Some((palm, _))) => self.carried(panel, &palm, eye, step),
                (Panel::Wrist, None) => stands.unwrap_or_else(|| self.open(panel, &head, LABEL)),
                (Panel::Keyboard, _) => match details {
                    // Farther from the eye, the keyboard is larger than the place for it.
                    Some(d) => beside(&d, panel, eye, [0.0, -1.1]),
                    None => continue,
                },
                (Panel::Strain, _) => match palette {
                    Some(p) => beside(&p, panel, eye, [self.away(&p, eye), 0.0]),
                    None => continue,
                },
            };
            let at_hand = matches!(panel, Panel::Palette | Panel::Wrist) && self.palm.is_some();
            let hangs = matches!(panel, Panel::Strain | Panel::Keyboard)
                || (panel == Panel::Wrist && palette.is_some());
            // A panel at a hand or beside another panel does not stay at a fixed pose.
            self.fixed[index] = (!at_hand && !hangs).then_some(pose);
            let placement = Placement::new(panel, pose, eye);
            match panel {
                Panel::Palette => palette = Some(placement),
                Panel::Details => details = Some(placement),
                _ => {}
            }
            out.push(placement);
        }
        if shown[Panel::Message as usize] {
            let pose = self.message(out, &head, step);
            out.push(Placement::new(Panel::Message, pose, eye));
        }
    }

    /// Returns the point at most `away` metres ahead of the head and before the character. `slope` is its height relative
    /// to the head over its horizontal distance.
    fn ahead(&self, head: &Rigid, away: f32, slope: f32) -> Vec3 {
        let away = away.min(CLEAR * self.clearance).max(CLOSEST);
        before(head, away, slope * away)
    }

    /// Returns the pose of the message panel: ahead, beside the panels that are placed already. The panel stays until one
    /// of them covers it, or the user looks or walks away from it.
    fn message(&mut self, placed: &[Placement], head: &Rigid, step: f64) -> Rigid {
        let index = Panel::Message as usize;
        let eye = head.position;
        let mut panels = [Sight::NOTHING; Panel::ALL.len()];
        for (sight, panel) in panels.iter_mut().zip(placed) {
            *sight = Sight::of_panel(panel, eye, self.reference);
        }
        let ahead = self.ahead(head, 0.9 * BEFORE, LOWEST);
        let (distance, toward) = (ahead.distance(eye), heading(ahead - eye));
        let at = Vec2::new(wrapped(toward.x - self.reference), toward.y);
        let free = nearest(
            Panel::Message,
            distance,
            &[-1.0, 1.0].map(|side| Wanted { at, side, worse: 0.0 }),
            &panels,
            None,
        );
        let at = free.map_or(at, |(free, _)| free);
        let wanted = facing(eye + along(at + Vec2::X * self.reference) * distance, eye);
        let stays = |stands: &Rigid| {
            let (to, best) = (stands.position - eye, wanted.position - eye);
            let far = to.length() / best.length().max(1e-3);
            let seen = to.angle_between(best) < AWAY && (0.5..1.5).contains(&far);
            let own = Sight::of_panel(&Placement::new(Panel::Message, *stands, eye), eye, self.reference);
            self.pointed == Some(Panel::Message) || (seen && !panels.iter().any(|p| p.meets(&own, 0.0)))
        };
        let pose = self.fixed[index].filter(stays).unwrap_or(wanted);
        self.fixed[index] = Some(pose);
        self.follow(index, pose, step)
    }

    /// Returns a pose for the details panel: beside the line of sight to the character, first on the tool hand's side. The
    /// panels that are placed already do not cover it.
    fn aside(&mut self, head: &Rigid, placed: &[Placement]) -> Rigid {
        let body = self.sights.len();
        let panels = placed.iter().map(|p| Sight::of_panel(p, head.position, self.reference));
        self.sights.extend(panels);
        let wanted = [(-self.outside, 0.0), (self.outside, WRONG_SIDE)].map(|(side, worse)| Wanted {
            at: Vec2::new(side * ASIDE[0], LOW),
            side,
            worse,
        });
        let free = nearest(Panel::Details, WITHIN, &wanted, &self.sights, None);
        self.sights.truncate(body);
        let at = free.map_or(wanted[0].at, |(at, _)| at);
        facing(head.position + along(at + Vec2::X * self.reference) * WITHIN, head.position)
    }

    /// Returns a pose within reach for a panel that opens without an off hand: beside the line of sight to the
    /// character, or beside the gaze if the user looks elsewhere.
    fn open(&self, panel: Panel, head: &Rigid, elevation: f32) -> Rigid {
        let gaze = wrapped(heading(before(head, 1.0, 0.0) - head.position).x - self.reference);
        let ahead = if gaze.abs() > LOOKED_AT { gaze } else { 0.0 };
        let wanted = [(self.outside, 0.0), (-self.outside, WRONG_SIDE)].map(|(side, worse)| Wanted {
            at: Vec2::new(ahead + side * ASIDE[0], elevation),
            side,
            worse,
        });
        let free = nearest(panel, REACH, &wanted, &self.sights, None);
        let at = free.map_or(wanted[0].at, |(at, _)| at);
        facing(head.position + along(at + Vec2::X * self.reference) * REACH, head.position)
    }

    /// Returns the pose of a panel at the off hand, moved aside if the panel would cover the character. While the hand
    /// holds something, the panel stays where it was before. While the tool hand points at it, the panel keeps its
    /// detour; otherwise a character in motion would push it away from the pointer.
    fn carried(&mut self, panel: Panel, palm: &Rigid, eye: Vec3, step: f64) -> Rigid {
        let index = panel as usize;
        let height = size_at(panel, palm.position.distance(eye))[1];
        let lift = if panel == Panel::Palette { 0.045 + height * 0.5 } else { 0.01 };
        let at_hand = facing(palm.position + Vec3::Y * lift, eye);
        let now = self.followed[index].unwrap_or(at_hand);
        let parked = &mut self.parked[index];
        let wanted = if self.held { *parked.get_or_insert(now) } else { at_hand };
        if !self.held {
            *parked = None;
        }
        let to = wanted.position - eye;
        let (distance, toward) = (to.length(), heading(to));
        if !matches!(self.pointed, Some(Panel::Palette | Panel::Wrist | Panel::Strain)) {
            let at = Vec2::new(wrapped(toward.x - self.reference), toward.y);
            let wanted_at = [(self.outside, 0.0), (-self.outside, ACROSS)].map(|(side, worse)| Wanted {
                at,
                side,
                worse,
            });
            let free = nearest(panel, distance, &wanted_at, &self.sights, self.ways[index]);
            let moved = free.filter(|(free, _)| *free != at);
            self.ways[index] = moved.map(|(_, way)| way);
            self.detours[index] = moved.map_or(Vec2::ZERO, |(free, _)| free - at);
        }
        let pose = match self.detours[index] {
            Vec2::ZERO => wanted,
            detour => facing(eye + along(toward + detour) * distance, eye),
        };
        self.follow(index, pose, step)
    }

    /// Returns the side of the palette that faces away from the character: -1 is left, 1 is right.
    fn away(&self, palette: &Placement, eye: Vec3) -> f32 {
        let aside = wrapped(heading(palette.pose.position - eye).x - self.reference);
        if self.seen && aside != 0.0 { aside.signum() } else { self.outside }
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

/// Returns the pose of a panel next to `other`, in its plane: right of `other` for (1, 0), above for (0, 1).
pub(super) fn beside(other: &Placement, panel: Panel, eye: Vec3, side: [f32; 2]) -> Rigid {
    let size = size_at(panel, other.pose.position.distance(eye));
    let gap = 0.03 * other.size[0];
    let along = |i: usize| side[i] * ((other.size[i] + size[i]) * 0.5 + gap);
    Rigid { position: other.pose.point(Vec3::new(along(0), along(1), 0.0)), ..other.pose }
}

impl Panels {
    /// Returns the position of a visible target on its panel, room space. Test scripts point the controller at it.
    pub fn target(&self, spot: &super::Spot) -> Option<Vec3> {
        let (panel, at) = self.find(spot)?;
        self.place_of(panel, at)
    }

    /// Returns the room point of a position on a slider's track, see [`Panels::find_track`].
    pub fn slider(&self, kind: crate::workbench::CommandKind, share: f32) -> Option<Vec3> {
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
