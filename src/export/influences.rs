//! The skin weights that an export changes. Compatible mode limits the number of skin weights to 4 per vertex. Where
//! the weights blend the joints' transforms to a nearly singular matrix, the exporter raises the largest weight.

use super::locals::skinning;
use super::morph::blend;
use super::posed::Job;
use super::{Builder, Usage};
use crate::asset::{Asset, Influences, Problem};
use crate::geom::Part;
use glam::DAffine3;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The error that the limit of 4 influences per vertex causes, measured for skinning without morph targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Reduction {
    /// Number of vertices that lost influences.
    pub vertices: usize,
    /// Largest distance, over all keys, between skinning with all influences and with 4, millimetres (scene units
    /// count as metres).
    pub largest_mm: f64,
    /// Mean distance over the reduced vertices and all keys, millimetres.
    pub mean_mm: f64,
}

/// Minimum weight of the heaviest joint that keeps a blend `M` of rigid transforms far from singular. The other joints
/// have a total weight of 0.4. They can cancel at most 0.4 of the 0.6, so `M` keeps at least 0.2 of every length.
const STEADY: f64 = 0.6;

/// The influences of the exported file, by mesh and primitive. Changed influences are owned.
pub(super) struct Table<'a> {
    of: Vec<Vec<Cow<'a, Influences>>>,
    /// Mesh and primitive indices of the primitives with raised weights. Their skin attributes are written separately
    /// and not shared with other primitives.
    steadied: Vec<(usize, usize)>,
}

impl<'a> Table<'a> {
    /// Creates the table with all influences, or with the 4 heaviest in compatible mode.
    pub fn new(job: &Job<'a>) -> Self {
        let asset: &'a Asset = job.asset;
        let of = |full: &'a Influences| match job.options.compatible {
            true => reduce(full).map_or(Cow::Borrowed(full), Cow::Owned),
            false => Cow::Borrowed(full),
        };
        let meshes = asset.meshes.iter().map(|m| m.primitives.iter().map(|p| of(&p.influences)).collect());
        Self { of: meshes.collect(), steadied: Vec::new() }
    }

    /// Returns the influences of a display part.
    pub fn of(&self, part: &Part) -> &Influences {
        &self.of[part.mesh.index()][part.primitive]
    }

    /// Raises the heaviest weight of a part's `vertices` (ascending) to [`STEADY`]. Returns the number of changes.
    pub fn steady(&mut self, part: &Part, vertices: &[u32]) -> usize {
        let (mesh, primitive) = (part.mesh.index(), part.primitive);
        let old = &self.of[mesh][primitive];
        let mut new = Influences::default();
        let mut changed = 0;
        for v in 0..old.len() {
            let heaviest = old.of(v).next().map_or(1.0, |e| f64::from(e.1));
            if heaviest >= STEADY || old.of(v).len() < 2 || vertices.binary_search(&(v as u32)).is_err() {
                new.push(old.of(v));
                continue;
            }
            changed += 1;
            let rest = (1.0 - STEADY) / (1.0 - heaviest);
            let scaled = |(i, (joint, w)): (usize, (u16, f32))| {
                (joint, if i == 0 { STEADY } else { f64::from(w) * rest } as f32)
            };
            new.push(old.of(v).enumerate().map(scaled));
        }
        if changed > 0 {
            self.of[mesh][primitive] = Cow::Owned(new);
            self.steadied.push((mesh, primitive));
        }
        changed
    }

    /// Writes JOINTS_n and WEIGHTS_n of every primitive with changed influences and, in compatible mode, of every
    /// primitive with more than one set.
    pub fn write(&self, job: &Job, builder: &mut Builder) {
        // Primitives that share attributes still share them afterwards.
        let mut written: Vec<(Vec<Value>, Map<String, Value>)> = Vec::new();
        for (m, mesh) in job.asset.meshes.iter().enumerate() {
            for (p, primitive) in mesh.primitives.iter().enumerate() {
                let influences = &self.of[m][p];
                let pointer = format!("/meshes/{m}/primitives/{}", primitive.file_index);
                let Some(json) = builder.json.pointer(&pointer).cloned() else { continue };
                let Some(attributes) = json["attributes"].as_object() else { continue };
                let old: Vec<Value> =
                    attributes.iter().filter(|a| is_skin(a.0)).map(|a| a.1.clone()).collect();
                let second_set = job.options.compatible && old.len() > 2;
                if influences.is_empty() || !(second_set || matches!(influences, Cow::Owned(_))) {
                    continue;
                }
                let own = self.steadied.contains(&(m, p));
                let known = written.iter().find(|w| !own && w.0 == old).map(|w| w.1.clone());
                let new = known.unwrap_or_else(|| {
                    let new = write_sets(builder, influences, primitive.positions.len());
                    if !own {
                        written.push((old.clone(), new.clone()));
                    }
                    new
                });
                replace_sets(builder, &pointer, new);
            }
        }
    }
}

/// Returns the 4 heaviest influences, renormalised; `None` if no vertex has more than 4.
fn reduce(full: &Influences) -> Option<Influences> {
    if (0..full.len()).all(|v| full.of(v).len() <= 4) {
        return None;
    }
    let mut out = Influences::default();
    for v in 0..full.len() {
        let sum: f32 = full.of(v).take(4).map(|e| e.1).sum();
        let others: f32 = full.of(v).take(4).skip(1).map(|e| e.1 / sum).sum();
        let scaled =
            |(i, (joint, w)): (usize, (u16, f32))| (joint, if i == 0 { 1.0 - others } else { w / sum });
        out.push(full.of(v).take(4).enumerate().map(scaled));
    }
    Some(out)
}

/// Writes the sets JOINTS_n and WEIGHTS_n; the vertex with the most influences determines their number.
pub(super) fn write_sets(
    builder: &mut Builder,
    influences: &Influences,
    vertices: usize,
) -> Map<String, Value> {
    let most = (0..influences.len()).map(|v| influences.of(v).len()).max().unwrap_or(0);
    let mut out = Map::new();
    for set in 0..most.div_ceil(4) {
        let (mut joints, mut weights) = (vec![[0u16; 4]; vertices], vec![[0f32; 4]; vertices]);
        for v in 0..influences.len() {
            for (slot, (joint, weight)) in influences.of(v).skip(4 * set).take(4).enumerate() {
                (joints[v][slot], weights[v][slot]) = (joint, weight);
            }
        }
        out.insert(format!("JOINTS_{set}"), builder.joints(&joints).into());
        let weights = builder.floats(weights.as_flattened(), 4, Usage::Vertices, false);
        out.insert(format!("WEIGHTS_{set}"), weights.into());
    }
    out
}

/// Replaces the skin attributes of the primitive at a JSON pointer.
pub(super) fn replace_sets(builder: &mut Builder, pointer: &str, new: Map<String, Value>) {
    let Some(json) = builder.json.pointer_mut(pointer) else { return };
    let Some(attributes) = json["attributes"].as_object_mut() else { return };
    let (old, mut kept): (Map<String, Value>, Map<String, Value>) =
        std::mem::take(attributes).into_iter().partition(|a| is_skin(&a.0));
    kept.extend(new);
    *attributes = kept;
    unlist_from_draco(json);
    builder.orphans.extend(old.values().filter_map(Value::as_u64).map(|a| a as usize));
}

/// Removes the skin attributes from a primitive's Draco attribute list, so that readers take them from the plain
/// accessors.
fn unlist_from_draco(primitive: &mut Value) {
    let listed = primitive.pointer_mut("/extensions/KHR_draco_mesh_compression/attributes");
    if let Some(listed) = listed.and_then(Value::as_object_mut) {
        listed.retain(|name, _| !is_skin(name));
    }
}

fn is_skin(attribute: &str) -> bool {
    attribute.starts_with("JOINTS_") || attribute.starts_with("WEIGHTS_")
}

/// Returns the error of the limit of 4 influences over all keys, without morph targets. `world` returns a key's node
/// transforms.
pub(super) fn cost(job: &Job, world: impl Fn(usize) -> Vec<DAffine3>) -> Reduction {
    let mut out = Reduction::default();
    let mut reduced = Vec::new();
    for part in &job.character.display.parts {
        let primitive = &job.asset.meshes[part.mesh.index()].primitives[part.primitive];
        let skin = crate::rig::skin_of(job.asset, &job.asset.nodes[part.node.index()]);
        if let (Some(skin), Some(four)) = (skin, reduce(&primitive.influences)) {
            let full = &primitive.influences;
            let vertices: Vec<usize> = (0..full.len()).filter(|v| full.of(*v).len() > 4).collect();
            out.vertices += vertices.len();
            reduced.push((primitive, skin, four, vertices));
        }
    }
    for key in 0..if reduced.is_empty() { 0 } else { job.keys.len() } {
        let world = world(key);
        for (primitive, skin, four, vertices) in &reduced {
            let joints = skinning(job.asset, *skin, &world);
            for &v in vertices {
                let x = primitive.positions[v].as_dvec3();
                let at = |influences: &Influences| blend(influences, v, &joints).transform_point3(x);
                let distance = at(&primitive.influences).distance(at(four)) * 1000.0;
                out.largest_mm = out.largest_mm.max(distance);
                out.mean_mm += distance;
            }
        }
    }
    out.mean_mm /= (out.vertices * job.keys.len()).max(1) as f64;
    out
}

/// Returns a warning if the file has more influences than many programs read; `None` otherwise.
pub(super) fn warning(job: &Job, cost: &Reduction) -> Option<Problem> {
    let size = f64::from(job.character.control.aabb.diagonal()) * 1000.0;
    let text = || {
        format!(
            "{} vertices have more than 4; programs that read 4 (three.js, most engines) are off by up to {:.2} mm \
             ({:.1e} of the size): --compatible limits the file to 4",
            cost.vertices,
            cost.largest_mm,
            if size > 0.0 { cost.largest_mm / size } else { 0.0 }
        )
    };
    (cost.vertices > 0).then(|| Problem { at: "influences".into(), text: text() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::{Character, shapes::Shape};
    use crate::export::{Key, Options, posed};
    use crate::rig::Pose;

    #[test]
    fn compatible_mode_takes_a_mesh_of_which_a_part_has_no_weights() {
        let shape = Shape { bones: 6, rings: 6, segments: 5, radius: 0.1, length: 1.0, blend: 0.5 };
        let mut asset = shape.capsule_asset();
        let primitives = &mut asset.meshes[0].primitives;
        let bare = crate::asset::Primitive { influences: Influences::default(), ..primitives[0].clone() };
        primitives[0].influences = Influences::default();
        let vertices = primitives[0].positions.len();
        (0..vertices).for_each(|_| primitives[0].influences.push((0..5).map(|joint| (joint, 0.2))));
        primitives.push(bare);
        let character = Character::from_asset(&asset).unwrap();
        let pose = Pose::rest(&character.skeleton);
        let keys = [Key { time_s: 0.0, pose: &pose, shape: None }];
        let options = Options { compatible: true, ..Options::default() };
        let out = posed(&asset, &character, &keys, &options).unwrap();
        assert_eq!(out.reduction.unwrap().vertices, vertices);
    }
}
