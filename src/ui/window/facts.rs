//! What the panels show that the workbench does not know: the front end fills it.

use super::question::Question;
use crate::scene::Model;
use crate::ui::palette::{FileList, Strain};
use std::path::PathBuf;

/// What comes from outside of the workbench.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The file that is open; none before one is.
    pub file: Option<PathBuf>,
    /// Something is being loaded, saved or made ready: a few words.
    pub busy: Option<String>,
    /// The document has changes that are in no project file.
    pub unsaved: bool,
    /// One line that the user should know, with its advice.
    pub message: Option<String>,
    /// What should be answered before anything else.
    pub question: Option<Question>,
    /// Files to choose from.
    pub files: FileList,
    /// Meshes of the file with their triangles.
    pub meshes: Vec<(String, usize)>,
    /// What is wrong with the file, one line each, with its remedy.
    pub problems: Vec<String>,
    /// What the deformation did to the body; none until it has been measured.
    pub strain: Option<Strain>,
    /// Stages of the last frame with their times, milliseconds: GPU phases, then the CPU's.
    pub stages: Vec<(String, f32)>,
}

impl Facts {
    /// Takes over what there is to know of a character.
    pub fn know(&mut self, model: &Model) {
        self.file = Some(model.asset.path.clone());
        self.problems = model.asset.problems.iter().map(|p| format!("{}: {}", p.at, p.text)).collect();
        self.meshes.clear();
        for part in &model.bound.character.display.parts {
            let name = model.asset.meshes.get(part.mesh.index()).map_or("mesh", |m| m.name.as_str());
            match self.meshes.last_mut() {
                Some((last, count)) if last == name => *count += part.triangles.len(),
                _ => self.meshes.push((name.to_owned(), part.triangles.len())),
            }
        }
        self.strain = None;
    }
}
