//! Skins: joint nodes and inverse bind matrices.

use super::accessor::{Accessor, Component};
use super::context::{Context, in_range};
use super::item::Item;
use super::nodes::world_from_node;
use crate::asset::{Node, Skin, limits};
use crate::base::math::{Affine3A, Mat4};
use crate::base::{NodeId, Result};

/// Reads all skins of the file.
pub(super) fn read(ctx: &Context, nodes: &[Node]) -> Result<Vec<Skin>> {
    let world = world_from_node(nodes);
    let mut skins = Vec::new();
    for (index, item) in ctx.items("skins", "skin")?.iter().enumerate() {
        let skin = skin(item, index, nodes.len())?;
        // A value that is not an integer counts as an invalid node index.
        let root = item.whole("skeleton").unwrap_or(Some(u64::MAX));
        if root.is_some_and(|root| !skin.has_root(root, nodes)) {
            let problem =
                "its \"skeleton\" is no node above all its joints; it is ignored and left out of exports";
            item.mend(problem);
        }
        for (joint, inverse) in skin.joints.iter().zip(&skin.inverse_bind) {
            let world_from_mesh = world[joint.index()] * Affine3A::from_mat4(*inverse);
            if !in_range(&world_from_mesh.to_cols_array()) {
                let name = &nodes[joint.index()].name;
                return Err(
                    item.broken(format!("the bind transform of its joint \"{name}\" is out of range"))
                );
            }
        }
        skins.push(skin);
    }
    Ok(skins)
}

fn skin(item: &Item, index: usize, nodes: usize) -> Result<Skin> {
    let list = item.list("joints")?;
    if list.is_empty() {
        return Err(item.broken("it has no joints"));
    }
    if list.len() > limits::JOINTS {
        return Err(item.broken(format!("it has {} joints, the limit is {}", list.len(), limits::JOINTS)));
    }
    let joints: Vec<NodeId> =
        list.iter().map(|v| item.as_index(v, nodes, "node").map(NodeId::from)).collect::<Result<_>>()?;
    let mut sorted = joints.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        item.mend("a node is a joint of it more than once");
    }
    let inverse_bind = match item.whole("inverseBindMatrices")? {
        None => vec![Mat4::IDENTITY; joints.len()],
        Some(accessor) => matrices(item, accessor as usize, joints.len())?,
    };
    Ok(Skin { name: item.name("skin", index), joints, inverse_bind })
}

fn matrices(item: &Item, accessor: usize, joints: usize) -> Result<Vec<Mat4>> {
    let accessor = Accessor::open(item.ctx, accessor)?;
    if accessor.component != Component::F32 || accessor.width != 16 {
        return Err(accessor.item.broken(format!("{} needs it to hold MAT4 of floats", item.at)));
    }
    if accessor.count < joints {
        return Err(item.broken(format!("{joints} joints but {} inverse bind matrices", accessor.count)));
    }
    let floats = accessor.floats()?;
    let mut mended = 0;
    let mut out = Vec::with_capacity(joints);
    for (joint, chunk) in floats.chunks_exact(16).take(joints).enumerate() {
        let mut matrix = Mat4::from_cols_slice(chunk);
        if !in_range(chunk) {
            return Err(item.broken(format!(
                "the inverse bind matrix of its joint {joint} is not finite or out of range"
            )));
        }
        if !matrix.row(3).abs_diff_eq(glam::Vec4::W, 1e-4) {
            mended += 1;
        }
        (matrix.x_axis.w, matrix.y_axis.w, matrix.z_axis.w, matrix.w_axis.w) = (0.0, 0.0, 0.0, 1.0);
        out.push(matrix);
    }
    if mended > 0 {
        item.mend(format!(
            "the last row of {mended} inverse bind matrices was not 0, 0, 0, 1 and was mended"
        ));
    }
    Ok(out)
}
