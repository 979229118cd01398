//! A character bound by FAST: chooses the joints that become handles and reads their transforms from a pose.

use super::gripped::{carrier, gripped};
use super::{Handle, Hold, Params, Reduced, Shape, is_bare};
use crate::asset::Influences;
use crate::base::math::{Affine3A, DAffine3, DMat3, Vec3};
use crate::base::{Error, GripId, JointId, Progress, Result};
use crate::bind::{Cache, Character};
use crate::rig::{GripHold, Pose, PosedRig, Skeleton};

/// Relative tolerance below which a handle's transform counts as equal to its parent's. Such a handle is left free.
const FOLLOWS: f32 = 1e-4;

/// A character bound by FAST. A joint is a handle if it moves part of the mesh, or if it connects several subtrees of
/// such joints, as a root without weights does.
#[derive(Clone, Debug)]
pub struct Body {
    /// The bound control mesh.
    pub reduced: Reduced,
    /// The joint of each given handle; parents precede children.
    pub joints: Vec<JointId>,
    /// The parent of each given handle, as an index of a handle; `None` for a root.
    pub parents: Vec<Option<usize>>,
    handle_of: Vec<Option<usize>>,
    /// The handle that carries each node: the handle of its joint or of its nearest ancestor.
    carrier: Vec<Option<usize>>,
    /// The grips, whose handles follow those of the joints.
    grips: Vec<Grip>,
}

/// A grip on the skin, as a handle.
#[derive(Clone, Debug)]
struct Grip {
    id: GripId,
    /// Its centre in bind space, metres.
    pivot: Vec3,
    /// The joint that carries model space: for a mesh without a skeleton, the joint of the mesh's node.
    space: Option<JointId>,
    /// The transform of the rest pose, bind space to world.
    rest: DAffine3,
}

impl Grip {
    /// Returns what the pose determines of the grip, and the grip's transform in the pose, bind space to world.
    fn read(&self, rig: &PosedRig) -> (Hold, DAffine3) {
        let space = self.space.and_then(|j| rig.skinning.get(j.index())).map_or(DAffine3::IDENTITY, wide);
        let Some(grip) = rig.grips.iter().find(|g| g.id == self.id) else {
            return (Hold::Free, space * self.rest);
        };
        let at = self.rest.transform_point3(self.pivot.as_dvec3());
        let (hold, turn) = match grip.hold {
            GripHold::Free => return (Hold::Free, space * self.rest),
            GripHold::Position => (Hold::Position, DAffine3::IDENTITY),
            GripHold::Full => (Hold::Full, DAffine3::from_quat(grip.rotation().as_dquat())),
        };
        let moved = DAffine3::from_translation(at + grip.translation().as_dvec3());
        (hold, space * moved * turn * DAffine3::from_translation(-at) * self.rest)
    }
}

impl Body {
    /// Binds the control mesh of a character.
    ///
    /// # Errors
    /// The errors of [`Reduced::bind`]; the message also names the meshes.
    pub fn bind(character: &Character, params: &Params) -> Result<Self> {
        Self::kept(None, character, params)
    }

    /// Binds a character like [`Body::bind`], but reads the binding from the cache if it contains one.
    ///
    /// # Errors
    /// The errors of [`Body::bind`].
    pub fn kept(cache: Option<&Cache>, character: &Character, params: &Params) -> Result<Self> {
        Self::gripped(cache, character, params, &Progress::default())
    }

    /// Binds a character like [`Body::kept`], with the grips of the settings. `progress` cancels the computation of
    /// their weights.
    ///
    /// # Errors
    /// The errors of [`Body::bind`], and an error if a grip does not fit the mesh or `progress` is cancelled.
    pub fn gripped(
        cache: Option<&Cache>,
        character: &Character,
        params: &Params,
        progress: &Progress,
    ) -> Result<Self> {
        Self::try_bind(cache, character, params, progress).map_err(|error| match error {
            Error::Input { problem, remedy } => {
                Error::input(format!("FAST on {}: {problem}", meshes(character)), remedy)
            }
            other => other,
        })
    }

    fn try_bind(
        cache: Option<&Cache>,
        character: &Character,
        params: &Params,
        progress: &Progress,
    ) -> Result<Self> {
        let (skeleton, control) = (&character.skeleton, &character.control);
        let with_grips = match params.grips.is_empty() {
            true => None,
            false => Some(gripped(cache, character, &params.grips, progress)?),
        };
        let given = with_grips.as_ref().unwrap_or(&control.influences);
        let above_joint = |j: JointId| {
            let parent = |j: &JointId| skeleton.joints[j.index()].parent;
            std::iter::successors(parent(&j), parent)
        };
        let (mut live, mut props) = (vec![false; skeleton.joints.len()], vec![false; skeleton.joints.len()]);
        for v in 0..control.positions.len() {
            let joints = given.of(v).map(|(j, _)| usize::from(j)).filter(|&j| j < skeleton.joints.len());
            joints.for_each(|j| if control.rigid[v] { props[j] = true } else { live[j] = true });
        }
        // A rigid prop, such as a helmet, goes with the joint that carries it. A body of rigid parts has no such joint.
        let alone = |j: &usize| !above_joint(JointId::from(*j)).any(|p| live[p.index()]);
        let alone: Vec<usize> = (0..live.len()).filter(|&j| props[j]).filter(alone).collect();
        alone.into_iter().for_each(|j| live[j] = true);
        join_trees(skeleton, &mut live);
        let mut joints: Vec<JointId> = Vec::new();
        let mut at_node: Vec<Vec<usize>> = vec![Vec::new(); skeleton.nodes.len()];
        skeleton.joints.iter().enumerate().for_each(|(j, joint)| at_node[joint.node.index()].push(j));
        for node in &skeleton.order {
            joints.extend(at_node[node.index()].iter().filter(|&&j| live[j]).map(|&j| JointId::from(j)));
        }
        let mut handle_of = vec![None; skeleton.joints.len()];
        joints.iter().enumerate().for_each(|(h, j)| handle_of[j.index()] = Some(h));
        let above = |j: &JointId| above_joint(*j).find_map(|p| handle_of[p.index()]);
        let parents: Vec<Option<usize>> = joints.iter().map(above).collect();
        let mut handles: Vec<Handle> = joints
            .iter()
            .zip(&parents)
            .map(|(j, parent)| Handle { pivot: pivot(skeleton, *j), parent: *parent })
            .collect();
        let bare = is_bare(character);
        let grips: Vec<Grip> = params
            .grips
            .iter()
            .map(|grip| Grip {
                id: grip.id,
                pivot: grip.center(&control.positions),
                space: carrier(character, grip).filter(|_| bare),
                rest: DAffine3::IDENTITY,
            })
            .collect();
        handles.extend(grips.iter().map(|g| Handle { pivot: g.pivot, parent: None }));
        let handle = |j: u16| match usize::from(j).checked_sub(skeleton.joints.len()) {
            Some(grip) => Some(joints.len() + grip),
            None => handle_of[usize::from(j)].or_else(|| above(&JointId::from(usize::from(j)))),
        };
        let mut weights = Influences::default();
        for v in 0..control.positions.len() {
            weights.push(given.of(v).filter_map(|(j, w)| Some((handle(j)? as u16, w))));
        }
        let shape = Shape {
            positions: &control.positions,
            triangles: &control.triangles,
            weights: &weights,
            handles: &handles,
        };
        let carrier = carriers(skeleton, &handle_of);
        let mut out = Self {
            reduced: Reduced::kept(cache, &shape, params)?,
            joints,
            parents,
            handle_of,
            carrier,
            grips,
        };
        // A file's bind pose may differ in size from its rest pose. The rest shape is therefore the bind shape,
        // transformed by the first handle's transform in the rest pose.
        let rest = out.posed(&PosedRig::new(skeleton, &Pose::rest(skeleton)));
        let first = rest.first().filter(|m| m.is_finite() && m.matrix3.determinant().abs() > 1e-30);
        if let Some(first) = first.filter(|m| !m.abs_diff_eq(DAffine3::IDENTITY, 1e-9)) {
            out.reduced = out.reduced.around(&vec![*first; out.reduced.given]);
            out.grips.iter_mut().for_each(|g| g.rest = *first);
        }
        Ok(out)
    }

    /// Returns the handle of the joint or of its nearest ancestor with a handle, or else the first handle.
    pub fn handle(&self, skeleton: &Skeleton, joint: JointId) -> usize {
        self.carrying_handle(skeleton, joint).unwrap_or(0)
    }

    /// Returns the handle of the joint or of its nearest ancestor with a handle.
    pub fn carrying_handle(&self, skeleton: &Skeleton, joint: JointId) -> Option<usize> {
        let parent = |j: &JointId| skeleton.joints[j.index()].parent;
        std::iter::successors(Some(joint), parent).find_map(|j| self.handle_of[j.index()])
    }

    /// Returns the joint's own handle; `None` if the joint is not a handle.
    pub fn own_handle(&self, joint: JointId) -> Option<usize> {
        self.handle_of.get(joint.index()).copied().flatten()
    }

    /// Returns the position of a handle's joint in bind space, metres.
    pub fn pivot(&self, skeleton: &Skeleton, handle: usize) -> Vec3 {
        pivot(skeleton, self.joints[handle])
    }

    /// Returns the transforms of the given handles in a pose, bind space to world.
    pub fn posed(&self, rig: &PosedRig) -> Vec<DAffine3> {
        self.joints.iter().map(|j| wide(&rig.skinning[j.index()])).collect()
    }

    /// Writes the same transforms as [`Body::posed`] to `out`.
    pub fn read(&self, rig: &PosedRig, out: &mut Vec<DAffine3>) {
        out.clear();
        out.extend(self.joints.iter().map(|j| wide(&rig.skinning[j.index()])));
    }

    /// Appends the transforms of the grips' handles in a pose to `out`, bind space to world.
    pub(super) fn read_grips(&self, rig: &PosedRig, out: &mut Vec<DAffine3>) {
        out.extend(self.grips.iter().map(|g| g.read(rig).1));
    }

    /// Returns, per grip, what the pose determines; never [`Hold::Auto`].
    pub(super) fn holds_of_grips<'a>(&'a self, rig: &'a PosedRig) -> impl Iterator<Item = Hold> + 'a {
        self.grips.iter().map(|g| g.read(rig).0)
    }

    /// Returns the position of a handle's joint or grip in bind space, metres.
    pub fn center(&self, skeleton: &Skeleton, handle: usize) -> Vec3 {
        match handle.checked_sub(self.joints.len()) {
            Some(grip) => self.grips[grip].pivot,
            None => self.pivot(skeleton, handle),
        }
    }

    /// Writes `rig` to `out`, with each handle's joint moved to where the solved transform `maps` puts it. Nodes
    /// without a handle follow their nearest ancestor with one.
    pub(super) fn place(&self, skeleton: &Skeleton, rig: &PosedRig, maps: &[Affine3A], out: &mut PosedRig) {
        out.world.clone_from(&rig.world);
        // The transform from a joint's position in the pose to its solved position.
        let moves = |h: usize| {
            let moved = *maps.get(h)? * rig.skinning[self.joints[h].index()].inverse();
            Some(if moved.is_finite() { moved } else { Affine3A::IDENTITY })
        };
        for &id in &skeleton.order {
            if let Some(moved) = self.carrier[id.index()].and_then(moves) {
                out.world[id.index()] = moved * out.world[id.index()];
            }
        }
        out.follow(skeleton);
    }

    /// Returns, per given handle, whether the pose determines it: it is a root, or it moves relative to its parent.
    pub(super) fn placed<'a>(&'a self, rig: &'a PosedRig) -> impl Iterator<Item = bool> + 'a {
        let size = self.reduced.size as f32;
        let follows = move |h: usize, p: usize| {
            let (a, b) = (&rig.skinning[self.joints[h].index()], &rig.skinning[self.joints[p].index()]);
            let largest = |m: [f32; 9]| m.iter().fold(0.0, |m: f32, v| m.max(v.abs()));
            let turn = largest((a.matrix3 - b.matrix3).to_cols_array());
            let scale = FOLLOWS * largest(a.matrix3.to_cols_array());
            let x = self.reduced.center.as_vec3();
            turn <= scale && a.transform_point3(x).distance(b.transform_point3(x)) <= scale * size
        };
        (0..self.joints.len()).map(move |h| self.parents[h].is_none_or(|p| !follows(h, p)))
    }
}

fn wide(map: &Affine3A) -> DAffine3 {
    let m = map.matrix3;
    let columns = [m.x_axis, m.y_axis, m.z_axis].map(|c| Vec3::from(c).as_dvec3());
    DAffine3 {
        matrix3: DMat3::from_cols(columns[0], columns[1], columns[2]),
        translation: Vec3::from(map.translation).as_dvec3(),
    }
}

/// Returns the handle that carries each node: the handle of its joint or of its nearest ancestor.
fn carriers(skeleton: &Skeleton, handle_of: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut out = vec![None; skeleton.nodes.len()];
    for &id in &skeleton.order {
        let node = &skeleton.nodes[id.index()];
        let own = node.joint.and_then(|j| handle_of[j.index()]);
        out[id.index()] = own.or(node.parent.and_then(|p| out[p.index()]));
    }
    out
}

/// Adds joints to `live`, the joints that become handles: joints at which several subtrees of live joints meet. The
/// subtrees then form one tree.
fn join_trees(skeleton: &Skeleton, live: &mut [bool]) {
    let parent = |j: usize| skeleton.joints[j].parent.map(|p| p.index());
    // Per joint: the number of topmost live joints (live joints without a live ancestor) below it. Those below the same
    // child count once.
    let mut below = vec![0; live.len()];
    let mut branch = Vec::new();
    for j in (0..live.len()).filter(|&j| live[j]) {
        let above: Vec<usize> = std::iter::successors(parent(j), |&p| parent(p)).take(live.len()).collect();
        if above.iter().any(|&p| live[p]) {
            continue;
        }
        for p in above {
            below[p] += 1;
            if below[p] == 2 {
                branch.push(p);
            }
            if below[p] > 1 {
                break;
            }
        }
    }
    branch.into_iter().for_each(|p| live[p] = true);
}

/// Returns the names of the nodes that draw the character's meshes, for error messages.
fn meshes(character: &Character) -> String {
    let mut names: Vec<&str> = Vec::new();
    for part in &character.display.parts {
        let name = character.skeleton.nodes.get(part.node.index()).map_or("", |n| n.name.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] => "the mesh".to_owned(),
        [name] => format!("mesh \"{name}\""),
        [name, rest @ ..] => format!("mesh \"{name}\" and {} more", rest.len()),
    }
}

fn pivot(skeleton: &Skeleton, joint: JointId) -> Vec3 {
    let x: Vec3 = skeleton.joints[joint.index()].bind_from_joint.translation.into();
    if x.is_finite() { x } else { Vec3::ZERO }
}
