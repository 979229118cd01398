//! Devices as tools see them: poses checked and placed in the world, triggers with presses and releases.

use crate::base::math::Vec3;
use crate::scene::SurfaceSample;
use crate::workbench::{Hand, Input, Rigid, Similarity, Tracked, Tracking};

/// The brush tip lies this far in front of the aim pose, metres of the room: clear of the fingers.
pub const TIP: f32 = 0.05;
/// A trigger counts as pressed from here on,
const PRESS: f32 = 0.55;
/// and as released below this: between both it stays what it was.
const RELEASE: f32 = 0.35;
/// A tool hand lost for so long hands its tools to the other, seconds.
const MISSING: f64 = 1.5;

/// An analogue or digital button with memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Button {
    /// Held.
    pub down: bool,
    /// Went down in this frame.
    pub pressed: bool,
    /// Went up in this frame.
    pub released: bool,
}

impl Button {
    fn update(&mut self, value: f32, allowed: bool) {
        // What was pressed on a panel or without focus does not become a press by moving off it.
        let down = if self.down { value > RELEASE } else { value > PRESS };
        self.pressed = down && !self.down && allowed;
        self.released = !down && self.down;
        self.down = down;
    }
}

/// One hand in this frame, in the world.
#[derive(Clone, Debug, Default)]
pub struct HandFrame {
    /// The brush tip, [`TIP`] before the aim pose, turned as it.
    pub tip: Rigid,
    /// The aim pose.
    pub aim: Rigid,
    /// The palm.
    pub palm: Rigid,
    /// Palm position in the room.
    pub palm_room: Vec3,
    /// How far to trust the tip.
    pub tip_tracking: Tracking,
    /// How far to trust the palm.
    pub palm_tracking: Tracking,
    /// Trigger.
    pub trigger: Button,
    /// Squeeze.
    pub squeeze: Button,
    /// Undo.
    pub undo: Button,
    /// Redo.
    pub redo: Button,
    /// Menu.
    pub menu: Button,
    /// Trigger, 0..=1.
    pub pressure: f32,
    /// Right and up, -1..=1 each.
    pub stick: [f32; 2],
    /// The newest answer of its camera, checked.
    pub surface: Option<SurfaceSample>,
    /// It points at a panel.
    pub on_panel: bool,
    last_seen: f64,
}

/// Both hands.
#[derive(Clone, Debug, Default)]
pub struct Hands {
    /// Left, right.
    pub hands: [HandFrame; 2],
    /// Seconds, finite, never falls.
    pub time: f64,
    /// Seconds since the last frame, at most 0.1.
    pub step: f64,
    /// Whether this application has the user's attention.
    pub focused: bool,
}

impl Hands {
    /// Takes a frame of input in.
    pub fn update(&mut self, input: &Input, world_from_room: &Similarity) {
        let time = if input.time.is_finite() { input.time.max(self.time) } else { self.time };
        self.step = (time - self.time).min(0.1);
        self.time = time;
        self.focused = input.focused;
        for (frame, hand) in self.hands.iter_mut().zip(&input.hands) {
            frame.update(hand, input.focused, time, world_from_room);
        }
    }

    /// Places the hands again after the world was moved under them.
    pub fn place(&mut self, input: &Input, world_from_room: &Similarity) {
        for (frame, hand) in self.hands.iter_mut().zip(&input.hands) {
            frame.place(hand, world_from_room);
        }
    }

    /// The hand that holds the tools: the preferred one, or the other where only that one is there.
    pub fn tool(&self, preferred: usize) -> usize {
        let gone = |h: usize| self.hands[h].last_seen + MISSING < self.time;
        let other = 1 - preferred;
        if gone(preferred) && !gone(other) && self.hands[other].tip_tracking > Tracking::Lost {
            other
        } else {
            preferred
        }
    }
}

impl HandFrame {
    fn update(&mut self, hand: &Hand, focused: bool, time: f64, world_from_room: &Similarity) {
        self.place(hand, world_from_room);
        if self.tip_tracking.max(self.palm_tracking) > Tracking::Lost {
            self.last_seen = time;
        }
        let unit = |v: f32| if v.is_finite() { v.clamp(0.0, 1.0) } else { 0.0 };
        let axis = |v: f32| if v.is_finite() { v.clamp(-1.0, 1.0) } else { 0.0 };
        self.on_panel = hand.on_panel;
        let value = |v: f32| if focused { unit(v) } else { 0.0 };
        self.pressure = value(hand.draw);
        self.stick = if focused { hand.stick.map(axis) } else { [0.0; 2] };
        self.trigger.update(self.pressure, !hand.on_panel);
        self.squeeze.update(value(hand.grab), true);
        self.undo.update(value(f32::from(u8::from(hand.undo))), true);
        self.redo.update(value(f32::from(u8::from(hand.redo))), true);
        self.menu.update(value(f32::from(u8::from(hand.menu))), true);
        self.surface = hand.surface.filter(sound);
    }

    fn place(&mut self, hand: &Hand, world_from_room: &Similarity) {
        if let Some(aim) = checked(&hand.aim) {
            let tip = Rigid { position: aim.point(Vec3::NEG_Z * TIP), orientation: aim.orientation };
            self.aim = world_from_room.rigid(&aim);
            self.tip = world_from_room.rigid(&tip);
            self.tip_tracking = hand.aim.tracking;
        } else {
            self.tip_tracking = Tracking::Lost;
        }
        if let Some(grip) = checked(&hand.grip) {
            self.palm = world_from_room.rigid(&grip);
            self.palm_room = grip.position;
            self.palm_tracking = hand.grip.tracking;
        } else {
            self.palm_tracking = Tracking::Lost;
        }
    }
}

/// Further from the room's origin no device is, metres.
const FAR: f32 = 1e4;

/// A pose that can be used, its orientation normalised.
pub fn checked(tracked: &Tracked) -> Option<Rigid> {
    let Rigid { position, orientation } = tracked.pose;
    let length = orientation.length();
    let usable = tracked.tracking > Tracking::Lost
        && position.is_finite()
        && position.abs().max_element() < FAR
        && length.is_finite()
        && length > 1e-3;
    usable.then(|| Rigid { position, orientation: orientation.normalize() })
}

/// Whether a surface sample is all finite and its weights are weights.
fn sound(sample: &SurfaceSample) -> bool {
    let b = sample.barycentrics;
    sample.position.is_finite()
        && sample.normal.is_finite()
        && sample.time.is_finite()
        && sample.draw.is_finite()
        && b.iter().all(|v| (-1e-3..=1.001).contains(v))
        && (b.iter().sum::<f32>() - 1.0).abs() < 1e-2
}
