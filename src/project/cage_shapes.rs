//! The shapes of a cage as morph targets that all keys of an export share.

use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::Geometric;
use crate::document::{Document, State};
use crate::export::{Shared, SharedShape};
use crate::rig::{Pose, RestShift, Skeleton};
use crate::scene::{Shaper, recipe};

/// Largest distance of a cage vertex, in a state, from the line between its offsets at two keys, as a fraction of the
/// largest offset.
const ON_LINE: f32 = 1e-5;

/// A key of the cage, or the only shape of a cage without keys.
struct Key {
    name: String,
    /// Seconds.
    time: f32,
    offsets: Vec<Vec3>,
}

/// Returns one shape per different key of the cage, and the weights of the shapes at each state. Returns `None` if the
/// cage is at rest, if a state uses another method than linear blend skinning, or if a state's cage is not a linear
/// blend of two neighbouring keys (as with CUBICSPLINE).
///
/// # Errors
/// The errors of [`Shaper::evaluate`].
pub(super) fn cage_shapes(
    document: &Document,
    skeleton: &Skeleton,
    states: &[(f32, State)],
    shaper: &mut Shaper<'_>,
) -> Result<Option<Shared>> {
    let Some(cage) = document.cage() else { return Ok(None) };
    let linear = |s: &State| {
        recipe(&s.deformer)
            .is_ok_and(|r| r.geometric == Geometric::Lbs && r.springs.is_none() && !r.is_volume())
    };
    if !states.iter().all(|(_, s)| linear(s)) {
        return Ok(None);
    }
    let keys: Vec<Key> = match document.cage_channel() {
        Some(channel) => (channel.times.iter().enumerate())
            .map(|(k, time)| Key {
                name: format!("cage {time} s"),
                time: *time as f32,
                offsets: bytemuck::cast_slice(channel.value(k)).to_vec(),
            })
            .collect(),
        None => {
            let offsets = cage.offsets.iter().map(|v| (*v).into()).collect();
            vec![Key { name: "cage".to_owned(), time: 0.0, offsets }]
        }
    };
    let largest = keys.iter().flat_map(|k| &k.offsets).map(|v| v.length()).fold(0.0, f32::max);
    // Index of each key's shape. Equal keys share a shape; a key at rest has none.
    let mut different: Vec<(String, Vec<Vec3>)> = Vec::new();
    let mut shape_of = Vec::new();
    for Key { name, offsets, .. } in &keys {
        let at_rest = offsets.iter().all(|v| *v == Vec3::ZERO);
        let known = different.iter().position(|(_, other)| other == offsets);
        shape_of.push(known.or_else(|| (!at_rest).then_some(different.len())));
        if known.is_none() && !at_rest {
            different.push((name.clone(), offsets.clone()));
        }
    }
    if different.is_empty() {
        return Ok(None);
    }
    let mut weights = Vec::new();
    for (time, state) in states {
        let mut row = vec![0.0; different.len()];
        let Some((k, u)) = between(&keys, *time, &state.pose.rest.cage, ON_LINE * largest) else {
            return Ok(None);
        };
        for (key, weight) in [(k, 1.0 - u), (k + 1, u)] {
            if let Some(&Some(shape)) = shape_of.get(key) {
                row[shape] += weight;
            }
        }
        weights.push(row);
    }
    let mut shapes = Vec::new();
    for (name, offsets) in different {
        let mut rest = RestShift::of_cage(offsets);
        cage.follow(skeleton, &mut rest);
        let pose = Pose { rest, ..Pose::rest(skeleton) };
        let state = State { pose, sculpts: Vec::new(), deformer: states[0].1.deformer.clone() };
        let shape = shaper.evaluate(&state)?;
        let pose = state.pose.flattened(skeleton);
        shapes.push(SharedShape { name, pose, positions: shape.positions, normals: shape.normals });
    }
    Ok(Some(Shared { shapes, weights }))
}

/// Returns whether linear interpolation between the states `keys` gives the weights at all states; `times` are the times of the
/// states, seconds.
pub(super) fn between_keys(shared: &Shared, times: &[f64], keys: &[usize]) -> bool {
    let same = |state: usize, weight: &dyn Fn(usize) -> f32| {
        shared.weights[state].iter().enumerate().all(|(s, w)| (w - weight(s)).abs() < 1e-4)
    };
    (0..shared.weights.len()).all(|state| {
        let after = keys.partition_point(|&k| k < state).min(keys.len() - 1);
        let (start, end) = (keys[after.saturating_sub(1)], keys[after]);
        let span = times[end] - times[start];
        let u = if span > 0.0 { ((times[state] - times[start]) / span).clamp(0.0, 1.0) as f32 } else { 1.0 };
        same(state, &|s| shared.weights[start][s] * (1.0 - u) + shared.weights[end][s] * u)
    })
}

/// Finds two neighbouring keys and the fraction `u` between them at which the cage is; the second key does not exist after
/// the last key.
fn between(keys: &[Key], time: f32, cage: &[Vec3], within: f32) -> Option<(usize, f32)> {
    let at = |k: usize, v: usize| keys.get(k).map_or(Vec3::ZERO, |key| key.offsets[v]);
    let now = |v: usize| cage.get(v).copied().unwrap_or(Vec3::ZERO);
    let count = keys[0].offsets.len();
    // Other pairs of keys may be on the same line, so the pair around the time comes first.
    let around = keys.partition_point(|k| k.time <= time).saturating_sub(1);
    std::iter::once(around).chain(0..keys.len()).find_map(|k| {
        let span = |v: usize| if k + 1 < keys.len() { at(k + 1, v) - at(k, v) } else { Vec3::ZERO };
        let square: f32 = (0..count).map(|v| span(v).length_squared()).sum();
        let along: f32 = (0..count).map(|v| span(v).dot(now(v) - at(k, v))).sum();
        let u = if square > 0.0 { (along / square).clamp(0.0, 1.0) } else { 0.0 };
        let near = |v: usize| (at(k, v) + span(v) * u).distance(now(v)) <= within;
        (0..count).all(near).then_some((k, u))
    })
}

#[cfg(test)]
mod tests {
    use crate::asset::{Asset, Interpolation, Property};
    use crate::base::Progress;
    use crate::base::math::{Aabb, Quat, Vec3};
    use crate::base::testing::shared;
    use crate::bind::BindOptions;
    use crate::bind::shapes::Shape;
    use crate::cage::Coordinates;
    use crate::document::{Channel, DeformerSettings, Edit, KeyEdit, Slot, Target};
    use crate::export::{Moment, Receipt, evaluate, unedited};
    use crate::project::{Saving, save_as};
    use crate::scene::{CageSource, Evaluator, Model, Where, recipe};
    use std::time::Duration;

    fn capsule() -> Model {
        let shape = Shape { bones: 4, rings: 24, segments: 12, radius: 0.15, length: 1.6, blend: 0.5 };
        let asset = Asset::from_slice(&unedited(&shape.capsule_asset()).unwrap(), "capsule.glb").unwrap();
        Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap()
    }

    /// Saves a character that bends at a joint while its cage plays three keys: at rest, longer, and thicker.
    fn saved(model: &Model, joint: usize, method: &str, interpolation: Interpolation) -> (Receipt, Asset) {
        let mut session = model.start(None).unwrap();
        session.apply(Edit::SetDeformer(DeformerSettings::of(method))).unwrap();
        let (made, _) =
            model.new_cage(&CageSource::Made(24), Coordinates::MeanValue, &Progress::default()).unwrap();
        let at: Vec<Vec3> = made.cage.mesh.positions.iter().map(|x| x.as_vec3()).collect();
        session.apply(Edit::SetCage(Some(Box::new(made.cage)))).unwrap();
        let blocks = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let offsets = |f: &dyn Fn(Vec3) -> Vec3| -> Vec<f32> {
            let flat: Vec<f32> = at.iter().flat_map(|x| f(*x).to_array()).collect();
            let zero = vec![0.0; flat.len()];
            if blocks == 3 { [zero.clone(), flat, zero].concat() } else { flat }
        };
        let cage = Channel {
            target: Target::Cage(at.len() as u32),
            interpolation,
            times: vec![0.0, 0.5, 1.0],
            values: [
                offsets(&|_| Vec3::ZERO),
                offsets(&|x| Vec3::new(0.0, 0.2 * x.y, 0.0)),
                offsets(&|x| Vec3::new(0.5 * x.x, 0.1 * x.x, 0.3 * x.z)),
            ]
            .concat(),
        };
        let node = model.skeleton().joints[joint].node;
        let rest = model.rest().local[node.index()].rotation();
        let bend = Channel {
            target: Target::node(node, Property::Rotation),
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: [0.0, 1.3].map(|a| (rest * Quat::from_rotation_x(a)).to_array()).concat(),
        };
        let slots = [cage, bend].map(|c| Slot { target: c.target.clone(), channel: Some(c) });
        session.apply(Edit::Keys(KeyEdit::Channels(slots.to_vec()))).unwrap();
        let recipe = recipe(session.document().deformer()).unwrap();
        let mut evaluator = Evaluator::new(&Where::Cpu, model, &recipe).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("p.glb");
        let saving = Saving { every_frame: true, ..Saving::default() };
        let receipt = save_as(&out, model, session.document(), &mut evaluator, saving).unwrap();
        (receipt, Asset::load(&out).unwrap())
    }

    #[test]
    fn with_lbs_every_key_of_a_cage_is_one_morph_target() {
        let (receipt, file) = saved(&capsule(), 2, "lbs", Interpolation::Linear);
        // The key at rest needs none. At most one target per key mends normals. 1.6 m at 5e-6 is 0.008 mm.
        assert!((2..=5).contains(&receipt.targets) && receipt.keys.len() == 25, "{receipt}");
        assert!(receipt.largest_mm() < 0.02, "{receipt}");
        let weights = file.clips[0].channels.iter().find(|c| c.property == Property::Weights).unwrap();
        assert!(weights.times == [0.0, 0.5, 1.0], "{:?}", weights.times);
        // The tangents are zero, so the cage is on the line between two keys, but not linear in time.
        let (smooth, _) = saved(&capsule(), 2, "lbs", Interpolation::CubicSpline);
        assert!(smooth.keys.len() == 25 && smooth.largest_mm() < 0.02, "{smooth}");
        let (dqs, _) = saved(&capsule(), 2, "dqs", Interpolation::Linear);
        assert!(dqs.targets > 10 && dqs.largest_mm() < 0.02, "{dqs}");
    }

    /// Eight influences; joints that scale centimetres to metres; a file 200 units large; several meshes.
    #[test]
    fn real_characters_with_a_keyed_cage_are_exported_exactly() {
        let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/human.glb");
        let files =
            ["derived/makehuman_male_8infl.glb", "characters/lumberjack.glb", "khronos/Fox/glTF/Fox.gltf"];
        for path in files.into_iter().filter_map(shared).chain([own]) {
            let model = Model::load(&path, &BindOptions::default()).unwrap();
            let joint = model.skeleton().joints.len() / 3;
            let (receipt, file) = saved(&model, joint, "lbs", Interpolation::Linear);
            let shown = evaluate(&file, Moment::Static);
            let size = Aabb::of(shown.iter().map(|d| d.position.as_vec3())).diagonal();
            let off = receipt.largest_mm() / f64::from(1e3 * size);
            println!("{}: {} targets, {off:e} of the size", path.display(), receipt.targets);
            assert!(off < 2e-5, "{}: {off} of the size: {receipt}", path.display());
            let meshes = model.asset.nodes.iter().filter(|n| n.mesh.is_some()).count();
            assert!(receipt.targets <= 5 * meshes, "{}: {receipt}", path.display());
        }
    }
}
