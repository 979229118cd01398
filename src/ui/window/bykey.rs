//! Rotates and moves joints by keys, as in Blender: R or G, then X, Y or Z (twice for the joint's own axis), then a
//! number. Without a number the mouse moves the joint. Enter confirms; Escape or the right button cancels.

use super::gizmo::{AXES, COLORS};
use super::keys::Chord;
use super::pointer::Eyepiece;
use super::{Hold, WindowEditor};
use crate::base::NodeId;
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::pose::WorkingPlane;
use crate::render::Lines;
use crate::workbench::Workbench;
use egui::Key;
use std::f32::consts::TAU;

/// Maximum number of characters of a typed number.
const LONG: usize = 9;
/// Lower bound on the squared sine of the angle between axis and line of sight. It limits how far one pixel of mouse
/// movement moves a joint along the axis.
const LEAN: f32 = 0.01;

/// The axis of a rotation or movement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Along {
    /// Rotation about the line of sight, or free movement on a plane that faces the camera.
    #[default]
    Free,
    /// A world axis, 0..3.
    World(usize),
    /// An axis of the joint itself, 0..3.
    Own(usize),
}

/// A number while it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Typed {
    negative: bool,
    letters: [u8; LONG],
    count: usize,
}

impl Typed {
    fn press(&mut self, key: Key) {
        let digits = Key::Num0 as u8..=Key::Num9 as u8;
        let letter = match key {
            Key::Period | Key::Comma => b'.',
            key if digits.contains(&(key as u8)) => b'0' + (key as u8 - Key::Num0 as u8),
            Key::Minus => return self.negative = !self.negative,
            Key::Backspace if self.count == 0 => return self.negative = false,
            Key::Backspace => return self.count -= 1,
            _ => return,
        };
        let known = &self.letters[..self.count];
        if self.count < LONG && (letter != b'.' || !known.contains(&b'.')) {
            self.letters[self.count] = letter;
            self.count += 1;
        }
    }

    /// The value; `None` if no digit is typed.
    fn value(&self) -> Option<f32> {
        let value = self.digits().parse().unwrap_or(0.0_f32);
        (self.count > 0).then_some(if self.negative { -value } else { value })
    }

    fn digits(&self) -> &str {
        std::str::from_utf8(&self.letters[..self.count]).unwrap_or_default()
    }
}

/// State of a joint that is rotated or moved by keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ByKey {
    /// The joint; `None` for a place on the skin.
    pub(super) node: Option<NodeId>,
    /// Position of the joint at the start, world space, metres.
    origin: Vec3,
    /// The joint's own axes at the start, world space, unit length.
    own: [Vec3; 3],
    along: Along,
    typed: Typed,
}

impl ByKey {
    fn new(bench: &Workbench, node: Option<NodeId>, origin: Vec3) -> Self {
        let world = node.and_then(|n| bench.rig().world.get(n.index()));
        let own = world.map_or(AXES, |w| {
            let columns = [w.matrix3.x_axis, w.matrix3.y_axis, w.matrix3.z_axis];
            let unit = |i: usize| Vec3::from(columns[i]).try_normalize().unwrap_or(AXES[i]);
            [0, 1, 2].map(unit)
        });
        Self { node, origin, own, along: Along::Free, typed: Typed::default() }
    }

    /// Returns index and direction of the chosen axis; `None` for [`Along::Free`].
    fn axis(&self) -> Option<(usize, Vec3)> {
        match self.along {
            Along::Free => None,
            Along::World(axis) => Some((axis, AXES[axis])),
            Along::Own(axis) => Some((axis, self.own[axis])),
        }
    }

    /// Handles a press of an axis key. The first press chooses the world axis, the second the joint's own axis, the
    /// third no axis.
    fn choose(&mut self, axis: usize) {
        self.along = match self.along {
            Along::World(a) if a == axis => Along::Own(axis),
            Along::Own(a) if a == axis => Along::Free,
            _ => Along::World(axis),
        };
    }

    /// Returns the joint's target position. `moved` is where the mouse puts the joint on the plane with the normal
    /// `facing`. A chosen axis constrains the target; a typed number replaces the mouse.
    pub fn place(&self, moved: Option<Vec3>, facing: Vec3) -> Option<Vec3> {
        match (self.axis(), self.typed.value()) {
            // As in Blender, a number without an axis applies to X.
            (axis, Some(length)) => Some(self.origin + axis.map_or(Vec3::X, |a| a.1) * length),
            (Some((_, axis)), None) => {
                let across = axis - facing * axis.dot(facing);
                let share = (moved? - self.origin).dot(across) / across.length_squared().max(LEAN);
                Some(self.origin + axis * share)
            }
            (None, None) => moved,
        }
    }

    /// Formats number and axis for the user. `shown` replaces the number while none is typed.
    fn text(&self, shown: Option<String>, unit: &str, preposition: &str, free: &str) -> String {
        let sign = if self.typed.negative { "-" } else { "" };
        let number = match (self.typed.count, shown) {
            (0, Some(shown)) => format!("{shown}{unit}"),
            (0, None) => String::new(),
            _ => format!("{sign}{}{unit}", self.typed.digits()),
        };
        let name = |axis: usize| ["X", "Y", "Z"][axis];
        let along = match self.along {
            Along::World(axis) => format!("{preposition} {}", name(axis)),
            Along::Own(axis) => format!("{preposition} the joint's {}", name(axis)),
            Along::Free => free.to_owned(),
        };
        format!("{number} {along}").trim().to_owned()
    }
}

/// Returns the direction from a projected world point to a pixel, radians, anticlockwise from the right.
fn direction(eyepiece: &Eyepiece, origin: Vec3, at: [f32; 2]) -> f32 {
    let [x, y] = eyepiece.project(origin).unwrap_or(at);
    (y - at[1]).atan2(at[0] - x)
}

impl WindowEditor {
    /// Whether an operation by keys (rotation, grab or brush resizing) is in progress. It takes all keys and buttons.
    pub(super) fn is_by_key(&self) -> bool {
        matches!(self.hold, Hold::Turn { .. } | Hold::Grab { .. } | Hold::Brush { .. })
    }

    /// Starts rotating the selected joint or, without a selection, the joint under the mouse.
    pub(super) fn begin_turn(&mut self, bench: &mut Workbench) {
        if self.hold != Hold::Free {
            return;
        }
        let under = self.at.filter(|_| self.over).and_then(|at| self.joint_at(bench, at));
        let node = bench.selected().or(under);
        let Some((node, origin)) = node.and_then(|n| Some((n, place(bench, n)?))) else {
            return self.miss("nothing is selected to turn: click a joint first");
        };
        if !bench.hold_joint(node) {
            return self.miss("this joint cannot be turned: click a joint of the body");
        }
        bench.select(Some(node));
        let at = self.at.unwrap_or_default();
        let last = direction(&self.eyepiece(at).0, origin, at);
        let by = ByKey::new(bench, Some(node), origin);
        self.hold = Hold::Turn { by, angle: 0.0, last };
    }

    /// Starts a grab that lasts until the next click: of the joint under the mouse, else of the joint of the bone there, else
    /// of the selected joint, else of the skin.
    pub(super) fn begin_grab(&mut self, time: f64, bench: &mut Workbench) {
        if self.hold != Hold::Free {
            return;
        }
        let over = self.at.filter(|_| self.over);
        let under = over.and_then(|at| self.joint_at(bench, at).or_else(|| self.bone_at(bench, at)));
        let node = under.or(bench.selected());
        let joint = node.and_then(|n| place(bench, n));
        let Some(origin) = joint.or(over.and_then(|at| self.skin_at(at)).flatten()) else {
            return self.miss("nothing to grab: point at a joint, or click a joint first");
        };
        let normal = self.camera.rotation() * Vec3::Z;
        let plane = WorkingPlane { origin, normal };
        let at = self.at.or_else(|| self.eyepiece([0.0; 2]).0.project(origin)).unwrap_or_default();
        self.at = Some(at);
        let from_ray = self.eyepiece(at).0.on_plane(at, &plane).map_or(Vec3::ZERO, |x| origin - x);
        self.hold = Hold::Grab { by: ByKey::new(bench, node, origin), plane, from_ray };
        self.force = [0.0; 2];
        self.hand(bench, time, None);
        self.force = [0.0, 1.0];
        self.hand(bench, time, None);
        if !bench.is_busy() {
            self.drop_act(bench);
            let name = node.map_or("this place", |n| &bench.character().skeleton.nodes[n.index()].name);
            self.miss(&format!("{name} cannot be held: click a joint of a limb or the trunk"));
        }
    }

    /// Reports that a rotation or grab could not begin. The keys for its axis and number then do nothing.
    fn miss(&mut self, told: &str) {
        self.facts.message = Some(told.into());
        (self.missed, self.changed) = (true, true);
    }

    /// Handles a key of a rotation or grab, even of one that could not begin. Returns whether the key was used.
    pub(super) fn key_by_key(&mut self, chord: Chord, time: f64, bench: &mut Workbench) -> bool {
        let key = chord.key();
        if !self.is_by_key() {
            return self.is_missed(chord);
        }
        self.changed = true;
        match (&mut self.hold, key) {
            (_, Key::Escape) => self.drop_act(bench),
            (_, Key::Enter) => self.keep_by_key(time, bench),
            // Keys with Control or Alt are shortcuts, not axes or digits.
            (Hold::Turn { by, .. } | Hold::Grab { by, .. }, key) if !chord.is_command() => {
                match key {
                    Key::X => by.choose(0),
                    Key::Y => by.choose(1),
                    Key::Z => by.choose(2),
                    key => by.typed.press(key),
                }
                self.turn_by_key(bench);
            }
            _ => {}
        }
        true
    }

    /// Whether a key belongs to a rotation or grab that could not begin.
    fn is_missed(&mut self, chord: Chord) -> bool {
        let key = chord.key();
        let digit = (Key::Num0 as u8..=Key::Num9 as u8).contains(&(key as u8));
        let part = matches!(
            key,
            Key::X | Key::Y | Key::Z | Key::Minus | Key::Period | Key::Comma | Key::Backspace | Key::Enter
        );
        let missed = self.missed && (digit || part) && !chord.is_command();
        self.missed = missed && key != Key::Enter;
        missed
    }

    /// Confirms the rotation, grab or brush size. A rotation or grab becomes one step of the history.
    pub(super) fn keep_by_key(&mut self, time: f64, bench: &mut Workbench) {
        match self.hold {
            Hold::Turn { .. } => bench.let_joint_go(),
            Hold::Grab { .. } => {
                // The first step applies the typed number; the second releases the hand and edits the document.
                self.hand(bench, time, None);
                self.force = [0.0; 2];
                self.hand(bench, time, None);
            }
            _ => {}
        }
        self.hold = Hold::Free;
    }

    /// Rotates the grabbed joint by the mouse or the typed number.
    pub(super) fn turn_by_key(&mut self, bench: &mut Workbench) {
        let Hold::Turn { by, mut angle, mut last } = self.hold else { return };
        if let Some(at) = self.at {
            let now = direction(&self.eyepiece(at).0, by.origin, at);
            // Adds the change of direction, wrapped to at most half a rotation, so that full rotations accumulate.
            angle += (now - last + TAU * 1.5).rem_euclid(TAU) - TAU * 0.5;
            last = now;
        }
        if !angle.is_finite() {
            return;
        }
        self.hold = Hold::Turn { by, angle, last };
        let (axis, radians) = self.turned(&by, angle);
        let turn = DQuat::from_axis_angle(axis.normalize_or(Vec3::Z).as_dvec3(), f64::from(radians));
        bench.move_joint(turn, DVec3::ZERO);
    }

    /// Returns the axis and the angle of the rotation, radians. `mouse` is the mouse's angle about the joint; a typed
    /// number replaces it.
    fn turned(&self, by: &ByKey, mouse: f32) -> (Vec3, f32) {
        let back = self.camera.rotation() * Vec3::Z;
        let axis = by.axis().map_or(back, |a| a.1);
        let mouse = if axis.dot(back) < 0.0 { -mouse } else { mouse };
        (axis, by.typed.value().map_or(mouse, f32::to_radians))
    }

    /// Describes the current rotation or grab for the user.
    pub(super) fn text_by_key(&self) -> Option<String> {
        match &self.hold {
            Hold::Turn { by, angle, .. } => {
                // Adding 0.0 turns -0.0 into 0.0.
                let degrees = (self.turned(by, *angle).1.to_degrees() * 10.0).round() / 10.0 + 0.0;
                Some(by.text(Some(format!("{degrees:.1}")), "°", "about", "about the line of sight"))
            }
            Hold::Grab { by, .. } => Some(by.text(None, " m", "along", "")),
            _ => None,
        }
    }

    /// Draws a line along the chosen axis.
    pub(super) fn draw_axis(&self, bench: &Workbench, lines: &mut Lines) {
        let (Hold::Turn { by, .. } | Hold::Grab { by, .. }) = &self.hold else { return };
        let Some((axis, along)) = by.axis() else { return };
        let reach = along * bench.bounds().diagonal();
        lines.polyline(&[by.origin - reach, by.origin + reach], COLORS[axis], 2.0, 0.5);
    }
}

/// The current position of a joint, world space, metres.
fn place(bench: &Workbench, node: NodeId) -> Option<Vec3> {
    bench.rig().world.get(node.index()).map(|w| Vec3::from(w.translation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_is_typed() {
        let mut typed = Typed::default();
        assert_eq!(typed.value(), None);
        for (key, value) in [
            (Key::Minus, None),
            (Key::Num1, Some(-1.0)),
            (Key::Period, Some(-1.0)),
            (Key::Period, Some(-1.0)),
            (Key::Num5, Some(-1.5)),
            (Key::Minus, Some(1.5)),
            (Key::A, Some(1.5)),
            (Key::Backspace, Some(1.0)),
            (Key::Backspace, Some(1.0)),
            (Key::Backspace, None),
            (Key::Backspace, None),
            (Key::Comma, Some(0.0)),
            (Key::Num9, Some(0.9)),
        ] {
            typed.press(key);
            assert_eq!(typed.value(), value, "after {key:?}");
        }
        (0..40).for_each(|_| typed.press(Key::Num9));
        assert!(typed.value().is_some_and(f32::is_finite));
    }
}
