//! Hand input for tools: validated world poses, and buttons with press and release events.

use crate::base::math::Vec3;
use crate::pose::Fingers;
use crate::scene::SurfaceSample;
use crate::workbench::{Hand, Input, Rigid, Similarity, Tracked, Tracking};

/// Distance of the brush tip in front of the aim pose, room metres. At this distance, the fingers do not cover the tip.
pub const TIP: f32 = 0.05;
/// Size of a logical pixel of the window in the room of the mouse's hand, metres.
pub const PER_POINT: f32 = 0.0025;
/// Trigger value above which a button counts as pressed.
const PRESS: f32 = 0.55;
/// Trigger value below which a pressed button counts as released; lower than [`PRESS`] for hysteresis.
const RELEASE: f32 = 0.35;
/// Duration of lost tracking after which the other hand receives the tools, seconds.
const MISSING: f64 = 1.5;

/// State of an analogue or digital button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Button {
    /// Whether the button is held.
    pub down: bool,
    /// Whether the button went down in this frame.
    pub pressed: bool,
    /// Whether the button went up in this frame.
    pub released: bool,
}

impl Button {
    fn update(&mut self, value: f32, allowed: bool) {
        // A press that begins on a panel or without focus never becomes a press elsewhere.
        let down = if self.down { value > RELEASE } else { value > PRESS };
        self.pressed = down && !self.down && allowed;
        self.released = !down && self.down;
        self.down = down;
    }
}

/// State of one hand in this frame, world space.
#[derive(Clone, Debug, Default)]
pub struct HandFrame {
    /// Pose of the brush tip: [`TIP`] in front of the aim pose, with equal orientation.
    pub tip: Rigid,
    /// The aim pose.
    pub aim: Rigid,
    /// The palm.
    pub palm: Rigid,
    /// Palm position in the room.
    pub palm_room: Vec3,
    /// Tracking quality of the tip.
    pub tip_tracking: Tracking,
    /// Tracking quality of the palm.
    pub palm_tracking: Tracking,
    /// Trigger button.
    pub trigger: Button,
    /// Squeeze button.
    pub squeeze: Button,
    /// Undo button.
    pub undo: Button,
    /// Redo button.
    pub redo: Button,
    /// Menu button.
    pub menu: Button,
    /// Trigger value, 0..=1.
    pub pressure: f32,
    /// Thumbstick, right and up, -1..=1 each.
    pub stick: [f32; 2],
    /// The latest surface sample, validated.
    pub surface: Option<SurfaceSample>,
    /// The angles of the tracked fingers, validated.
    pub fingers: Option<Fingers>,
    /// Whether the pointer of the window is known to be beside the body.
    pub off_skin: bool,
    /// Whether the hand points at a panel.
    pub on_panel: bool,
    last_seen: f64,
}

/// State of both hands.
#[derive(Clone, Debug, Default)]
pub struct Hands {
    /// Left hand, right hand.
    pub hands: [HandFrame; 2],
    /// Time, seconds; finite, never decreases.
    pub time: f64,
    /// Seconds since the last frame, at most 0.1.
    pub step: f64,
    /// Whether this application has input focus.
    pub focused: bool,
}

impl Hands {
    /// Updates the hands from a frame of input.
    pub fn update(&mut self, input: &Input, world_from_room: &Similarity) {
        let time = if input.time.is_finite() { input.time.max(self.time) } else { self.time };
        self.step = (time - self.time).min(0.1);
        self.time = time;
        self.focused = input.focused;
        for (frame, hand) in self.hands.iter_mut().zip(&input.hands) {
            frame.update(hand, input.focused, time, world_from_room);
        }
    }

    /// Updates the world poses after the world was moved.
    pub fn place(&mut self, input: &Input, world_from_room: &Similarity) {
        for (frame, hand) in self.hands.iter_mut().zip(&input.hands) {
            frame.place(hand, world_from_room);
        }
    }

    /// Index of the tool hand: the preferred hand or, if only the other hand is tracked, the other hand.
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
        self.off_skin = hand.off_skin;
        let value = |v: f32| if focused { unit(v) } else { 0.0 };
        self.pressure = value(hand.draw);
        self.stick = if focused { hand.stick.map(axis) } else { [0.0; 2] };
        self.trigger.update(self.pressure, !hand.on_panel);
        self.squeeze.update(value(hand.grab), true);
        self.undo.update(value(f32::from(u8::from(hand.undo))), true);
        self.redo.update(value(f32::from(u8::from(hand.redo))), true);
        self.menu.update(value(f32::from(u8::from(hand.menu))), true);
        self.surface = hand.surface.filter(sound);
        self.fingers = hand.fingers.filter(|f| focused && f.is_finite());
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

/// Maximum absolute coordinate of a device, metres.
const FAR: f32 = 1e4;

/// Returns the pose with a normalised orientation; `None` if the pose is unusable.
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

/// Whether a surface sample is finite with valid barycentric coordinates.
fn sound(sample: &SurfaceSample) -> bool {
    let b = sample.barycentrics;
    sample.position.is_finite()
        && sample.normal.is_finite()
        && sample.time.is_finite()
        && sample.draw.is_finite()
        && b.iter().all(|v| (-1e-3..=1.001).contains(v))
        && (b.iter().sum::<f32>() - 1.0).abs() < 1e-2
}
