//! A skeleton as a linkage: joints rotate and topmost joints translate, so that pins hold exactly and other points
//! approach their goals. Bones keep their lengths.
//!
//! Let `v` be the rotations and translations since a reference pose, and `W` their stiffness. First, the solver
//! minimises `½ vᵀ W v` plus the goal errors ([`relax`]); pins are stiff goals there. Then the smallest further motions
//! make the pins hold exactly ([`repair`]). Goals may be missed, pins may not. Joints stay within their limits
//! ([`limits`]): first by stiff energies, then exactly.

mod limits;
mod relax;
mod repair;

use crate::base::NodeId;
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};
use crate::rig::{
    JointLimit, JointLimits, Pose, Skeleton, is_regular, local_with, nearest, world_from_parent,
};

/// A pin holds if its position error is below this fraction of the character's size and its rotation error is below
/// this many radians.
const HOLDS: f64 = 1e-6;
/// Looser tolerance of pins, accepted if the solver cannot reach [`HOLDS`].
const KEPT: f64 = 5e-5;
/// Maximum rotation of a joint per step, radians, and translation as a fraction of the character's size.
const LARGEST: f64 = 0.4;
/// Distance error that weighs as much as a rotation error of one radian, as a fraction of the character's size.
const ARM: f64 = 0.1;

/// A point on a node that the linkage places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub node: NodeId,
    /// Position in the node's local space.
    pub point: DVec3,
    /// Whether the point is a pin, which must hold exactly.
    pub pin: bool,
    /// Whether the node's rotation is prescribed too.
    pub turns: bool,
}

/// Target of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Target position, world space, metres.
    pub position: DVec3,
    /// Target of the node's linear world transform, up to scale.
    pub linear: DMat3,
}

/// A degree of freedom: a joint's rotation, or a topmost joint's translation.
#[derive(Clone, Copy, Debug)]
struct Freedom {
    node: NodeId,
    shifts: bool,
    /// Inverse stiffness of the degree of freedom, its entry of `W⁻¹`: square radians for a rotation, square metres for
    /// a translation.
    ease: f64,
}

/// How one degree of freedom moves a point: the derivatives of the point's position (`place`) and of its node's
/// rotation (`turn`), and the vector `arm` from the joint to the point.
#[derive(Clone, Copy, Debug)]
struct Lever {
    freedom: usize,
    place: DMat3,
    turn: DMat3,
    /// World-space rotation axes of the degree of freedom.
    axes: DMat3,
    arm: DVec3,
}

/// A skeleton with movable joints, and the points that it places.
pub(super) struct Linkage {
    freedoms: Vec<Freedom>,
    asks: Vec<Ask>,
    size: f64,
    /// The vector `v` of the module's description, per degree of freedom: rotations in the parent's space, translations
    /// in world space.
    moved: Vec<DVec3>,
    /// Local rotation and translation per degree of freedom, in the reference pose and now.
    reference: Vec<(DQuat, DVec3)>,
    now: Vec<(DQuat, DVec3)>,
    /// Indices of the degrees of freedom that rotate and translate each node.
    of_node: Vec<[Option<usize>; 2]>,
    world: Vec<DAffine3>,
    /// Per point, the levers of all degrees of freedom above it, root first.
    levers: Vec<Vec<Lever>>,
    /// Preferred value of each degree of freedom, with the same meaning as in [`Linkage::moved`].
    bent: Vec<DVec3>,
    /// Change of each degree of freedom in the current step.
    step: Vec<DVec3>,
    /// State of each degree of freedom before the step.
    before: Vec<((DQuat, DVec3), DVec3)>,
    kept: Vec<((DQuat, DVec3), DVec3)>,
    /// Indices of the degrees of freedom that move any point, and the inverse mapping.
    active: Vec<usize>,
    place_of: Vec<usize>,
    matrix: Vec<f64>,
    factor: Vec<f64>,
    right: Vec<f64>,
    gradient: Vec<f64>,
    /// The degrees of freedom whose joints have limits, and the limits.
    limits: Vec<(usize, JointLimit)>,
    /// Per degree of freedom, a projection onto the motions that its limit leaves free; empty without limits.
    free: Vec<DMat3>,
    /// Pose of the last solve.
    pub pose: Pose,
}

impl Linkage {
    /// Creates a linkage. `turning` lists the joints that rotate and `shifting` the nodes that translate, parents
    /// before children, each with its inverse stiffness. `size` is the character's size, metres. The limits must allow
    /// the pins' own pose.
    pub fn new(
        skeleton: &Skeleton,
        turning: &[(NodeId, f64)],
        shifting: &[(NodeId, f64)],
        (asks, limits): (Vec<Ask>, &JointLimits),
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
        let limit = |(k, f): (usize, &Freedom)| Some((k, *limits.of(f.node).filter(|_| !f.shifts)?));
        let limits: Vec<(usize, JointLimit)> = freedoms.iter().enumerate().filter_map(limit).collect();
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
            free: if limits.is_empty() { Vec::new() } else { vec![DMat3::IDENTITY; count] },
            limits,
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

    /// Solves from a reference pose. `places` gives the target of every point. `bent` gives rotations, in parent space,
    /// that the joints prefer in all rounds but the last. Writes the pose to [`Linkage::pose`]; returns false if pins
    /// do not hold.
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

    /// Moves a pose to its pins by the smallest motions, ignoring goals; returns false if pins do not hold.
    pub fn hold(&mut self, skeleton: &Skeleton, reference: &Pose, places: &[Place]) -> bool {
        self.start(skeleton, reference);
        self.hold_pins(skeleton, places)
    }

    fn hold_pins(&mut self, skeleton: &Skeleton, places: &[Place]) -> bool {
        self.clamp(skeleton);
        if self.lost(places) > HOLDS {
            self.repair(skeleton, places);
        }
        self.write();
        self.lost(places) < KEPT
    }

    /// Returns the world position of a point in the last solved pose.
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

    fn forward(&mut self, skeleton: &Skeleton) {
        for &id in &skeleton.order {
            let [turning, shifting] = self.of_node[id.index()];
            let local = &self.pose.local[id.index()];
            let rotation = turning.map_or_else(|| local.rotation().as_dquat().normalize(), |k| self.now[k].0);
            let translation = shifting.map_or_else(|| local.translation().as_dvec3(), |k| self.now[k].1);
            self.world[id.index()] = world_from_parent(skeleton, id, &self.world)
                * local_with(skeleton, id, &self.pose, rotation, translation);
        }
    }

    /// Computes the derivatives of the points with respect to the degrees of freedom at the current pose.
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

    /// Returns the remaining position error of a point, metres, and rotation error of its node, radians.
    fn left(&self, ask: &Ask, wanted: &Place) -> [DVec3; 2] {
        let world = &self.world[ask.node.index()];
        let place = wanted.position - world.transform_point3(ask.point);
        let regular = ask.turns && is_regular(world.matrix3);
        let between = if regular { wanted.linear * world.matrix3.inverse() } else { DMat3::ZERO };
        let usable = is_regular(between) && between.determinant() > 0.0;
        [place, if usable { scaled_axis(nearest(between)) } else { DVec3::ZERO }]
    }

    /// Returns the error of the worst pin, as a fraction of the character's size or in radians.
    fn lost(&self, places: &[Place]) -> f64 {
        let pins = self.asks.iter().zip(places).filter(|(ask, _)| ask.pin);
        let off = pins.map(|(ask, wanted)| {
            let [place, turn] = self.left(ask, wanted);
            (place.length() / self.size).max(turn.length())
        });
        let off = off.fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
        if off.is_finite() { off } else { f64::INFINITY }
    }

    /// Returns the step's largest rotation, or largest translation as a fraction of the character's size.
    fn largest(&self) -> f64 {
        let reach = |f: &Freedom| if f.shifts { self.size } else { 1.0 };
        self.step.iter().zip(&self.freedoms).map(|(s, f)| s.length() / reach(f)).fold(0.0, f64::max)
    }

    /// Stores the state of all degrees of freedom for [`Linkage::go`].
    fn remember(&mut self) {
        for (k, before) in self.before.iter_mut().enumerate() {
            *before = (self.now[k], self.moved[k]);
        }
    }

    /// Applies a fraction of the step to the state stored by [`Linkage::remember`].
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

/// Returns the world-space directions of the rotation axes of a parent's space.
fn axes(parent: DMat3, inverse: DMat3) -> DMat3 {
    let turn = |axis: DVec3| {
        let m = parent * cross(axis) * inverse;
        0.5 * DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x)
    };
    DMat3::from_cols(turn(DVec3::X), turn(DVec3::Y), turn(DVec3::Z))
}

/// Returns a rotation as axis times angle, with an angle of at most 180 degrees.
fn scaled_axis(turn: DQuat) -> DVec3 {
    if turn.w < 0.0 { (-turn).to_scaled_axis() } else { turn.to_scaled_axis() }
}

fn cross(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// Cholesky-factors a symmetric matrix in place, from its lower half; returns false unless it is positive definite.
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

/// Solves with a Cholesky-factored matrix, in place.
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
