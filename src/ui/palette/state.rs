//! The state that the panels show. The workbench sets most of it; the front end adds files, control names and strain.

use super::{Page, PaletteMemory, Panel, Tab};
use crate::base::{NodeId, Version};
use crate::geom::MeasureReport;
use crate::ui::panels::{HeadsetOffers, Section};
use crate::ui::theme;
use crate::workbench::{Labels, Notice, Preferences, ShapeState, Timeline};
use egui::Color32;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Everything that the panels show, reused between frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelState {
    /// User preferences: tool, radius, switches, visible panels.
    pub preferences: Preferences,
    /// Version of the document.
    pub revision: Version,
    /// Version of the displayed pose.
    pub pose: Version,
    /// Whether a copied pose can be pasted.
    pub copied: bool,
    /// The selected joint.
    pub selected: Option<NodeId>,
    /// Number of steps that can be undone.
    pub undo: usize,
    /// Number of steps that can be redone.
    pub redo: usize,
    /// Number of strokes and marks in the document. While the measure tool is chosen, the number of measures instead.
    pub strokes: usize,
    /// Whether there is a stroke whose offset stroke can be redrawn.
    pub redraw: bool,
    /// Whether something is under way that the user can cancel.
    pub can_cancel: bool,
    /// Keys and playback state of the motion.
    pub timeline: Timeline,
    /// The selected sculpt layer; `None` if the document has none.
    pub shape: Option<ShapeState>,
    /// The joint that the tool hand touched last.
    pub pin: Option<Pin>,
    /// Name of the deformation method; empty means springs.
    pub deformer: String,
    /// Frequency in hertz and damping ratio of the flesh dynamics; `None` for methods without dynamics.
    pub swing: Option<[f32; 2]>,
    /// The finished part of the computation of skin weights for drawn bones, percent; `None` if none is under way.
    pub rigging: Option<u32>,
    /// What the connected headset offers; `None` without a connection.
    pub headset: Option<HeadsetOffers>,
    /// Whether the coupling of the cage with the skin is known.
    pub coupled: bool,
    /// Whether contact is on: flesh stops other flesh that it meets.
    pub contact: bool,
    /// Display scale of the world: 1 is life size, 2 is twice as large.
    pub magnification: f32,
    /// Whether there is a previous view that the user can return to.
    pub moved: bool,
    /// The instruction of the tour: its number, the number of all, and the text; `None` without a tour.
    pub tour: Option<(usize, usize, &'static str)>,
    /// Whether the document has changes that are in no project file.
    pub unsaved: bool,
    /// Names of the controls of the left and the right hand.
    pub labels: [Labels; 2],
    /// Measurements of the deformed body; `None` before the first measurement.
    pub strain: Option<Strain>,
    /// The lists of the file panel.
    pub files: FileList,
    /// The joints that a tool has moved to their limits, or what the user draws or has drawn last, in words: the kind of the
    /// mark, or the joints of the baseline.
    pub drawn: Option<String>,
    /// One line about the last action.
    pub message: Option<Notice>,
    /// One line about the file that was written last.
    pub written: Option<String>,
}

/// A joint that can be pinned or freed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pin {
    /// The joint's name.
    pub joint: String,
    /// Whether the joint is pinned.
    pub pinned: bool,
}

/// Measurements of the deformed surface against the bind shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Strain {
    /// Name of the deformation method that made the shape.
    pub method: String,
    /// Volume divided by the volume of the bind shape; `None` if the bind shape is a sheet without volume.
    pub volume_ratio: Option<f64>,
    /// Largest edge strain `|l / l0 - 1|`.
    pub stretch_max: f32,
    /// Mean edge strain `|l / l0 - 1|`.
    pub stretch_mean: f32,
    /// Number of triangles that are turned over relative to their neighbours.
    pub turned_over: usize,
    /// Number of pairs of triangles that cross in the deformed shape but neither cross nor touch in the bind shape.
    pub crossings: usize,
    /// Solver iterations; `None` for methods without a solver.
    pub iterations: Option<u32>,
}

impl Strain {
    /// Takes the numbers from a measurement of a method's shape.
    pub fn new(
        method: &str,
        iterations: Option<u32>,
        report: &MeasureReport,
        turned_over: usize,
        crossings: usize,
    ) -> Self {
        Self {
            method: method.to_owned(),
            volume_ratio: report.volume_ratio,
            stretch_max: report.stretch_max,
            stretch_mean: report.stretch_mean,
            turned_over,
            crossings,
            iterations,
        }
    }

    /// Returns name, value and colour of each measurement: green, yellow or red.
    pub(in crate::ui) fn rows(&self) -> [(&'static str, String, Color32); 5] {
        let judged = |value: f64, fair: f64, bad: f64| match value {
            v if v >= bad => theme::BAD,
            v if v >= fair => theme::FAIR,
            _ => theme::GOOD,
        };
        let (volume, of_volume) = self.volume_ratio.map_or_else(
            || ("no volume".to_owned(), theme::FAINT),
            |v| (format!("{:.1} %", v * 100.0), judged((v - 1.0).abs(), 0.02, 0.05)),
        );
        let stretch =
            |name, v: f32, fair, bad| (name, format!("{:.1} %", v * 100.0), judged(v.into(), fair, bad));
        let count = |name, n: usize| (name, n.to_string(), judged(n as f64, 1.0, 50.0));
        [
            ("Volume", volume, of_volume),
            stretch("Stretch, most", self.stretch_max, 0.5, 1.0),
            stretch("Stretch, mean", self.stretch_mean, 0.03, 0.08),
            count("Turned over", self.turned_over),
            count("Crossings", self.crossings),
        ]
    }
}

/// Kind of a file in the file panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A folder; opening it lists its files.
    Folder,
    /// A glTF file.
    Character,
    /// A Sinew project.
    Project,
    /// An `.obj` file; opening it imports it as the document's cage.
    Cage,
    /// The journal of an unsaved session; opening it recovers the document.
    Journal,
}

/// A line of the file panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Path for the command that opens this entry.
    pub path: PathBuf,
    /// Displayed name, usually the file name.
    pub name: String,
    /// File size, or number and age of the edits, as text.
    pub note: String,
    /// Kind of the file.
    pub kind: FileKind,
}

/// Files to choose from. A worker thread builds the list, because reading folders is too slow for a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The listed folder.
    pub folder: PathBuf,
    /// The folder's subfolders, characters and projects.
    pub entries: Vec<FileEntry>,
    /// Recently opened files.
    pub recent: Vec<FileEntry>,
    /// Journals of sessions that can be recovered.
    pub unfinished: Vec<FileEntry>,
    /// The sample characters.
    pub samples: Vec<FileEntry>,
}

impl FileList {
    /// Replaces the list by `next`, but keeps the recent files and the samples if `next` has none.
    pub fn follow(&mut self, next: Self) {
        let before = std::mem::replace(self, next);
        for (now, before) in [(&mut self.recent, before.recent), (&mut self.samples, before.samples)] {
            if now.is_empty() {
                *now = before;
            }
        }
    }

    /// Returns the path of the parent folder, if the list has one, and the entries of a list.
    pub(in crate::ui) fn of(&self, tab: Tab) -> (Option<&Path>, &[FileEntry]) {
        match tab {
            Tab::Folder => (self.folder.parent().filter(|p| !p.as_os_str().is_empty()), &self.entries),
            Tab::Recent => (None, &self.recent),
            Tab::Unfinished => (None, &self.unfinished),
            Tab::Samples => (None, &self.samples),
        }
    }
}

/// Whether the panel looks different in the states `a` and `b`.
pub(super) fn differs(panel: Panel, memory: &PaletteMemory, a: &PanelState, b: &PanelState) -> bool {
    match panel {
        Panel::Palette => {
            let shown = match memory.page {
                Page::Time => a.timeline != b.timeline,
                Page::View => (a.swing, a.contact) != (b.swing, b.contact),
                _ => false,
            };
            shown
                || a.preferences != b.preferences
                || (a.undo, a.redo, a.strokes, a.redraw) != (b.undo, b.redo, b.strokes, b.redraw)
                || a.can_cancel != b.can_cancel
                || (&a.pin, &a.deformer, a.moved, a.unsaved) != (&b.pin, &b.deformer, b.moved, b.unsaved)
        }
        Panel::Files => a.files != b.files || a.unsaved != b.unsaved,
        Panel::Wrist => {
            a.preferences != b.preferences
                || (a.magnification, &a.labels, &a.drawn) != (b.magnification, &b.labels, &b.drawn)
        }
        Panel::Strain => a.strain != b.strain,
        Panel::Keyboard => false,
        Panel::Message => (&a.message, &a.written, a.tour) != (&b.message, &b.written, b.tour),
        Panel::Details => {
            // Only these sections show the pose at the playhead.
            let follows = match memory.details.section {
                Section::Morphs | Section::Keys => !a.timeline.is_like(&b.timeline),
                Section::Transform => (a.pose, a.copied) != (b.pose, b.copied),
                Section::Rig => (&a.pin, a.rigging) != (&b.pin, b.rigging),
                Section::Cage => a.coupled != b.coupled,
                Section::Display => a.headset != b.headset,
                _ => false,
            };
            (a.revision, a.selected, &a.shape) != (b.revision, b.selected, &b.shape)
                || a.preferences != b.preferences
                || follows
        }
    }
}
