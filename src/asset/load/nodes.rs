//! Reads the node hierarchy and checks that it is a forest.

use super::context::{Context, in_range};
use super::item::Item;
use crate::asset::{Mesh, Node, limits};
use crate::base::math::{Affine3A, Mat4, Trs, Vec3, nearest_rotation};
use crate::base::{MeshId, NodeId, Result, SkinId};
use std::collections::HashSet;

/// Reads all nodes, without their meshes' default morph weights, and the roots of the scene.
pub(super) fn read(ctx: &Context) -> Result<(Vec<Node>, Vec<NodeId>)> {
    let items = ctx.items("nodes", "node")?;
    let mesh_count = ctx.table("meshes", limits::ELEMENTS)?.len();
    let skin_count = ctx.table("skins", limits::ELEMENTS)?.len();
    let mut nodes = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let (rest, matrix) = transform(item)?;
        let matrix_ok = matrix.is_none_or(|m| in_range(&m.to_cols_array()));
        if !(matrix_ok && in_range(&rest.translation) && in_range(&rest.scale)) {
            return Err(item.broken("its transform is out of range"));
        }
        let mesh = item.index("mesh", mesh_count, "mesh")?.map(MeshId::from);
        if item.extension("EXT_mesh_gpu_instancing").is_some() {
            item.mend("its instances (EXT_mesh_gpu_instancing) are not shown, its mesh is shown once");
        }
        let mut skin = item.index("skin", skin_count, "skin")?.map(SkinId::from);
        if skin.is_some() && mesh.is_none() {
            item.mend("it has a skin but no mesh; the skin was ignored here");
            skin = None;
        }
        nodes.push(Node {
            name: item.name("node", index),
            parent: None,
            children: Vec::new(),
            rest,
            matrix,
            mesh,
            skin,
            weights: item.floats("weights")?.unwrap_or_default(),
        });
    }
    link(&items, &mut nodes)?;
    check_world(&items, &nodes)?;
    let roots = roots(ctx, &nodes)?;
    Ok((nodes, roots))
}

fn link(items: &[Item], nodes: &mut [Node]) -> Result<()> {
    for (index, item) in items.iter().enumerate() {
        for value in item.list("children")? {
            let child = item.as_index(value, items.len(), "node")?;
            if let Some(parent) = nodes[child].parent {
                return Err(items[child].broken(format!(
                    "it has two parents, {} and {}",
                    items[parent.index()].at,
                    item.at
                )));
            }
            nodes[child].parent = Some(NodeId::from(index));
            nodes[index].children.push(NodeId::from(child));
        }
    }
    // Each node has at most one parent, so a node that no root reaches is on or below a cycle.
    let mut reached = vec![false; nodes.len()];
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].parent.is_none()).collect();
    while let Some(at) = open.pop() {
        reached[at] = true;
        open.extend(nodes[at].children.iter().map(|child| child.index()));
    }
    match reached.iter().position(|reached| !reached) {
        Some(at) => Err(items[at].broken("it is its own ancestor")),
        None => Ok(()),
    }
}

/// Rejects transforms that are in range individually but overflow when multiplied along the hierarchy.
fn check_world(items: &[Item], nodes: &[Node]) -> Result<()> {
    for (at, world) in world_from_node(nodes).iter().enumerate() {
        if !in_range(&world.to_cols_array()) {
            return Err(items[at].broken("its transform in world space is out of range"));
        }
    }
    Ok(())
}

/// Returns every node's rest transform in world space, from [`Node::rest`] or [`Node::matrix`].
pub(super) fn world_from_node(nodes: &[Node]) -> Vec<Affine3A> {
    let mut world = vec![Affine3A::IDENTITY; nodes.len()];
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].parent.is_none()).collect();
    while let Some(at) = open.pop() {
        let node = &nodes[at];
        let parent_from_node = node.matrix.map_or_else(|| node.rest.affine(), Affine3A::from_mat4);
        world[at] = node.parent.map_or(parent_from_node, |parent| world[parent.index()] * parent_from_node);
        open.extend(node.children.iter().map(|child| child.index()));
    }
    world
}

fn transform(item: &Item) -> Result<(Trs, Option<Mat4>)> {
    let translation = item.fixed::<3>("translation")?;
    let rotation = item.fixed::<4>("rotation")?;
    let scale = item.fixed::<3>("scale")?;
    if let Some(matrix) = item.fixed::<16>("matrix")? {
        if translation.is_some() || rotation.is_some() || scale.is_some() {
            item.mend("it has a matrix and translation, rotation or scale; the matrix was used");
        }
        let mut matrix = Mat4::from_cols_array(&matrix);
        if matrix.row(3).abs_diff_eq(glam::Vec4::W, 1e-6) {
            return Ok(decompose(matrix));
        }
        item.mend("the last row of its matrix is not 0, 0, 0, 1 and was ignored");
        (matrix.x_axis.w, matrix.y_axis.w, matrix.z_axis.w, matrix.w_axis.w) = (0.0, 0.0, 0.0, 1.0);
        return Ok(decompose(matrix));
    }
    let mut trs = Trs {
        translation: translation.unwrap_or([0.0; 3]),
        rotation: rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]),
        scale: scale.unwrap_or([1.0; 3]),
    };
    let length = trs.rotation.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
    if length < 1e-6 {
        item.mend("its rotation has no length; no rotation was used");
        trs.rotation = Trs::IDENTITY.rotation;
    } else if (length - 1.0).abs() > 1e-6 {
        if (length - 1.0).abs() > 1e-2 {
            item.mend(format!("its rotation has length {length:.4} and was normalised"));
        }
        trs.rotation = trs.rotation.map(|v| (f64::from(v) / length) as f32);
    }
    Ok((trs, None))
}

/// Returns the closest translation, rotation and scale, and the matrix if they do not reproduce it.
///
/// The rotation is `R` of the polar decomposition `M = R S`. The scale is the diagonal of `S`, which is exact for a
/// matrix without shear.
fn decompose(matrix: Mat4) -> (Trs, Option<Mat4>) {
    let affine = Affine3A::from_mat4(matrix);
    let linear = glam::Mat3::from(affine.matrix3);
    let rotation = nearest_rotation(linear);
    let stretch = glam::Mat3::from_quat(rotation.inverse()) * linear;
    let scale = Vec3::new(stretch.x_axis.x, stretch.y_axis.y, stretch.z_axis.z);
    let trs = Trs::new(affine.translation.into(), rotation, scale);
    let again = glam::Mat3::from(trs.affine().matrix3);
    let size = linear.to_cols_array().iter().fold(0.0_f32, |m, v| m.max(v.abs()));
    let kept = again.abs_diff_eq(linear, 1e-5 * size).then_some(()).map_or(Some(matrix), |()| None);
    (trs, kept)
}

/// Returns the roots of the default scene, or of the first scene if none is default. If the file has no scene, returns
/// all roots.
fn roots(ctx: &Context, nodes: &[Node]) -> Result<Vec<NodeId>> {
    let scenes = ctx.items("scenes", "scene")?;
    let file = Item { ctx, map: ctx.json, at: "file".into() };
    let scene = match file.whole("scene")? {
        Some(index) if index as usize >= scenes.len() => {
            file.mend(format!("its default scene {index} does not exist; the first one was used"));
            0
        }
        Some(index) => index as usize,
        None => 0,
    };
    let tops = tops(nodes);
    let mut chosen = None;
    for (index, item) in scenes.iter().enumerate() {
        let (mut roots, mut seen) = (Vec::new(), HashSet::new());
        for value in item.list("nodes")? {
            let mut id = item.as_index(value, nodes.len(), "node")?;
            if nodes[id].parent.is_some() {
                item.mend(format!(
                    "node \"{}\" is not a root; its topmost ancestor was used",
                    nodes[id].name
                ));
                id = tops[id];
            }
            if seen.insert(id) {
                roots.push(NodeId::from(id));
            } else {
                item.mend(format!("root node \"{}\" is in it more than once", nodes[id].name));
            }
        }
        if index == scene {
            chosen = Some(roots);
        }
    }
    let all = || (0..nodes.len()).filter(|&i| nodes[i].parent.is_none()).map(NodeId::from).collect();
    Ok(chosen.unwrap_or_else(all))
}

/// Returns the topmost ancestor of each node.
fn tops(nodes: &[Node]) -> Vec<usize> {
    let mut tops: Vec<usize> = (0..nodes.len()).collect();
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].parent.is_none()).collect();
    while let Some(at) = open.pop() {
        for child in &nodes[at].children {
            tops[child.index()] = tops[at];
            open.push(child.index());
        }
    }
    tops
}

/// Matches each node's morph weights to its mesh's targets. A node without weights gets the mesh's defaults.
pub(super) fn finish(ctx: &Context, mut nodes: Vec<Node>, meshes: &[Mesh]) -> Result<Vec<Node>> {
    for (index, node) in nodes.iter_mut().enumerate() {
        let item = ctx.item("nodes", "node", index)?;
        let Some(mesh) = node.mesh else {
            if !node.weights.is_empty() {
                item.mend("it has morph weights but no mesh; they were ignored");
                node.weights.clear();
            }
            continue;
        };
        let count = meshes[mesh.index()].morph_count();
        ctx.spend(&item.at, 4 * count as u64)?;
        if node.weights.is_empty() {
            let mesh = ctx.item("meshes", "mesh", mesh.index())?;
            node.weights = mesh.floats("weights")?.unwrap_or_default();
            if node.weights.is_empty() {
                node.weights = vec![0.0; count];
            }
        }
        if node.weights.len() != count {
            item.mend(format!("{} morph weights for {count} morph targets", node.weights.len()));
            node.weights.resize(count, 0.0);
        }
    }
    Ok(nodes)
}
