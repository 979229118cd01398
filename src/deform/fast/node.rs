//! FAST as a deformer. The root joints, and all joints that the pose moves relative to their parents, are
//! constrained, unless the settings say otherwise ([`Hold`]). The remaining joints and the abstract handles are free.
//!
//! Every frame starts from the rotations of its own pose, so the result does not depend on earlier frames.

use super::{Body, Constrained, Constraint, Grips, Hold, Params, Solver, Target};
use crate::asset::Influences;
use crate::base::Result;
use crate::base::math::{Affine3A, DAffine3, Mat3A, Vec3, Vec3A};
use crate::bind::Cache;
use crate::deform::attach::Anchors;
use crate::deform::lbs::blend;
use crate::deform::rest::Rested;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Streams};
use crate::rig::{PosedRig, RestShift, Skeleton};
use rayon::prelude::*;

/// The transform of an abstract handle at rest.
const ZERO: Affine3A = Affine3A { matrix3: Mat3A::ZERO, translation: Vec3A::ZERO };

/// Solver for the handle transforms of a pose. `body` is `None` for a character without vertices.
pub(super) struct Node {
    body: Option<Body>,
    params: Params,
    /// Weights of each vertex over given and abstract handles.
    pub influences: Influences,
}

/// Solver state that persists between frames. It is reallocated only when the set of constraints changes.
#[derive(Default)]
pub(super) struct Kept {
    /// What the constraints of `solving` hold, per given handle; never [`Hold::Auto`].
    holds: Vec<Hold>,
    solving: Option<(Constrained, Solver)>,
    pose: Vec<DAffine3>,
    targets: Vec<Target>,
    /// Transforms of all handles, bind space to world.
    pub maps: Vec<Affine3A>,
    /// The pose with its joints moved by the solved transforms.
    pub posed: PosedRig,
    /// The pose over the file's rest shape.
    plain: PosedRig,
}

impl Node {
    /// Binds a character.
    ///
    /// # Errors
    /// The errors of [`Body::bind`].
    pub fn bind(bound: &Bound, params: &Params) -> Result<Self> {
        let empty = bound.character.control.positions.is_empty();
        // The vertices of a grip are those of the skin, not points inside a body.
        let params = match bound.body {
            Some(_) => &Params { grips: Grips::default(), ..params.clone() },
            None => params,
        };
        let cache = if cfg!(test) { None } else { Cache::platform() };
        let bind = || Body::gripped(cache.as_ref(), &bound.character, params, &bound.progress);
        let body = if empty { None } else { Some(bind()?) };
        let influences = match &body {
            Some(body) => body.reduced.weights.influences(),
            None => bound.character.control.influences.clone(),
        };
        Ok(Self { body, params: params.clone(), influences })
    }

    /// Sets parameters that need no new binding (see [`Params::can_become`]).
    pub fn set(&mut self, params: &Params) {
        if self.params != *params {
            self.params.clone_from(params);
        }
    }

    /// Returns, per given handle, what the pose determines.
    fn holds<'a>(&'a self, body: &'a Body, rig: &'a PosedRig) -> impl Iterator<Item = Hold> + 'a {
        let joints =
            body.placed(rig).zip(&body.joints).map(|(placed, joint)| match self.params.hold(*joint) {
                Hold::Auto if placed => Hold::Full,
                Hold::Auto => Hold::Free,
                hold => hold,
            });
        joints.chain(body.holds_of_grips(rig))
    }

    /// Returns the number of transforms in [`Kept::maps`].
    pub fn handles(&self, bound: &Bound) -> usize {
        self.body.as_ref().map_or(bound.character.skeleton.joints.len(), |b| b.reduced.handles)
    }

    /// Solves a pose of the file's skeleton. Returns the solved pose for later nodes of the graph; `None` for a character without vertices.
    pub fn solve<'a>(
        &self,
        skeleton: &Skeleton,
        rig: &PosedRig,
        kept: &'a mut Kept,
    ) -> Result<Option<&'a PosedRig>> {
        let Some(body) = &self.body else {
            kept.maps.clone_from(&rig.skinning);
            return Ok(None);
        };
        // The solver knows the file's rest shape. The solved transforms then carry the changed rest shape, as LBS does.
        if rig.rest.is_empty() {
            self.solve_plain(body, skeleton, rig, kept)?;
        } else {
            let mut plain = std::mem::take(&mut kept.plain);
            rig.with_rest_into(skeleton, &RestShift::default(), &mut plain);
            let solved = self.solve_plain(body, skeleton, &plain, kept);
            kept.plain = plain;
            solved?;
        }
        kept.posed.carry(skeleton, &rig.rest);
        Ok(Some(&kept.posed))
    }

    fn solve_plain(&self, body: &Body, skeleton: &Skeleton, rig: &PosedRig, kept: &mut Kept) -> Result<()> {
        let reduced = &body.reduced;
        if kept.solving.is_none() || !self.holds(body, rig).eq(kept.holds.iter().copied()) {
            kept.holds.clear();
            kept.holds.extend(self.holds(body, rig));
            let constraint = |(handle, hold): (usize, &Hold)| match hold {
                Hold::Full => Some(Constraint::Full { handle }),
                Hold::Position => Some(Constraint::on_handle(handle, body.center(skeleton, handle))),
                Hold::Auto | Hold::Free => None,
            };
            let constraints = kept.holds.iter().enumerate().filter_map(constraint).collect();
            let constrained = reduced.constrain(constraints)?;
            let solver = Solver::new(reduced, &constrained);
            kept.solving = Some((constrained, solver));
        }
        let Some((constrained, solver)) = &mut kept.solving else { return Ok(()) };
        body.read(rig, &mut kept.pose);
        body.read_grips(rig, &mut kept.pose);
        let target = |(handle, (map, hold)): (usize, (&DAffine3, &Hold))| match hold {
            Hold::Full => Some(Target::Map(*map)),
            Hold::Position => {
                Some(Target::Point(map.transform_point3(body.center(skeleton, handle).as_dvec3())))
            }
            Hold::Auto | Hold::Free => None,
        };
        kept.targets.clear();
        kept.targets.extend(kept.pose.iter().zip(&kept.holds).enumerate().filter_map(target));
        solver.set_targets(reduced, constrained, &kept.targets);
        solver.start_from(reduced, &kept.pose);
        solver.solve(self.params.iterations.min(super::MAX_ITERATIONS), self.params.acceleration);
        solver.read(reduced, &mut kept.maps);
        if body.joints.is_empty() && kept.holds.iter().all(|h| *h == Hold::Free) {
            // No grip places the mesh, so the mesh follows its node; abstract handles add nothing.
            let given = kept.pose.iter().map(|map| map.as_affine3a());
            kept.maps.iter_mut().zip(given).for_each(|(out, map)| *out = map);
            kept.maps[kept.pose.len()..].fill(ZERO);
        }
        body.place(skeleton, rig, &kept.maps, &mut kept.posed);
        Ok(())
    }
}

/// The CPU reference of FAST.
pub struct Fast {
    node: Node,
    /// The file's skeleton.
    skeleton: Skeleton,
    bound: Bound,
    anchors: Anchors,
}

impl Fast {
    /// Binds a character.
    ///
    /// # Errors
    /// The errors of [`Body::bind`], and an error if the attachments do not fit the character.
    pub fn new(bound: &Bound, params: &Params) -> Result<Self> {
        let (node, skeleton) = (Node::bind(bound, params)?, bound.character.skeleton.clone());
        Ok(Self { node, skeleton, anchors: Anchors::new(bound)?, bound: bound.clone() })
    }
}

impl Reference for Fast {
    fn set_rest(&mut self, rested: &Rested) {
        self.anchors.set_scale_vectors(&rested.bound);
        self.bound = rested.bound.clone();
    }

    fn name(&self) -> &'static str {
        "fast"
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        self.evaluate(rig, streams);
    }

    fn evaluate(&self, rig: &PosedRig, streams: &mut Streams) -> Option<PosedRig> {
        let character = &self.bound.character;
        let mut kept = Kept::default();
        // Cannot fail: all constraints refer to existing handles.
        let solved = self.node.solve(&self.skeleton, rig, &mut kept).is_ok_and(|posed| posed.is_some());
        let posed = solved.then_some(kept.posed);
        let data = RigData::of(&self.skeleton, posed.as_ref().unwrap_or(rig));
        self.anchors.attachment_points(&data, &mut streams.attachment);
        streams.position.resize(character.control.positions.len(), Vec3::ZERO);
        let both = streams.position.par_iter_mut().zip(&character.control.positions).enumerate();
        let influences = &self.node.influences;
        both.for_each(|(i, (out, x))| *out = blend(influences, i, &kept.maps).transform_point3(*x));
        posed
    }
}
