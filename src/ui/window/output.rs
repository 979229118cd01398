//! What the window wants a window to show and do.

use super::input::Pick;
use crate::base::math::Turn;
use crate::render::{Lines, PanelPaint, View};
use crate::workbench::Request;
use std::path::PathBuf;
use std::time::Duration;

/// How the views make the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Picture {
    /// One view fills it.
    #[default]
    Whole,
    /// Two views, the left eye's in the left half: both are as wide as half the picture.
    SideBySide,
    /// Two views, each as large as the picture, in one for red and cyan glasses ([`crate::render::Look::anaglyph`]).
    Anaglyph,
    /// One view of two deformers, divided: left of this share of the width the document's own, right of it
    /// [`super::WindowEditor::other_deformer`]'s.
    Wipe(f32),
}

/// What is written to a place that the user chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// The project.
    Project,
    /// A posed glTF.
    Posed,
}

impl Writes {
    /// What is asked.
    pub fn title(self) -> &'static str {
        ["Save the project as", "Export a posed .glb as"][self as usize]
    }

    /// What the button says.
    pub fn verb(self) -> &'static str {
        ["Save", "Export"][self as usize]
    }
}

/// What a window does beside showing pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// As in a headset.
    Editor(Request),
    /// The number of the answer to [`super::facts::Facts::question`], which is gone.
    Answer(usize),
    /// Let the user choose a file to open.
    OpenDialog,
    /// Let the user choose where to save ([`super::WindowEditor::ask_where`]), then save.
    SaveAsDialog,
    /// Write it there: the user has chosen.
    Write(Writes, PathBuf),
    /// The user was asked where to write, and wants nothing written.
    WriteNothing,
    /// Read a folder again for [`super::facts::Facts::files`], beside the frames.
    List(PathBuf),
}

/// Result of [`super::WindowEditor::step`], kept between frames.
#[derive(Default)]
pub struct WindowOutput {
    /// Where the picture is in the window: left, top, width, height, pixels. Panels lie beside and over it.
    pub viewport: [u32; 4],
    /// One or two views of the picture.
    pub views: Vec<View>,
    /// Where the floor is, on which the turntable turns the character.
    pub world_from_floor: Turn,
    /// How they make it.
    pub picture: Picture,
    /// Pixels per point, for lines as for panels.
    pub scale: f32,
    /// Edges are smoothed.
    pub smooth: bool,
    /// Strokes, bones, gizmo: world.
    pub lines: Lines,
    /// Panels: paint over the whole window. Take the texture changes out when they are uploaded; they are in order.
    pub paint: PanelPaint,
    /// Cursor, clipboard, links, as egui tells.
    pub platform: egui::PlatformOutput,
    /// Something in the window looks otherwise than after the last step.
    pub dirty: bool,
    /// When to step again if nothing happens before: none waits for events.
    pub again: Option<Duration>,
    /// Pixels to be looked up in this frame's G-buffer.
    pub pick: Option<Pick>,
    /// To be done, in order.
    pub asks: Vec<Ask>,
}
