//! Baking: writes frames of a document's motion to a folder. Every frame is a separate file, so machines can share
//! the work and a killed process loses at most one frame.
//!
//! The folder contains `bake.json` (the manifest), `project.glb` (a copy of the project without evaluated surfaces) and
//! the frames `frame_000000.sinew` and so on. A frame is written completely or not at all. It carries a content hash
//! and a key derived from the manifest. If a frame file already exists and its key and hash are valid, the frame is not
//! baked again.

mod frame;
mod join;

pub use frame::Frame;
pub use join::{Joined, Joining, join};

use crate::base::{Error, Result};
use crate::deform::clock::Frames;
use crate::document::{AssetRef, Document, Target};
use crate::export::{project, write_atomically};
use crate::scene::{Evaluator, Model, Shaper, recipe};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;
/// Maximum frame rate, frames per second.
const MAX_RATE: f64 = 1000.0;
/// Maximum frame number.
const MAX_FRAME: u32 = 10_000_000;

/// Describes what a folder of frames was baked from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    version: u32,
    /// Hash of the document's content.
    pub document: String,
    /// Hash of the character's file.
    pub asset: String,
    /// Frame rate, frames per second.
    pub rate: f64,
    /// Name of the GPU, or `cpu`. Rounding differs between devices.
    pub device: String,
    /// Version of Sinew.
    pub program: String,
}

/// Whether a frame was baked or kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The frame was evaluated and written.
    Baked,
    /// A valid frame existed already.
    Kept,
}

/// A folder of baked frames.
#[derive(Clone, Debug)]
pub struct Bake {
    folder: PathBuf,
    manifest: Manifest,
    key: [u8; 32],
}

impl Bake {
    /// Starts or resumes a bake in a folder.
    ///
    /// # Errors
    /// The folder holds a bake with another manifest, the deformer makes frames depend on each other, or writing fails.
    pub fn begin(folder: &Path, model: &Model, document: &Document, rate: f64, device: &str) -> Result<Self> {
        if !(1e-3..=MAX_RATE).contains(&rate) {
            return Err(Error::input(
                format!("{rate} frames per second cannot be baked"),
                format!("give a rate up to {MAX_RATE}"),
            ));
        }
        if recipe(document.deformer())?.frames() == Frames::Dependent {
            return Err(Error::input(
                "the deformer's frames depend on each other: they cannot be baked apart",
                "set frames=independent for the project's deformer",
            ));
        }
        let manifest = Manifest {
            version: VERSION,
            document: document.hash(),
            asset: AssetRef::of(&model.asset).hash,
            rate,
            device: device.to_owned(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
        };
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        if let Some(known) = read(folder)? {
            if known != manifest {
                let what = "its frames are of another project, rate, device or version of Sinew";
                return Err(Error::broken(
                    folder.join("bake.json"),
                    "bake",
                    what,
                    "bake into an empty folder",
                ));
            }
        } else {
            let json = serde_json::to_value(document).map_err(|e| {
                Error::input(format!("the document cannot be written: {e}"), "report it as a bug")
            })?;
            project::save(project_path(folder), &model.asset, &model.rest(), &json)?;
            // Write the manifest last: its presence means that the project's copy is complete.
            write_atomically(folder.join("bake.json"), &text(&manifest)?)?;
        }
        Self::with(folder, manifest)
    }

    /// Opens a folder of baked frames.
    ///
    /// # Errors
    /// The folder contains no bake.
    pub fn open(folder: &Path) -> Result<Self> {
        let missing = || {
            Error::broken(folder.join("bake.json"), "bake", "it is missing", "give a folder of `sinew bake`")
        };
        Self::with(folder, read(folder)?.ok_or_else(missing)?)
    }

    fn with(folder: &Path, manifest: Manifest) -> Result<Self> {
        let key = *blake3::hash(&text(&manifest)?).as_bytes();
        Ok(Self { folder: folder.to_owned(), manifest, key })
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the path of the project's copy.
    pub fn project(&self) -> PathBuf {
        project_path(&self.folder)
    }

    /// Returns the path of a frame's file. The file may be missing.
    pub fn path(&self, frame: u32) -> PathBuf {
        self.folder.join(format!("frame_{frame:06}.sinew"))
    }

    /// Returns the time of a frame, seconds.
    pub fn time(&self, frame: u32) -> f64 {
        f64::from(frame) / self.manifest.rate
    }

    /// Reads a baked frame.
    ///
    /// # Errors
    /// The frame is missing, truncated or from another bake.
    pub fn frame(&self, model: &Model, frame: u32) -> Result<Frame> {
        let path = self.path(frame);
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, e))?;
        let read = Frame::parse(&bytes, &path, &self.key, model.skeleton())?;
        if read.number != frame || read.positions.len() != model.bound.character.display.positions.len() {
            return Err(Error::broken(&path, "frame", "it is another frame", "remove it and bake it again"));
        }
        Ok(read)
    }

    /// Returns the numbers of the frame files in the folder, increasing.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn frames(&self) -> Result<Vec<u32>> {
        let entries = std::fs::read_dir(&self.folder).map_err(|e| Error::io(&self.folder, e))?;
        let number = |name: &str| name.strip_prefix("frame_")?.strip_suffix(".sinew")?.parse().ok();
        let mut out: Vec<u32> = entries.flatten().filter_map(|e| number(e.file_name().to_str()?)).collect();
        out.sort_unstable();
        Ok(out)
    }

    /// Bakes a range of frames, both ends included, and keeps valid frames. Calls `told` for each frame.
    ///
    /// # Errors
    /// [`Evaluator::evaluate`] fails, or the disk is full.
    pub fn run(
        &self,
        model: &Model,
        document: &Document,
        evaluator: &mut Evaluator,
        frames: [u32; 2],
        mut told: impl FnMut(u32, Done),
    ) -> Result<()> {
        // With dynamics, a frame depends on all earlier frames. Every range therefore simulates from frame 0,
        // so that any split of the work gives identical files.
        let swings = swings(document)?;
        let mut shaper = Shaper::new(model, document, evaluator);
        let missing = (frames[0]..=frames[1]).any(|number| self.frame(model, number).is_err());
        for number in (0..frames[0]).filter(|_| swings && missing) {
            let time = self.time(number);
            shaper.evaluate_at(&document.state(model.skeleton(), Some(time)), time)?;
        }
        for number in frames[0]..=frames[1] {
            let kept = self.frame(model, number).is_ok();
            let time = self.time(number);
            if kept {
                told(number, Done::Kept);
                if swings && missing {
                    shaper.evaluate_at(&document.state(model.skeleton(), Some(time)), time)?;
                }
                continue;
            }
            let state = document.state(model.skeleton(), Some(time));
            let shape = shaper.evaluate_at(&state, time)?;
            let (positions, normals) = (shape.positions, shape.normals);
            let frame =
                Frame { number, time, pose: state.pose.flattened(model.skeleton()), positions, normals };
            write_atomically(self.path(number), &frame.bytes(&self.key))?;
            told(number, Done::Baked);
        }
        Ok(())
    }
}

/// Parses a frame range such as `1-120` or `7`.
///
/// # Errors
/// A message with the expected format.
pub fn parse_frames(text: &str) -> std::result::Result<[u32; 2], String> {
    let ends = text.split_once('-').unwrap_or((text, text));
    match (ends.0.trim().parse(), ends.1.trim().parse()) {
        (Ok(a), Ok(b)) if a <= b && b <= MAX_FRAME => Ok([a, b]),
        _ => Err(format!("write FIRST-LAST, e.g. 1-120, up to {MAX_FRAME}")),
    }
}

fn project_path(folder: &Path) -> PathBuf {
    folder.join("project.glb")
}

fn text(manifest: &Manifest) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(manifest)
        .map_err(|e| Error::input(format!("the bake cannot be described: {e}"), "report it as a bug"))
}

/// Reads the folder's manifest; `None` if it has none.
fn read(folder: &Path) -> Result<Option<Manifest>> {
    let path = folder.join("bake.json");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io(&path, e)),
    };
    let manifest = serde_json::from_slice(&bytes)
        .map_err(|e| Error::broken(&path, "bake", e.to_string(), "bake into an empty folder"))?;
    Ok(Some(manifest))
}

/// Returns whether the document uses dynamics at any time.
fn swings(document: &Document) -> Result<bool> {
    let keyed = document
        .motion()
        .channels()
        .iter()
        .any(|channel| matches!(&channel.target, Target::Setting { name, .. } if name == "dynamics"));
    Ok(keyed || recipe(document.deformer())?.swings())
}

#[cfg(test)]
pub(crate) mod tests;
