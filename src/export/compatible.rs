//! At most 4 influences per vertex, for viewers that read JOINTS_0 and WEIGHTS_0 only.

use super::locals::skinning;
use super::morph::blend;
use super::posed::{Export, Job};
use super::{Builder, Usage};
use crate::asset::{Asset, Influences};
use glam::DAffine3;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What the limit of 4 influences costs where no morph target makes up for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Reduction {
    /// Vertices that lost influences.
    pub vertices: usize,
    /// Largest distance, over all keys, between skinning with all influences and with 4, in millimetres (scene
    /// units as metres).
    pub largest_mm: f64,
    /// Mean of that distance over the reduced vertices and keys.
    pub mean_mm: f64,
}

/// The influences that the exported file has, per display part: all, or in compatible mode the 4 heaviest, which
/// are then also written.
pub(super) fn influences<'a>(
    job: &Job<'a>,
    builder: &mut Builder,
    out: &mut Export,
) -> Vec<Cow<'a, Influences>> {
    let asset: &'a Asset = job.asset;
    let reduced: Vec<Vec<Option<Influences>>> = match job.options.compatible {
        true => asset
            .meshes
            .iter()
            .map(|m| m.primitives.iter().map(|p| reduce(&p.influences)).collect())
            .collect(),
        false => Vec::new(),
    };
    if job.options.compatible {
        write(asset, builder, &reduced);
        out.reduction = Some(Reduction::default());
    }
    let of_part = |part: &crate::geom::Part| {
        let full = &asset.meshes[part.mesh.index()].primitives[part.primitive].influences;
        let four = reduced.get(part.mesh.index()).and_then(|m| m[part.primitive].clone());
        four.map_or(Cow::Borrowed(full), Cow::Owned)
    };
    job.character.display.parts.iter().map(of_part).collect()
}

/// The 4 heaviest influences, renormalised; none where no vertex has more.
fn reduce(full: &Influences) -> Option<Influences> {
    if (0..full.len()).all(|v| full.of(v).len() <= 4) {
        return None;
    }
    let mut out = Influences::default();
    for v in 0..full.len() {
        let sum: f32 = full.of(v).take(4).map(|e| e.1).sum();
        out.push(full.of(v).take(4).map(|(joint, weight)| (joint, weight / sum)));
    }
    Some(out)
}

/// Replaces JOINTS_n and WEIGHTS_n of every primitive that has a second set.
fn write(asset: &Asset, builder: &mut Builder, reduced: &[Vec<Option<Influences>>]) {
    // Primitives that share attributes go on sharing them.
    let mut written: Vec<(Vec<Value>, usize, usize)> = Vec::new();
    for (m, mesh) in asset.meshes.iter().enumerate() {
        for (p, primitive) in mesh.primitives.iter().enumerate() {
            let pointer = format!("/meshes/{m}/primitives/{}/attributes", primitive.file_index);
            let Some(attributes) = builder.json.pointer(&pointer).and_then(Value::as_object) else {
                continue;
            };
            let is_skin = |name: &str| name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_");
            let old: Vec<Value> = attributes.iter().filter(|a| is_skin(a.0)).map(|a| a.1.clone()).collect();
            if old.len() <= 2 || primitive.influences.is_empty() {
                continue;
            }
            let mut kept: Map<String, Value> =
                attributes.iter().filter(|a| !is_skin(a.0)).map(|a| (a.0.clone(), a.1.clone())).collect();
            let known = written.iter().find(|w| w.0 == old).map(|w| (w.1, w.2));
            let (joints, weights) = known.unwrap_or_else(|| {
                let four = reduced[m][p].as_ref().unwrap_or(&primitive.influences);
                let new = write_four(builder, four);
                written.push((old.clone(), new.0, new.1));
                new
            });
            kept.insert("JOINTS_0".into(), joints.into());
            kept.insert("WEIGHTS_0".into(), weights.into());
            if let Some(attributes) = builder.json.pointer_mut(&pointer) {
                *attributes = kept.into();
            }
            builder.orphans.extend(old.iter().filter_map(Value::as_u64).map(|a| a as usize));
        }
    }
}

fn write_four(builder: &mut Builder, influences: &Influences) -> (usize, usize) {
    let mut joints = vec![[0u16; 4]; influences.len()];
    let mut weights = vec![[0f32; 4]; influences.len()];
    for v in 0..influences.len() {
        for (slot, (joint, weight)) in influences.of(v).enumerate() {
            (joints[v][slot], weights[v][slot]) = (joint, weight);
        }
        weights[v][0] = 1.0 - weights[v][1..].iter().sum::<f32>();
    }
    (builder.joints(&joints), builder.floats(weights.as_flattened(), 4, Usage::Vertices, false))
}

/// Adds the cost of the reduction at one key.
pub(super) fn measure(job: &Job, influences: &[Cow<Influences>], world: &[DAffine3], out: &mut Reduction) {
    let (mut vertices, mut sum) = (0usize, 0.0f64);
    for (part, four) in job.character.display.parts.iter().zip(influences) {
        let primitive = &job.asset.meshes[part.mesh.index()].primitives[part.primitive];
        let Some(skin) = crate::rig::skin_of(job.asset, &job.asset.nodes[part.node.index()]) else {
            continue;
        };
        let Cow::Owned(four) = four else { continue };
        let joints = skinning(job.asset, skin, world);
        for (v, x) in
            primitive.positions.iter().enumerate().filter(|(v, _)| primitive.influences.of(*v).len() > 4)
        {
            let at = |influences: &Influences| blend(influences, v, &joints).transform_point3(x.as_dvec3());
            let distance = at(&primitive.influences).distance(at(four)) * 1000.0;
            out.largest_mm = out.largest_mm.max(distance);
            sum += distance;
            vertices += 1;
        }
    }
    out.vertices = vertices;
    // The sum over keys; `finish` makes it the mean.
    out.mean_mm += sum;
}

/// Turns the sum into the mean over `keys` keys.
pub(super) fn finish(reduction: &mut Reduction, keys: usize) {
    reduction.mean_mm /= (reduction.vertices * keys).max(1) as f64;
}
