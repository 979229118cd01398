//! Pose files: a pose as a small JSON document.
//!
//! ```json
//! {
//!   "sinew_pose": 1,
//!   "nodes": {
//!     "Hips":  { "translation": [0, 0.9, 0.1] },
//!     "Elbow": { "rotate": [["x", 90], ["y", -20]] },
//!     "Head":  { "rotation": [0, 0.3826834, 0, 0.9238795], "scale": [1, 1, 1] }
//!   },
//!   "weights": { "Face": [0.5, 0, 1] }
//! }
//! ```
//!
//! Every entry is optional; missing values keep the rest pose. `translation` (metres), `rotation` (quaternion x, y,
//! z, w) and `scale` replace the node's local values. `rotate` then rotates the node about the world axes of the rest
//! pose, in degrees and in list order; see [`super::rotate_joint`]. `weights` are morph weights per node.

use super::names::unknown_node;
use super::{Turns, rotate_joint};
use crate::base::{Error, Result};
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the file format; the value of `sinew_pose`.
const VERSION: u32 = 1;
/// Maximum size of a pose file, bytes.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseFile {
    #[serde(default = "current")]
    sinew_pose: u32,
    #[serde(default)]
    nodes: BTreeMap<String, NodePose>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    weights: BTreeMap<String, Vec<f32>>,
}

fn current() -> u32 {
    VERSION
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodePose {
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation: Option<[f32; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<[f32; 3]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rotate: Turns,
}

/// Reads a pose file; missing values keep the rest pose.
///
/// # Errors
/// An error for an unreadable file, JSON that does not fit the schema (with line and column), unknown nodes (with the
/// closest names), values that are not finite, or a wrong number of morph weights.
pub fn load_pose(path: &Path, skeleton: &Skeleton) -> Result<Pose> {
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    if size > MAX_BYTES {
        return Err(Error::broken(path, "file", format!("it has {size} bytes"), "give a pose file"));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::broken(path, "file", "it is not UTF-8 text", "give a pose file (JSON)"))?;
    parse_pose(path, &text, skeleton)
}

/// Parses the text of a pose file; error messages mention `path`.
///
/// # Errors
/// The errors of [`load_pose`], except those of reading the file.
pub fn parse_pose(path: &Path, text: &str, skeleton: &Skeleton) -> Result<Pose> {
    let file: PoseFile = serde_json::from_str(text).map_err(|e| {
        let at = format!("line {} column {}", e.line(), e.column());
        Error::broken(path, at, e.to_string(), "see pose files under deform in docs/reference.md")
    })?;
    if file.sinew_pose != VERSION {
        let remedy = format!("this program reads version {VERSION}");
        return Err(Error::unsupported(path, format!("pose file version {}", file.sinew_pose), remedy));
    }
    let find = |name: &str| {
        skeleton.find(name).ok_or_else(|| {
            let message = unknown_node(skeleton, name).to_string();
            let (problem, remedy) = message.split_once("; ").unwrap_or((&message, "check the name"));
            Error::broken(path, format!("node {name:?}"), problem, remedy)
        })
    };
    let broken = |name: &str, problem: String, remedy: &str| {
        Error::broken(path, format!("node {name:?}"), problem, remedy)
    };
    let mut pose = Pose::rest(skeleton);
    for (name, node) in &file.nodes {
        let id = find(name)?;
        let local = &mut pose.local[id.index()];
        local.translation = node.translation.unwrap_or(local.translation);
        local.rotation = node.rotation.unwrap_or(local.rotation);
        local.scale = node.scale.unwrap_or(local.scale);
        let all = local.translation.iter().chain(&local.rotation).chain(&local.scale);
        if !all.into_iter().all(|v| v.is_finite()) {
            return Err(broken(name, "a value is out of range".into(), "give finite numbers"));
        }
        if let Some(q) = node.rotation {
            let length = q.iter().map(|v| v * v).sum::<f32>().sqrt();
            if !(0.99..1.01).contains(&length) {
                return Err(broken(
                    name,
                    format!("the rotation has length {length}"),
                    "give a unit quaternion [x, y, z, w]",
                ));
            }
            local.rotation = q.map(|v| v / length);
        }
        rotate_joint(skeleton, &mut pose, id, &node.rotate)
            .map_err(|e| broken(name, e.to_string(), "change or remove this turn"))?;
    }
    for (name, weights) in &file.weights {
        let id = find(name)?;
        let own = &mut pose.weights[id.index()];
        if own.len() != weights.len() || !weights.iter().all(|w| w.is_finite()) {
            let problem = format!("{} morph weights for {} targets", weights.len(), own.len());
            return Err(broken(name, problem, "give one finite weight per target"));
        }
        own.clone_from(weights);
    }
    Ok(pose)
}

/// Returns the text of a pose file with all values that differ from the rest pose.
pub fn pose_text(pose: &Pose, skeleton: &Skeleton) -> String {
    let rest = Pose::rest(skeleton);
    let mut file = PoseFile { sinew_pose: VERSION, nodes: BTreeMap::new(), weights: BTreeMap::new() };
    for (i, node) in skeleton.nodes.iter().enumerate() {
        let (now, was) = (&pose.local[i], &rest.local[i]);
        if now != was {
            let entry = NodePose {
                translation: (now.translation != was.translation).then_some(now.translation),
                rotation: (now.rotation != was.rotation).then_some(now.rotation),
                scale: (now.scale != was.scale).then_some(now.scale),
                rotate: Vec::new(),
            };
            file.nodes.insert(node.name.clone(), entry);
        }
        if pose.weights[i] != rest.weights[i] {
            file.weights.insert(node.name.clone(), pose.weights[i].clone());
        }
    }
    // Serialising maps of numbers and strings cannot fail.
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;
    use crate::rig::Axis;
    use crate::rig::testing::tree;

    fn parse(text: &str) -> Result<Pose> {
        let (mut skeleton, _) = tree();
        skeleton.nodes[3].weights = vec![0.0, 0.25];
        parse_pose(Path::new("p.json"), text, &skeleton)
    }

    #[test]
    fn a_saved_pose_loads_to_the_same_bits() {
        let (mut skeleton, _) = tree();
        skeleton.nodes[3].weights = vec![0.0, 0.25];
        let mut pose = Pose::rest(&skeleton);
        let mut random = Random::new(5);
        for local in pose.local.iter_mut().step_by(2) {
            local.rotation = random.rotation().normalize().to_array();
            local.translation = random.vector().into();
        }
        pose.weights[3][0] = 0.7;
        let back = parse_pose(Path::new("p.json"), &pose_text(&pose, &skeleton), &skeleton).unwrap();
        for (a, b) in pose.local.iter().zip(&back.local) {
            assert_eq!(a.translation, b.translation);
            assert!(a.rotation.iter().zip(&b.rotation).all(|(x, y)| (x - y).abs() < 2e-7));
        }
        assert_eq!(pose.weights, back.weights);
        assert_eq!(parse("{}").unwrap(), Pose::rest(&skeleton));
    }

    #[test]
    fn rotate_entries_turn_about_world_axes() {
        let (skeleton, mut pose) = tree();
        let text = r#"{"nodes": {"elbow.L": {"rotate": [["x", 90], ["y", -20]]}}}"#;
        let node = skeleton.find("elbow.L").unwrap();
        rotate_joint(&skeleton, &mut pose, node, &[(Axis::X, 90.0), (Axis::Y, -20.0)]).unwrap();
        assert_eq!(parse_pose(Path::new("p.json"), text, &skeleton).unwrap(), pose);
    }

    #[test]
    fn errors_name_file_place_and_remedy() {
        for (text, says) in [
            ("{", "line 1"),
            (r#"{"sinew_pose": 9}"#, "version 9"),
            (r#"{"nodes": {"hed": {}}}"#, "\"head\""),
            (r#"{"nodes": {"head": {"rotation": [0,0,0,0]}}}"#, "length 0"),
            (r#"{"nodes": {"head": {"spin": 3}}}"#, "spin"),
            (r#"{"nodes": {"head": {"translation": [1e39, 0, 0]}}}"#, "range"),
            (r#"{"nodes": {"head": {"rotate": [["w", 3]]}}}"#, "`w`"),
            (r#"{"weights": {"head": [1]}}"#, "1 morph weights for 2"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("p.json: ") && error.contains(says), "{text}: {error}");
        }
    }
}
