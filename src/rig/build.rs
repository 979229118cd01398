//! Builds a skeleton from a file: hierarchy, skin placement, joints. Computes in f64 and rounds once at the end.

use super::bones::build_bones;
use super::{Joint, RigNode, Skeleton, SkinPlacement};
use crate::asset::{Asset, Influences, Node, limits};
use crate::base::math::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Mat4, Trs};
use crate::base::{Error, JointId, MeshId, NodeId, Result, SkinId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Two bindings of a node count as equal if they place every vertex at the same position, within this fraction of the
/// skin's size.
const SAME_BINDING: f64 = 4e-6;

/// A vertex does not follow a joint whose weight is at most this.
pub const LEAST_WEIGHT: f32 = 1e-3;

/// See [`Builder::mend`].
const MISFIT: f64 = 2.0;

/// Maximum number of existing bindings of a node with which a new binding is compared.
const CANDIDATES: usize = 64;

impl Skeleton {
    /// Builds the skeleton of a file.
    ///
    /// # Errors
    /// [`Error::Broken`] if transforms overflow. [`Error::Unsupported`] for more than 65 535 joints, or if the scene
    /// draws meshes repeatedly and thereby exceeds the vertex limit of a file ([`limits::VERTICES`]).
    pub fn from_asset(asset: &Asset) -> Result<Self> {
        let shown = in_scene(asset);
        check_size(asset, &shown)?;
        let (nodes, locals): (Vec<_>, Vec<_>) = asset.nodes.iter().map(|n| rig_node(n, asset)).unzip();
        let clips = asset.clips.clone().into();
        let mut skeleton = Self { nodes, order: parents_first(asset), clips, ..Default::default() };
        skeleton.repeated = make_names_unique(&mut skeleton.nodes);
        let mut world = vec![DAffine3::IDENTITY; locals.len()];
        for &id in &skeleton.order {
            let i = id.index();
            world[i] = skeleton.nodes[i].parent.map_or(locals[i], |p| world[p.index()] * locals[i]);
            if !world[i].is_finite() {
                return Err(Error::broken(
                    &asset.path,
                    format!("node \"{}\"", skeleton.nodes[i].name),
                    "its world transform overflows",
                    "give it and its ancestors smaller scales",
                ));
            }
        }
        let (above, at_node, bind) = (Vec::new(), HashMap::new(), Vec::new());
        let mut builder = Builder { asset, shown, world, skeleton, above, at_node, bind };
        let drawn = builder.drawn_meshes();
        for (skin, meshes) in drawn.iter().enumerate() {
            builder.add_skin(skin, meshes);
        }
        builder.find_joints_above();
        builder.add_props();
        builder.link_parents();
        let mut skeleton = builder.skeleton;
        if skeleton.joints.len() > usize::from(u16::MAX) {
            let count = skeleton.joints.len();
            let remedy = "split the file into several characters";
            return Err(Error::unsupported(&asset.path, format!("a character of {count} joints"), remedy));
        }
        build_bones(&mut skeleton, asset);
        Ok(skeleton)
    }
}

/// Rejects a scene that draws more vertices or triangles than a whole file may contain.
fn check_size(asset: &Asset, shown: &[bool]) -> Result<()> {
    let drawn = asset.nodes.iter().zip(shown).filter(|(_, shown)| **shown).filter_map(|(n, _)| n.mesh);
    let primitives = drawn.flat_map(|m| &asset.meshes[m.index()].primitives);
    let (mut vertices, mut triangles) = (0usize, 0usize);
    for p in primitives {
        vertices = vertices.saturating_add(p.positions.len());
        triangles = triangles.saturating_add(p.triangles.len());
    }
    if vertices.max(triangles) > limits::VERTICES {
        let feature = format!("a scene of {vertices} vertices and {triangles} triangles");
        let remedy = format!("draw fewer copies: at most {} of each", limits::VERTICES);
        return Err(Error::unsupported(&asset.path, feature, remedy));
    }
    Ok(())
}

/// Returns whether each node is under a root of the default scene.
pub(crate) fn in_scene(asset: &Asset) -> Vec<bool> {
    let mut seen = vec![false; asset.nodes.len()];
    let mut stack: Vec<NodeId> = asset.roots.clone();
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            stack.extend(&asset.nodes[id.index()].children);
        }
    }
    seen
}

/// Returns the skin that deforms a node's mesh; `None` for a rigid prop.
pub(crate) fn skin_of(asset: &Asset, node: &Node) -> Option<SkinId> {
    node.skin.filter(|s| asset.skins.get(s.index()).is_some_and(|s| !s.joints.is_empty()))
}

fn parents_first(asset: &Asset) -> Vec<NodeId> {
    let roots = (0..asset.nodes.len()).rev().filter(|&i| asset.nodes[i].parent.is_none()).map(NodeId::from);
    let mut stack: Vec<NodeId> = roots.collect();
    let mut order = Vec::with_capacity(asset.nodes.len());
    while let Some(id) = stack.pop() {
        order.push(id);
        stack.extend(asset.nodes[id.index()].children.iter().rev());
    }
    order
}

/// Returns the node and its local transform, `rest * remainder`.
fn rig_node(node: &Node, asset: &Asset) -> (RigNode, DAffine3) {
    let mut rest = node.rest;
    let mut remainder = None;
    if let Some(matrix) = node.matrix {
        // A transform with a zero scale has no inverse, so zero scales move from `rest` to the remainder.
        rest.scale = rest.scale.map(|s| if s == 0.0 { 1.0 } else { s });
        let beyond = trs_f64(&rest).inverse() * affine_f64(&matrix);
        if beyond.is_finite() {
            remainder = Some(beyond.as_affine3a());
        } else {
            rest = node.rest;
        }
    }
    let local = trs_f64(&rest) * remainder.map_or(DAffine3::IDENTITY, |r| as_f64(&r));
    let node = RigNode {
        name: node.name.clone(),
        parent: node.parent,
        rest,
        remainder,
        weights: node.weights.clone(),
        targets: target_names(node, asset),
        joint: None,
    };
    (node, local)
}

/// Returns the names of the node's morph targets, one per weight. All primitives of a mesh have the same targets.
fn target_names(node: &Node, asset: &Asset) -> Vec<String> {
    let morphs = node.mesh.and_then(|m| asset.meshes[m.index()].primitives.first()).map(|p| &p.morphs);
    let name = |i: usize| morphs.and_then(|m| m.get(i)).map(|m| m.name.clone());
    (0..node.weights.len()).map(|i| name(i).unwrap_or_else(|| format!("target {i}"))).collect()
}

/// Makes node names unique by suffixes on later nodes; returns the repeated names.
fn make_names_unique(nodes: &mut [RigNode]) -> BTreeMap<String, Vec<NodeId>> {
    let mut given: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    for (i, node) in nodes.iter().enumerate() {
        given.entry(node.name.clone()).or_default().push(NodeId::from(i));
    }
    for (name, same) in &given {
        let mut count = 0;
        for node in &same[1..] {
            nodes[node.index()].name = loop {
                count += 1;
                let candidate = format!("{name}.{count:03}");
                if !given.contains_key(&candidate) {
                    break candidate;
                }
            };
        }
    }
    given.retain(|_, same| same.len() > 1);
    given
}

struct Builder<'a> {
    asset: &'a Asset,
    /// Whether each node is under a root of the scene.
    shown: Vec<bool>,
    /// Rest transform `world_from_node` of each node.
    world: Vec<DAffine3>,
    skeleton: Skeleton,
    /// Nearest ancestor of each node that is a joint of a skin.
    above: Vec<Option<NodeId>>,
    /// Joints at each node.
    at_node: HashMap<NodeId, Vec<JointId>>,
    /// `joint_from_bind` of each joint, and the skin for which the joint was created.
    bind: Vec<(DAffine3, Option<usize>)>,
}

impl Builder<'_> {
    fn add_skin(&mut self, index: usize, meshes: &BTreeSet<MeshId>) {
        let skin = &self.asset.skins[index];
        let mut inverse_bind: Vec<DAffine3> = skin.inverse_bind.iter().map(affine_f64).collect();
        self.mend(&skin.joints, &self.followed(index, meshes), &mut inverse_bind);
        let bind_from_mesh = self.place(&skin.joints, &inverse_bind);
        let mesh_from_bind = bind_from_mesh.inverse();
        let size = self.size_of(index, meshes, &bind_from_mesh);
        let mut joints = Vec::with_capacity(skin.joints.len());
        for (&node, &joint_from_mesh) in skin.joints.iter().zip(&inverse_bind) {
            let joint_from_bind = joint_from_mesh * mesh_from_bind;
            let present = self.at_node.get(&node).into_iter().flatten().copied();
            let same = present
                .take(CANDIDATES)
                .find(|j| same_binding(&self.bind[j.index()].0, &joint_from_bind, size.0, size.1));
            joints.push(same.unwrap_or_else(|| self.add_joint(node, joint_from_bind, Some(index))));
        }
        self.skeleton.skins.push(SkinPlacement { joints, bind_from_mesh: bind_from_mesh.as_affine3a() });
    }

    /// Returns, per joint of a skin, whether a vertex follows it.
    fn followed(&self, skin: usize, meshes: &BTreeSet<MeshId>) -> Vec<bool> {
        let mut followed = vec![false; self.asset.skins[skin].joints.len()];
        for primitive in meshes.iter().flat_map(|m| &self.asset.meshes[m.index()].primitives) {
            let Influences { joint, weight, .. } = &primitive.influences;
            for (joint, _) in joint.iter().zip(weight).filter(|(_, weight)| **weight > LEAST_WEIGHT) {
                followed[usize::from(*joint)] = true;
            }
        }
        followed
    }

    /// Replaces the inverse bind matrices of joints that no vertex follows, if they do not fit: if their scale at rest is
    /// more than [`MISFIT`] times larger or smaller than that of the nearest joint above that a vertex follows, or of the
    /// first such joint. The joint then moves like this other joint at rest.
    fn mend(&self, joints: &[NodeId], followed: &[bool], inverse_bind: &mut [DAffine3]) {
        let Some(first) = followed.iter().position(|f| *f) else { return };
        let at: HashMap<NodeId, usize> = joints.iter().zip(0..).map(|(&node, k)| (node, k)).collect();
        let above = |node: NodeId| {
            let parent = |n: &NodeId| self.skeleton.nodes[n.index()].parent;
            let mut nodes = std::iter::successors(parent(&node), parent);
            nodes.find_map(|n| at.get(&n).copied().filter(|&k| followed[k])).unwrap_or(first)
        };
        let scale = |map: &DAffine3| map.matrix3.determinant().abs().cbrt();
        for k in (0..joints.len()).filter(|&k| !followed[k]) {
            let other = above(joints[k]);
            let world = self.world[joints[k].index()];
            let fit = self.world[joints[other].index()] * inverse_bind[other];
            let ratio = scale(&(world * inverse_bind[k])) / scale(&fit);
            if is_invertible(&world) && is_invertible(&fit) && ratio > 0.0 && ratio.max(1.0 / ratio) > MISFIT
            {
                inverse_bind[k] = world.inverse() * fit;
            }
        }
    }

    /// Returns `bind_from_mesh` of a skin: from its first joint that is already placed, else from the rest pose of
    /// its first invertible joint. A joint scaled to zero is not invertible.
    fn place(&self, joints: &[NodeId], inverse_bind: &[DAffine3]) -> DAffine3 {
        let placed = joints.iter().zip(inverse_bind).filter_map(|(node, joint_from_mesh)| {
            let joint = self.at_node.get(node)?.first()?;
            Some(self.bind[joint.index()].0.inverse() * *joint_from_mesh)
        });
        let by_rest = joints.iter().zip(inverse_bind).map(|(node, m)| self.world[node.index()] * *m);
        placed.chain(by_rest).find(is_invertible).unwrap_or(DAffine3::IDENTITY)
    }

    /// Returns the meshes of the scene that each skin deforms.
    fn drawn_meshes(&self) -> Vec<BTreeSet<MeshId>> {
        let mut drawn = vec![BTreeSet::new(); self.asset.skins.len()];
        for node in self.asset.nodes.iter().enumerate().filter(|(i, _)| self.shown[*i]).map(|(_, n)| n) {
            if let (Some(mesh), Some(skin)) = (node.mesh, skin_of(self.asset, node)) {
                drawn[skin.index()].insert(mesh);
            }
        }
        drawn
    }

    /// Returns the bounding sphere, in bind space, of the meshes that a skin deforms: centre and radius, metres.
    fn size_of(&self, skin: usize, meshes: &BTreeSet<MeshId>, bind_from_mesh: &DAffine3) -> (DVec3, f64) {
        let primitives = meshes.iter().flat_map(|m| &self.asset.meshes[m.index()].primitives);
        let vertices = primitives.flat_map(|p| &p.positions);
        let ball = ball_around(vertices.map(|p| bind_from_mesh.transform_point3(p.as_dvec3())));
        let joints = self.asset.skins[skin].joints.iter();
        ball.or_else(|| ball_around(joints.map(|n| self.world[n.index()].translation))).unwrap_or_default()
    }

    fn add_joint(&mut self, node: NodeId, joint_from_bind: DAffine3, skin: Option<usize>) -> JointId {
        let id = JointId::from(self.skeleton.joints.len());
        let bind_from_joint = if is_invertible(&joint_from_bind) {
            joint_from_bind.inverse()
        } else {
            self.world[node.index()]
        };
        self.skeleton.joints.push(Joint {
            node,
            joint_from_bind: joint_from_bind.as_affine3a(),
            bind_from_joint: bind_from_joint.as_affine3a(),
            parent: None,
            skinned: skin.is_some(),
        });
        self.bind.push((joint_from_bind, skin));
        self.at_node.entry(node).or_default().push(id);
        self.skeleton.nodes[node.index()].joint.get_or_insert(id);
        id
    }

    /// Adds a joint for every mesh node of the scene that no skin deforms or whose mesh has a part without weights.
    fn add_props(&mut self) {
        let asset = self.asset;
        for (i, node) in asset.nodes.iter().enumerate() {
            if !self.shown[i] {
                continue;
            }
            let Some(mesh) = node.mesh else { continue };
            let primitives = &self.asset.meshes[mesh.index()].primitives;
            let skinned = skin_of(self.asset, node).is_some();
            if primitives.iter().all(|p| skinned && !p.influences.is_empty()) {
                continue;
            }
            let id = NodeId::from(i);
            let placed = self.at_node.get(&id).is_some_and(|js| is_invertible(&self.bind[js[0].index()].0));
            if !placed {
                let bind_from_node = self.place_prop(id);
                self.add_joint(id, bind_from_node.inverse(), None);
            }
        }
    }

    /// Returns `bind_from_node` of a prop. The nearest skin joint above the prop's node carries the prop.
    fn place_prop(&self, node: NodeId) -> DAffine3 {
        let world = self.world[node.index()];
        let carried = self.skin_joint_above(node, None).and_then(|j| {
            let (joint_from_bind, _) = self.bind[j.index()];
            let joint_world = self.world[self.skeleton.joints[j.index()].node.index()];
            is_invertible(&joint_world).then(|| joint_from_bind.inverse() * joint_world.inverse() * world)
        });
        let carried = carried.filter(is_invertible).unwrap_or(world);
        if is_invertible(&carried) {
            return carried;
        }
        // A zero scale hides the prop at rest, so any placement is valid. Use the nearest ancestor's scale.
        let mut at = self.skeleton.nodes[node.index()].parent;
        while let Some(p) = at {
            let above = self.world[p.index()];
            if is_invertible(&above) {
                return DAffine3 { translation: world.translation, ..above };
            }
            at = self.skeleton.nodes[p.index()].parent;
        }
        DAffine3::from_translation(world.translation)
    }

    fn link_parents(&mut self) {
        for i in 0..self.skeleton.joints.len() {
            let (node, skin) = (self.skeleton.joints[i].node, self.bind[i].1);
            self.skeleton.joints[i].parent = self.skin_joint_above(node, skin);
        }
    }

    /// Computes `above`; all skins must have been added before.
    fn find_joints_above(&mut self) {
        self.above = vec![None; self.skeleton.nodes.len()];
        for &id in &self.skeleton.order {
            if let Some(p) = self.skeleton.nodes[id.index()].parent {
                let is_joint = self.at_node.contains_key(&p);
                self.above[id.index()] = if is_joint { Some(p) } else { self.above[p.index()] };
            }
        }
    }

    /// Returns the nearest skin joint above a node; prefers the joint of `skin` if that node has several joints.
    fn skin_joint_above(&self, node: NodeId, skin: Option<usize>) -> Option<JointId> {
        let joints = self.at_node.get(&self.above[node.index()]?)?;
        let own = joints.iter().find(|j| self.bind[j.index()].1 == skin);
        own.or(joints.first()).copied()
    }
}

/// Returns centre and radius of the sphere around the points' bounding box.
fn ball_around(points: impl Iterator<Item = DVec3>) -> Option<(DVec3, f64)> {
    let box_of = points.fold(None, |b: Option<(DVec3, DVec3)>, p| {
        Some(b.map_or((p, p), |(min, max)| (min.min(p), max.max(p))))
    });
    box_of.map(|(min, max)| ((min + max) * 0.5, (max - min).length() * 0.5))
}

/// Returns whether two `joint_from_bind` maps place every point of a sphere equally, within [`SAME_BINDING`].
fn same_binding(a: &DAffine3, b: &DAffine3, center: DVec3, radius: f64) -> bool {
    if !is_invertible(a) {
        return a == b;
    }
    let between = a.inverse() * *b;
    let turned =
        (between.matrix3 - DMat3::IDENTITY).to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt();
    let moved = (between.transform_point3(center) - center).length();
    moved + turned * radius <= SAME_BINDING * radius
}

/// Returns whether a map is far enough from singular for a meaningful inverse.
fn is_invertible(map: &DAffine3) -> bool {
    let m = map.matrix3;
    let lengths = m.x_axis.length() * m.y_axis.length() * m.z_axis.length();
    map.is_finite() && lengths > 1e-60 && m.determinant().abs() > 1e-9 * lengths && map.inverse().is_finite()
}

fn trs_f64(trs: &Trs) -> DAffine3 {
    let q: DQuat = trs.rotation().as_dquat().normalize();
    DAffine3::from_scale_rotation_translation(trs.scale().as_dvec3(), q, trs.translation().as_dvec3())
}

fn affine_f64(m: &Mat4) -> DAffine3 {
    DAffine3::from_mat4(m.as_dmat4())
}

fn as_f64(m: &Affine3A) -> DAffine3 {
    DAffine3::from_mat4(Mat4::from(*m).as_dmat4())
}
