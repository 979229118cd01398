//! The output of the window editor: what the front end draws and does.

use super::input::Pick;
use crate::base::math::Turn;
use crate::render::{Lines, Occlusion, PanelPaint, Shading, SilhouetteOptions, View};
use crate::workbench::Request;
use std::path::PathBuf;
use std::time::Duration;

/// How the views form the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Picture {
    /// One view fills the picture.
    #[default]
    Whole,
    /// The left eye's view in the left half of the picture, the right eye's view in the right half.
    SideBySide,
    /// Both eyes' views at full size, combined for red-cyan glasses ([`crate::render::Look::anaglyph`]).
    Anaglyph,
    /// One view, divided at this fraction of the width. The left part shows the document's deformer, the right part
    /// shows [`super::WindowEditor::other_deformer`].
    Wipe(f32),
}

/// A kind of file that is saved to a path chosen by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// The Sinew project.
    Project,
    /// The posed character as glTF.
    Posed,
}

impl Writes {
    /// The title of the dialog.
    pub fn title(self) -> &'static str {
        ["Save the project as", "Export a posed .glb as"][self as usize]
    }

    /// The label of the dialog's button.
    pub fn verb(self) -> &'static str {
        ["Save", "Export"][self as usize]
    }
}

/// A request to the front end.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// A request of the workbench, as in a headset.
    Editor(Request),
    /// Closes the question [`super::facts::Facts::question`] and reports the index of the user's answer.
    Answer(usize),
    /// Opens a dialog in which the user chooses a file to open.
    OpenDialog,
    /// Asks the user where to save ([`super::WindowEditor::ask_where`]), then saves.
    SaveAsDialog,
    /// Writes the file to the path that the user has chosen.
    Write(Writes, PathBuf),
    /// Reports that the user cancelled the dialog that asks where to save.
    WriteNothing,
    /// Reads a folder into [`super::facts::Facts::files`]. The front end must not block a frame while it reads.
    List(PathBuf),
}

/// Result of [`super::WindowEditor::step`], reused between frames.
#[derive(Default)]
pub struct WindowOutput {
    /// Rectangle of the picture in the window: left, top, width, height, pixels. Panels lie beside and over it.
    pub viewport: [u32; 4],
    /// The picture's one or two views.
    pub views: Vec<View>,
    /// Transform from floor to world; the turntable rotates the character relative to the floor.
    pub world_from_floor: Turn,
    /// How the views form the picture.
    pub picture: Picture,
    /// Pixels per logical pixel, for lines and panels.
    pub scale: f32,
    /// Whether edges are antialiased.
    pub smooth: bool,
    /// Whether triangles are drawn curved (Phong tessellation).
    pub phong: bool,
    /// How the surface is shaded.
    pub shading: Shading,
    /// Whether near parts of the surface take ambient light from each other.
    pub occlusion: Occlusion,
    /// Whether the selection is outlined.
    pub outline: bool,
    /// The silhouettes to colour over the surface.
    pub silhouettes: Option<SilhouetteOptions>,
    /// Strokes, bones and gizmo, world space.
    pub lines: Lines,
    /// The panels, painted over the whole window. The front end uploads the texture changes in order and removes them
    /// from here.
    pub paint: PanelPaint,
    /// Cursor, clipboard text and links, as egui reports them.
    pub platform: egui::PlatformOutput,
    /// Whether the window looks different from the last step's result.
    pub dirty: bool,
    /// Time after which the front end must step again if no event comes earlier; `None` waits for an event.
    pub again: Option<Duration>,
    /// The pixel to look up in this frame's G-buffer.
    pub pick: Option<Pick>,
    /// Requests to the front end, in order.
    pub asks: Vec<Ask>,
}
