//! A skeleton as a linkage: joints turn and the topmost shift so that some points stay where they are, exactly, and others
//! come to their goals as far as that allows. Bones keep their lengths.
//!
//! With `v` the turns and shifts since a pose of reference, the pose minimises `½ vᵀ W v + ½ |x_g - g|² / c` under
//! `x_p = p` for all pins `p`: a pin has no compliance, a goal a small one (`c`), so that goals give way and pins do not.
//! Each step of Gauss and Newton solves the dual system (Servin, Lacoursière and Melin, "Interactive simulation of elastic
//! deformable materials", 2006), `(J W⁻¹ Jᵀ + C) λ = e + J v`, `v ← W⁻¹ Jᵀ λ`, whose size is that of the constraints
//! alone. What a step leaves of the pins, the next one finds.

use super::world::{is_regular, local_with, nearest, world_from_parent};
use crate::base::NodeId;
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};
use crate::rig::{Pose, Skeleton};

/// Steps of a solve at most.
const STEPS: usize = 40;
/// Steps by which pins are brought back without goals at most.
const REPAIRS: usize = 25;
/// Pins hold when they are off by no more than this share of the size, their turns by no more than this many radians.
const HOLDS: f64 = 1e-6;
/// So much is taken for held where that is not reached.
const KEPT: f64 = 5e-5;
/// A solve ends when no joint turns by more in a step, radians, and none shifts by more than this share of the size.
const DONE: f64 = 1e-6;
/// A joint turns by no more than this in a step, radians; a shift is bounded by the same share of the size.
const LARGEST: f64 = 0.4;
/// What a turn of one radian counts for beside a distance, as a share of the size.
const ARM: f64 = 0.1;
/// A goal pulls by no more than this share of the size: beyond it, only its direction tells.
const PULL: f64 = 0.15;
/// Compliance of pins, of goals' places and of goals' turns, as shares of the size's square.
const COMPLIANCE: [f64; 3] = [1e-11, 1e-5, 1e-3];

/// The compliance of a goal that does not count.
const FREE: f64 = 1e9;
/// Share of the stiffness of pulls that steps are held back by.
const HELD_BACK: f64 = 0.6;

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

/// What a freedom does to a point: the change of its place and of its node's turn.
#[derive(Clone, Copy, Debug)]
struct Lever {
    freedom: usize,
    place: DMat3,
    turn: DMat3,
}

/// A skeleton, the joints of which may move, and the points that it places.
pub(super) struct Linkage {
    freedoms: Vec<Freedom>,
    asks: Vec<Ask>,
    size: f64,
    /// `v`, per freedom: turns in the parent's space, shifts in the world.
    moved: Vec<DVec3>,
    /// The step, per freedom.
    step: Vec<DVec3>,
    /// What the last forces at their levers add to the stiffness of each freedom: without it a limb that is pulled
    /// straight would swing about.
    pull: Vec<f64>,
    /// Goals do not count.
    pins_alone: bool,
    /// Local rotation and translation of the reference and now, per freedom.
    reference: Vec<(DQuat, DVec3)>,
    now: Vec<(DQuat, DVec3)>,
    /// The freedom that turns and the one that shifts each node.
    of_node: Vec<[Option<usize>; 2]>,
    world: Vec<DAffine3>,
    /// Linear maps of each freedom's parent: now, inverted, and as a turn.
    frames: Vec<[DMat3; 3]>,
    levers: Vec<Vec<Lever>>,
    matrix: Vec<f64>,
    force: Vec<f64>,
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
        // Per point the freedoms above it, as they are listed.
        let levers = asks
            .iter()
            .map(|ask| {
                let parent = |n: &NodeId| skeleton.nodes[n.index()].parent;
                let mut above: Vec<usize> = std::iter::successors(Some(ask.node), parent)
                    .flat_map(|n| of_node[n.index()])
                    .flatten()
                    .collect();
                above.sort_unstable();
                let lever = |freedom| Lever { freedom, place: DMat3::ZERO, turn: DMat3::ZERO };
                above.into_iter().map(lever).collect()
            })
            .collect();
        let (count, rows) = (freedoms.len(), 6 * asks.len());
        Self {
            moved: vec![DVec3::ZERO; count],
            step: vec![DVec3::ZERO; count],
            pull: vec![0.0; count],
            pins_alone: false,
            reference: vec![(DQuat::IDENTITY, DVec3::ZERO); count],
            now: vec![(DQuat::IDENTITY, DVec3::ZERO); count],
            frames: vec![[DMat3::IDENTITY; 3]; count],
            world: vec![DAffine3::IDENTITY; nodes],
            matrix: vec![0.0; rows * rows],
            force: vec![0.0; rows],
            pose: Pose::rest(skeleton),
            freedoms,
            of_node,
            levers,
            asks,
            size,
        }
    }

    /// Solves from a pose of reference, one place per point; `bent` are turns to begin with, in the spaces of the nodes'
    /// parents. The pose is left in [`Linkage::pose`]; false where pins do not hold.
    pub fn solve(
        &mut self,
        skeleton: &Skeleton,
        reference: &Pose,
        bent: &[(NodeId, DVec3)],
        places: &[Place],
    ) -> bool {
        self.start(skeleton, reference, bent);
        self.iterate(skeleton, places, STEPS);
        if self.errors(places) > HOLDS {
            self.repair(skeleton, places);
        }
        self.write();
        self.errors(places) < KEPT
    }

    /// Brings a pose to its pins by the least turns and shifts, whatever the goals; as [`Linkage::solve`].
    pub fn hold(&mut self, skeleton: &Skeleton, reference: &Pose, places: &[Place]) -> bool {
        self.start(skeleton, reference, &[]);
        if self.errors(places) > HOLDS {
            self.repair(skeleton, places);
        }
        self.write();
        self.errors(places) < KEPT
    }

    /// Where a point is in the pose found last.
    pub fn point(&self, ask: usize) -> DVec3 {
        let ask = &self.asks[ask];
        self.world[ask.node.index()].transform_point3(ask.point)
    }

    /// From here on only pins count, and the pose that has been found is the reference.
    fn repair(&mut self, skeleton: &Skeleton, places: &[Place]) {
        self.pins_alone = true;
        self.reference.copy_from_slice(&self.now);
        self.moved.fill(DVec3::ZERO);
        self.pull.fill(0.0);
        self.iterate(skeleton, places, REPAIRS);
    }

    fn iterate(&mut self, skeleton: &Skeleton, places: &[Place], steps: usize) {
        for _ in 0..steps {
            let off = self.errors(places);
            let largest = self.advance();
            if !largest.is_finite() {
                break;
            }
            self.place(skeleton);
            if largest < DONE && off < HOLDS {
                break;
            }
        }
    }

    fn start(&mut self, skeleton: &Skeleton, reference: &Pose, bent: &[(NodeId, DVec3)]) {
        self.pose.copy_from(reference);
        self.pins_alone = false;
        self.pull.fill(0.0);
        for (k, f) in self.freedoms.iter().enumerate() {
            let local = &reference.local[f.node.index()];
            self.reference[k] = (local.rotation().as_dquat().normalize(), local.translation().as_dvec3());
            self.now[k] = self.reference[k];
            self.moved[k] = DVec3::ZERO;
        }
        for (node, turn) in bent {
            if let Some(k) = self.of_node[node.index()][0] {
                self.moved[k] = *turn;
                self.now[k].0 = (DQuat::from_scaled_axis(*turn) * self.reference[k].0).normalize();
            }
        }
        self.place(skeleton);
    }

    /// World transforms of all nodes, and what freedoms do in them.
    fn place(&mut self, skeleton: &Skeleton) {
        for &id in &skeleton.order {
            let [turning, shifting] = self.of_node[id.index()];
            let local = &self.pose.local[id.index()];
            let rotation = turning.map_or_else(|| local.rotation().as_dquat().normalize(), |k| self.now[k].0);
            let translation = shifting.map_or_else(|| local.translation().as_dvec3(), |k| self.now[k].1);
            self.world[id.index()] = world_from_parent(skeleton, id, &self.world)
                * local_with(skeleton, id, local, rotation, translation);
        }
        for (k, f) in self.freedoms.iter().enumerate() {
            let parent = world_from_parent(skeleton, f.node, &self.world).matrix3;
            let usable = is_regular(parent);
            let inverse = if usable { parent.inverse() } else { DMat3::ZERO };
            let turn = |axis: DVec3| {
                let m = parent * cross(axis) * inverse;
                0.5 * DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x)
            };
            let turn = DMat3::from_cols(turn(DVec3::X), turn(DVec3::Y), turn(DVec3::Z));
            self.frames[k] = [if usable { parent } else { DMat3::ZERO }, inverse, turn];
        }
        let Self { levers, asks, freedoms, world, frames, .. } = self;
        for (levers, ask) in levers.iter_mut().zip(asks.iter()) {
            let x = world[ask.node.index()].transform_point3(ask.point);
            for lever in levers {
                let f = &freedoms[lever.freedom];
                let [parent, inverse, turn] = frames[lever.freedom];
                (lever.place, lever.turn) = if f.shifts {
                    (if inverse == DMat3::ZERO { DMat3::ZERO } else { DMat3::IDENTITY }, DMat3::ZERO)
                } else {
                    let arm = inverse * (x - world[f.node.index()].translation);
                    (parent * cross(arm) * -1.0, if ask.turns { turn } else { DMat3::ZERO })
                };
            }
        }
    }

    /// Sets the right-hand side to what is left of every place and turn; returns by how much the pins are off.
    fn errors(&mut self, places: &[Place]) -> f64 {
        let mut off: f64 = 0.0;
        for (a, (ask, wanted)) in self.asks.iter().zip(places).enumerate() {
            let world = &self.world[ask.node.index()];
            let mut place = wanted.position - world.transform_point3(ask.point);
            let between =
                if is_regular(world.matrix3) { wanted.linear * world.matrix3.inverse() } else { DMat3::ZERO };
            let turn = if ask.turns && is_regular(between) && between.determinant() > 0.0 {
                nearest(between).to_scaled_axis()
            } else {
                DVec3::ZERO
            };
            if ask.pin {
                off = off.max(place.length() / self.size).max(turn.length());
            } else {
                place = place.clamp_length_max(PULL * self.size);
            }
            let turn = turn * (ARM * self.size);
            let [place, turn] = if self.pins_alone && !ask.pin { [DVec3::ZERO; 2] } else { [place, turn] };
            let rows = &mut self.force[6 * a..6 * a + 6];
            rows[..3].copy_from_slice(&place.to_array());
            rows[3..].copy_from_slice(&turn.to_array());
        }
        if off.is_finite() { off } else { f64::INFINITY }
    }

    /// One step; returns its largest turn.
    fn advance(&mut self) -> f64 {
        let (count, arm) = (6 * self.asks.len(), ARM * self.size);
        let (matrix, force) = (&mut self.matrix, &mut self.force);
        for (a, levers) in self.levers.iter().enumerate() {
            for lever in levers {
                // A stiffness of its pull keeps it where it is, its own one at the reference.
                let k = lever.freedom;
                let v = self.moved[k] / (1.0 + self.freedoms[k].ease * self.pull[k]);
                let (x, t) = (lever.place * v, lever.turn * v * arm);
                for i in 0..3 {
                    force[6 * a + i] += x[i];
                    force[6 * a + 3 + i] += t[i];
                }
            }
            for (b, others) in self.levers[..=a].iter().enumerate() {
                let [mut xx, mut xt, mut tx, mut tt] = [DMat3::ZERO; 4];
                let mut rest = others.iter().peekable();
                for lever in levers {
                    while rest.next_if(|o| o.freedom < lever.freedom).is_some() {}
                    let Some(other) = rest.next_if(|o| o.freedom == lever.freedom) else { continue };
                    let ease = self.freedoms[lever.freedom].ease;
                    let ease = ease / (1.0 + ease * self.pull[lever.freedom]);
                    let (x, t) = (other.place.transpose() * ease, other.turn.transpose() * (ease * arm));
                    xx += lever.place * x;
                    xt += lever.place * t;
                    tx += lever.turn * x * arm;
                    tt += lever.turn * t * arm;
                }
                for (i, j, block) in [(0, 0, xx), (0, 3, xt), (3, 0, tx), (3, 3, tt)] {
                    for r in 0..3 {
                        for c in 0..3 {
                            matrix[(6 * a + i + r) * count + 6 * b + j + c] = block.col(c)[r];
                        }
                    }
                }
            }
            let [pin, place, turn] = COMPLIANCE.map(|c| c * self.size * self.size);
            for i in 0..6 {
                let goal = if self.pins_alone { FREE * self.size * self.size } else { [place, turn][i / 3] };
                let own = if self.asks[a].pin { pin } else { goal };
                matrix[(6 * a + i) * count + 6 * a + i] += own;
            }
        }
        if !solve(matrix, force, count) {
            return f64::NAN;
        }
        // `(W + D) δ = Jᵀ λ - W v`, with `D` of the pulls before.
        for (k, f) in self.freedoms.iter().enumerate() {
            self.step[k] = -self.moved[k] / f.ease;
        }
        for (a, levers) in self.levers.iter().enumerate() {
            let x = DVec3::from_slice(&self.force[6 * a..6 * a + 3]);
            let t = DVec3::from_slice(&self.force[6 * a + 3..6 * a + 6]) * arm;
            for lever in levers {
                self.step[lever.freedom] += lever.place.transpose() * x + lever.turn.transpose() * t;
            }
        }
        for (k, f) in self.freedoms.iter().enumerate() {
            self.step[k] *= f.ease / (1.0 + f.ease * self.pull[k]);
        }
        self.pull.fill(0.0);
        for (a, (levers, ask)) in self.levers.iter().zip(&self.asks).enumerate() {
            let x = DVec3::from_slice(&self.force[6 * a..6 * a + 3]);
            let tip = self.world[ask.node.index()].transform_point3(ask.point);
            for lever in levers {
                let f = &self.freedoms[lever.freedom];
                if !f.shifts {
                    let along = x.dot(tip - self.world[f.node.index()].translation);
                    self.pull[lever.freedom] += HELD_BACK * along.max(0.0);
                }
            }
        }
        let reach = |f: &Freedom| if f.shifts { self.size } else { 1.0 };
        let largest =
            self.step.iter().zip(&self.freedoms).map(|(s, f)| s.length() / reach(f)).fold(0.0, f64::max);
        if !largest.is_finite() {
            return f64::NAN;
        }
        let share = (LARGEST / largest).min(1.0);
        for (k, f) in self.freedoms.iter().enumerate() {
            let step = self.step[k] * share;
            let (rotation, translation) = &mut self.now[k];
            if f.shifts {
                self.moved[k] += step;
                *translation += self.frames[k][1] * step;
            } else {
                *rotation = (DQuat::from_scaled_axis(step) * *rotation).normalize();
                let turned = *rotation * self.reference[k].0.inverse();
                let turned = if turned.w < 0.0 { -turned } else { turned };
                self.moved[k] = turned.to_scaled_axis();
            }
        }
        largest
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

fn cross(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// Solves a symmetric system whose lower half is given, in place (Cholesky); false where it is not positive definite.
fn solve(matrix: &mut [f64], right: &mut [f64], count: usize) -> bool {
    for i in 0..count {
        for j in 0..=i {
            let (row_i, row_j) = (i * count, j * count);
            let dot: f64 = (0..j).map(|k| matrix[row_i + k] * matrix[row_j + k]).sum();
            let left = matrix[row_i + j] - dot;
            if i != j {
                matrix[row_i + j] = left / matrix[row_j + j];
            } else if left > 0.0 {
                matrix[row_i + i] = left.sqrt();
            } else {
                return false;
            }
        }
    }
    for i in 0..count {
        let dot: f64 = (0..i).map(|k| matrix[i * count + k] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i * count + i];
    }
    for i in (0..count).rev() {
        let dot: f64 = (i + 1..count).map(|k| matrix[k * count + i] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i * count + i];
    }
    true
}
