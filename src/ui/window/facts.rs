//! Facts for the panels that the workbench does not know. The front end sets them.

use super::question::Question;
use crate::scene::Model;
use crate::ui::palette::{FileList, Strain};
use crate::workbench::Notice;
use std::path::PathBuf;

/// Facts from outside of the workbench.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The open file or, after a save, the project; `None` before a file is open.
    pub file: Option<PathBuf>,
    /// A few words about what the front end currently loads, saves or prepares; `None` when idle.
    pub busy: Option<String>,
    /// The finished part of the computation of skin weights for drawn bones, percent; `None` if none is under way.
    pub rigging: Option<u32>,
    /// Whether the document has changes that are in no project file.
    pub unsaved: bool,
    /// One line of information for the user, with advice.
    pub message: Option<Notice>,
    /// A modal question; the user must answer it before anything else.
    pub question: Option<Question>,
    /// The lists of files to choose from.
    pub files: FileList,
    /// Problems of the file, one line each, with advice.
    pub problems: Vec<String>,
    /// Measurements of the deformed body; `None` before the first measurement.
    pub strain: Option<Strain>,
    /// Names and times of the last frame's stages, milliseconds: first the GPU's phases, then the CPU's.
    pub stages: Vec<(&'static str, f32)>,
}

impl Facts {
    /// Sets file and problems for a newly opened character.
    pub fn know(&mut self, model: &Model) {
        self.file = Some(model.asset.path.clone());
        self.problems = model.asset.problems.iter().map(|p| format!("{}: {}", p.at, p.text)).collect();
        self.strain = None;
    }
}
