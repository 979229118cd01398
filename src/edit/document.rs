//! The document: everything the user has made of a character. It changes by [`super::Edit`]s alone.

use super::StrokeLayer;
use super::canonical::Canonical;
use crate::asset::Asset;
use crate::base::{Error, Result, StrokeId};
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file that a document is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssetRef {
    /// Where it was.
    pub path: String,
    /// Hash of its content, 64 hexadecimal digits.
    pub hash: String,
}

impl AssetRef {
    /// Of a loaded file: the hash covers its JSON, buffers and image files, and does not depend on how they
    /// were packed (.gltf or .glb) or where they lie.
    pub fn of(asset: &Asset) -> Self {
        let mut hash = Canonical::new("asset");
        hash.json(&asset.source.json);
        hash.count(asset.source.buffers.len());
        asset.source.buffers.iter().for_each(|b| hash.bytes(b));
        hash.count(asset.source.image_files.len());
        for (bytes, mime) in asset.source.image_files.iter().flatten() {
            hash.bytes(bytes);
            hash.text(mime);
        }
        Self { path: asset.path.to_string_lossy().into_owned(), hash: hash.finish() }
    }
}

/// A pose at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// Seconds, not negative.
    pub time: f64,
    /// Every node's pose, strokes already applied.
    pub pose: Pose,
}

/// Which deformation method, with which parameters, as the method's own types serialise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeformerSettings {
    /// E.g. `lbs`; empty for the program's default.
    pub method: String,
    /// By parameter name.
    pub parameters: BTreeMap<String, serde_json::Value>,
}

/// What the user has made of a character. Read it here; change it by [`super::Edit::apply`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub(super) name: String,
    pub(super) asset: Option<AssetRef>,
    pub(super) pose: Pose,
    pub(super) strokes: Vec<StrokeLayer>,
    pub(super) keys: Vec<Key>,
    pub(super) deformer: DeformerSettings,
}

impl Document {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file it is about, none before one is opened.
    pub fn asset(&self) -> Option<&AssetRef> {
        self.asset.as_ref()
    }

    /// The pose below all strokes.
    pub fn base_pose(&self) -> &Pose {
        &self.pose
    }

    /// The stroke layers, in the order in which they apply.
    pub fn strokes(&self) -> &[StrokeLayer] {
        &self.strokes
    }

    /// One of them.
    ///
    /// # Errors
    /// There is none of that id.
    pub fn stroke(&self, id: StrokeId) -> Result<&StrokeLayer> {
        Ok(&self.strokes[self.stroke_index(id)?])
    }

    /// The keys, by rising time.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The deformation method.
    pub fn deformer(&self) -> &DeformerSettings {
        &self.deformer
    }

    /// An id for a new stroke.
    pub fn unused_stroke_id(&self) -> StrokeId {
        StrokeId(self.strokes.iter().map(|s| s.id.0 + 1).max().unwrap_or(0))
    }

    /// The pose with all strokes applied.
    pub fn posed(&self, skeleton: &Skeleton) -> Pose {
        self.posed_below(skeleton, self.strokes.len())
    }

    /// The pose with the first `layers` strokes applied: what the next one starts from.
    pub fn posed_below(&self, skeleton: &Skeleton, layers: usize) -> Pose {
        let below = &self.strokes[..layers.min(self.strokes.len())];
        below.iter().fold(self.pose.clone(), |pose, layer| layer.applied(skeleton, &pose))
    }

    /// Hash of its content, 64 hexadecimal digits. Where the asset's file lies does not count.
    pub fn hash(&self) -> String {
        let mut hash = Canonical::new("document 1");
        hash.text(&self.name);
        hash.text(self.asset.as_ref().map_or("", |a| &a.hash));
        hash.pose(&self.pose);
        hash.count(self.strokes.len());
        self.strokes.iter().for_each(|s| hash.layer(s));
        hash.count(self.keys.len());
        for key in &self.keys {
            hash.float(key.time);
            hash.pose(&key.pose);
        }
        hash.text(&self.deformer.method);
        hash.count(self.deformer.parameters.len());
        for (name, value) in &self.deformer.parameters {
            hash.text(name);
            hash.json(value);
        }
        hash.finish()
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

    /// Where a key of that time is, or belongs.
    pub(super) fn key_index(&self, time: f64) -> std::result::Result<usize, usize> {
        self.keys.binary_search_by(|k| (k.time + 0.0).total_cmp(&(time + 0.0)))
    }

    /// Checks a document from outside (a journal, a project file) against the skeleton it goes with.
    pub(super) fn validate(&self, skeleton: &Skeleton) -> Result<()> {
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
        for key in &self.keys {
            validate_time(key.time)?;
            validate_pose(&key.pose, skeleton)?;
        }
        if !self.keys.is_sorted_by(|a, b| a.time < b.time) {
            return Err(Error::input("keys are out of order", "restore the document from its journal"));
        }
        Ok(())
    }
}

/// A time that a key can have.
pub(super) fn validate_time(time: f64) -> Result<()> {
    if time.is_finite() && time >= 0.0 {
        return Ok(());
    }
    Err(Error::input(format!("{time} s is no time for a key"), "give seconds from 0"))
}

/// A pose that fits the skeleton, all finite.
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
