//! Pose options of a command: a clip at a given time, a pose file, joint rotations, or the file's node transforms.

use crate::anim::sample;
use crate::asset::Clip;
use crate::base::{Error, Result};
use crate::rig::{Pose, load_pose, parse_rotation, rotate_joint};
use crate::scene::Model;
use std::path::PathBuf;

/// Options that choose a pose; without any, it is a project's, or else the file's own node transforms.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PoseArgs {
    /// Animation of the file, by name or number
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Time in the animation (without --clip: in the project's motion), seconds
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    pub time: Option<f32>,
    /// Pose file: node names to transforms
    #[arg(long, value_name = "POSE.json")]
    pub pose: Option<PathBuf>,
    /// Rotate a joint about the world axes through its bind position, degrees, in the given order: Elbow=x:90,y:-20
    #[arg(long, value_name = "JOINT=x:90")]
    pub rotate: Vec<String>,
}

/// Parses a finite number from the command line.
///
/// # Errors
/// A message that asks for a finite number.
pub fn finite(text: &str) -> std::result::Result<f32, String> {
    text.parse().ok().filter(|v: &f32| v.is_finite()).ok_or_else(|| "write a finite number".to_owned())
}

/// Parses a time in a motion.
fn seconds(text: &str) -> std::result::Result<f32, String> {
    finite(text).ok().filter(|t| *t >= 0.0).ok_or_else(|| "write a number of seconds, 0 or more".to_owned())
}

/// Returns the index of the clip with the given name or number.
///
/// # Errors
/// [`Error::Input`] if no clip matches.
pub(super) fn clip_of(clips: &[Clip], name: &str) -> Result<usize> {
    let index = clips.iter().position(|c| c.name == name).or_else(|| name.parse().ok());
    index.filter(|i| *i < clips.len()).ok_or_else(|| {
        let names: Vec<&str> = clips.iter().map(|c| c.name.as_str()).collect();
        let remedy = if names.is_empty() {
            "the file has no animation".to_owned()
        } else {
            format!("choose one of {}", names.join(", "))
        };
        Error::input(format!("there is no clip \"{name}\""), remedy)
    })
}

impl PoseArgs {
    /// Whether an option chooses a pose.
    pub fn is_given(&self) -> bool {
        self.clip.is_some() || self.time.is_some() || self.pose.is_some() || !self.rotate.is_empty()
    }

    /// Returns the requested pose: a clip, a pose file or the project's own pose, with the rotations applied on top.
    ///
    /// # Errors
    /// [`Error::Input`] for an unknown clip, node or axis; any error of [`load_pose`].
    pub fn resolve(&self, model: &Model) -> Result<Pose> {
        let skeleton = model.skeleton();
        if self.time.is_some() && self.clip.is_none() && (self.pose.is_some() || model.document.is_none()) {
            let remedy = "choose a clip by --clip NAME; only a project has a motion of its own";
            return Err(Error::input("--time says when in a motion, and there is none", remedy));
        }
        let mut pose = match &self.pose {
            Some(path) => load_pose(path, skeleton)?,
            None if self.clip.is_some() => model.rest(),
            None => model.shown_at(self.time.map(f64::from)).pose,
        };
        if let Some(name) = &self.clip {
            let clip = &model.asset.clips[clip_of(&model.asset.clips, name)?];
            sample(clip, self.time.map_or(0.0, f64::from), &mut pose);
        }
        for text in &self.rotate {
            let (node, turns) = parse_rotation(skeleton, text)?;
            rotate_joint(skeleton, &mut pose, node, &turns)?;
        }
        Ok(pose)
    }
}
