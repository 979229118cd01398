//! Baking: frames of a document's motion into a folder, each on its own, so that any number of machines may share the
//! work and a killed one loses a frame at most.
//!
//! The folder has `bake.json` (what is baked, and a key made of all that frames depend on), `project.glb` (a copy of
//! the project, without shapes) and `frame_000000.sinew` and on. A frame is written whole or not at all, carries the
//! key and a hash, and is not baked again while both are right.

mod frame;
mod join;

pub use frame::Frame;
pub use join::{Joined, Joining, join};

use crate::base::{Error, Result};
use crate::deform::springs;
use crate::document::{AssetRef, Document, Target};
use crate::export::{project, write_atomically};
use crate::scene::{Evaluator, Model, Shaper, recipe};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;
/// Frames per second that can be baked.
const MAX_RATE: f64 = 1000.0;
/// The last frame's number is not higher.
const MAX_FRAME: u32 = 10_000_000;

/// What a folder of frames is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    version: u32,
    /// Hash of the document's content.
    pub document: String,
    /// Hash of the character's file.
    pub asset: String,
    /// Frames per second.
    pub rate: f64,
    /// The device's name, or `cpu`: rounding differs between them.
    pub device: String,
    /// Sinew's version.
    pub program: String,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Evaluated and written.
    Baked,
    /// It was there.
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
    /// Starts a bake in a folder, or goes on with one.
    ///
    /// # Errors
    /// The folder has frames of something else; settings whose frames depend on each other; the operating system's.
    pub fn begin(folder: &Path, model: &Model, document: &Document, rate: f64, device: &str) -> Result<Self> {
        if !(1e-3..=MAX_RATE).contains(&rate) {
            return Err(Error::input(
                format!("{rate} frames per second cannot be baked"),
                format!("give a rate up to {MAX_RATE}"),
            ));
        }
        let springs = recipe(document.deformer())?.springs;
        if springs.is_some_and(|s| s.frames == springs::Frames::Dependent) {
            return Err(Error::input(
                "the springs' frames depend on each other: they cannot be baked apart",
                "set frames=independent for the project's springs",
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
            // Last: where it is, everything else is.
            write_atomically(folder.join("bake.json"), &text(&manifest)?)?;
        }
        Self::with(folder, manifest)
    }

    /// A folder that frames were baked into.
    ///
    /// # Errors
    /// There is no bake.
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

    /// What is baked.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The copy of the project.
    pub fn project(&self) -> PathBuf {
        project_path(&self.folder)
    }

    /// Where a frame is, or will be.
    pub fn path(&self, frame: u32) -> PathBuf {
        self.folder.join(format!("frame_{frame:06}.sinew"))
    }

    /// Seconds of a frame.
    pub fn time(&self, frame: u32) -> f64 {
        f64::from(frame) / self.manifest.rate
    }

    /// A finished frame.
    ///
    /// # Errors
    /// It is not there, cut short, or of something else.
    pub fn frame(&self, model: &Model, frame: u32) -> Result<Frame> {
        let path = self.path(frame);
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, e))?;
        let read = Frame::parse(&bytes, &path, &self.key, model.skeleton())?;
        if read.number != frame || read.positions.len() != model.bound.character.display.positions.len() {
            return Err(Error::broken(&path, "frame", "it is another frame", "remove it and bake it again"));
        }
        Ok(read)
    }

    /// Numbers of the frame files in the folder, rising.
    ///
    /// # Errors
    /// The operating system's.
    pub fn frames(&self) -> Result<Vec<u32>> {
        let entries = std::fs::read_dir(&self.folder).map_err(|e| Error::io(&self.folder, e))?;
        let number = |name: &str| name.strip_prefix("frame_")?.strip_suffix(".sinew")?.parse().ok();
        let mut out: Vec<u32> = entries.flatten().filter_map(|e| number(e.file_name().to_str()?)).collect();
        out.sort_unstable();
        Ok(out)
    }

    /// Bakes a range of frames, both ends included; those that are there and whole stay. `told` hears of each.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; a full disk.
    pub fn run(
        &self,
        model: &Model,
        document: &Document,
        evaluator: &mut Evaluator,
        frames: [u32; 2],
        mut told: impl FnMut(u32, Done),
    ) -> Result<()> {
        // Where flesh swings a frame depends on those before: every range goes through them all, from the first one on, and so
        // comes to the same bytes.
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
            let frame = Frame { number, time, pose: state.pose, positions, normals };
            write_atomically(self.path(number), &frame.bytes(&self.key))?;
            told(number, Done::Baked);
        }
        Ok(())
    }
}

/// Frames from a text as `1-120` or `7`.
///
/// # Errors
/// What to write instead.
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

/// The folder's manifest, `None` if it has none.
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

/// Whether flesh swings at some time of a document.
fn swings(document: &Document) -> Result<bool> {
    let keyed = document
        .motion()
        .channels()
        .iter()
        .any(|channel| matches!(&channel.target, Target::Setting { name, .. } if name == "dynamics"));
    Ok(keyed || recipe(document.deformer())?.springs.is_some_and(|s| s.dynamics > 0.0))
}

#[cfg(test)]
pub(crate) mod tests;
