//! The parameters of user commands: tools, ways to grab, to mark and to measure, changes of the binding and of firm
//! regions.

use crate::base::{FirmId, MarkId, SculptId};
use crate::bind::{Binding, Smoothing};
use serde::{Deserialize, Serialize};

/// The active tool: the action of the trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Line of action: draws a baseline, then offset strokes; drags knots.
    #[default]
    Line,
    /// Grabs the body; away from the body, pulls the world.
    Grab,
    /// Draws marks on the skin.
    Skin,
    /// Rotates and moves single joints.
    Joint,
    /// Draws the curve onto which a silhouette should move.
    Silhouette,
    /// Measures the body.
    Measure,
    /// Draws bones in a mesh without skeleton.
    Bone,
    /// Moves vertices of the cage.
    Cage,
    /// Adds and moves grips: points and regions of the skin.
    Grip,
}

impl Tool {
    /// All tools, in palette order.
    pub const ALL: [Self; 9] = [
        Self::Line,
        Self::Grab,
        Self::Skin,
        Self::Joint,
        Self::Silhouette,
        Self::Measure,
        Self::Bone,
        Self::Cage,
        Self::Grip,
    ];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        match self {
            Self::Line => "Line of action",
            Self::Grab => "Grab",
            Self::Skin => "Draw on skin",
            Self::Joint => "Joint",
            Self::Silhouette => "Silhouette",
            Self::Measure => "Measure",
            Self::Bone => "Draw bones",
            Self::Cage => "Cage",
            Self::Grip => "Grips on the skin",
        }
    }

    /// One-word name for narrow places.
    pub fn word(self) -> &'static str {
        ["Line", "Grab", "Skin", "Joint", "Silhouette", "Measure", "Bones", "Cage", "Grips"][self as usize]
    }

    /// Whether the tool changes the pose. The other tools sculpt or measure the skin; they work in any pose.
    pub fn poses(self) -> bool {
        !matches!(self, Self::Skin | Self::Silhouette | Self::Measure | Self::Bone | Self::Cage)
    }
}

/// How a stroke of the line tool follows the hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pen {
    /// The stroke follows the brush tip.
    #[default]
    Free,
    /// The stroke follows on a short string, which smooths the motion of an unsteady hand.
    Steady,
    /// The stroke is a straight line. Its slope snaps to multiples of 15 degrees.
    Straight,
}

impl Pen {
    /// All pens.
    pub const ALL: [Self; 3] = [Self::Free, Self::Steady, Self::Straight];

    /// One-word name for the user interface.
    pub fn word(self) -> &'static str {
        ["Freehand", "Steady", "Straight"][self as usize]
    }

    /// Returns the next pen. After the last pen, the first one follows.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// What the measure tool measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureBy {
    /// Distance between two points of the skin, both straight and along the skin.
    #[default]
    Distance,
    /// Thickness of the body at a point of the skin.
    Thickness,
    /// Angle between the two bones that meet at a joint.
    Angle,
}

impl MeasureBy {
    /// All kinds of measure.
    pub const ALL: [Self; 3] = [Self::Distance, Self::Thickness, Self::Angle];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Distance", "Thickness", "Angle"][self as usize]
    }

    /// Returns the next kind. After the last kind, the first one follows.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// Which part of the character follows a hand that grabs the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrabBy {
    /// Only the grabbed bone rotates (forward kinematics).
    Bone,
    /// The limb bends (inverse kinematics).
    Limb,
    /// The full body deforms by its own stiffness (FAST).
    #[default]
    Body,
}

impl GrabBy {
    /// All grab modes.
    pub const ALL: [Self; 3] = [Self::Bone, Self::Limb, Self::Body];

    /// The default for old preference files. The versions that wrote those files had only this mode.
    pub fn before_choice() -> Self {
        Self::Limb
    }

    /// One-word name for the user interface.
    pub fn word(self) -> &'static str {
        ["Bone", "Limb", "Body"][self as usize]
    }

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        match self {
            Self::Bone => "Grab bone",
            Self::Limb => "Grab limb",
            Self::Body => "Grab body",
        }
    }

    /// Returns the next mode. After the last mode, the first one follows.
    pub fn next(self) -> Self {
        match self {
            Self::Bone => Self::Limb,
            Self::Limb => Self::Body,
            Self::Body => Self::Bone,
        }
    }
}

/// Which vertices of the cage follow a hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CageSet {
    /// The vertex at the tip.
    Vertex,
    /// The vertices around the tip, less the farther they are.
    #[default]
    Brush,
    /// The vertices around the limb.
    Ring,
    /// The vertices around the limb, towards or away from their middle.
    Thickness,
    /// The vertices along a stroke: a baseline selects them, an offset stroke moves them.
    Stroke,
}

impl CageSet {
    /// All sets.
    pub const ALL: [Self; 5] = [Self::Vertex, Self::Brush, Self::Ring, Self::Thickness, Self::Stroke];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Vertex", "Brush", "Ring", "Thickness", "Stroke"][self as usize]
    }
}

/// What the trigger does with the tool [`Tool::Skin`]. Except with [`MarkBy::Paint`], a stroke on the skin away from marks
/// draws a mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkBy {
    /// A press at a mark pulls it.
    #[default]
    Pull,
    /// The stroke after a mark is the offset stroke: the skin under the mark moves there.
    Offset,
    /// A press at a knot of a mark drags the knot over the skin.
    Knots,
    /// A stroke on the skin paints the share of DQS of the method `blend`, instead of drawing a mark.
    Paint,
}

impl MarkBy {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Pull, Self::Offset, Self::Knots, Self::Paint];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Pull", "Offset", "Knots", "Paint"][self as usize]
    }

    /// Returns the next mode. After the last mode, the first one follows.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// A part of the skin, to attach by hand or to make firmer or softer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkinPart {
    /// The vertices of the faces under a mark, and rings of vertices around them.
    Mark {
        /// The mark.
        id: MarkId,
        /// Number of rings.
        rings: u32,
    },
    /// The vertices that a sculpt layer moves.
    Shape(SculptId),
}

/// A change of the document's binding, see [`crate::bind::BindOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindChange {
    /// Sets the rule.
    Method(Binding),
    /// Sets the number of smoothing rounds.
    Rounds(u32),
    /// Sets what a round of smoothing does.
    Smoothing(Smoothing),
    /// Turns the dividing planes at the selected joint: degrees about X, Y and Z of bind space, in this order.
    Turn([f32; 3]),
    /// Attaches a part of the skin to the bones of the selected joint.
    Attach(SkinPart),
    /// Places the attachment points of a part of the skin in the middle of their bones, for
    /// [`BindChange::PlaceAt`].
    Place(SkinPart),
    /// Places the attachment points of the region with this index along their bones, 0 at the head, 1 at the tail;
    /// `None` places them by the rule.
    PlaceAt(usize, Option<f32>),
    /// Removes the region with this index, so that the rule attaches its vertices.
    Remove(usize),
    /// Gives all settings their defaults.
    Reset,
}

/// A change of the document's firm and soft regions, see [`crate::deform::volume::firm`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirmChange {
    /// Multiplies the stiffness of the flesh below a part of the skin by a factor, 1/16..=16. The inside of a closed mark
    /// belongs to the part. With mirror on, so does the same part on the other side of the body.
    Add(SkinPart, f32),
    /// Sets the factor of a region, 1/16..=16.
    Factor(FirmId, f32),
    /// Removes a region.
    Remove(FirmId),
}
