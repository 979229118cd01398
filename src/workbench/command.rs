//! Everything a user can do by pressing something: the same table for controller buttons, panels and keys, and what the
//! doctor proves to be in reach.

use crate::asset::Interpolation;
use crate::deform::sculpt::Curve;
use crate::pose::Lengths;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the trigger does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Line of action: baseline, then offset strokes; drags knots.
    #[default]
    Line,
    /// Takes hold of the body; away from it, pulls the world.
    Grab,
    /// Draws on the skin.
    Skin,
    /// Turns and moves single joints.
    Joint,
    /// Draws how a silhouette should run.
    Silhouette,
    /// Measures the body.
    Measure,
}

impl Tool {
    /// All of them, in the palette's order.
    pub const ALL: [Self; 6] =
        [Self::Line, Self::Grab, Self::Skin, Self::Joint, Self::Silhouette, Self::Measure];

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Line => "Line of action",
            Self::Grab => "Grab",
            Self::Skin => "Draw on skin",
            Self::Joint => "Joint",
            Self::Silhouette => "Silhouette",
            Self::Measure => "Measure",
        }
    }

    /// In one short word, where there is little room.
    pub fn word(self) -> &'static str {
        ["Line", "Grab", "Skin", "Joint", "Silhouette", "Measure"][self as usize]
    }

    /// Whether it changes the pose; the others shape the skin or measure it, in any pose.
    pub fn poses(self) -> bool {
        !matches!(self, Self::Skin | Self::Silhouette | Self::Measure)
    }
}

/// What the measuring tool measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureBy {
    /// From one place of the skin to another, straight and along the skin.
    #[default]
    Distance,
    /// From a place of the skin through the body.
    Thickness,
    /// Between the two bones that meet at a joint.
    Angle,
}

impl MeasureBy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Distance, Self::Thickness, Self::Angle];

    /// For people.
    pub fn label(self) -> &'static str {
        ["Distance", "Thickness", "Angle"][self as usize]
    }

    /// The next one, round and round.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// What follows a hand that grabs the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrabBy {
    /// The bone alone turns (forward kinematics).
    Bone,
    /// The limb bends (inverse kinematics).
    Limb,
    /// The whole body follows by its own stiffness.
    #[default]
    Body,
}

impl GrabBy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bone, Self::Limb, Self::Body];

    /// What followed a hand before it could be chosen.
    pub fn before_choice() -> Self {
        Self::Limb
    }

    /// One word for people.
    pub fn word(self) -> &'static str {
        ["Bone", "Limb", "Body"][self as usize]
    }

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Bone => "Grab bone",
            Self::Limb => "Grab limb",
            Self::Body => "Grab body",
        }
    }

    /// The next one, round and round.
    pub fn next(self) -> Self {
        match self {
            Self::Bone => Self::Limb,
            Self::Limb => Self::Body,
            Self::Body => Self::Bone,
        }
    }
}

/// A command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// One step back.
    Undo,
    /// One step forward.
    Redo,
    /// Shows or hides the palette.
    Palette,
    /// Shows or hides the file panel.
    Files,
    /// Chooses what the trigger does.
    Tool(Tool),
    /// Brush radius, metres of the room.
    Radius(f32),
    /// Bone lengths under strokes.
    Lengths(Lengths),
    /// Controller roll twists.
    Roll(bool),
    /// Strokes and grabs act on both sides.
    Mirror(bool),
    /// What follows a hand.
    GrabBy(GrabBy),
    /// The next offset stroke is for this layer again.
    RedrawOffset,
    /// Removes the newest stroke or mark; with the measuring tool the newest measure.
    RemoveStroke,
    /// Chooses the measuring tool, and what it measures.
    Measure(MeasureBy),
    /// Pins the joint next to the tool hand, or frees it.
    TogglePin,
    /// Deformation method by name, for A/B on the same pose.
    Deformer(String),
    /// How fast the springs' thickest flesh swings in a motion, hertz; 0: not.
    Swing(f32),
    /// How soon it ends to; 1: without overshooting.
    Damping(f32),
    /// Selects another sculpt layer, so many further in the document's order, around at the end.
    SelectShape(i32),
    /// The selected shape takes part.
    ShapeOn(bool),
    /// Removes the selected shape, and its mark.
    RemoveShape,
    /// Factor on the selected shape's offset; 1 as it was made.
    Amplitude(f32),
    /// How strongly the springs follow the selected shape, see [`crate::deform::sculpt::SculptState::stiffness`].
    Stiffness(f32),
    /// The selected shape follows a formula.
    Profile(Curve),
    /// Waves along the selected shape, which is one.
    WaveCount(f32),
    /// Waves that pass a place of it in a second.
    WaveSpeed(f32),
    /// Where its waves begin, radians.
    WavePhase(f32),
    /// Bones, strokes and the triangles' edges drawn over the body.
    Wire(bool),
    /// Edges smoothed by several samples per pixel.
    Smooth(bool),
    /// Attachment points and scale vectors drawn, in the colours of the selected joint's weights.
    Binding(bool),
    /// The character turns slowly on its own axis.
    Turntable(bool),
    /// Turns the view in steps; negative is left.
    SnapTurn(i32),
    /// World scale 1, standing before the character.
    LifeSize,
    /// Last view: back to the view before the last pull, turn or jump, or before the turntable began to turn, which stops;
    /// from there back to this one.
    UndoNavigation,
    /// Two-hand scaling may roll.
    RollWorld(bool),
    /// Tools in the left hand.
    LeftHanded(bool),
    /// Haptics on.
    Haptics(bool),
    /// Lets the motion run, or stops it.
    Play(bool),
    /// Shows the motion at a time, seconds.
    Scrub(f64),
    /// Keys the pose that is shown at the playhead.
    Key,
    /// Removes the keys under the playhead.
    DeleteKey,
    /// Moves the keys under the playhead to a time, seconds, between those before and after.
    MoveKey(f64),
    /// What is changed is keyed at the playhead.
    AutoKey(bool),
    /// Frames per second: 24, 30 or 60.
    Rate(u32),
    /// Keys the motion of the newest offset stroke from the playhead on, as fast as it was drawn.
    KeyStroke,
    /// How all keyed values go from key to key.
    Interpolation(Interpolation),
    /// Opens a file.
    Open(PathBuf),
    /// Writes the project.
    Save,
    /// Writes a posed glTF.
    Export,
    /// From the headset to the window, or the other way round.
    OtherFace,
    /// Ends the session.
    Quit,
}
