//! All user commands. Controller buttons, panels and keys give the same commands. The doctor checks that users can
//! reach every command.

use super::{GhostSpacing, LimitChange};
use crate::asset::Interpolation;
use crate::base::math::Trs;
use crate::base::{FirmId, MarkId, NodeId, SculptId};
use crate::bind::{Binding, Smoothing};
use crate::deform::classic::Method;
use crate::deform::sculpt::{Along, Around, Curve};
use crate::deform::swing_twist::Deformer;
use crate::document::Edit;
use crate::pose::Lengths;
use crate::render::{Filter, Occlusion, Shading};
use crate::scene::{FactorSource, SkinColors};
use crate::surface::Reach;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    /// The vertices along a stroke: a baseline selects them, an offset stroke moves them.
    Stroke,
}

impl CageSet {
    /// All sets.
    pub const ALL: [Self; 4] = [Self::Vertex, Self::Brush, Self::Ring, Self::Stroke];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Vertex", "Brush", "Ring", "Stroke"][self as usize]
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

/// A user command, with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Undoes one step.
    Undo,
    /// Redoes one step.
    Redo,
    /// Shows or hides the palette.
    Palette,
    /// Shows or hides the file panel.
    Files,
    /// Shows or hides the details panel.
    Details,
    /// Selects the tool.
    Tool(Tool),
    /// Sets the brush radius, room metres.
    Radius(f32),
    /// Sets how strokes treat bone lengths.
    Lengths(Lengths),
    /// Sets whether controller roll twists the body.
    Roll(bool),
    /// Sets whether strokes and grabs act on both sides.
    Mirror(bool),
    /// Sets the grab mode.
    GrabBy(GrabBy),
    /// Sets what the trigger does at marks.
    MarkBy(MarkBy),
    /// Sets the share of DQS that strokes paint, 0..=1.
    PaintShare(f32),
    /// Loads the share of DQS of every vertex for the method `blend`.
    LoadFactors(FactorSource),
    /// Makes the next offset stroke replace the newest one. With the skin tool in the mode [`MarkBy::Offset`], the stroke
    /// moves the skin under the mark of the selected sculpt layer, or under the newest mark.
    RedrawOffset,
    /// Removes the newest stroke or mark; with the measure tool, the newest measure.
    RemoveStroke,
    /// Selects the measure tool and the kind of measure.
    Measure(MeasureBy),
    /// Pins the joint nearest to the tool hand, or removes its pin.
    TogglePin,
    /// Sets the number of bones that a stroke of the bone tool gives; 0 places a joint at each corner of the stroke.
    BonesPerStroke(u32),
    /// Computes skin weights for the drawn bones, writes the rigged character and opens it. False cancels this.
    Rig(bool),
    /// Makes a cage of about this many vertices around the character.
    MakeCage(u32),
    /// Removes the cage.
    RemoveCage,
    /// Sets which vertices of the cage follow a hand.
    CageSet(CageSet),
    /// Shows the rest pose for edits of the cage, or the current pose.
    CageRest(bool),
    /// Keys the shape of the cage at the playhead.
    KeyCage,
    /// Gives the cage the file's rest shape.
    ResetCage,
    /// Writes the cage as `.obj`.
    ExportCage,
    /// Changes what the selected grip holds: nothing, its position, or position and rotation.
    GripHold,
    /// Sets the deformation method by name, to compare methods on one pose.
    Deformer(String),
    /// Sets the frequency of the dynamics, hertz, for the thickest soft tissue; 0 switches dynamics off.
    Swing(f32),
    /// Sets the damping ratio of the dynamics; 1 is critical damping.
    Damping(f32),
    /// Switches contact on or off: whether flesh stops other flesh that it meets. Every deformation method supports
    /// contact.
    Contact(bool),
    /// Moves the selection by this number of sculpt layers in document order, with wrap-around.
    SelectShape(i32),
    /// Enables or disables the selected sculpt layer.
    ShapeOn(bool),
    /// Removes the selected sculpt layer and its mark.
    RemoveShape,
    /// Sets the factor on the selected sculpt layer's offset; 1 is the offset as drawn.
    Amplitude(f32),
    /// Sets the stiffness of the selected sculpt layer, see [`crate::deform::sculpt::SculptState::stiffness`].
    Stiffness(f32),
    /// Sets how far the selected sculpt layer extends beyond its mark.
    Reach(Reach),
    /// Sets how far new sculpt layers extend beyond their marks; `None` uses the brush radius.
    NewReach(Option<Reach>),
    /// Moves the passive vertices of the selected drawn sculpt layer by a classical tool; `None` lets them follow the
    /// nearest kinematic vertices.
    Surroundings(Option<Method>),
    /// Sets the classical tool for the passive vertices of new sculpt layers.
    NewSurroundings(Option<Method>),
    /// Sets the quantity in which the silhouette tool finds silhouettes.
    Silhouettes(Filter),
    /// Whether an accent stroke moves the silhouette in depth, too.
    AccentDepth(bool),
    /// Replaces the selected sculpt layer's offset by a profile curve.
    Profile(Curve),
    /// Sets the path along which the profile of the selected sculpt layer runs.
    Along(Along),
    /// Sets the function around the bone of the selected sculpt layer's profile; `None` is 1 all round.
    Around(Option<Around>),
    /// Sets the relative growth of the distance from the bone where the profile is 1.
    Growth(f32),
    /// Sets the rotation of the scale vectors towards the bone's tail where the profile is 1, degrees.
    Tilt(f32),
    /// Makes a sculpt layer of all skin that is attached to the bones of the selected joint, with a profile along the
    /// bones.
    ShapeOnBone,
    /// Sets the number of waves along the selected sculpt layer, whose profile must be a wave.
    WaveCount(f32),
    /// Sets the waves' temporal frequency, hertz.
    WaveSpeed(f32),
    /// Sets the waves' phase at the start, radians.
    WavePhase(f32),
    /// Sets the weight of a morph target in the displayed pose.
    Morph {
        /// Node with morph targets.
        node: NodeId,
        /// Index of the target.
        target: u32,
        /// New weight, finite; 0 switches the target off, 1 applies it fully.
        weight: f32,
        /// Whether the change joins the undo step of the previous one, as during the drag of a slider.
        continues: bool,
    },
    /// Gives all morph targets of a node their weights in the rest pose.
    ResetMorphs(NodeId),
    /// Keys the displayed morph weights of a node at the playhead.
    KeyMorphs(NodeId),
    /// Shows or hides bones, strokes and triangle edges over the body.
    Wire(bool),
    /// Switches multisample antialiasing on or off.
    Smooth(bool),
    /// Switches the curved drawing of triangles (Phong tessellation) on or off.
    Phong(bool),
    /// Shades the surface by its materials, or as clay.
    Shading(Shading),
    /// Sets whether near parts of the surface take ambient light from each other.
    Occlusion(Occlusion),
    /// Sets the size of the headset's pictures, as a factor on the width and height that the runtime recommends:
    /// [`crate::workbench::SCALE_RANGE`].
    RenderScale(f32),
    /// Sets the refresh rate of the headset, hertz; `None` leaves it to the runtime.
    RefreshRate(Option<f32>),
    /// Sets whether the headset's pictures omit the pixels that the lenses hide.
    HiddenArea(bool),
    /// Shows the user's room in the headset instead of the backdrop, or the backdrop.
    Passthrough(bool),
    /// Changes how the skin is attached to the bones. The second value tells whether the change joins the undo step of
    /// the previous one, as during the drag of a slider.
    Bind(BindChange, bool),
    /// Makes the flesh below a part of the skin firmer or softer, for the method `volume` and for contact. The second value
    /// tells whether the change joins the undo step of the previous one, as during the drag of a slider.
    Firm(FirmChange, bool),
    /// Changes the limits of joints. The second value tells whether the change joins the undo step of the previous one.
    Limit(LimitChange, bool),
    /// Shows or hides the cone of the selected joint's limit. The joint tool always shows it.
    LimitCone(bool),
    /// Shows or hides the attachment points and scale vectors of the skin. Their colours show the weights of the
    /// selected joint.
    Binding(bool),
    /// Colours the skin by weights of the selected joint, by weights of all joints, or by its strain.
    #[serde(alias = "weights")]
    Colors(SkinColors),
    /// Sets how the flesh around the selected joint follows it, with the method `swing-twist`.
    JointDeformer(Deformer),
    /// Shows or hides the curve along which the skin crosses itself.
    Crossings(bool),
    /// Starts or stops the turntable, which slowly rotates the character about its vertical axis.
    Turntable(bool),
    /// Rotates the view in steps; negative is left.
    SnapTurn(i32),
    /// Sets world scale 1 and places the user in front of the character.
    LifeSize,
    /// Swaps the current view with the previous view and stops the turntable. The previous view is the one before the
    /// last pull, rotation or jump, or before the turntable started.
    UndoNavigation,
    /// Sets whether two-hand scaling may roll the world.
    RollWorld(bool),
    /// Puts the tools into the left hand.
    LeftHanded(bool),
    /// Switches haptics on or off.
    Haptics(bool),
    /// Plays or stops the motion.
    Play(bool),
    /// Shows or hides the motion path of the selected joint.
    MotionPath(bool),
    /// Shows or hides onion skins: ghosts of the character at other times.
    Onion(bool),
    /// Sets which onion skins show.
    Ghosts {
        /// Number before the playhead, 0..=4.
        before: u32,
        /// Number after the playhead, 0..=4.
        after: u32,
        /// Where they lie.
        spacing: GhostSpacing,
    },
    /// Moves the playhead to a time, seconds, and shows the motion there.
    Scrub(f64),
    /// Keys the displayed pose at the playhead.
    Key,
    /// Removes the keys under the playhead.
    DeleteKey,
    /// Moves the keys under the playhead to a time, seconds, clamped between the neighbouring keys.
    MoveKey(f64),
    /// Switches auto-key on or off. Auto-key keys every change at the playhead.
    AutoKey(bool),
    /// Sets the frame rate, frames per second: 24, 30 or 60.
    Rate(u32),
    /// Sets whether playback starts again at its end.
    Loop(bool),
    /// Sets in point and out point of playback, seconds, rounded to frames. `None` plays the whole motion.
    PlayRange(Option<[f64; 2]>),
    /// Keys the motion that the newest offset stroke gave the character while it was drawn. The keys start at the
    /// playhead and keep the speed of drawing.
    KeyStroke,
    /// Sets the interpolation of all keyed channels.
    Interpolation(Interpolation),
    /// Applies an edit of a panel. With true, the edit joins the previous undo step, as during the drag of a slider.
    Change(Box<Edit>, bool),
    /// Restores the state after a step of the history; the first step is 1.
    Jump(usize),
    /// Selects a joint, or nothing.
    Select(Option<NodeId>),
    /// Sets a node's local transform in the displayed pose, relative to the parent node. With true, the change joins the
    /// previous undo step, as during a drag. With mirror on, the partner joint follows.
    Place(NodeId, Box<Trs>, bool),
    /// Copies the displayed local transforms of the selected joint and of all joints below it.
    CopyPose,
    /// Applies the copied transforms to the same joints. With true, reflects them onto the joints of the other side.
    PastePose(bool),
    /// Exchanges the left and the right side of the displayed pose.
    MirrorPose,
    /// Gives a node the local transform of the rest pose; without a node, does so for all nodes.
    ResetPose(Option<NodeId>),
    /// Copies a sculpt layer to the other side of the body.
    OtherSide(SculptId),
    /// Opens a file.
    Open(PathBuf),
    /// Saves the project.
    Save,
    /// Exports a posed glTF file.
    Export,
    /// Switches between the headset and the window.
    OtherFace,
    /// Starts the tour at its first instruction, or ends it.
    Tour(bool),
    /// Ends the session.
    Quit,
}
