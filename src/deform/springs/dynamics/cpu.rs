//! The CPU reference of the dynamics, with the arithmetic of `glsl/deform/springs/dynamics.comp`.

use super::{Rest, steps};
use crate::base::math::Vec3;
use crate::deform::clock::Way;
use std::f32::consts::TAU;

/// The dynamic state of a vertex.
#[derive(Clone, Copy, Debug, Default)]
pub struct VertexMotion {
    /// Position in world space, metres.
    pub position: Vec3,
    /// Velocity, metres per second.
    pub velocity: Vec3,
    /// Equilibrium in the last frame, world space, metres.
    pub target: Vec3,
}

/// Advances vertices to a frame whose equilibrium is `x`, and writes their positions to `x`. `frequency` is the
/// frequency of the thickest tissue, hertz; `damping` is the damping ratio, 1 is critical.
pub fn advance_all(
    rest: &[Rest],
    frequency: f32,
    damping: f32,
    way: Way,
    state: &mut Vec<VertexMotion>,
    x: &mut [Vec3],
) {
    let Way::Run(seconds) = way else {
        state.clear();
        state.extend(x.iter().map(|&x| VertexMotion { position: x, velocity: Vec3::ZERO, target: x }));
        return;
    };
    let interval = (seconds as f32, steps(seconds));
    for ((rest, me), x) in rest.iter().zip(state).zip(x) {
        advance(*rest, TAU * frequency, damping, interval, me, *x);
        *x = me.position;
    }
}

/// Advances one vertex to a frame with a new equilibrium.
pub fn advance(
    rest: Rest,
    omega: f32,
    damping: f32,
    (seconds, steps): (f32, u32),
    me: &mut VertexMotion,
    target: Vec3,
) {
    let mut away = me.position - me.target;
    if rest.haste == 0.0 {
        *me = VertexMotion { position: target, velocity: Vec3::ZERO, target };
        return;
    }
    if steps > 0 {
        let h = seconds / steps as f32;
        let omega = (omega * rest.haste).min(1.0 / h);
        let carried = (target - me.target) / seconds;
        let mut speed = me.velocity - carried;
        let (pull, brake) = (h * omega * omega, 1.0 / (1.0 + 2.0 * damping * omega * h));
        for _ in 0..steps {
            speed = (speed - away * pull) * brake;
            away += speed * h;
        }
        let length = away.length();
        if length > rest.reach {
            let along = away / length;
            away = along * rest.reach;
            speed -= along * speed.dot(along).max(0.0);
        }
        me.velocity = speed + carried;
    }
    me.position = target + away;
    me.target = target;
}
