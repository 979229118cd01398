//! Frames that continue the last frame: dynamics, and [`Frames::Dependent`].
//!
//! Every node is a mass. With dynamics, a frame is an implicit step of the motion of all nodes at once: the solve
//! minimises the elastic energy plus the energy of a spring at every node. The spring pulls the node to the place where
//! the node would go without forces. Waves therefore travel through the flesh, contact acts on these waves, and no time
//! step is unstable. The step is the second backward difference formula with a variable step (E. Hairer, G. Wanner,
//! *Solving Ordinary Differential Equations II*, chapter V.1), which damps less than implicit Euler.
//!
//! Let `y0`, `v0` be a node's position and velocity in the last frame, and `y1`, `v1` those in the frame before. The
//! place to which the spring pulls the node is `p + s (a v0 - b v1)` with `p = a y0 - b y1`; [`Step`] has `a`, `b` and
//! `s`. Damping pulls the node to `p + s u`, where `u` is the velocity with which the bones carry the node. Flesh that
//! moves rigidly with its bones is therefore not damped.
//!
//! The mass of a cube is `(h / c)²` times the stiffness `μ h` of flesh without regions, where `c` is the velocity of
//! shear waves. With `c = 8 R f`, a cylinder of radius `R` around a bone swings at approximately the frequency `f`
//! (measured). [`Params::dynamics`] is the frequency of the thickest flesh ([`super::cells::Cells::thickness`]).

use super::Params;
use crate::base::math::{Affine3A, Vec3, Vec3A};
use crate::deform::clock::{Clock, Frames, Way};
use crate::rig::PosedRig;
use std::f32::consts::TAU;

/// Maximum distance of a node's target from the position to which the bones carry the node, in multiples of the flesh's
/// thickness.
const REACH: f32 = 0.5;
/// If a step is more than this many times as long as the last one, it is an implicit Euler step. The backward
/// difference formula is stable up to a ratio of 1 + √2.
const LONGEST_RATIO: f64 = 2.0;

/// Constants of a frame that continues the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Stiffness of the spring to the target per unit of [`super::tissue::Node::mass`]; 0 without dynamics.
    pub inertia: f32,
    /// Factor `a` of the last frame.
    pub a: f32,
    /// Factor `b` of the frame before the last one.
    pub b: f32,
    /// Implicit step `s`, seconds.
    pub span: f32,
    /// Implicit step of the last frame, seconds; 0 if the last frame was at rest relative to its bones.
    pub last_span: f32,
    /// Seconds since the last frame; 1 without dynamics.
    pub seconds: f32,
    /// Stiffness of the damping pull, relative to the stiffness of the pull by inertia.
    pub drag: f32,
    /// Maximum distance of the target from the position to which the bones carry the node, metres.
    pub reach: f32,
    /// Only after a solve that started from the start method: a node starts where its joints carry it, plus this
    /// fraction of the difference between the start method's position and the place to which the joints carry the start
    /// method's last position.
    pub anchor: f32,
}

impl Step {
    /// The step of a frame without time that starts from the result of another pose.
    pub const ONWARD: Self = Self {
        inertia: 0.0,
        a: 1.0,
        b: 0.0,
        span: 0.0,
        last_span: 0.0,
        seconds: 1.0,
        drag: 0.0,
        reach: 0.0,
        anchor: 0.0,
    };

    /// Whether nodes have mass in this frame.
    pub fn swings(&self) -> bool {
        self.inertia > 0.0
    }
}

/// The state of a node that the next frames need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// Position in the frame before the last one, metres. After a solve that started from the start method: the start
    /// method's position.
    pub position: Vec3,
    /// Velocity in that frame, metres per second.
    pub velocity: Vec3,
    /// The `p` of the last frame, metres.
    pub coasted: Vec3,
}

impl Step {
    /// Returns the target of a node at `y` that its bones carry to `carried`.
    pub fn target(&self, past: &mut Past, y: Vec3, carried: Vec3) -> Vec3 {
        let with_bones = (carried - y) / self.seconds;
        let velocity = if self.last_span > 0.0 { (y - past.coasted) / self.last_span } else { with_bones };
        let coasted = y * self.a - past.position * self.b;
        let free = coasted + (velocity * self.a - past.velocity * self.b) * self.span;
        let damped = coasted + with_bones * self.span;
        let away = (free + damped * self.drag) / (1.0 + self.drag) - carried;
        *past = Past { position: y, velocity, coasted };
        carried + away * (self.reach / away.length().max(1e-12)).min(1.0)
    }
}

/// Follows the frames of one character.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    clock: Clock,
    /// Skinning transforms of the last frame; empty if no frame can continue it.
    last: Vec<Affine3A>,
    /// Duration of the last step, seconds; `None` if the last frame was at rest.
    passed: Option<f64>,
    /// Implicit step of the last frame, seconds.
    span: f32,
    /// Per joint: moves a point from the last frame to this one.
    pub carry: Vec<Affine3A>,
}

impl Motion {
    /// Creates the state for a character with `joints` joints. Frames then do not allocate.
    pub fn new(joints: usize) -> Self {
        Self { last: Vec::with_capacity(joints), carry: Vec::with_capacity(joints), ..Self::default() }
    }

    /// Sets the time of the next frame, seconds; see [`Clock::set`].
    pub fn set_time(&mut self, seconds: Option<f64>) {
        self.clock.set(seconds);
    }

    /// Makes the next frame start at the geometric method's shape.
    pub fn forget(&mut self) {
        self.clock = Clock::default();
        (self.passed, self.span) = (None, 0.0);
        self.last.clear();
    }

    /// Begins a frame. Returns the constants of the step from the last frame, or `None` if the frame starts at the
    /// geometric method's shape. `size` is the edge length of a cube and `thickness` the thickness of the thickest
    /// flesh, metres.
    pub fn begin(&mut self, params: &Params, size: f32, thickness: f32, rig: &PosedRig) -> Option<Step> {
        let way = self.clock.tick(params.dynamics > 0.0);
        let known = self.last.len() == rig.skinning.len();
        let step = match way {
            Some(Way::Run(seconds)) if known && seconds > 0.0 => {
                Some(self.step(params, seconds, size, thickness))
            }
            None if known && params.frames == Frames::Dependent => {
                (self.passed, self.span) = (None, 0.0);
                Some(Step::ONWARD)
            }
            _ => {
                (self.passed, self.span) = (None, 0.0);
                None
            }
        };
        if step.is_some() {
            let last = std::mem::take(&mut self.last);
            self.carry_between(&last, &rig.skinning);
            self.last = last;
        }
        self.last.clear();
        if way.is_some() || params.frames == Frames::Dependent {
            self.last.extend_from_slice(&rig.skinning);
        }
        step
    }

    /// Sets [`Motion::carry`] to the motion of the joints between two poses, given their skinning transforms.
    pub fn carry_between(&mut self, last: &[Affine3A], now: &[Affine3A]) {
        self.carry.clear();
        self.carry.extend(now.iter().zip(last).map(|(now, last)| between(last, now)));
    }

    fn step(&mut self, params: &Params, seconds: f64, size: f32, thickness: f32) -> Step {
        let ratio = self.passed.map_or(0.0, |last| seconds / last);
        let ratio = if ratio > LONGEST_RATIO { 0.0 } else { ratio };
        let last_span = self.span;
        let span = (seconds * (1.0 + ratio) / (1.0 + 2.0 * ratio)) as f32;
        (self.passed, self.span) = (Some(seconds), span);
        let drag = 2.0 * params.damping * TAU * params.dynamics * span;
        let inertia = (size / (8.0 * thickness * params.dynamics * span)).powi(2) / 8.0;
        Step {
            // In very short steps a stiffness above this limit would only cost precision.
            inertia: (inertia * (1.0 + drag)).min(1e6),
            a: ((1.0 + ratio).powi(2) / (1.0 + 2.0 * ratio)) as f32,
            b: (ratio * ratio / (1.0 + 2.0 * ratio)) as f32,
            span,
            last_span,
            seconds: seconds as f32,
            drag,
            reach: REACH * thickness,
            anchor: 0.0,
        }
    }
}

/// Returns the transform of a joint from the last frame to this one. If the last transform is singular, the result is
/// the translation of the origin of bind space.
fn between(last: &Affine3A, now: &Affine3A) -> Affine3A {
    let map = *now * last.inverse();
    if map.is_finite() {
        map
    } else {
        Affine3A { translation: now.translation - last.translation, matrix3: Affine3A::IDENTITY.matrix3 }
    }
}

/// Returns the position to which the joints carry a point, blended with the weights of `influences`.
pub fn carried(influences: impl Iterator<Item = (u16, f32)>, carry: &[Affine3A], y: Vec3) -> Vec3 {
    let y = Vec3A::from(y);
    influences
        .map(|(joint, weight)| carry[joint as usize].transform_point3a(y) * weight)
        .sum::<Vec3A>()
        .into()
}
