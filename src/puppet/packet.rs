//! The packet of Monado's remote driver: the state of headset and controllers, 376 bytes, little endian.
//!
//! Monado 25.0, `src/xrt/drivers/remote/r_interface.h`: header 8 bytes, two views of 48, head 28, flags 4, two
//! controllers of 120. Each bool is one byte. Every packet holds the full state.

use crate::base::math::{Quat, Vec3};
use crate::workbench::Rigid;

/// Size of a packet, bytes.
pub const SIZE: usize = 376;
const HEADER: [u8; 8] = *b"mndrmt3\0";

/// State of the headset and both controllers.
#[derive(Clone, Debug, PartialEq)]
pub struct PuppetState {
    /// Pose of the head's centre in the runtime's STAGE space (y up, origin on the floor).
    pub head: Rigid,
    /// Left and right eye; `None` uses the runtime's defaults (65 mm apart, symmetric fields of view).
    pub views: Option<[Eye; 2]>,
    /// Left and right controller.
    pub hands: [Controller; 2],
}

/// Field of view and pose of one eye.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// Half angles left, right, up, down from the axis, radians; left and down are negative.
    pub fov: [f32; 4],
    /// Pose of the eye relative to the head.
    pub pose: Rigid,
}

/// State of one controller; the runtime presents it as a Valve Index controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controller {
    /// Pose in STAGE space, used for both the grip pose and the aim pose.
    pub pose: Rigid,
    /// Linear velocity (m/s) and angular velocity (rad/s), in STAGE space.
    pub velocity: [Vec3; 2],
    /// Curl of each finger from little finger to thumb, 0 stretched to 1 curled.
    pub curl: [f32; 5],
    /// Trigger value, 0..=1.
    pub trigger: f32,
    /// Squeeze value, 0..=1; beyond a full squeeze, `squeeze_force` increases.
    pub squeeze: f32,
    /// Squeeze force, 0..=1.
    pub squeeze_force: f32,
    /// Thumbstick position (right, up), -1..=1.
    pub stick: [f32; 2],
    /// Trackpad force, 0..=1.
    pub pad_force: f32,
    /// Trackpad position (right, up), -1..=1.
    pub pad: [f32; 2],
    /// Whether finger poses are given.
    pub fingers: bool,
    /// Whether the controller is tracked.
    pub active: bool,
    /// Pressed and touched buttons.
    pub buttons: Buttons,
}

/// Whether each button is pressed (`_click`) or touched (`_touch`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the controller's parts are")]
pub struct Buttons {
    pub system_click: bool,
    pub system_touch: bool,
    pub a_click: bool,
    pub a_touch: bool,
    pub b_click: bool,
    pub b_touch: bool,
    pub trigger_click: bool,
    pub trigger_touch: bool,
    pub stick_click: bool,
    pub stick_touch: bool,
    pub pad_touch: bool,
}

impl Default for PuppetState {
    /// A standing person of medium height with half-raised arms.
    fn default() -> Self {
        let hand = |x| Controller {
            pose: Rigid { position: Vec3::new(x, 1.3, -0.4), ..Rigid::default() },
            active: true,
            ..Controller::default()
        };
        Self {
            head: Rigid { position: Vec3::new(0.0, 1.6, 0.0), ..Rigid::default() },
            views: None,
            hands: [hand(-0.2), hand(0.2)],
        }
    }
}

/// Normalizes a rotation, because the runtime requires unit quaternions.
fn unit(q: Quat) -> Quat {
    if q.is_finite() && q.length_squared() > 1e-6 { q.normalize() } else { Quat::IDENTITY }
}

struct Writer(Vec<u8>);

impl Writer {
    fn floats(&mut self, values: impl IntoIterator<Item = f32>) {
        for v in values {
            self.0.extend(if v.is_finite() { v } else { 0.0 }.to_le_bytes());
        }
    }

    fn pose(&mut self, pose: &Rigid) {
        self.floats(unit(pose.orientation).to_array());
        self.floats(pose.position.to_array());
    }

    fn flags(&mut self, flags: impl IntoIterator<Item = bool>) {
        self.0.extend(flags.into_iter().map(u8::from));
    }
}

impl PuppetState {
    /// Serializes the state. Non-finite numbers become 0, so that the runtime never receives them.
    pub fn to_bytes(&self) -> [u8; SIZE] {
        let mut w = Writer(Vec::with_capacity(SIZE));
        w.0.extend(HEADER);
        let none = Eye { fov: [0.0; 4], pose: Rigid::default() };
        for eye in self.views.unwrap_or([none; 2]) {
            w.floats(eye.fov);
            w.pose(&eye.pose);
            w.0.extend([0; 4]);
        }
        w.pose(&self.head);
        w.flags([self.views.is_some(), false, false, false]);
        for hand in &self.hands {
            hand.write(&mut w);
        }
        let mut out = [0; SIZE];
        out.copy_from_slice(&w.0);
        out
    }

    /// Parses a packet; `None` if its header has a different protocol version.
    pub fn from_bytes(bytes: &[u8; SIZE]) -> Option<Self> {
        if bytes[..8] != HEADER {
            return None;
        }
        let mut r = Reader(&bytes[8..]);
        let views = std::array::from_fn(|_| {
            let eye = Eye { fov: r.floats(), pose: r.pose() };
            r.flags::<4>();
            eye
        });
        let head = r.pose();
        let valid = r.flags::<4>()[0];
        Some(Self {
            head,
            views: valid.then_some(views),
            hands: std::array::from_fn(|_| Controller::read(&mut r)),
        })
    }
}

impl Controller {
    fn write(&self, w: &mut Writer) {
        w.pose(&self.pose);
        w.floats(self.velocity.iter().flat_map(|v| v.to_array()));
        w.floats(self.curl);
        w.floats([self.trigger, self.squeeze, self.squeeze_force]);
        w.floats(self.stick);
        w.floats([self.pad_force]);
        w.floats(self.pad);
        let b = &self.buttons;
        w.flags([
            self.fingers,
            self.active,
            b.system_click,
            b.system_touch,
            b.a_click,
            b.a_touch,
            b.b_click,
            b.b_touch,
        ]);
        w.flags([
            b.trigger_click,
            b.trigger_touch,
            b.stick_click,
            b.stick_touch,
            b.pad_touch,
            false,
            false,
            false,
        ]);
    }

    fn read(r: &mut Reader) -> Self {
        let pose = r.pose();
        let velocity = std::array::from_fn(|_| Vec3::from_array(r.floats()));
        let curl = r.floats();
        let [trigger, squeeze, squeeze_force] = r.floats();
        let stick = r.floats();
        let [pad_force] = r.floats();
        let pad = r.floats();
        let [fingers, active, system_click, system_touch, a_click, a_touch, b_click, b_touch] = r.flags();
        let [trigger_click, trigger_touch, stick_click, stick_touch, pad_touch, ..] = r.flags::<8>();
        let buttons = Buttons {
            system_click,
            system_touch,
            a_click,
            a_touch,
            b_click,
            b_touch,
            trigger_click,
            trigger_touch,
            stick_click,
            stick_touch,
            pad_touch,
        };
        Self {
            pose,
            velocity,
            curl,
            trigger,
            squeeze,
            squeeze_force,
            stick,
            pad_force,
            pad,
            fingers,
            active,
            buttons,
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn floats<const N: usize>(&mut self) -> [f32; N] {
        std::array::from_fn(|_| {
            let (value, rest) = self.0.split_at(4);
            self.0 = rest;
            f32::from_le_bytes([value[0], value[1], value[2], value[3]])
        })
    }

    fn pose(&mut self) -> Rigid {
        let orientation = Quat::from_array(self.floats());
        Rigid { orientation, position: Vec3::from_array(self.floats()) }
    }

    fn flags<const N: usize>(&mut self) -> [bool; N] {
        std::array::from_fn(|_| {
            let (value, rest) = self.0.split_at(1);
            self.0 = rest;
            value[0] != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(bytes: &[u8; SIZE], at: usize) -> f32 {
        f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// A state in which every field has a different value, so that swapped fields are detected.
    fn odd() -> PuppetState {
        let rigid = |n: f32| Rigid {
            position: Vec3::new(n, n + 0.1, n + 0.2),
            orientation: Quat::from_rotation_y(n * 0.1),
        };
        let hand = |n: f32| Controller {
            pose: rigid(n),
            velocity: [Vec3::splat(n + 1.0), Vec3::splat(n + 2.0)],
            curl: [n + 3.0, n + 3.1, n + 3.2, n + 3.3, n + 3.4],
            trigger: n + 4.0,
            squeeze: n + 5.0,
            squeeze_force: n + 6.0,
            stick: [n + 7.0, n + 7.1],
            pad_force: n + 8.0,
            pad: [n + 9.0, n + 9.1],
            fingers: false,
            active: true,
            buttons: Buttons::default(),
        };
        let eye = |n: f32| Eye { fov: [n, n + 0.1, n + 0.2, n + 0.3], pose: rigid(n + 1.0) };
        PuppetState {
            head: rigid(30.0),
            views: Some([eye(10.0), eye(20.0)]),
            hands: [hand(40.0), hand(60.0)],
        }
    }

    #[test]
    fn every_number_lies_where_the_driver_reads_it() {
        let bytes = odd().to_bytes();
        assert_eq!(&bytes[..8], b"mndrmt3\0");
        // Layout of a view: fov, quaternion xyzw, position, padding.
        for (at, expected) in
            [(8, 10.0), (20, 10.3), (40, 11.0), (48, 11.2), (56, 20.0), (88, 21.0), (96, 21.2)]
        {
            assert_eq!(float(&bytes, at), expected, "offset {at}");
        }
        assert_eq!((float(&bytes, 28), float(&bytes, 36)), (0.55_f32.sin(), 0.55_f32.cos()));
        assert_eq!((&bytes[52..56], &bytes[100..104]), (&[0; 4][..], &[0; 4][..]));
        // Layout of the head: quaternion, position, flag.
        assert_eq!((float(&bytes, 108), float(&bytes, 116)), (1.5_f32.sin(), 1.5_f32.cos()));
        assert_eq!((float(&bytes, 120), float(&bytes, 124), float(&bytes, 128)), (30.0, 30.1, 30.2));
        assert_eq!(bytes[132..136], [1, 0, 0, 0]);
        for (start, n) in [(136, 40.0), (256, 60.0)] {
            for (offset, add) in [
                (16, 0.0),
                (28, 1.0),
                (40, 2.0),
                (52, 3.0),
                (68, 3.4),
                (72, 4.0),
                (76, 5.0),
                (80, 6.0),
                (84, 7.0),
                (88, 7.1),
                (92, 8.0),
                (96, 9.0),
                (100, 9.1),
            ] {
                assert_eq!(float(&bytes, start + offset), n + add, "offset {start} + {offset}");
            }
        }
    }

    #[test]
    fn every_button_is_its_own_byte() {
        type Set = fn(&mut Controller) -> &mut bool;
        let buttons: [Set; 13] = [
            |c| &mut c.fingers,
            |c| &mut c.active,
            |c| &mut c.buttons.system_click,
            |c| &mut c.buttons.system_touch,
            |c| &mut c.buttons.a_click,
            |c| &mut c.buttons.a_touch,
            |c| &mut c.buttons.b_click,
            |c| &mut c.buttons.b_touch,
            |c| &mut c.buttons.trigger_click,
            |c| &mut c.buttons.trigger_touch,
            |c| &mut c.buttons.stick_click,
            |c| &mut c.buttons.stick_touch,
            |c| &mut c.buttons.pad_touch,
        ];
        let mut state = PuppetState::default();
        state.hands.iter_mut().for_each(|h| h.active = false);
        let none = state.to_bytes();
        for (hand, start) in [(0, 136), (1, 256)] {
            for (i, button) in buttons.iter().enumerate() {
                let mut pressed = state.clone();
                *button(&mut pressed.hands[hand]) = true;
                let bytes = pressed.to_bytes();
                let differ: Vec<usize> = (0..SIZE).filter(|&at| bytes[at] != none[at]).collect();
                assert_eq!((differ, bytes[start + 104 + i]), (vec![start + 104 + i], 1));
                assert_eq!(PuppetState::from_bytes(&bytes).unwrap(), pressed);
            }
        }
    }

    #[test]
    fn a_state_comes_back_and_another_version_is_refused() {
        let state = odd();
        let back = PuppetState::from_bytes(&state.to_bytes()).unwrap();
        assert_eq!(
            (back.hands[1].pad, back.views.unwrap()[1].fov),
            (state.hands[1].pad, state.views.unwrap()[1].fov)
        );
        assert!(back.head.orientation.angle_between(state.head.orientation) < 1e-3);
        assert_eq!(
            PuppetState::from_bytes(&PuppetState::default().to_bytes()).unwrap(),
            PuppetState::default()
        );
        let mut other = state.to_bytes();
        other[6] = b'2';
        assert_eq!(PuppetState::from_bytes(&other), None);
    }

    #[test]
    fn what_is_not_finite_never_reaches_the_runtime() {
        let mut state = PuppetState::default();
        state.head.position.x = f32::NAN;
        state.hands[0].pose.orientation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        state.hands[0].trigger = f32::INFINITY;
        let sent = PuppetState::from_bytes(&state.to_bytes()).unwrap();
        assert_eq!((sent.head.position.x, sent.hands[0].trigger), (0.0, 0.0));
        assert_eq!(sent.hands[0].pose.orientation, Quat::IDENTITY);
    }
}
