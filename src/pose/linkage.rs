//! A skeleton as a linkage: joints turn and the topmost shift so that some points stay where they are, exactly, and others
//! come to their goals as far as that allows. Bones keep their lengths.
//!
//! With `v` the turns and shifts since a pose of reference, the pose minimises `½ vᵀ W v` and what the goals are missed by
//! ([`relax`]); then pins, which weigh most there, are met exactly by the least further turns ([`repair`]). Goals give way,
//! pins do not.

mod relax;
mod repair;

use crate::base::NodeId;
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};
use crate::rig::{Pose, Skeleton, is_regular, local_with, nearest, world_from_parent};

/// Pins hold when they are off by no more than this share of the size, their turns by no more than this many radians.
const HOLDS: f64 = 1e-6;
/// So much is taken for held where that is not reached.
const KEPT: f64 = 5e-5;
/// A joint turns by no more than this in a step, radians; a shift is bounded by the same share of the size.
const LARGEST: f64 = 0.4;
/// What a turn of one radian counts for beside a distance, as a share of the size.
const ARM: f64 = 0.1;

/// A point of a node that a linkage places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub node: NodeId,
    /// In the node's space.
    pub point: DVec3,
    /// A pin: it does not give way.
    pub pin: bool,
    /// Its node's turn is given too.
    pub turns: bool,
}

/// Where a point goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// World, metres.
    pub position: DVec3,
    /// The node's linear map to the world, but for its scale.
    pub linear: DMat3,
}

/// A joint that turns, or a topmost one that shifts.
#[derive(Clone, Copy, Debug)]
struct Freedom {
    node: NodeId,
    shifts: bool,
    /// How readily it moves, `W⁻¹`: square radians, or square metres.
    ease: f64,
}

/// What a freedom does to a point: the change of its place and of its node's turn, and the point seen from the joint.
#[derive(Clone, Copy, Debug)]
struct Lever {
    freedom: usize,
    place: DMat3,
    turn: DMat3,
    /// A turn of the freedom, in the world.
    axes: DMat3,
    arm: DVec3,
}

/// A skeleton, the joints of which may move, and the points that it places.
pub(super) struct Linkage {
    freedoms: Vec<Freedom>,
    asks: Vec<Ask>,
    size: f64,
    /// `v`, per freedom: turns in the parent's space, shifts in the world.
    moved: Vec<DVec3>,
    /// Local rotation and translation of the reference and now, per freedom.
    reference: Vec<(DQuat, DVec3)>,
    now: Vec<(DQuat, DVec3)>,
    /// The freedom that turns and the one that shifts each node.
    of_node: Vec<[Option<usize>; 2]>,
    world: Vec<DAffine3>,
    /// Per point, the freedoms above it from the root on.
    levers: Vec<Vec<Lever>>,
    /// Where the posture wants freedoms, as [`Linkage::moved`].
    bent: Vec<DVec3>,
    /// What a step adds, per freedom.
    step: Vec<DVec3>,
    /// Before a step.
    before: Vec<((DQuat, DVec3), DVec3)>,
    kept: Vec<((DQuat, DVec3), DVec3)>,
    /// Freedoms that move a point, and the place of each among them.
    active: Vec<usize>,
    place_of: Vec<usize>,
    matrix: Vec<f64>,
    factor: Vec<f64>,
    right: Vec<f64>,
    gradient: Vec<f64>,
    /// The pose of the last solve.
    pub pose: Pose,
}

impl Linkage {
    /// Of joints that turn and nodes that shift, each with its ease, parents before children; `size` in metres.
    pub fn new(
        skeleton: &Skeleton,
        turning: &[(NodeId, f64)],
        shifting: &[(NodeId, f64)],
        asks: Vec<Ask>,
        size: f64,
    ) -> Self {
        let freedom = |shifts: bool| move |&(node, ease): &(NodeId, f64)| Freedom { node, shifts, ease };
        let freedoms: Vec<Freedom> =
            shifting.iter().map(freedom(true)).chain(turning.iter().map(freedom(false))).collect();
        let nodes = skeleton.nodes.len();
        let mut of_node = vec![[None; 2]; nodes];
        for (k, f) in freedoms.iter().enumerate() {
            of_node[f.node.index()][usize::from(f.shifts)] = Some(k);
        }
        let levers: Vec<Vec<Lever>> = asks
            .iter()
            .map(|ask| {
                let parent = |n: &NodeId| skeleton.nodes[n.index()].parent;
                let mut above: Vec<usize> = std::iter::successors(Some(ask.node), parent)
                    .flat_map(|n| of_node[n.index()])
                    .flatten()
                    .collect();
                above.sort_unstable();
                let zero = DMat3::ZERO;
                let lever =
                    |freedom| Lever { freedom, place: zero, turn: zero, axes: zero, arm: DVec3::ZERO };
                above.into_iter().map(lever).collect()
            })
            .collect();
        let count = freedoms.len();
        let moves = |k: &usize| levers.iter().flatten().any(|l| l.freedom == *k);
        let active: Vec<usize> = (0..count).filter(moves).collect();
        let mut place_of = vec![usize::MAX; count];
        active.iter().enumerate().for_each(|(i, k)| place_of[*k] = i);
        let pins = asks.iter().filter(|a| a.pin).count();
        let most = (3 * active.len()).max(6 * pins);
        Self {
            moved: vec![DVec3::ZERO; count],
            bent: vec![DVec3::ZERO; count],
            step: vec![DVec3::ZERO; count],
            reference: vec![(DQuat::IDENTITY, DVec3::ZERO); count],
            now: vec![(DQuat::IDENTITY, DVec3::ZERO); count],
            before: vec![((DQuat::IDENTITY, DVec3::ZERO), DVec3::ZERO); count],
            kept: vec![((DQuat::IDENTITY, DVec3::ZERO), DVec3::ZERO); count],
            world: vec![DAffine3::IDENTITY; nodes],
            matrix: vec![0.0; most * most],
            factor: vec![0.0; most * most],
            right: vec![0.0; most],
            gradient: Vec::with_capacity(most),
            pose: Pose::rest(skeleton),
            freedoms,
            of_node,
            levers,
            asks,
            size,
            active,
            place_of,
        }
    }

    /// Solves from a pose of reference, one place per point. With `bent`, turns of joints in the spaces of their parents,
    /// the way there is bent so. The pose is left in [`Linkage::pose`]; false where pins do not hold.
    pub fn solve(
        &mut self,
        skeleton: &Skeleton,
        reference: &Pose,
        bent: Option<&[(NodeId, DVec3)]>,
        places: &[Place],
    ) -> bool {
        self.start(skeleton, reference);
        self.relax(skeleton, bent, places);
        self.hold_pins(skeleton, places)
    }

    /// Brings a pose to its pins by the least turns and shifts, whatever the goals; as [`Linkage::solve`].
    pub fn hold(&mut self, skeleton: &Skeleton, reference: &Pose, places: &[Place]) -> bool {
        self.start(skeleton, reference);
        self.hold_pins(skeleton, places)
    }

    fn hold_pins(&mut self, skeleton: &Skeleton, places: &[Place]) -> bool {
        if self.lost(places) > HOLDS {
            self.repair(skeleton, places);
        }
        self.write();
        self.lost(places) < KEPT
    }

    /// Where a point is in the pose found last.
    pub fn point(&self, ask: usize) -> DVec3 {
        let ask = &self.asks[ask];
        self.world[ask.node.index()].transform_point3(ask.point)
    }

    fn start(&mut self, skeleton: &Skeleton, reference: &Pose) {
        self.pose.copy_from(reference);
        for (k, f) in self.freedoms.iter().enumerate() {
            let local = &reference.local[f.node.index()];
            self.reference[k] = (local.rotation().as_dquat().normalize(), local.translation().as_dvec3());
            self.now[k] = self.reference[k];
            self.moved[k] = DVec3::ZERO;
        }
        self.forward(skeleton);
    }

    /// World transforms of all nodes.
    fn forward(&mut self, skeleton: &Skeleton) {
        for &id in &skeleton.order {
            let [turning, shifting] = self.of_node[id.index()];
            let local = &self.pose.local[id.index()];
            let rotation = turning.map_or_else(|| local.rotation().as_dquat().normalize(), |k| self.now[k].0);
            let translation = shifting.map_or_else(|| local.translation().as_dvec3(), |k| self.now[k].1);
            self.world[id.index()] = world_from_parent(skeleton, id, &self.world)
                * local_with(skeleton, id, local, rotation, translation);
        }
    }

    /// What freedoms do to the points where these are now.
    fn set_levers(&mut self, skeleton: &Skeleton) {
        let Self { levers, asks, freedoms, world, .. } = self;
        for (levers, ask) in levers.iter_mut().zip(asks.iter()) {
            let x = world[ask.node.index()].transform_point3(ask.point);
            for lever in levers {
                let f = &freedoms[lever.freedom];
                let parent = world_from_parent(skeleton, f.node, world).matrix3;
                lever.arm = x - world[f.node.index()].translation;
                [lever.place, lever.turn, lever.axes] = [DMat3::ZERO; 3];
                if !is_regular(parent) {
                    continue;
                }
                if f.shifts {
                    lever.place = DMat3::IDENTITY;
                    continue;
                }
                let inverse = parent.inverse();
                lever.place = parent * cross(inverse * lever.arm) * -1.0;
                lever.axes = axes(parent, inverse);
                lever.turn = if ask.turns { lever.axes } else { DMat3::ZERO };
            }
        }
    }

    /// What is left of a point's way, metres, and of its node's turn, radians.
    fn left(&self, ask: &Ask, wanted: &Place) -> [DVec3; 2] {
        let world = &self.world[ask.node.index()];
        let place = wanted.position - world.transform_point3(ask.point);
        let regular = ask.turns && is_regular(world.matrix3);
        let between = if regular { wanted.linear * world.matrix3.inverse() } else { DMat3::ZERO };
        let usable = is_regular(between) && between.determinant() > 0.0;
        [place, if usable { scaled_axis(nearest(between)) } else { DVec3::ZERO }]
    }

    /// By how much the worst pin is off.
    fn lost(&self, places: &[Place]) -> f64 {
        let pins = self.asks.iter().zip(places).filter(|(ask, _)| ask.pin);
        let off = pins.map(|(ask, wanted)| {
            let [place, turn] = self.left(ask, wanted);
            (place.length() / self.size).max(turn.length())
        });
        let off = off.fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
        if off.is_finite() { off } else { f64::INFINITY }
    }

    /// The largest turn of the step, or shift as a share of the size.
    fn largest(&self) -> f64 {
        let reach = |f: &Freedom| if f.shifts { self.size } else { 1.0 };
        self.step.iter().zip(&self.freedoms).map(|(s, f)| s.length() / reach(f)).fold(0.0, f64::max)
    }

    /// Remembers where freedoms are, for [`Linkage::go`].
    fn remember(&mut self) {
        for (k, before) in self.before.iter_mut().enumerate() {
            *before = (self.now[k], self.moved[k]);
        }
    }

    /// Makes a share of the step from where freedoms were remembered.
    fn go(&mut self, skeleton: &Skeleton, share: f64) {
        for (k, f) in self.freedoms.iter().enumerate() {
            let ((rotation, translation), moved) = self.before[k];
            let step = self.step[k] * share;
            if f.shifts {
                let parent = world_from_parent(skeleton, f.node, &self.world).matrix3;
                let local = if is_regular(parent) { parent.inverse() * step } else { DVec3::ZERO };
                self.moved[k] = moved + step;
                self.now[k].1 = translation + local;
            } else if step == DVec3::ZERO {
                (self.now[k], self.moved[k]) = self.before[k];
            } else {
                let now = (DQuat::from_scaled_axis(step) * rotation).normalize();
                self.now[k].0 = now;
                self.moved[k] = scaled_axis(now * self.reference[k].0.inverse());
            }
        }
        self.forward(skeleton);
    }

    /// Puts what has moved into the pose.
    fn write(&mut self) {
        for (f, (rotation, translation)) in self.freedoms.iter().zip(&self.now) {
            let local = &mut self.pose.local[f.node.index()];
            if f.shifts && *translation != local.translation().as_dvec3() {
                local.translation = translation.as_vec3().into();
            }
            let old = local.rotation().as_dquat().normalize();
            let new = if rotation.dot(old) < 0.0 { -*rotation } else { *rotation };
            if !f.shifts && new != old {
                local.rotation = new.as_quat().into();
            }
        }
    }
}

/// The world's turns per turn in a parent's space, for each of its axes.
fn axes(parent: DMat3, inverse: DMat3) -> DMat3 {
    let turn = |axis: DVec3| {
        let m = parent * cross(axis) * inverse;
        0.5 * DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x)
    };
    DMat3::from_cols(turn(DVec3::X), turn(DVec3::Y), turn(DVec3::Z))
}

/// Axis times angle, no more than half a turn.
fn scaled_axis(turn: DQuat) -> DVec3 {
    if turn.w < 0.0 { (-turn).to_scaled_axis() } else { turn.to_scaled_axis() }
}

fn cross(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// Factors a symmetric matrix whose lower half is given, in place (Cholesky); false where it is not positive definite.
fn factor(matrix: &mut [f64], count: usize) -> bool {
    for i in 0..count {
        let (above, row) = matrix.split_at_mut(i * count);
        for j in 0..i {
            let other = &above[j * count..j * count + j + 1];
            let dot: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - dot) / other[j];
        }
        let left = row[i] - row[..i].iter().map(|a| a * a).sum::<f64>();
        if left.is_nan() || left <= 0.0 {
            return false;
        }
        row[i] = left.sqrt();
    }
    true
}

/// Solves with a factored matrix, in place.
fn substitute(matrix: &[f64], right: &mut [f64], count: usize) {
    for i in 0..count {
        let row = &matrix[i * count..i * count + i + 1];
        let dot: f64 = row[..i].iter().zip(right.iter()).map(|(a, b)| a * b).sum();
        right[i] = (right[i] - dot) / row[i];
    }
    for i in (0..count).rev() {
        right[i] /= matrix[i * count + i];
        let x = right[i];
        let row = &matrix[i * count..i * count + i];
        right.iter_mut().zip(row).for_each(|(r, a)| *r -= a * x);
    }
}
