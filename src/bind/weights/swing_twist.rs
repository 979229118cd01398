//! Swing and twist weights of all joints of a character, at points of its skin or inside it.

use super::elastic::{Hinge, STEPS, swing_samples, twist_samples};
use super::flesh::{Flesh, flesh_joints};
use super::quasi_harmonic::quasi_harmonic_weights;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::bind::packed::{Reader, Writer};
use crate::bind::{Cache, Character, Key};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Weights from this value to one minus this value are stretched to 0..=1, so that few joints move a vertex.
const LEAST: f64 = 0.01;

/// The weights of one joint at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointWeight {
    /// Index in [`flesh_joints`](super::flesh_joints).
    pub joint: u32,
    /// How far the point follows the joint's swing, 0 to 1.
    pub swing: f32,
    /// How far the point follows the joint's twist, 0 to 1.
    pub twist: f32,
}

/// Weights of several points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwingTwistWeights {
    /// Position in `entries` of each point's first entry, and the number of entries at the end.
    pub offset: Vec<u32>,
    /// Joints with weights above zero.
    pub entries: Vec<JointWeight>,
}

impl SwingTwistWeights {
    /// The entries of a point, ancestors before descendants. A point without entries has no flesh near it.
    pub fn of(&self, point: usize) -> &[JointWeight] {
        &self.entries[self.offset[point] as usize..self.offset[point + 1] as usize]
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.offset.len().saturating_sub(1)
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn push(&mut self, entries: impl Iterator<Item = JointWeight>) {
        if self.offset.is_empty() {
            self.offset.push(0);
        }
        self.entries.extend(entries);
        self.offset.push(self.entries.len() as u32);
    }
}

/// The points to compute weights for.
#[derive(Clone, Copy)]
pub enum Points<'a> {
    /// The control vertices of the character.
    Vertices,
    /// Positions in bind space, inside the skin or near it.
    Inside(&'a [Vec3]),
}

/// Computes energy-minimising swing and twist weights with approximately `cubes` cubes, or reads them from the cache.
/// `progress` receives the completed fraction and returns false to cancel; then the result is `None`.
///
/// # Errors
/// [`crate::base::Error::Input`] if a linear system cannot be factored.
pub fn swing_twist_weights(
    cache: Option<&Cache>,
    character: &Character,
    points: Points<'_>,
    cubes: usize,
    progress: &(dyn Fn(f32) -> bool + Sync),
) -> Result<Option<SwingTwistWeights>> {
    let key = key(character, points, cubes);
    let count = match points {
        Points::Vertices => character.control.positions.len(),
        Points::Inside(positions) => positions.len(),
    };
    let joints = flesh_joints(character);
    let found = cache.and_then(|c| c.get(&key)).and_then(|bytes| unpacked(&bytes));
    let fits = |w: &SwingTwistWeights| {
        w.len() == count && w.entries.iter().all(|e| (e.joint as usize) < joints.len())
    };
    if let Some(found) = found.filter(fits) {
        return Ok(Some(found));
    }
    let made = match Flesh::of(character, cubes) {
        Some(flesh) => match NodeWeights::of(&flesh, progress)? {
            Some(nodes) => nodes.sample(&flesh, character, points, count),
            None => return Ok(None),
        },
        None => SwingTwistWeights { offset: vec![0; count + 1], entries: Vec::new() },
    };
    if let Some(cache) = cache {
        cache.put(&key, &packed(&made));
    }
    Ok(Some(made))
}

/// Weights per joint of the flesh and node.
pub struct NodeWeights {
    /// Swing weights, per joint and node.
    pub swing: Vec<Vec<f32>>,
    /// Twist weights, per joint and node.
    pub twist: Vec<Vec<f32>>,
}

impl NodeWeights {
    /// Minimises the energy of every joint. The joint without a parent moves the whole body, so all its weights are 1.
    ///
    /// # Errors
    /// [`crate::base::Error::Input`] if a linear system cannot be factored.
    pub fn of(flesh: &Flesh, progress: &(dyn Fn(f32) -> bool + Sync)) -> Result<Option<Self>> {
        let (joints, nodes) = (&flesh.joints, flesh.fixed.len());
        let Some(start) = harmonic(flesh, progress)? else { return Ok(None) };
        let done = AtomicUsize::new(0);
        let solve = |j: usize| -> Result<Option<[Vec<f32>; 2]>> {
            let part = done.fetch_add(1, Ordering::Relaxed) as f32 / joints.len() as f32;
            if !progress(part) {
                return Ok(None);
            }
            if joints[j].parent.is_none() {
                return Ok(Some([vec![1.0; nodes], vec![1.0; nodes]]));
            }
            let (joint, side) = (&joints[j], flesh.side(j));
            let cubes = &flesh.enclosure.cubes;
            let hinge = Hinge { cubes, side: &side, start: &start[j], pivot: joint.pivot };
            let of = |samples: Vec<crate::base::math::DQuat>| -> Result<Vec<f32>> {
                let weights = hinge.minimise(&samples, STEPS)?.weights;
                Ok(weights.into_iter().map(|w| w.clamp(0.0, 1.0) as f32).collect())
            };
            Ok(Some([of(swing_samples(joint.bone))?, of(twist_samples(joint.bone))?]))
        };
        let all: Vec<_> = (0..joints.len()).into_par_iter().map(solve).collect::<Result<_>>()?;
        let Some(all) = all.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let (swing, twist) = all.into_iter().map(|[swing, twist]| (swing, twist)).unzip();
        Ok(Some(Self { swing, twist }))
    }

    /// Interpolates the weights at points.
    fn sample(
        &self,
        flesh: &Flesh,
        character: &Character,
        points: Points<'_>,
        count: usize,
    ) -> SwingTwistWeights {
        let place = |i: usize| match points {
            Points::Vertices => flesh.of_vertex(i, character.control.positions[i].as_dvec3()),
            Points::Inside(positions) => flesh.at(positions[i].as_dvec3()),
        };
        let row = |i: usize| -> Vec<JointWeight> {
            let Some((cell, shares)) = place(i) else { return Vec::new() };
            let corners = &flesh.enclosure.cubes.cells[cell];
            let at = |weights: &[f32]| {
                let sum: f64 =
                    corners.iter().zip(shares).map(|(&n, s)| s * f64::from(weights[n as usize])).sum();
                ((sum - LEAST) / (1.0 - 2.0 * LEAST)).clamp(0.0, 1.0) as f32
            };
            let of = |j: usize| JointWeight {
                joint: j as u32,
                swing: at(&self.swing[j]),
                twist: at(&self.twist[j]),
            };
            (0..flesh.joints.len()).map(of).filter(|w| w.swing > 0.0 || w.twist > 0.0).collect()
        };
        let rows: Vec<Vec<JointWeight>> = (0..count).into_par_iter().map(row).collect();
        let mut out = SwingTwistWeights { offset: vec![0], entries: Vec::new() };
        rows.into_iter().for_each(|row| out.push(row.into_iter()));
        out
    }
}

/// Returns the harmonic weight per joint and node: 1 on bones that rotate with the joint, 0 on other bones. Returns `None`
/// if cancelled.
fn harmonic(flesh: &Flesh, progress: &(dyn Fn(f32) -> bool + Sync)) -> Result<Option<Vec<Vec<f64>>>> {
    let handles = flesh.handles(&flesh.fixed);
    let go_on = |_: f32| progress(0.0);
    let own = quasi_harmonic_weights(&flesh.enclosure.cubes, &handles, 0, &go_on)?;
    let Some(mut sums) = own else { return Ok(None) };
    // The weight of a joint is the sum over the bones that rotate with the joint. Children come after their parents in
    // the list.
    for j in (0..sums.len()).rev() {
        if let Some(parent) = flesh.joints[j].parent {
            let (above, below) = sums.split_at_mut(j);
            above[parent].iter_mut().zip(&below[0]).for_each(|(sum, w)| *sum += w);
        }
    }
    Ok(Some(sums))
}

/// Hashes all inputs.
fn key(character: &Character, points: Points<'_>, cubes: usize) -> Key {
    let key = hash("swing and twist weights", character, cubes);
    match points {
        Points::Vertices => key,
        Points::Inside(positions) => key.points(positions),
    }
}

/// Hashes a character's shape and bones, and the code that computes weights in the flesh.
pub(super) fn hash(name: &str, character: &Character, cubes: usize) -> Key {
    let skeleton = &character.skeleton;
    let ends: Vec<Vec3> = skeleton.bones.iter().flat_map(|b| [b.head, b.tail]).collect();
    let owners: Vec<u32> = skeleton.bones.iter().map(|b| b.parent.0).collect();
    let deforming: Vec<u8> = character.deforming_bones().into_iter().map(u8::from).collect();
    let joints = &skeleton.joints;
    let parents: Vec<u32> = joints.iter().map(|j| j.parent.map_or(u32::MAX, |p| p.0)).collect();
    let nodes: Vec<u32> = joints.iter().map(|j| j.node.0).collect();
    let pivots: Vec<Vec3> = joints.iter().map(|j| j.bind_from_joint.translation.into()).collect();
    let rigid: Vec<u8> = character.control.rigid.iter().map(|&r| u8::from(r)).collect();
    let mut key = Key::new(name).bytes(&(cubes as u64).to_le_bytes());
    for code in [
        include_bytes!("swing_twist.rs").as_slice(),
        include_bytes!("elastic.rs"),
        include_bytes!("quasi_harmonic.rs"),
        include_bytes!("flesh.rs"),
        include_bytes!("../../geom/enclosure.rs"),
        include_bytes!("../../geom/fragments.rs"),
        include_bytes!("../../geom/enclosure/inside.rs"),
    ] {
        key = key.bytes(code);
    }
    key = key.points(&character.control.positions).bytes(bytemuck::cast_slice(&character.control.triangles));
    key = key.bytes(&rigid).points(&ends).bytes(&deforming).points(&pivots);
    for numbers in [owners, parents, nodes] {
        key = key.bytes(bytemuck::cast_slice(&numbers));
    }
    key
}

fn packed(weights: &SwingTwistWeights) -> Vec<u8> {
    let mut out = Writer::default();
    out.count(weights.len());
    for i in 0..weights.len() {
        let row = weights.of(i);
        out.count(row.len());
        for entry in row {
            out.count(entry.joint as usize);
            out.float(f64::from(entry.swing));
            out.float(f64::from(entry.twist));
        }
    }
    out.0
}

fn unpacked(bytes: &[u8]) -> Option<SwingTwistWeights> {
    let mut from = Reader(bytes);
    let [count] = from.counts()?;
    let mut out = SwingTwistWeights { offset: vec![0], entries: Vec::new() };
    for _ in 0..count {
        let [row] = from.counts()?;
        for _ in 0..row {
            let [joint] = from.counts()?;
            let weights = from.floats(2)?;
            let sound = weights.iter().all(|w| (0.0..=1.0).contains(w));
            let [swing, twist] = [0, 1].map(|k| weights[k] as f32);
            sound.then(|| out.entries.push(JointWeight { joint: joint as u32, swing, twist }))?;
        }
        out.offset.push(out.entries.len() as u32);
    }
    from.0.is_empty().then_some(out)
}
