//! The deformer: joints that a pose places are given, those that just follow are free, abstract handles always are.
//!
//! Every frame starts from the pose's own rotations, so that the same pose gives the same shape whatever came before.

use super::{Body, Constrained, Constraint, Params, Solver, Target};
use crate::asset::Influences;
use crate::base::Result;
use crate::base::math::{Affine3A, Vec3};
use crate::deform::attach::Anchors;
use crate::deform::lbs::blend;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;

/// Transforms of a pose. Only a character without a vertex has no body: there is nothing to solve for.
pub(super) struct Node {
    body: Option<Body>,
    params: Params,
    /// Weights over all handles.
    pub influences: Influences,
}

/// The constraints of the last pose: made anew when another set of joints is placed.
#[derive(Default)]
pub(super) struct Kept(Option<(Vec<bool>, Constrained, Solver)>);

impl Node {
    /// Binds a character.
    ///
    /// # Errors
    /// As [`Body::bind`].
    pub fn bind(bound: &Bound, params: &Params) -> Result<Self> {
        let empty = bound.character.control.positions.is_empty();
        let body = if empty { None } else { Some(Body::bind(&bound.character, params)?) };
        let influences = match &body {
            Some(body) => body.reduced.weights.influences(),
            None => bound.character.control.influences.clone(),
        };
        Ok(Self { body, params: params.clone(), influences })
    }

    /// Takes other settings that need no binding ([`Params::can_become`]).
    pub fn set(&mut self, params: &Params) {
        self.params.clone_from(params);
    }

    /// Number of transforms.
    pub fn handles(&self, bound: &Bound) -> usize {
        self.body.as_ref().map_or(bound.character.skeleton.joints.len(), |b| b.reduced.handles)
    }

    /// The pose with its joints where the transforms of all handles put them: what other nodes of the graph go by.
    pub fn posed(&self, bound: &Bound, rig: &PosedRig, maps: &[Affine3A]) -> Option<PosedRig> {
        Some(self.body.as_ref()?.moved(&bound.character.skeleton, rig, maps))
    }

    /// The transforms of all handles.
    pub fn transforms(&self, rig: &PosedRig, kept: &mut Kept) -> Result<Vec<Affine3A>> {
        let Some(body) = &self.body else { return Ok(rig.skinning.clone()) };
        let reduced = &body.reduced;
        let placed = body.placed(rig);
        if kept.0.as_ref().is_none_or(|(before, ..)| *before != placed) {
            let given = (0..placed.len()).filter(|&h| placed[h]);
            let constrained = reduced.constrain(given.map(|handle| Constraint::Full { handle }).collect())?;
            let solver = Solver::new(reduced, &constrained);
            kept.0 = Some((placed, constrained, solver));
        }
        let Some((placed, constrained, solver)) = &mut kept.0 else { return Ok(Vec::new()) };
        let pose = body.posed(rig);
        let targets: Vec<Target> =
            pose.iter().zip(placed).filter(|(_, p)| **p).map(|(m, _)| Target::Map(*m)).collect();
        solver.set_targets(reduced, constrained, &targets);
        solver.start_from(reduced, &pose);
        solver.solve(self.params.iterations.min(super::MAX_ITERATIONS), self.params.acceleration);
        Ok(solver.transforms(reduced))
    }
}

/// The CPU twin.
pub struct Fast {
    node: Node,
    bound: Bound,
    anchors: Anchors,
}

impl Fast {
    /// Binds a character.
    ///
    /// # Errors
    /// Where attachments and character do not fit together; as [`Body::bind`].
    pub fn new(bound: &Bound, params: &Params) -> Result<Self> {
        Ok(Self { node: Node::bind(bound, params)?, anchors: Anchors::new(bound)?, bound: bound.clone() })
    }
}

impl Fast {
    fn maps(&self, rig: &PosedRig) -> Vec<Affine3A> {
        // The constraints name handles that there are, so that they cannot be refused.
        self.node.transforms(rig, &mut Kept::default()).unwrap_or_default()
    }
}

impl Reference for Fast {
    fn name(&self) -> &'static str {
        "fast"
    }

    fn reads(&self) -> &'static [Stream] {
        &[]
    }

    fn writes(&self) -> &'static [Stream] {
        &[Stream::Position, Stream::Attachment]
    }

    fn posed(&self, rig: &PosedRig) -> Option<PosedRig> {
        self.node.posed(&self.bound, rig, &self.maps(rig))
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        let character = &self.bound.character;
        let maps = self.maps(rig);
        let posed = self.node.posed(&self.bound, rig, &maps);
        let data = RigData::of(&character.skeleton, posed.as_ref().unwrap_or(rig));
        self.anchors.attachment_points(&data, &mut streams.attachment);
        streams.position.resize(character.control.positions.len(), Vec3::ZERO);
        let both = streams.position.par_iter_mut().zip(&character.control.positions).enumerate();
        both.for_each(|(i, (out, x))| *out = blend(&self.node.influences, i, &maps).transform_point3(*x));
    }
}
