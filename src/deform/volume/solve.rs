//! The CPU reference of the stages of [`super::schedule`].

use super::cells::Cells;
use super::contact::{self, Pairs, Posed};
use super::converge::Flesh;
use super::firm::Firm;
use super::levels::{Level, NEAR};
use super::motion::{Motion, Past, Step, carried};
use super::place::Place;
use super::schedule::{Op, START_TURNS, Stiffness, Touch, coarse_turns, reschedule, schedule, turns};
use super::substeps::{Plan, Substeps};
use super::tets::Tets;
use super::tissue::Tissue;
use super::{Exact, Params, Rest};
use crate::base::Result;
use crate::base::math::{Mat3, Quat, Vec3};
use crate::deform::blend::Painted;
use crate::deform::sculpt::Field;
use crate::deform::{Bound, Geometric, Reference, Streams};
use crate::rig::PosedRig;
use crate::shared_constants;
use rayon::prelude::*;
use std::sync::Arc;

/// An exact solve ends when a step lowers the energy by less than this fraction, or after [`MOST`] steps.
const TOLERANCE: f64 = 1e-8;
/// See [`TOLERANCE`].
const MOST: usize = 500;

/// One update of the rotation nearest to a matrix, in the manner of Müller, Bender, Chentanez, Macklin,
/// *A Robust Method to Extract the Rotational Part of Deformations*, 2016.
///
/// **(differs)** The tangent of half the update's angle is `|torque| / (trace + scale)`, where `scale` is the mean
/// length of the matrix's columns. For a rotation times a scale factor, a single update is exact.
pub fn turn(q: Quat, m: &Mat3) -> Quat {
    let r = Mat3::from_quat(q);
    let torque = r.x_axis.cross(m.x_axis) + r.y_axis.cross(m.y_axis) + r.z_axis.cross(m.z_axis);
    let trace = product(&r, m);
    let scale = (m.x_axis.length() + m.y_axis.length() + m.z_axis.length()) * (1.0 / 3.0);
    let v = torque * (1.0 / (trace + scale).max(0.1 * scale + 1e-30));
    let turned = Quat::from_xyzw(v.x, v.y, v.z, 1.0) * q;
    let length = turned.length();
    if length.is_finite() { turned * (1.0 / length) } else { q }
}

/// Returns the sum of the products of the entries of two matrices.
fn product(a: &Mat3, b: &Mat3) -> f32 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}

/// The state of a level on the CPU.
#[derive(Clone, Default)]
struct VolumeLevel {
    /// Node positions on the finest level, displacements on the others, metres.
    y: Vec<Vec3>,
    /// The last move of each node.
    d: Vec<Vec3>,
    load: Vec<Vec3>,
    /// Load without contact.
    pull: Vec<Vec3>,
    /// Sum of the forces at each node.
    force: Vec<Vec3>,
    rotation: Vec<Quat>,
    /// Mean edges of each cube at zero displacement; zero on the finest level.
    base: Vec<Mat3>,
    /// Stiffness of the contact springs at each node.
    contact: Vec<f32>,
    /// Force of each cube on its corners.
    corner: Vec<[Vec3; 8]>,
}

/// A solver that iterates to convergence.
enum Solver {
    Gold(Flesh),
    Tets(Tets),
}

/// The CPU reference of the volume node.
pub struct VolumeReference {
    tissue: Tissue,
    /// Poses the nodes at the start of a frame.
    start: Box<dyn Reference>,
    params: Params,
    schedule: Vec<Op>,
    states: Vec<VolumeLevel>,
    /// Pairs of the points on the skin, and of its vertices.
    pairs: [Pairs; 2],
    motion: Motion,
    substeps: Substeps,
    /// Factor on the rest size of the cubes in this frame.
    scaled: f32,
    /// Constants of the step from the last solve; `None` if this solve does not start from its result.
    step: Option<Step>,
    /// Per node of the finest level: its state in the last frames.
    past: Vec<Past>,
    /// Offset of each control vertex from its place in the cubes, in bind orientation. The offset comes from the sculpt
    /// layers or, with [`Rest::Pose`], from the preceding nodes of the graph. Empty if there are no offsets.
    bulge: Vec<Vec3>,
    /// The solver that replaces the schedule, if every solve converges in f64.
    exact: Option<Solver>,
}

/// Returns the method that poses the nodes if `method` poses the skin: the same method if it needs only weights; LBS
/// with the solved pose for FAST; DQS for methods that need a skin or its attachments.
pub fn start_of(method: &Geometric) -> Geometric {
    match method {
        Geometric::Lbs | Geometric::Fast(_) => Geometric::Lbs,
        // Painted factors are those of the skin, not of the nodes.
        Geometric::Blend { factor, .. } => Geometric::Blend { factor: *factor, painted: Painted::NONE },
        _ => Geometric::Dqs,
    }
}

impl VolumeReference {
    /// Fills a character with cubes and binds the solve to them.
    ///
    /// # Errors
    /// As [`Geometric::bind`].
    pub fn new(bound: &Bound, method: &Geometric, params: &Params) -> Result<Self> {
        let params = params.sane();
        let cells = bound.cells(params.cubes);
        Self::with(&cells, method, &params)
    }

    /// Binds the solve to the cubes of a character.
    ///
    /// # Errors
    /// As [`Geometric::bind`].
    pub fn with(cells: &Arc<Cells>, method: &Geometric, params: &Params) -> Result<Self> {
        let params = params.sane();
        let state = |level: &Level| VolumeLevel {
            y: vec![Vec3::ZERO; level.nodes()],
            d: vec![Vec3::ZERO; level.nodes()],
            load: vec![Vec3::ZERO; level.nodes()],
            pull: vec![Vec3::ZERO; level.nodes()],
            force: vec![Vec3::ZERO; level.nodes()],
            rotation: vec![Quat::IDENTITY; level.cells.len()],
            base: vec![Mat3::ZERO; level.cells.len()],
            contact: vec![0.0; level.nodes()],
            corner: vec![[Vec3::ZERO; 8]; level.cells.len()],
        };
        let states = cells.levels.iter().map(state).collect();
        let start = start_of(method).bind(&cells.nodes)?;
        let schedule = schedule(&params, &cells.levels, false);
        let pairs = Default::default();
        let past = vec![Past::default(); cells.held.len()];
        Ok(Self {
            tissue: Tissue::new(cells),
            start,
            schedule,
            params,
            states,
            pairs,
            motion: Motion::new(cells.nodes.character.skeleton.joints.len()),
            substeps: Substeps::new(&cells.nodes.character.skeleton),
            scaled: 1.0,
            step: None,
            past,
            bulge: Vec::new(),
            exact: None,
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Changes the parameters without a new binding.
    pub fn set_params(&mut self, params: &Params) {
        self.params = params.sane();
        reschedule(&mut self.schedule, &self.params, &self.tissue.cells.levels, false);
    }

    /// Sets the firm and soft regions without a new binding; an exact solve keeps those that it was made with.
    pub fn set_firm(&mut self, firm: &Firm) {
        self.tissue.set(firm);
    }

    /// Sets the sculpt layers, which take part in contact.
    pub fn set_sculpts(&mut self, field: &Field) {
        self.bulge.clear();
        if self.params.rest == Rest::Bind && !field.vertices.is_empty() {
            self.bulge.resize(self.tissue.cells.embedding.len(), Vec3::ZERO);
            field.iter().for_each(|(v, offset)| self.bulge[v as usize] = offset.offset);
        }
    }

    /// Sets the time of the next frames, seconds, like [`crate::deform::Graph::set_time`].
    pub fn set_time(&mut self, seconds: Option<f64>) {
        self.motion.set_time(seconds);
    }

    /// Makes every solve converge in f64. A solve then takes up to seconds instead of milliseconds.
    ///
    /// # Errors
    /// As [`Flesh::new`] and [`Tets::bind`].
    pub fn make_exact(&mut self, exact: Exact, bound: &Bound) -> Result<()> {
        self.exact = match exact {
            Exact::Gold => Flesh::new(&self.tissue, Stiffness::new(&self.params))?.map(Solver::Gold),
            Exact::Tets => Tets::bind(&self.tissue, bound)?.map(Solver::Tets),
        };
        if self.exact.is_some() && exact == Exact::Tets {
            self.schedule.clear();
        }
        Ok(())
    }

    /// Number of points on the skin that were in contact in the last solve.
    pub fn touching(&self) -> usize {
        self.pairs[0].pair.iter().flatten().count()
    }

    /// The cubes.
    pub fn cells(&self) -> &Arc<Cells> {
        &self.tissue.cells
    }

    /// Node positions of the last solve, world, metres.
    pub fn nodes(&self) -> &[Vec3] {
        self.states.first().map_or(&[], |s| &s.y)
    }

    /// Solves a frame and places the skin: world positions per control vertex, metres. `sculpt` then displaces the skin
    /// by the sculpt layers; with [`Rest::Pose`] the given skin already contains them.
    pub fn solve(&mut self, rig: &PosedRig, skin: &mut [Vec3], sculpt: impl Fn(&mut [Vec3])) {
        let mut nodes = Streams::default();
        let size = self.tissue.cells.levels.first().map_or(1.0, |l| l.size);
        self.scaled = rig.scale;
        let thickness = self.tissue.cells.thickness * self.scaled;
        self.step = self.motion.begin(&self.params, size * self.scaled, thickness, rig);
        let mut schedule = std::mem::take(&mut self.schedule);
        // Without stages, another solver replaces the schedule.
        if !schedule.is_empty() {
            let swinging = self.step.as_ref().is_some_and(Step::swings);
            reschedule(&mut schedule, &self.params, &self.tissue.cells.levels, swinging);
        }
        let cells = self.tissue.cells.clone();
        let skeleton = &cells.nodes.character.skeleton;
        let plan = Plan::of(&self.params, self.step.as_ref(), skeleton, rig);
        for k in 1..plan.count {
            self.step = self.substeps.pose(skeleton, rig, (k, plan), &mut self.motion);
            let part = std::mem::take(&mut self.substeps.rig);
            self.start.reference(&part, &mut nodes);
            for op in schedule.iter().take_while(|op| **op != Op::Skin) {
                self.run(*op, &part, &nodes.position, skin);
            }
            self.substeps.rig = part;
        }
        if plan.count > 1 {
            self.step = self.substeps.pose(skeleton, rig, (plan.count, plan), &mut self.motion);
        }
        self.start.reference(rig, &mut nodes);
        for op in &schedule {
            self.run(*op, rig, &nodes.position, skin);
            if *op == Op::Skin && self.exact.is_none() {
                sculpt(skin);
            }
        }
        if schedule.is_empty() && self.exact.is_none() {
            sculpt(skin);
        }
        self.schedule = schedule;
        if let Some(solver) = &mut self.exact {
            let (y, start) = (&mut self.states[0].y, &nodes.position);
            match solver {
                Solver::Gold(flesh) => _ = flesh.minimise(y, start, TOLERANCE, MOST),
                Solver::Tets(tets) => _ = tets.solve(start, y),
            }
            self.run(Op::Skin, rig, &nodes.position, skin);
            sculpt(skin);
        }
    }

    fn run(&mut self, op: Op, rig: &PosedRig, start: &[Vec3], skin: &mut [Vec3]) {
        let cells = self.tissue.cells.clone();
        let stiffness = |level: usize| Stiffness::new(&self.params).moving(self.step.as_ref(), level);
        let Some(finest) = cells.levels.first() else { return };
        let tissue = &self.tissue.levels;
        let scaled = self.scaled;
        if op.is_contact() && scaled != 1.0 {
            return;
        }
        match op {
            Op::Start => {
                let stiffness = stiffness(0);
                self.states.iter_mut().for_each(|s| s.contact.fill(0.0));
                let state = &mut self.states[0];
                let influences = &cells.nodes.character.control.influences;
                for (n, node) in tissue[0].nodes.iter().enumerate() {
                    let mut pull = start[n] * stiffness.hold(node);
                    state.y[n] = match &self.step {
                        Some(step) if node.cubes > 0.0 => {
                            let carry = |x| carried(influences.of(n), &self.motion.carry, x);
                            let mut carried = carry(state.y[n]);
                            if step.anchor > 0.0 {
                                carried += (start[n] - carry(self.past[n].position)) * step.anchor;
                            }
                            let target = step.target(&mut self.past[n], state.y[n], carried);
                            pull += target * (node.mass * stiffness.inertia);
                            carried
                        }
                        _ => {
                            self.past[n].position = start[n];
                            start[n]
                        }
                    };
                    (state.pull[n], state.load[n]) = (pull, pull);
                }
            }
            Op::Orient => {
                let carries = self.step.is_some();
                let VolumeLevel { y, rotation, .. } = &mut self.states[0];
                rotation.par_iter_mut().enumerate().for_each(|(c, rotation)| {
                    let mean = mean_edges(&corners(&finest.cells[c], y), &Mat3::ZERO);
                    let home = rig.rotation[cells.home[c] as usize];
                    let first = if carries { *rotation } else { home };
                    *rotation = (0..START_TURNS).fold(first, |q, _| turn(q, &mean));
                });
            }
            Op::Forces(level) => {
                let (lambda, turns) = (self.params.lambda(), turns(self.params.rest));
                let VolumeLevel { y, rotation, base, corner, .. } = &mut self.states[level];
                let (of, weight) = (&cells.levels[level], &tissue[level].weight);
                corner.par_iter_mut().zip(rotation).enumerate().for_each(|(c, (out, rotation))| {
                    let x = corners(&of.cells[c], y);
                    let material =
                        Material { size: of.size * scaled, weight: weight[c], lambda, coarse: level > 0 };
                    *out = corner_forces(&x, &base[c], &material, turns, rotation);
                });
            }
            Op::Residual(level) => self.sum(level, stiffness(level)),
            Op::Rest => {
                let VolumeLevel { load, pull, force, .. } = &mut self.states[0];
                for ((load, pull), force) in load.iter_mut().zip(pull).zip(force) {
                    *pull -= *force;
                    *load = *pull;
                }
            }
            Op::Follow => {
                let VolumeLevel { y, rotation, .. } = &self.states[0];
                let off = |(place, x): (&Option<Place>, &Vec3)| match place {
                    Some(place) => {
                        let inside = place.position(&finest.cells[place.cell as usize], y);
                        rotation[place.cell as usize].conjugate() * (*x - inside)
                    }
                    None => Vec3::ZERO,
                };
                self.bulge.clear();
                self.bulge.extend(cells.contact.skin.place.iter().zip(&*skin).map(off));
            }
            Op::Coarsen(level) => {
                let (lambda, turns) = (self.params.lambda(), coarse_turns(self.params.rest));
                let (finer, coarse) = self.states.split_at_mut(level);
                let (finer, state) = (&finer[level - 1], &mut coarse[0]);
                let (of, above) = (&cells.levels[level - 1], &cells.levels[level]);
                for (c, &weight) in tissue[level].weight.iter().enumerate() {
                    let children = above.children.of(c);
                    let (mut base, mut sum) = (Mat3::ZERO, finer.rotation[children[0] as usize] * 0.0);
                    for &child in children {
                        let f = child as usize;
                        base += mean_edges(&corners(&of.cells[f], &finer.y), &finer.base[f]);
                        let q = finer.rotation[f];
                        sum = if q.dot(sum) < 0.0 { sum - q } else { sum + q };
                    }
                    state.base[c] = base * (2.0 / children.len() as f32);
                    state.rotation[c] = sum * (1.0 / sum.length().max(1e-12));
                    let material = Material { size: above.size * scaled, weight, lambda, coarse: true };
                    let (base, rotation) = (&state.base[c], &mut state.rotation[c]);
                    state.corner[c] = corner_forces(&[Vec3::ZERO; 8], base, &material, turns, rotation);
                }
            }
            Op::Load { level, step } => {
                let stiffness = stiffness(level);
                let (finer, coarse) = self.states.split_at_mut(level);
                let (finer, state, of) = (&finer[level - 1], &mut coarse[0], &cells.levels[level]);
                for n in 0..of.nodes() {
                    let own: Vec3 = of.at_node.of(n).iter().map(|&k| corner_of(&state.corner, k)).sum();
                    let from: Vec3 =
                        of.restrict.of(n).iter().map(|s| finer.force[s.node as usize] * s.weight).sum();
                    (state.force[n], state.load[n]) = (from, from - own);
                    // At zero displacement the force of the load, the spring and the cubes is `from`.
                    let d =
                        from * (step * stiffness.inverse_bound(&tissue[level].nodes[n], state.contact[n]));
                    (state.y[n], state.d[n]) = (d, d);
                }
            }
            Op::Step { level, keep, step } => {
                let stiffness = stiffness(level);
                self.sum(level, stiffness);
                let VolumeLevel { y, d, force, contact, .. } = &mut self.states[level];
                for (n, node) in self.tissue.levels[level].nodes.iter().enumerate() {
                    d[n] = d[n] * keep + force[n] * (step * stiffness.inverse_bound(node, contact[n]));
                    y[n] += d[n];
                }
            }
            Op::Prolong { level, factor } => {
                let (finer, coarse) = self.states.split_at_mut(level + 1);
                let (state, above, of) = (&mut finer[level], &coarse[0], &cells.levels[level]);
                for n in 0..of.nodes() {
                    let shares = of.prolong.of(n).iter();
                    state.y[n] += shares.map(|s| above.y[s.node as usize] * s.weight).sum::<Vec3>() * factor;
                }
            }
            Op::Touch(touch) => {
                let VolumeLevel { y, rotation, .. } = &self.states[0];
                let posed = Posed { y, rotation, bulge: &self.bulge };
                let (contact, search) = (&cells.contact, touch.search());
                let [points, skin] = &mut self.pairs;
                match touch {
                    Touch::Flesh => points.find(&contact.points, &posed, finest, search, |_| true),
                    Touch::Skin => {
                        let near = |v: usize| points.pair[contact.owner[v] as usize].is_some();
                        skin.find(&contact.skin, &posed, finest, search, near)
                    }
                }
            }
            Op::Press => {
                let VolumeLevel { y, load, pull, contact, rotation, .. } = &mut self.states[0];
                let posed = Posed { y, rotation, bulge: &self.bulge };
                let at = |i: u32| posed.position(finest, &cells.contact.points, i as usize);
                let points = &cells.contact.points.place;
                let weight = |i: u32| points[i as usize].map_or(1.0, |p| tissue[0].weight[p.cell as usize]);
                let push = |i: u32| {
                    let pair = self.pairs[0].pair[i as usize]?;
                    let gap = (at(i) - at(pair.partner)).dot(pair.normal);
                    let stiffness = contact::STIFFNESS * (weight(i) * weight(pair.partner)).sqrt();
                    Some((pair.normal * (stiffness * (pair.keep - gap).max(0.0)), stiffness))
                };
                let push: Vec<Option<(Vec3, f32)>> =
                    (0..self.pairs[0].pair.len() as u32).into_par_iter().map(push).collect();
                for n in 0..finest.nodes() {
                    (load[n], contact[n]) = (pull[n], 0.0);
                    for share in cells.contact.at_node.of(n) {
                        if let Some((push, stiffness)) = push[share.node as usize] {
                            load[n] += push * share.weight;
                            contact[n] += 2.0 * stiffness * share.weight.abs();
                        }
                    }
                }
            }
            Op::Brace(level) => {
                let (finer, coarse) = self.states.split_at_mut(level);
                let finer = &finer[level - 1].contact;
                for (n, contact) in coarse[0].contact.iter_mut().enumerate() {
                    let shares = cells.levels[level].restrict.of(n);
                    *contact = shares.iter().map(|s| finer[s.node as usize] * s.weight).sum();
                }
            }
            Op::Part => {
                let near = |v: usize| self.pairs[0].pair[cells.contact.owner[v] as usize].is_some();
                contact::part(&cells.contact, &self.pairs[1], near, finest.size, skin);
            }
            Op::Skin => {
                let (y, rest) = (&self.states[0].y, self.params.rest);
                skin.par_iter_mut().zip(&cells.embedding).for_each(|(x, place)| {
                    if let Some(place) = place {
                        *x = place.of(rest).skin(&finest.cells[place.cell as usize], y, start, *x);
                    }
                });
            }
        }
    }

    /// Sums the forces at the nodes of a level; zero at held nodes.
    fn sum(&mut self, level: usize, stiffness: Stiffness) {
        let (of, nodes) = (&self.tissue.cells.levels[level], &self.tissue.levels[level].nodes);
        let VolumeLevel { y, load, force, corner, contact, .. } = &mut self.states[level];
        force.par_iter_mut().enumerate().for_each(|(n, force)| {
            let node = &nodes[n];
            *force = Vec3::ZERO;
            if node.cubes > 0.0 {
                let cubes: Vec3 = of.at_node.of(n).iter().map(|&k| corner_of(corner, k)).sum();
                // On the finest level the contact springs act through the load.
                let spring = stiffness.spring(node) + if level > 0 { contact[n] } else { 0.0 };
                *force = load[n] - y[n] * spring + cubes;
            }
        });
    }
}

fn corner_of(corner: &[[Vec3; 8]], index: u32) -> Vec3 {
    corner[index as usize / 8][index as usize % 8]
}

shared_constants! {
    "lib/volume.glsl" {
        /// Steps of the search in [`to_unit_volume`].
        const VOLUME_STEPS: usize = 3;
        /// Smallest squared gradient of the determinant by which [`to_unit_volume`] divides. A rotation has 3.
        const FLATTEST: f32 = 0.1;
    }
}

/// Returns the positions of a cube's corners.
fn corners(cell: &[u32; 8], y: &[Vec3]) -> [Vec3; 8] {
    let mut x = [Vec3::ZERO; 8];
    for (x, node) in x.iter_mut().zip(cell) {
        *x = y[*node as usize];
    }
    x
}

/// Returns a matrix whose columns are the mean edges of a cube along each axis, plus `base`.
fn mean_edges(x: &[Vec3; 8], base: &Mat3) -> Mat3 {
    let mut mean = *base;
    for (k, near) in NEAR.iter().enumerate() {
        let mut sum = Vec3::ZERO;
        for &corner in near {
            sum += x[corner + (1 << k)] - x[corner];
        }
        *mean.col_mut(k) += sum * 0.25;
    }
    mean
}

/// Returns the shortest change that gives a deformation the determinant 1. Each step linearises the determinant (Newton's
/// method), the first step at `from`.
fn to_unit_volume(deformation: &Mat3, from: &Mat3, steps: usize) -> Mat3 {
    let (mut t, mut change) = (*from, Mat3::ZERO);
    for _ in 0..steps {
        let gradient =
            Mat3::from_cols(t.y_axis.cross(t.z_axis), t.z_axis.cross(t.x_axis), t.x_axis.cross(t.y_axis));
        let missing = product(&gradient, &(t - *deformation)) + 1.0 - t.x_axis.dot(gradient.x_axis);
        change = gradient * (missing / product(&gradient, &gradient).max(FLATTEST));
        t = *deformation + change;
    }
    change
}

/// Inputs of a cube's forces, apart from its nodes.
struct Material {
    /// Edge length, metres.
    size: f32,
    weight: f32,
    lambda: f32,
    /// Whether the cube is on a coarser level.
    coarse: bool,
}

/// Updates a cube's rotation and returns its force on each corner, over `μ h` in metres.
fn corner_forces(
    x: &[Vec3; 8],
    base: &Mat3,
    material: &Material,
    turns: u32,
    rotation: &mut Quat,
) -> [Vec3; 8] {
    let Material { size, weight, lambda, coarse } = *material;
    let mean = mean_edges(x, base);
    *rotation = (0..turns).fold(*rotation, |q, _| turn(q, &mean));
    let r = Mat3::from_quat(*rotation);
    let pressure = match turns {
        0 => r * (0.25 * lambda * (product(&r, &mean) - 3.0 * size)),
        _ => {
            let deformation = mean * (1.0 / size);
            // The forces of a coarser cube are linear in its displacements, so that its corrections are bounded.
            let change = match coarse {
                true => to_unit_volume(&deformation, &(*base * (1.0 / size)), 1),
                false => to_unit_volume(&deformation, &deformation, VOLUME_STEPS),
            };
            change * (-0.75 * lambda * size)
        }
    };
    let constants = *base * 0.5 + (pressure - r * (0.5 * size));
    let mut out = [Vec3::ZERO; 8];
    for (k, nears) in NEAR.iter().enumerate() {
        let constant = constants.col(k);
        for &near in nears {
            let far = near + (1 << k);
            let force = ((x[far] - x[near]) * 0.5 + constant) * weight;
            out[near] += force;
            out[far] -= force;
        }
    }
    out
}
