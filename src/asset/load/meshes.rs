//! Reads meshes: decodes every triangle primitive to plain vectors.

use super::attributes::{Attributes, mend_all};
use super::context::{Context, in_range};
use super::draco::Draco;
use super::item::Item;
use super::look::Look;
use super::{influences, normals, triangles};
use crate::asset::{Mesh, Morph, Node, Primitive, Skin, limits};
use crate::base::math::Vec3;
use crate::base::{MaterialId, Result};
use serde_json::Value;

/// Totals over the file, which are compared with the limits.
#[derive(Default)]
struct Totals {
    vertices: usize,
    triangles: usize,
}

/// Reads all meshes of the file.
pub(super) fn read(ctx: &Context, nodes: &[Node], skins: &[Skin], looks: &[Look]) -> Result<Vec<Mesh>> {
    let items = ctx.items("meshes", "mesh")?;
    let mut joints: Vec<Option<usize>> = vec![None; items.len()];
    for node in nodes {
        if let (Some(mesh), Some(skin)) = (node.mesh, node.skin) {
            let have = skins[skin.index()].joints.len();
            let least = &mut joints[mesh.index()];
            *least = Some(least.map_or(have, |least| least.min(have)));
        }
    }
    let mut totals = Totals::default();
    let mut meshes = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        meshes.push(mesh(item, index, joints[index], looks, &mut totals)?);
    }
    Ok(meshes)
}

fn mesh(
    item: &Item,
    index: usize,
    joints: Option<usize>,
    looks: &[Look],
    totals: &mut Totals,
) -> Result<Mesh> {
    let names = target_names(item);
    let mut primitives = Vec::new();
    for (file_index, primitive_item) in item.children("primitives", "primitive")?.iter().enumerate() {
        if let Some(mut found) = primitive(primitive_item, joints, names, totals)? {
            found.file_index = file_index;
            if let Some(material) = primitive_item.index("material", looks.len(), "material")? {
                found.material = Some(MaterialId::from(material));
                looks[material].transform_uvs(primitive_item, &mut found);
            }
            primitives.push(found);
        }
    }
    let mut mesh = Mesh { name: item.name("mesh", index), primitives };
    // The specification requires equal numbers of morph targets. Missing targets get zero displacements.
    let morphs = mesh.morph_count();
    for primitive in mesh.primitives.iter_mut().filter(|p| p.morphs.len() < morphs) {
        item.mend("its primitives have different numbers of morph targets; missing ones move nothing");
        let vertices = primitive.positions.len();
        item.ctx.spend(&item.at, ((morphs - primitive.morphs.len()) * vertices * 12) as u64)?;
        for target in primitive.morphs.len()..morphs {
            let positions = vec![Vec3::ZERO; vertices];
            primitive.morphs.push(Morph { name: target_name(names, target), positions, normals: Vec::new() });
        }
    }
    Ok(mesh)
}

fn primitive(
    item: &Item,
    joints: Option<usize>,
    names: &[Value],
    totals: &mut Totals,
) -> Result<Option<Primitive>> {
    let mode = match triangles::mode(item)? {
        Ok(mode) => mode,
        Err(kind) => {
            item.mend(format!("it consists of {kind}, which are kept in the file but not shown"));
            return Ok(None);
        }
    };
    let map = item.child("attributes")?.ok_or_else(|| item.broken("\"attributes\" is missing"))?;
    let map = Item { at: item.at.clone(), ..map };
    let draco = Draco::open(item)?;
    let mut attributes = match &draco {
        Some(draco) => Attributes::compressed(map, draco),
        None => Attributes::new(map, None),
    };
    let Some(positions) = attributes.vec3("POSITION")? else {
        item.mend("it has no positions and is not shown");
        return Ok(None);
    };
    if positions.is_empty() {
        item.mend("it has no vertices and is not shown");
        return Ok(None);
    }
    let vertices = positions.len();
    attributes.set_vertices(vertices);
    if let Some(at) = positions.iter().position(|p| !in_range(&p.to_array())) {
        return Err(item.broken(format!("the position of vertex {at} is not finite or out of range")));
    }
    let (indices, mode) = match &draco {
        Some(draco) => (draco.indices()?, triangles::Mode::List),
        None => (triangles::indices(item, vertices)?, mode),
    };
    let triangles = triangles::expand(item, &indices, mode, vertices)?;
    totals.vertices += vertices;
    totals.triangles += triangles.len();
    if totals.vertices.max(totals.triangles) > limits::VERTICES {
        return Err(item.broken(format!("the file has more than {} vertices or triangles", limits::VERTICES)));
    }
    let morphs = morphs(item, vertices, names)?;
    item.ctx.spend(&item.at, 20 * vertices as u64)?;
    let (normals, normals_from_file) = match attributes.vec3("NORMAL")? {
        Some(mut normals) => {
            normals::mend(item, &mut normals, &positions, &triangles);
            (normals, true)
        }
        None => (normals::smooth(&positions, &triangles), false),
    };
    let uvs = attributes.vec2("TEXCOORD_0")?.unwrap_or_else(|| vec![Default::default(); vertices]);
    Ok(Some(Primitive {
        file_index: 0,
        normals,
        normals_from_file,
        uvs,
        uvs1: attributes.vec2("TEXCOORD_1")?.unwrap_or_default(),
        colors: attributes.color("COLOR_0")?.unwrap_or_default(),
        triangles,
        material: None,
        influences: influences::read(item, &attributes, vertices, joints)?,
        morphs,
        positions,
    }))
}

fn morphs(item: &Item, vertices: usize, names: &[Value]) -> Result<Vec<Morph>> {
    let targets = item.children("targets", "morph target")?;
    if targets.len() > limits::MORPHS {
        return Err(item.broken(format!(
            "it has {} morph targets, the limit is {}",
            targets.len(),
            limits::MORPHS
        )));
    }
    let mut out = Vec::with_capacity(targets.len());
    for (index, target) in targets.into_iter().enumerate() {
        let at = target.clone();
        let attributes = Attributes::new(target, Some(vertices));
        let positions = match attributes.vec3("POSITION")? {
            Some(positions) => positions,
            None => {
                item.ctx.spend(&item.at, 12 * vertices as u64)?;
                vec![Vec3::ZERO; vertices]
            }
        };
        if let Some(vertex) = positions.iter().position(|p| !in_range(&p.to_array())) {
            return Err(
                at.broken(format!("the displacement of vertex {vertex} is not finite or out of range"))
            );
        }
        let mut normals = attributes.vec3("NORMAL")?.unwrap_or_default();
        let wrong = mend_all(&mut normals, |n| in_range(&n.to_array()), Vec3::ZERO);
        if wrong > 0 {
            at.mend(format!("{wrong} normal displacements are not finite and became zero"));
        }
        let name = target_name(names, index);
        item.ctx.spend(&item.at, name.len() as u64)?;
        out.push(Morph { name, positions, normals });
    }
    Ok(out)
}

/// Returns `extras.targetNames`, the convention of Blender and other programs.
fn target_names<'c>(item: &Item<'c>) -> &'c [Value] {
    let extras = item.map.get("extras").and_then(Value::as_object);
    extras.and_then(|e| e.get("targetNames")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn target_name(names: &[Value], index: usize) -> String {
    match names.get(index).and_then(Value::as_str) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("target {index}"),
    }
}
