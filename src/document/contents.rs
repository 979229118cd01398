//! The document: everything the user has made for one character. Only [`super::Edit`]s change it.

use super::canonical::Canonical;
use super::{KeptPose, Motion};
use crate::asset::{Asset, Source};
use crate::base::{ChainId, Error, MarkId, NodeId, Result, SculptId, StrokeId};
use crate::bind::{BindOptions, Character};
use crate::cage::Cage;
use crate::deform::Geometric;
use crate::deform::Recipe;
use crate::deform::sculpt::SculptState;
use crate::pose::{BoneChain, StrokeLayer, validate_chains};
use crate::rig::{Pose, RestShift, Skeleton};
use crate::surface::{Grip, MAX_SCULPTS, Sculpt, SurfaceStroke};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A reference to the character's asset file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssetRef {
    /// Path of the file when it was opened.
    pub path: String,
    /// Hash of the file's content, 64 hexadecimal digits.
    pub hash: String,
}

impl AssetRef {
    /// Returns the reference to a loaded file. The hash covers the glTF JSON and all data that it references. It does
    /// not depend on the packing (.gltf or .glb, external files, data URIs) or on the file's location.
    pub fn of(asset: &Asset) -> Self {
        Self { path: asset.path.to_string_lossy().into_owned(), hash: content_hash(&asset.source) }
    }
}

/// Hashes glTF content. It skips JSON values that depend on the packing, such as buffer offsets, and hashes the
/// referenced bytes instead.
fn content_hash(source: &Source) -> String {
    let mut hash = Canonical::new("asset 2");
    let mut json = source.json.clone();
    let mut take = |name: &str| {
        let list = json.as_object_mut().and_then(|o| o.shift_remove(name));
        list.and_then(|l| if let Value::Array(l) = l { Some(l) } else { None }).unwrap_or_default()
    };
    let (mut views, mut images) = (take("bufferViews"), take("images"));
    take("buffers");
    hash.json(&json);
    hash.count(images.len());
    for (i, image) in images.iter_mut().enumerate() {
        match source.image_files.get(i).and_then(Option::as_ref) {
            Some((bytes, _)) => hash.bytes(bytes),
            // Exclude the image's buffer view from the hash, because only packed files store images in buffer views.
            None => match image["bufferView"].as_u64().and_then(|v| views.get_mut(v as usize)) {
                Some(view) => {
                    hash.bytes(bytes_of(source, view));
                    *view = Value::Null;
                }
                None => hash.bytes(&[]),
            },
        }
        without(image, &["uri", "bufferView", "mimeType"]);
        hash.json(image);
    }
    for (i, view) in views.iter_mut().enumerate().filter(|(_, view)| !view.is_null()) {
        hash.count(i);
        hash.bytes(bytes_of(source, view));
        without(view, &["buffer", "byteOffset"]);
        let extensions = view.get_mut("extensions").and_then(Value::as_object_mut);
        for extension in extensions.into_iter().flat_map(|e| e.values_mut()) {
            hash.bytes(bytes_of(source, extension));
            without(extension, &["buffer", "byteOffset"]);
        }
        hash.json(view);
    }
    hash.finish()
}

/// Returns the bytes that a JSON object's `buffer`, `byteOffset` and `byteLength` select; empty if out of range.
fn bytes_of<'a>(source: &'a Source, view: &Value) -> &'a [u8] {
    let number = |name: &str| view[name].as_u64().and_then(|n| usize::try_from(n).ok());
    let buffer = number("buffer").and_then(|b| source.buffers.get(b));
    let start = number("byteOffset").unwrap_or(0);
    let end = number("byteLength").and_then(|length| start.checked_add(length));
    buffer.zip(end).and_then(|(buffer, end)| buffer.get(start..end)).unwrap_or_default()
}

fn without(object: &mut Value, names: &[&str]) {
    if let Some(object) = object.as_object_mut() {
        names.iter().for_each(|name| drop(object.shift_remove(*name)));
    }
}

/// A deformation method and its parameters, in the method's own serialised form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeformerSettings {
    /// Method name, for example `lbs`; empty for the program's default.
    pub method: String,
    /// Parameter values by parameter name.
    pub parameters: BTreeMap<String, Value>,
}

impl DeformerSettings {
    /// Returns the settings of a method with its default parameters.
    pub fn of(method: &str) -> Self {
        Self { method: method.to_owned(), parameters: BTreeMap::new() }
    }

    /// Returns the deformer recipe for this method and these parameters.
    ///
    /// # Errors
    /// Same as [`Recipe::from_settings`].
    pub fn recipe(&self) -> Result<Recipe> {
        Recipe::from_settings(&self.method, &self.parameters)
    }
}

/// Everything the user has made for one character. The methods of this type only read; [`super::Edit::apply`] changes a
/// document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub(super) name: String,
    pub(super) asset: Option<AssetRef>,
    pub(super) pose: Pose,
    pub(super) strokes: Vec<StrokeLayer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) poses: Vec<KeptPose>,
    /// Channels and clips. Older files store a list of whole poses under `keys`.
    #[serde(default, alias = "keys", skip_serializing_if = "Motion::is_default")]
    pub(super) motion: Motion,
    pub(super) deformer: DeformerSettings,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) binding: Box<BindOptions>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) marks: Vec<SurfaceStroke>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pins: Vec<NodeId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sculpts: Vec<Sculpt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) bones: Vec<BoneChain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cage: Option<Box<Cage>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hidden: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) grips: Vec<Grip>,
}

/// Whether a binding has the default settings, which files omit.
fn is_default(binding: &BindOptions) -> bool {
    *binding == BindOptions::default()
}

impl Document {
    /// Returns the document's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the asset file, or `None` before one is opened.
    pub fn asset(&self) -> Option<&AssetRef> {
        self.asset.as_ref()
    }

    /// Returns the base pose, to which the strokes apply, without the rest shape of the cage.
    pub fn base_pose(&self) -> &Pose {
        &self.pose
    }

    /// Returns the cage, if the character has one.
    pub fn cage(&self) -> Option<&Cage> {
        self.cage.as_deref()
    }

    /// Returns the stroke layers, in the order in which they apply.
    pub fn strokes(&self) -> &[StrokeLayer] {
        &self.strokes
    }

    /// Returns the stroke layer with this id.
    ///
    /// # Errors
    /// No stroke layer has this id.
    pub fn stroke(&self, id: StrokeId) -> Result<&StrokeLayer> {
        Ok(&self.strokes[self.stroke_index(id)?])
    }

    /// Returns the animation: channels, clip layers and frame rate.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// Returns the deformation method and its parameters.
    pub fn deformer(&self) -> &DeformerSettings {
        &self.deformer
    }

    /// Returns the settings by which the skin is attached to the bones.
    pub fn binding(&self) -> &BindOptions {
        &self.binding
    }

    /// Returns the marks on the skin, in drawing order.
    pub fn marks(&self) -> &[SurfaceStroke] {
        &self.marks
    }

    /// Returns the pinned nodes, which stay in place during posing by hand, sorted by id.
    pub fn pins(&self) -> &[NodeId] {
        &self.pins
    }

    /// Returns the parts of the display mesh that are hidden, as ascending indices of
    /// [`crate::geom::DisplayMesh::parts`]. Strokes reach the skin below hidden parts. Exports contain all parts.
    pub fn hidden(&self) -> &[u32] {
        &self.hidden
    }

    /// Returns the sculpt layers, in the order in which they were made.
    pub fn sculpts(&self) -> &[Sculpt] {
        &self.sculpts
    }

    /// Returns the sculpt layer with this id.
    ///
    /// # Errors
    /// No sculpt layer has this id.
    pub fn sculpt(&self, id: SculptId) -> Result<&Sculpt> {
        Ok(&self.sculpts[self.sculpt_index(id)?])
    }

    /// Returns the bones drawn inside a mesh without skeleton, parents before children.
    pub fn bones(&self) -> &[BoneChain] {
        &self.bones
    }

    /// Returns an unused id for a new chain of bones.
    pub fn unused_chain_id(&self) -> ChainId {
        ChainId(self.bones.iter().map(|c| c.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns the states of all active sculpt layers. `seconds` is the time of animated waves.
    pub fn sculpt_states(&self, seconds: f64) -> Vec<SculptState> {
        self.sculpts.iter().filter_map(|s| s.state(seconds)).collect()
    }

    /// Returns an unused id for a new sculpt layer.
    pub fn unused_sculpt_id(&self) -> SculptId {
        SculptId(self.sculpts.iter().map(|s| s.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns an unused id for a new mark.
    pub fn unused_mark_id(&self) -> MarkId {
        MarkId(self.marks.iter().map(|m| m.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns an unused id for a new stroke.
    pub fn unused_stroke_id(&self) -> StrokeId {
        StrokeId(self.strokes.iter().map(|s| s.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns the edited pose with all strokes applied.
    pub fn posed(&self, skeleton: &Skeleton) -> Pose {
        self.posed_below(skeleton, self.strokes.len())
    }

    /// Returns whether both documents have equal poses, strokes, deformers, bindings, sculpt layers, cages and grips,
    /// ignoring motion.
    pub fn is_shaped_like(&self, other: &Self) -> bool {
        (&self.pose, &self.strokes, &self.deformer) == (&other.pose, &other.strokes, &other.deformer)
            && (&self.sculpts, &self.cage, &self.binding) == (&other.sculpts, &other.cage, &other.binding)
            && self.grips == other.grips
    }

    /// Returns the pose with the first `layers` strokes applied, which is the input of the next stroke.
    pub fn posed_below(&self, skeleton: &Skeleton, layers: usize) -> Pose {
        let below = &self.strokes[..layers.min(self.strokes.len())];
        let base = self.base_over(self.rest(skeleton));
        below.iter().fold(base, |pose, layer| layer.applied(skeleton, &pose))
    }

    /// Returns the edited pose with all strokes applied, over another rest shape than the cage's.
    pub fn posed_over(&self, skeleton: &Skeleton, rest: RestShift) -> Pose {
        let base = self.base_over(rest);
        self.strokes.iter().fold(base, |pose, layer| layer.applied(skeleton, &pose))
    }

    /// Returns the base pose over a rest shape, with the grips.
    fn base_over(&self, rest: RestShift) -> Pose {
        let mut base = Pose { rest, ..self.pose.clone() };
        self.grips_into(&mut base.grips);
        base
    }

    /// Returns the rest shape of the cage's own offsets.
    fn rest(&self, skeleton: &Skeleton) -> RestShift {
        self.cage().map_or_else(RestShift::default, |cage| cage.rest(skeleton))
    }

    /// Reads a document from the JSON of a project file and checks it against the skeleton.
    ///
    /// # Errors
    /// The JSON is damaged, is not a document, or belongs to another character.
    pub fn from_json(json: Value, skeleton: &Skeleton) -> Result<Self> {
        let document: Self = serde_json::from_value(json).map_err(|e| {
            Error::input(format!("the document cannot be read: {e}"), "open it with the Sinew that saved it")
        })?;
        if document.asset.is_none() {
            return Err(Error::input("the document is about no character", "open one and save again"));
        }
        document.validate(skeleton, None)?;
        Ok(document)
    }

    /// Returns the deformer recipe of the document, bound to its grips.
    ///
    /// # Errors
    /// Same as [`DeformerSettings::recipe`].
    pub fn recipe(&self) -> Result<Recipe> {
        self.recipe_of(&self.deformer)
    }

    /// Returns the deformer recipe of other settings, bound to the grips of the document.
    ///
    /// # Errors
    /// Same as [`DeformerSettings::recipe`].
    pub fn recipe_of(&self, settings: &DeformerSettings) -> Result<Recipe> {
        let mut recipe = settings.recipe()?;
        recipe.set_grips(&self.grip_shapes());
        Ok(recipe)
    }

    /// Checks marks, binding and grips against the character.
    ///
    /// # Errors
    /// A mark lies on a triangle that the display mesh does not have, or the binding or a grip names a vertex that the
    /// control mesh does not have.
    pub fn fits(&self, character: &Character) -> Result<()> {
        let triangles = character.display.triangles.len();
        self.marks.iter().try_for_each(|mark| mark.validate(Some(triangles)))?;
        if let Geometric::Blend { factor, painted } = &self.deformer.recipe()?.geometric {
            painted.or(*factor).check(character.control.positions.len())?;
        }
        self.grips.iter().try_for_each(|grip| grip.fits(character))?;
        self.binding.fits(character)
    }

    /// Returns the hash of the content, 64 hexadecimal digits. The path of the asset file does not affect it.
    pub fn hash(&self) -> String {
        let mut hash = Canonical::new("document 1");
        hash.text(&self.name);
        hash.text(self.asset.as_ref().map_or("", |a| &a.hash));
        hash.pose(&self.pose);
        hash.count(self.strokes.len());
        self.strokes.iter().for_each(|s| hash.layer(s));
        let keys = self.motion.as_poses(&self.pose);
        hash.count(keys.as_ref().map_or(0, Vec::len));
        for key in keys.iter().flatten() {
            hash.float(key.time);
            hash.pose(&key.pose);
        }
        hash.text(&self.deformer.method);
        hash.count(self.deformer.parameters.len());
        for (name, value) in &self.deformer.parameters {
            hash.text(name);
            hash.json(value);
        }
        self.hash_additions(&mut hash);
        if keys.is_none() && !self.motion.is_default() {
            self.motion.hash(&mut hash);
        }
        if !self.poses.is_empty() {
            hash.text("poses 1");
            hash.count(self.poses.len());
            for kept in &self.poses {
                hash.text(&kept.name);
                hash.pose(&kept.pose);
            }
        }
        hash.finish()
    }

    /// Hashes fields added after version 1. If all are empty, the hash equals that of a version 1 document.
    fn hash_additions(&self, hash: &mut Canonical) {
        self.hash_marks(hash);
        if !self.sculpts.is_empty() {
            hash.text("sculpts 1");
            hash.count(self.sculpts.len());
            self.sculpts.iter().for_each(|s| hash.sculpt(s));
        }
        if !self.bones.is_empty() {
            hash.text("bones 1");
            hash.count(self.bones.len());
            self.bones.iter().for_each(|c| hash.chain(c));
        }
        if let Some(cage) = &self.cage {
            hash.text("cage 1");
            hash.cage(cage);
        }
        if !is_default(&self.binding) {
            hash.text("binding 1");
            hash.binding(&self.binding);
        }
        if !self.hidden.is_empty() {
            hash.text("hidden 1");
            hash.count(self.hidden.len());
            self.hidden.iter().for_each(|part| hash.count(*part as usize));
        }
        if !self.grips.is_empty() {
            hash.text("grips 1");
            hash.count(self.grips.len());
            self.grips.iter().for_each(|g| hash.grip(g));
        }
    }

    fn hash_marks(&self, hash: &mut Canonical) {
        let adjusted: Vec<&StrokeLayer> =
            self.strokes.iter().filter(|s| !s.adjustments.is_empty() || s.partner.is_some()).collect();
        if self.marks.is_empty() && self.pins.is_empty() && adjusted.is_empty() {
            return;
        }
        hash.text("additions 1");
        hash.count(self.marks.len());
        self.marks.iter().for_each(|m| hash.mark(m));
        hash.count(self.pins.len());
        self.pins.iter().for_each(|p| hash.count(p.index()));
        hash.count(adjusted.len());
        adjusted.into_iter().for_each(|layer| hash.adjustments(layer));
    }

    pub(super) fn mark_index(&self, id: MarkId) -> Result<usize> {
        self.marks.iter().position(|m| m.id == id).ok_or_else(|| {
            Error::input(format!("there is no mark {}", id.0), format!("there are {}", self.marks.len()))
        })
    }

    pub(super) fn sculpt_index(&self, id: SculptId) -> Result<usize> {
        self.sculpts.iter().position(|s| s.id == id).ok_or_else(|| {
            Error::input(format!("there is no shape {}", id.0), format!("there are {}", self.sculpts.len()))
        })
    }

    pub(super) fn stroke_index(&self, id: StrokeId) -> Result<usize> {
        self.strokes.iter().position(|s| s.id == id).ok_or_else(|| {
            let known: Vec<String> = self.strokes.iter().map(|s| s.id.0.to_string()).collect();
            Error::input(
                format!("there is no stroke {}", id.0),
                if known.is_empty() {
                    "draw one first".into()
                } else {
                    format!("there are {}", known.join(", "))
                },
            )
        })
    }

    /// Checks an untrusted document (from a journal or project file) against its skeleton.
    pub(super) fn validate(&self, skeleton: &Skeleton, triangles: Option<usize>) -> Result<()> {
        if self.asset.is_none() {
            return Ok(());
        }
        validate_pose(&self.pose, skeleton)?;
        for layer in &self.strokes {
            layer.validate(skeleton.nodes.len())?;
        }
        let mut ids: Vec<u32> = self.strokes.iter().map(|s| s.id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < self.strokes.len() {
            return Err(Error::input("two strokes share an id", "restore the document from its journal"));
        }
        for mark in &self.marks {
            mark.validate(triangles)?;
        }
        let mut ids: Vec<u32> = self.marks.iter().map(|m| m.id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < self.marks.len() || ids.len() > MAX_MARKS {
            return Err(Error::input(
                "two marks share an id, or there are too many",
                "restore the document from its journal",
            ));
        }
        for sculpt in &self.sculpts {
            sculpt.validate(None)?;
        }
        let mut ids: Vec<u32> = self.sculpts.iter().map(|s| s.id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < self.sculpts.len() || ids.len() > MAX_SCULPTS {
            return Err(Error::input(
                "two shapes share an id, or there are too many",
                "restore the document from its journal",
            ));
        }
        self.deformer.recipe()?;
        self.binding.validate(skeleton)?;
        validate_pins(&self.pins, skeleton)?;
        validate_hidden(&self.hidden)?;
        validate_chains(&self.bones)?;
        self.cage.as_ref().map_or(Ok(()), |cage| cage.validate(skeleton))?;
        self.validate_grips()?;
        self.validate_poses(skeleton)?;
        self.motion.validate(skeleton)?;
        Ok(())
    }
}

/// Maximum number of marks in a document.
pub(super) const MAX_MARKS: usize = 4096;

/// Checks that pins are nodes of the skeleton, sorted and without duplicates.
pub(super) fn validate_pins(pins: &[NodeId], skeleton: &Skeleton) -> Result<()> {
    if pins.iter().all(|p| p.index() < skeleton.nodes.len()) && pins.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(Error::input("a pin is out of order or on no node", "give nodes of the character by rising id"))
}

/// Maximum index of a hidden part, far above the number of parts of a character.
const MAX_PART: u32 = 1 << 20;

/// Checks that hidden parts are sorted and without duplicates.
pub(super) fn validate_hidden(hidden: &[u32]) -> Result<()> {
    if hidden.iter().all(|p| *p < MAX_PART) && hidden.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(Error::input("a hidden part is out of order or too large", "give parts of the mesh by rising index"))
}

/// Maximum time of a key, seconds.
pub(super) const LAST: f64 = 1e7;

/// Checks that a key may have this time.
pub(super) fn validate_time(time: f64) -> Result<()> {
    if (0.0..=LAST).contains(&time) {
        return Ok(());
    }
    Err(Error::input(format!("{time} s is no time for a key"), format!("give seconds from 0 to {LAST}")))
}

/// Checks that a pose has the skeleton's nodes and weights and that all values are finite.
pub(super) fn validate_pose(pose: &Pose, skeleton: &Skeleton) -> Result<()> {
    if pose.local.len() != skeleton.nodes.len() || pose.weights.len() != skeleton.nodes.len() {
        return Err(Error::input(
            format!("the pose has {} nodes, the character {}", pose.local.len(), skeleton.nodes.len()),
            "use it with the file it was made for",
        ));
    }
    for (i, node) in skeleton.nodes.iter().enumerate() {
        let t = &pose.local[i];
        let mut floats = t.translation.iter().chain(&t.rotation).chain(&t.scale).chain(&pose.weights[i]);
        if !floats.all(|v| v.is_finite()) {
            return Err(Error::input(format!("the pose of {:?} is not finite", node.name), "pose it again"));
        }
        if pose.weights[i].len() != node.weights.len() {
            return Err(Error::input(
                format!("{:?} has {} morph weights", node.name, pose.weights[i].len()),
                format!("give {}", node.weights.len()),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a glTF source with two buffers, and images in a file, a data URI and a buffer view.
    fn apart() -> Source {
        let json = json!({
            "buffers": [{ "byteLength": 5, "uri": "a.bin" }, { "byteLength": 6, "uri": "b.bin" }],
            "bufferViews": [
                { "buffer": 0, "byteLength": 5, "target": 34962 },
                { "buffer": 1, "byteOffset": 1, "byteLength": 3, "extensions": {
                    "EXT_meshopt_compression": { "buffer": 1, "byteOffset": 4, "byteLength": 2 } } },
                { "buffer": 1, "byteLength": 1 }
            ],
            "images": [{ "uri": "x.png", "name": "x" }, { "uri": "data:image/png;base64,CQk=" }, { "bufferView": 2 }],
        });
        let images =
            vec![Some((vec![8, 8], "image/png".into())), Some((vec![9, 9], "image/png".into())), None];
        Source { json, buffers: vec![vec![1, 2, 3, 4, 5], vec![6, 7, 8, 9, 10, 11]], image_files: images }
    }

    #[test]
    fn the_content_of_a_file_is_the_same_however_it_is_packed() {
        let hash = content_hash(&apart());
        let json = json!({
            "buffers": [{ "byteLength": 22 }],
            "bufferViews": [
                { "buffer": 0, "byteLength": 5, "target": 34962 },
                { "buffer": 0, "byteOffset": 9, "byteLength": 3, "extensions": {
                    "EXT_meshopt_compression": { "buffer": 0, "byteOffset": 12, "byteLength": 2 } } },
                { "buffer": 0, "byteOffset": 8, "byteLength": 1 },
                { "buffer": 0, "byteOffset": 16, "byteLength": 2 },
                { "buffer": 0, "byteOffset": 20, "byteLength": 2 }
            ],
            "images": [
                { "name": "x", "bufferView": 3, "mimeType": "image/png" },
                { "bufferView": 4, "mimeType": "image/png" },
                { "bufferView": 2 }
            ],
        });
        let chunk = vec![1, 2, 3, 4, 5, 0, 0, 0, 6, 7, 8, 9, 10, 11, 0, 0, 8, 8, 0, 0, 9, 9];
        assert_eq!(content_hash(&Source { json, buffers: vec![chunk], image_files: vec![None; 3] }), hash);

        let changes: [fn(&mut Source); 8] = [
            |s| s.buffers[0][4] += 1,
            |s| s.buffers[1][2] += 1,
            |s| s.buffers[1][5] += 1,
            |s| s.buffers[1][0] += 1,
            |s| s.image_files[0].as_mut().unwrap().0[1] += 1,
            |s| s.image_files[1].as_mut().unwrap().0[0] += 1,
            |s| s.json["bufferViews"][0]["target"] = 34963.into(),
            |s| s.json["images"][0]["name"] = "y".into(),
        ];
        for (i, change) in changes.iter().enumerate() {
            let mut changed = apart();
            change(&mut changed);
            assert_ne!(content_hash(&changed), hash, "change {i}");
        }
        // Unreferenced bytes and file locations do not affect the hash.
        let mut same = apart();
        same.buffers[0].push(99);
        same.json["buffers"][0]["uri"] = "elsewhere.bin".into();
        assert_eq!(content_hash(&same), hash);
        assert_eq!(content_hash(&Source::default()), content_hash(&Source::default()));
    }
}
