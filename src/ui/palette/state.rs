//! What the panels show. The workbench fills it; what comes from outside (files, hints, strain) is handed to it.

use crate::geom::MeasureReport;
use crate::workbench::{Labels, Preferences, ShapeState, Timeline};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Everything the panels show, kept between frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelState {
    /// The user's choices: tool, radius, switches, which panels show.
    pub preferences: Preferences,
    /// Steps that can be undone.
    pub undo: usize,
    /// Steps that can be done again.
    pub redo: usize,
    /// Strokes and marks in the document.
    pub strokes: usize,
    /// An offset stroke can be drawn again.
    pub redraw: bool,
    /// The motion.
    pub timeline: Timeline,
    /// The selected sculpt layer; `None` if the document has none.
    pub shape: Option<ShapeState>,
    /// The joint that the tool hand was near last.
    pub pin: Option<Pin>,
    /// Deformation method; none named is springs.
    pub deformer: String,
    /// How fast the springs' flesh swings, hertz, and its damping, at the moment shown; none for methods without springs.
    pub swing: Option<[f32; 2]>,
    /// How much larger than life the world is shown.
    pub magnification: f32,
    /// There is a view to go back to.
    pub moved: bool,
    /// The document has changes that are in no project file.
    pub unsaved: bool,
    /// What the controls of the left and the right hand are called.
    pub labels: [Labels; 2],
    /// What the deformation did to the body; none until it has been measured.
    pub strain: Option<Strain>,
    /// For the file panel.
    pub files: FileList,
    /// Whether the mark being drawn, or just drawn, is a ring or open, in words.
    pub mark: Option<String>,
    /// One line that the user should know, with its advice.
    pub message: Option<String>,
}

/// A joint that could be pinned or freed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pin {
    /// Its name.
    pub joint: String,
    /// It stays where it is.
    pub pinned: bool,
}

/// Numbers of the strain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Strain {
    /// Method that made the shape.
    pub method: String,
    /// Volume over that of the bind shape; none for sheets.
    pub volume_ratio: Option<f64>,
    /// Largest `|l / l0 - 1|` of an edge.
    pub stretch_max: f32,
    /// Mean `|l / l0 - 1|` of the edges.
    pub stretch_mean: f32,
    /// Inverted triangles.
    pub flipped: usize,
    /// Solver iterations; `None` for methods without a solver.
    pub iterations: Option<u32>,
}

impl Strain {
    /// From a measurement of a method's shape.
    pub fn new(method: &str, iterations: Option<u32>, report: &MeasureReport) -> Self {
        Self {
            method: method.to_owned(),
            volume_ratio: report.volume_ratio,
            stretch_max: report.stretch_max,
            stretch_mean: report.stretch_mean,
            flipped: report.flipped_triangles,
            iterations,
        }
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A folder: opening it lists it.
    Folder,
    /// A glTF file.
    Character,
    /// A document of Sinew's.
    Project,
    /// A journal that was not saved: opening it recovers the document.
    Journal,
}

/// A line of the file panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// What opening it names.
    pub path: PathBuf,
    /// For people; mostly the file's name.
    pub name: String,
    /// Size, age, or how many edits: a few words.
    pub note: String,
    /// What it is.
    pub kind: FileKind,
}

/// Files to choose from. Made by a worker, never within a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The folder that is listed.
    pub folder: PathBuf,
    /// What is in it: folders, characters, projects.
    pub entries: Vec<FileEntry>,
    /// Files opened lately.
    pub recent: Vec<FileEntry>,
    /// Journals to recover.
    pub unfinished: Vec<FileEntry>,
}

impl FileList {
    /// Goes on with another folder's, which knows no files opened lately.
    pub fn follow(&mut self, next: Self) {
        let recent = std::mem::take(&mut self.recent);
        *self = next;
        if self.recent.is_empty() {
            self.recent = recent;
        }
    }

    /// The folder's name, and the folder above it.
    pub(super) fn place(&self) -> (String, Option<&Path>) {
        let name =
            self.folder.file_name().map_or_else(|| self.folder.to_string_lossy(), |n| n.to_string_lossy());
        (name.into_owned(), self.folder.parent().filter(|p| !p.as_os_str().is_empty()))
    }
}
