//! Orders the joints that move each vertex.

use super::Params;
use crate::base::{Error, Result};
use crate::bind::weights::{FleshJoint, JointWeight, Points, flesh_joints, swing_twist_weights};
use crate::bind::{Cache, Character};
use crate::deform::Bound;
use crate::shared_with_shaders;

shared_with_shaders! {
    /// A joint that moves a vertex, in the shader's layout.
    #[derive(Debug, PartialEq)]
    pub struct ChainEntry as "ChainEntry" {
        /// Index in [`SwingTwistBinding::joints`].
        pub joint: u32,
        /// Fraction of the joint's swing, 0 to 1.
        pub swing: f32,
        /// Fraction of the joint's twist, 0 to 1.
        pub twist: f32,
    }
}

/// Precomputed data of a character.
#[derive(Clone, Debug, Default)]
pub struct SwingTwistBinding {
    /// The joints with deformers, parents before children.
    pub joints: Vec<FleshJoint>,
    /// Per vertex: joint of the skeleton that moves the vertex rigidly after all entries; [`SwingTwistBinding::NONE`] for
    /// the world.
    pub base: Vec<u32>,
    /// Position in `entries` of each vertex's first entry, and the number of entries at the end.
    pub offset: Vec<u32>,
    /// Joints below a vertex's base that move the vertex, descendants before ancestors.
    pub entries: Vec<ChainEntry>,
}

impl SwingTwistBinding {
    /// The base of a vertex that no joint moves rigidly.
    pub const NONE: u32 = u32::MAX;

    /// The entries of a vertex.
    pub fn of(&self, vertex: usize) -> &[ChainEntry] {
        &self.entries[self.offset[vertex] as usize..self.offset[vertex + 1] as usize]
    }
}

/// Computes the weights of a character, or reads them from the cache, and orders them. Vertices of props, and vertices
/// without flesh near them, follow the joint with their largest skin weight.
///
/// # Errors
/// The errors of [`swing_twist_weights`], and [`Error::Input`] if [`Bound::progress`] is cancelled.
pub fn bind(bound: &Bound, params: &Params) -> Result<SwingTwistBinding> {
    let (character, cubes) = (&*bound.character, params.clone().sane().cubes as usize);
    let (body, points): (&Character, Points) = match &bound.body {
        Some(body) => (body, Points::Inside(&character.control.positions)),
        None => (character, Points::Vertices),
    };
    // Tests compute the weights, so that they never test those of an older build.
    let cache = if cfg!(test) { None } else { Cache::platform() };
    let go_on = |part: f32| bound.progress.report(part);
    let weights = swing_twist_weights(cache.as_ref(), body, points, cubes, &go_on)?;
    let cancelled = || Error::input("the weights were cancelled", "choose the method again");
    let weights = weights.ok_or_else(cancelled)?;
    let joints = flesh_joints(body);
    let mut out = SwingTwistBinding { joints, offset: vec![0], ..SwingTwistBinding::default() };
    let control = &character.control;
    for v in 0..control.positions.len() {
        let own = if control.rigid[v] || v >= weights.len() { &[][..] } else { weights.of(v) };
        let base = if own.is_empty() {
            let heaviest = control.influences.of(v).max_by(|a, b| a.1.total_cmp(&b.1));
            heaviest.map_or(SwingTwistBinding::NONE, |(joint, _)| u32::from(joint))
        } else {
            let base = chain(&out.joints, own, &mut out.entries);
            base.map_or(SwingTwistBinding::NONE, |j| out.joints[j].joint.0)
        };
        out.base.push(base);
        out.offset.push(out.entries.len() as u32);
    }
    Ok(out)
}

/// Appends the joints that move a vertex after its base, descendants before ancestors. The base is the deepest joint
/// that moves the vertex in full and is an ancestor of all joints that move it in part. Returns the base, or `None`
/// without one.
fn chain(joints: &[FleshJoint], weights: &[JointWeight], entries: &mut Vec<ChainEntry>) -> Option<usize> {
    let full = |w: &&JointWeight| w.swing >= 1.0 && w.twist >= 1.0;
    let ancestors = |j: usize| std::iter::successors(Some(j), |&j| joints[j].parent);
    let is_full = |j: usize| weights.iter().find(|w| w.joint as usize == j).is_some_and(|w| full(&w));
    let mut partial = weights.iter().filter(|w| !full(w)).map(|w| w.joint as usize);
    let Some(first) = partial.next() else {
        // Of the joints that move the vertex in full, the last is the deepest.
        return weights.last().map(|w| w.joint as usize);
    };
    let mut base = joints[first].parent;
    for j in partial {
        let above: Vec<usize> = joints[j].parent.into_iter().flat_map(ancestors).collect();
        base = base.into_iter().flat_map(ancestors).find(|b| above.contains(b));
    }
    let base = base.into_iter().flat_map(ancestors).find(|&b| is_full(b));
    let below = |j: usize| base.is_none_or(|b| j != b && ancestors(j).any(|a| a == b));
    // Parents come before children in the list of joints, so the reversed order has children before parents.
    let moving = weights.iter().rev().filter(|w| below(w.joint as usize));
    entries.extend(moving.map(|w| ChainEntry { joint: w.joint, swing: w.swing, twist: w.twist }));
    base
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::JointId;
    use crate::base::math::DVec3;

    #[test]
    fn the_chain_starts_below_the_last_common_ancestor_in_full() {
        // Hierarchy: 0 > 1 > 2 > 4, 1 > 3.
        let parents = [None, Some(0), Some(1), Some(1), Some(2)];
        let joint = |(j, parent): (usize, Option<usize>)| FleshJoint {
            joint: JointId::from(j),
            parent,
            pivot: DVec3::ZERO,
            bone: DVec3::X,
        };
        let joints: Vec<FleshJoint> = parents.into_iter().enumerate().map(joint).collect();
        type Case<'a> = (&'a [(u32, f32)], Option<usize>, &'a [u32]);
        let cases: [Case; 5] = [
            (&[(0, 1.0), (1, 1.0), (2, 1.0)], Some(2), &[]),
            (&[(0, 1.0), (1, 1.0), (2, 0.5)], Some(1), &[2]),
            (&[(0, 1.0), (1, 1.0), (2, 0.5), (3, 0.1)], Some(1), &[3, 2]),
            (&[(0, 1.0), (1, 0.9), (2, 1.0), (4, 0.5)], Some(0), &[4, 2, 1]),
            (&[(0, 0.5), (1, 1.0)], None, &[1, 0]),
        ];
        for (weights, base, order) in cases {
            let weights: Vec<JointWeight> =
                weights.iter().map(|&(joint, w)| JointWeight { joint, swing: w, twist: w }).collect();
            let mut entries = Vec::new();
            assert_eq!(chain(&joints, &weights, &mut entries), base);
            assert_eq!(entries.iter().map(|e| e.joint).collect::<Vec<_>>(), order);
        }
    }
}
