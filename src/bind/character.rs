//! Builds a character from a file: the display mesh in bind space and the welded control mesh (docs/internals.md,
//! section 1).

use super::Character;
use crate::asset::{Asset, Influences, Node, Primitive};
use crate::base::math::{Aabb, Affine3A, Mat3, Vec3, Vec4};
use crate::base::{Error, JointId, NodeId, Result};
use crate::geom::{Adjacency, ControlMesh, DisplayMesh, Part, locality_order, weld};
use crate::rig::{Skeleton, in_scene, skin_of};

/// The skin weights of two vertices count as equal if their absolute differences sum to less than this value.
const SAME_WEIGHTS: f32 = 0.02;

/// Morph displacements count as equal if they differ by at most this fraction of the bounding box's diagonal.
const SAME_MORPH: f32 = 1e-5;

impl Character {
    /// Builds a character from a loaded file, with all meshes of the default scene.
    ///
    /// A mesh with several nodes becomes one part per node. Without a skin all meshes become rigid props.
    ///
    /// # Errors
    /// [`Error::Broken`] if transforms overflow; [`Error::Unsupported`] from [`Skeleton::from_asset`].
    pub fn from_asset(asset: &Asset) -> Result<Self> {
        let skeleton = Skeleton::from_asset(asset)?;
        let mut soup = Soup::default();
        let shown = in_scene(asset);
        for (i, node) in asset.nodes.iter().enumerate().filter(|(i, _)| shown[*i]) {
            soup.add_node(asset, &skeleton, NodeId::from(i), node)?;
        }
        let tolerance = SAME_MORPH * Aabb::of(soup.display.positions.iter().copied()).diagonal();
        let part_of = |v: u32| soup.display.parts.partition_point(|p| p.vertices.end <= v);
        let morphs_agree = |a: u32, b: u32| {
            let (pa, pb) = (&soup.display.parts[part_of(a)], &soup.display.parts[part_of(b)]);
            let (ma, mb) = (primitive(asset, pa), primitive(asset, pb));
            let delta = |m: &Primitive, target: usize, part: &Part, v: u32| {
                let deltas = m.morphs.get(target).map(|t| &t.positions);
                deltas.and_then(|d| d.get((v - part.vertices.start) as usize)).copied().unwrap_or(Vec3::ZERO)
            };
            (0..ma.morphs.len().max(mb.morphs.len())).all(|t| {
                let (da, db) = (delta(ma, t, pa, a), delta(mb, t, pb, b));
                // Morph targets of different nodes have independent weights, so vertices of different nodes are welded
                // only if no target moves them.
                if pa.node == pb.node {
                    da.distance(db) <= tolerance
                } else {
                    da.length().max(db.length()) <= tolerance
                }
            })
        };
        let control = weld_control(&soup, morphs_agree);
        let mut display = soup.display;
        let control = control.finish(&mut display, &soup.influences, &soup.rigid);
        Ok(Self { skeleton, control, display })
    }
}

fn primitive<'a>(asset: &'a Asset, part: &Part) -> &'a Primitive {
    &asset.meshes[part.mesh.index()].primitives[part.primitive]
}

/// The display mesh, with the per-vertex data that the control mesh needs.
#[derive(Default)]
struct Soup {
    display: DisplayMesh,
    influences: Influences,
    rigid: Vec<bool>,
}

impl Soup {
    fn add_node(&mut self, asset: &Asset, skeleton: &Skeleton, id: NodeId, node: &Node) -> Result<()> {
        let Some(mesh) = node.mesh else { return Ok(()) };
        let placement = skin_of(asset, node).map(|s| &skeleton.skins[s.index()]);
        for (index, primitive) in asset.meshes[mesh.index()].primitives.iter().enumerate() {
            let first_vertex = self.display.positions.len();
            let first_triangle = self.display.triangles.len();
            let Some(bind_from_mesh) = placement_of(asset, skeleton, id, primitive) else { continue };
            self.add_vertices(primitive, &bind_from_mesh);
            let soft = placement.filter(|_| !primitive.influences.is_empty());
            match soft {
                Some(placement) => {
                    for v in 0..primitive.positions.len() {
                        self.influences.push(remap(primitive.influences.of(v), &placement.joints));
                    }
                }
                None => {
                    let joint = skeleton.prop_joint(id).map_or(0, |j| j.0 as u16);
                    for _ in &primitive.positions {
                        self.influences.push([(joint, 1.0)]);
                    }
                }
            }
            self.rigid.resize(self.display.positions.len(), soft.is_none());
            if self.display.positions[first_vertex..].iter().any(|p| !p.is_finite()) {
                let at = format!("node \"{}\"", node.name);
                let remedy = "scale the mesh or its node down";
                return Err(Error::broken(&asset.path, at, "its mesh overflows in world space", remedy));
            }
            let material = primitive.material.and_then(|m| asset.materials.get(m.index()));
            self.display.part_names.push(material.map_or_else(String::new, |m| m.name.clone()));
            self.display.parts.push(Part {
                node: id,
                mesh,
                primitive: index,
                material: primitive.material,
                vertices: first_vertex as u32..self.display.positions.len() as u32,
                triangles: first_triangle as u32..self.display.triangles.len() as u32,
                computed_normals: !primitive.normals_from_file,
            });
        }
        Ok(())
    }

    fn add_vertices(&mut self, primitive: &Primitive, bind_from_mesh: &Affine3A) {
        let d = &mut self.display;
        let first = d.positions.len() as u32;
        let count = primitive.positions.len();
        let linear = Mat3::from(bind_from_mesh.matrix3);
        let for_normals = normal_map(linear);
        d.positions.extend(primitive.positions.iter().map(|&p| bind_from_mesh.transform_point3(p)));
        d.normals.extend(primitive.normals.iter().map(|&n| (for_normals * n).try_normalize().unwrap_or(n)));
        d.uvs.extend_from_slice(&primitive.uvs);
        d.uvs1.extend_from_slice(if primitive.uvs1.is_empty() { &primitive.uvs } else { &primitive.uvs1 });
        d.colors.extend_from_slice(&primitive.colors);
        d.colors.resize(first as usize + count, Vec4::ONE);
        let mirrored = linear.determinant() < 0.0;
        d.triangles.extend(primitive.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|v| v + first);
            if mirrored { [a, c, b] } else { [a, b, c] }
        }));
    }
}

/// Returns `bind_from_mesh` of a primitive, from the node's skin or, for a rigid prop, from the node's joint.
pub fn placement_of(
    asset: &Asset,
    skeleton: &Skeleton,
    node: NodeId,
    primitive: &Primitive,
) -> Option<Affine3A> {
    match skin_of(asset, &asset.nodes[node.index()]).filter(|_| !primitive.influences.is_empty()) {
        Some(skin) => Some(skeleton.skins[skin.index()].bind_from_mesh),
        None => Some(skeleton.joints[skeleton.prop_joint(node)?.index()].bind_from_joint),
    }
}

/// Returns the inverse transpose up to a positive factor, computed from cofactors so that it cannot overflow.
pub(super) fn normal_map(linear: Mat3) -> Mat3 {
    let largest = linear.to_cols_array().iter().fold(0.0f32, |m, v| m.max(v.abs()));
    let m = if largest > 0.0 { linear * (1.0 / largest) } else { Mat3::IDENTITY };
    let cofactors =
        Mat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis));
    if m.determinant() < 0.0 { cofactors * -1.0 } else { cofactors }
}

/// Converts influences over a skin's joint list to influences over the skeleton's joints; merges duplicates.
fn remap(entries: impl Iterator<Item = (u16, f32)>, joints: &[JointId]) -> Vec<(u16, f32)> {
    let mut out: Vec<(u16, f32)> = Vec::new();
    for (slot, weight) in entries {
        // If the skin has fewer joints than the mesh uses, its last joint replaces the missing ones.
        let joint = joints[usize::from(slot).min(joints.len() - 1)].0 as u16;
        match out.iter_mut().find(|(j, _)| *j == joint) {
            Some((_, w)) => *w += weight,
            None => out.push((joint, weight)),
        }
    }
    out.sort_by(|a, b| b.1.total_cmp(&a.1));
    out
}

/// Returns the sum of absolute differences of two vertices' weights.
fn weight_distance(influences: &Influences, a: usize, b: usize) -> f32 {
    let other = |v: usize, joint: u16| influences.of(v).find(|e| e.0 == joint).map_or(0.0, |e| e.1);
    let of_a: f32 = influences.of(a).map(|(j, w)| (w - other(b, j)).abs()).sum();
    let only_b: f32 = influences.of(b).filter(|&(j, _)| other(a, j) == 0.0).map(|(_, w)| w).sum();
    of_a + only_b
}

fn weld_control(soup: &Soup, mut morphs_agree: impl FnMut(u32, u32) -> bool) -> Welded {
    let welded = weld(&soup.display.positions, |a, b| {
        let (i, j) = (a as usize, b as usize);
        soup.rigid[i] == soup.rigid[j]
            && weight_distance(&soup.influences, i, j) < SAME_WEIGHTS
            && morphs_agree(a, b)
    });
    Welded(welded)
}

struct Welded(crate::geom::Weld);

impl Welded {
    /// Builds the control mesh, ordered for locality, and fills in `display.control_of`.
    fn finish(self, display: &mut DisplayMesh, influences: &Influences, rigid: &[bool]) -> ControlMesh {
        let count = self.0.first.len();
        let as_welded = |of: &[u32], t: &[u32; 3]| t.map(|v| of[v as usize]);
        let triangles: Vec<_> = display.triangles.iter().map(|t| as_welded(&self.0.welded_of, t)).collect();
        let order = locality_order(&Adjacency::of_triangles(count, &triangles));
        let mut new_of = vec![0u32; count];
        for (new, &old) in order.iter().enumerate() {
            new_of[old as usize] = new as u32;
        }
        display.control_of = self.0.welded_of.iter().map(|&w| new_of[w as usize]).collect();
        let mut control = ControlMesh {
            triangles: triangles.iter().map(|t| as_welded(&new_of, t)).collect(),
            ..Default::default()
        };
        control.adjacency = Adjacency::of_triangles(count, &control.triangles);
        control.influences.offset.push(0);
        for &old in &order {
            let vertex = self.0.first[old as usize] as usize;
            control.positions.push(display.positions[vertex]);
            control.rigid.push(rigid[vertex]);
            control.influences.push(influences.of(vertex));
        }
        control.aabb = Aabb::of(control.positions.iter().copied());
        control
    }
}
