//! All user commands, in one table. Controller buttons, panels and keys give the same commands. `sinew xr doctor`
//! checks that users can reach every command.

use super::choices::{BindChange, CageSet, FirmChange, GrabBy, MarkBy, MeasureBy, Pen, Tool};
use super::navigation::Travel;
use super::routes::{Control as Button, Route};
use super::{GhostSpacing, LimitChange, Preferences};
use crate::asset::Interpolation;
use crate::base::math::Trs;
use crate::base::{NodeId, SculptId};
use crate::bind::weights::WeightMethod;
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

/// Where the window gives a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowPlace {
    /// A key, and the items that the table of keys names.
    Keys,
    /// The tool panel.
    Tools,
    /// The bar above the picture.
    Bar,
    /// The timeline.
    Timeline,
    /// The list of the history.
    History,
    /// The list of joints, strokes and sculpt layers.
    Outliner,
    /// A click on the picture, or the outliner.
    Pick,
    /// Several shared panels.
    Side,
    /// Not given: what it shows is always visible.
    Always,
    /// The panel of the selected sculpt layer.
    Shape,
    /// The panel of the display and of the headset's options.
    Display,
    /// The panel of the deformation method.
    Deformer,
    /// The panel of the bones and of the binding.
    Rig,
    /// The panel of the cage.
    Cage,
    /// The panel of the morph targets.
    Morphs,
    /// The panel of the selected joint.
    Transform,
    /// A shared panel, which draws the command as a button or as a switch without further code.
    Listed(&'static Self),
}

impl WindowPlace {
    /// Text for the table of all commands.
    pub fn label(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Tools => "tool panel",
            Self::Bar => "bar above the picture",
            Self::Timeline => "timeline",
            Self::History => "history",
            Self::Outliner => "outliner",
            Self::Pick => "click, outliner",
            Self::Side => "side panel",
            Self::Always => "the side panel always shows",
            Self::Shape => "shape panel",
            Self::Display => "display panel",
            Self::Deformer => "deformer panel",
            Self::Rig => "rig panel",
            Self::Cage => "cage panel",
            Self::Morphs => "morphs panel",
            Self::Transform => "transform panel",
            Self::Listed(place) => place.label(),
        }
    }
}

/// Gives a command without value: `Some` for a variant without payload.
macro_rules! plain {
    ($name:ident) => {
        Some(Command::$name)
    };
    ($name:ident $payload:tt) => {
        None
    };
}

/// Declares the commands in palette order. Each row has the documentation, the name with the type of the value, the label, the
/// routes in the headset, the place in the window and, for a switch, its state.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident $(($($value:ty),+))? $({$($(#[$about:meta])* $field:ident: $type:ty,)+})?
        => $label:literal, [$($route:expr),+], $place:expr $(, $on:expr)?;)+) => {
        /// A user command, with its value.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Command {
            $($(#[$doc])* $name $(($($value),+))? $({$($(#[$about])* $field: $type,)+})?,)+
        }

        /// A [`Command`] without its value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each is the command of its name")]
        pub enum CommandKind {
            $($name,)+
        }

        impl Command {
            /// The command without its value.
            pub fn kind(&self) -> CommandKind {
                match self {
                    $(Self::$name { .. } => CommandKind::$name,)+
                }
            }
        }

        impl CommandKind {
            /// All kinds of command, in palette order.
            pub const ALL: [Self; [$($label),+].len()] = [$(Self::$name),+];

            /// Name for the user interface.
            pub fn label(self) -> &'static str {
                [$($label),+][self as usize]
            }

            /// The controls and panels by which a user reaches the command in the headset. Only a control of the
            /// controller opens the palette; the file panel has the file commands.
            pub fn routes(self) -> &'static [Route] {
                use Route::{Control, Details, Files, Palette};
                match self {
                    $(Self::$name => &[$($route),+],)+
                }
            }

            /// Where the window gives the command.
            pub fn place(self) -> WindowPlace {
                use WindowPlace::*;
                match self {
                    $(Self::$name => $place,)+
                }
            }

            /// The command, if it has no value.
            pub fn plain(self) -> Option<Command> {
                match self {
                    $(Self::$name => plain!($name $(($($value),+))? $({$($field)+})?),)+
                }
            }

            /// For a command that switches a preference: whether the preference is on, and the command that switches
            /// it.
            pub fn switch(self, preferences: &Preferences) -> Option<(bool, Command)> {
                match self {
                    $($(Self::$name => {
                        let is_on: fn(&Preferences) -> bool = $on;
                        let on = is_on(preferences);
                        Some((on, Command::$name(!on)))
                    })?)+
                    _ => None,
                }
            }
        }
    };
}

commands! {
    /// Undoes one step.
    Undo => "Undo", [Control(Button::Undo), Palette], Keys;
    /// Redoes one step.
    Redo => "Redo", [Control(Button::Redo), Palette], Keys;
    /// Does the first of these that applies: cancels the stroke, grab or drag in progress; forgets the first end of a distance,
    /// or the line along the vertices of the cage; leaves the motion; no longer waits for the offset stroke.
    Cancel => "Cancel what is under way", [Palette], Keys;
    /// Shows or hides the palette.
    Palette => "Palette", [Control(Button::Menu)], Keys;
    /// Shows or hides the file panel.
    Files => "Files", [Palette], Keys;
    /// Shows or hides the details panel.
    Details => "Details", [Palette], Always;
    /// Selects the tool.
    Tool(Tool) => "Tool", [Palette], Keys;
    /// Sets the brush radius, room metres.
    Radius(f32) => "Brush radius", [Control(Button::StickY), Palette], Keys;
    /// Sets how strokes treat bone lengths.
    Lengths(Lengths) => "Bone lengths", [Palette], Keys;
    /// Sets how strokes of the line tool follow the hand.
    Pen(Pen) => "How strokes follow the hand", [Palette], Keys;
    /// Sets whether controller roll twists the body.
    Roll(bool) => "Roll twists", [Palette], Tools, |p| p.roll;
    /// Sets whether strokes and grabs act on both sides.
    Mirror(bool) => "Mirror", [Palette], Keys, |p| p.mirror;
    /// Sets the grab mode.
    GrabBy(GrabBy) => "What follows a grab", [Palette], Keys;
    /// Sets what the trigger does at marks.
    MarkBy(MarkBy) => "Skin: pull, offset, knots or paint", [Details], Keys;
    /// Sets the share of DQS that strokes paint, 0..=1.
    PaintShare(f32) => "Share of DQS to paint", [Details], Deformer;
    /// Loads the share of DQS of every vertex for the method `blend`.
    LoadFactors(FactorSource) => "Load shares of DQS", [Details], Deformer;
    /// Lets the fingers of the character's hand to which the selected joint belongs follow the tracked fingers of the free
    /// hand. False keeps their pose.
    Fingers(bool) => "Fingers follow the free hand", [Palette], Listed(&Transform), |p| p.fingers;
    /// Makes the next offset stroke replace the newest one. With the skin tool in the mode [`MarkBy::Offset`], the stroke
    /// moves the skin under the mark of the selected sculpt layer, or under the newest mark.
    RedrawOffset => "Redraw offset", [Palette], Keys;
    /// Removes the newest stroke or mark; with the measure tool, the newest measure.
    RemoveStroke => "Remove stroke", [Palette], Keys;
    /// Pins the joint nearest to the tool hand, or removes its pin.
    TogglePin => "Pin joint", [Palette], Keys;
    /// Sets the number of bones that a stroke of the bone tool gives; 0 places a joint at each corner of the stroke.
    BonesPerStroke(u32) => "Bones per stroke", [Details], Rig;
    /// Computes skin weights for the drawn bones, writes the rigged character and opens it. False cancels this.
    Rig(bool) => "Rig the mesh", [Details], Keys;
    /// Computes new skin weights, writes a project with them and opens it. [`Command::Rig`] with false cancels this.
    Weigh(WeightMethod) => "New skin weights", [Details], Rig;
    /// Makes a cage of about this many vertices around the character.
    MakeCage(u32) => "Make a cage", [Details], Cage;
    /// Removes the cage.
    RemoveCage => "Remove the cage", [Details], Cage;
    /// Sets which vertices of the cage follow a hand.
    CageSet(CageSet) => "What follows a hand at the cage", [Details], Keys;
    /// Shows the rest pose for edits of the cage, or the current pose.
    CageRest(bool) => "Rest pose for the cage", [Details], Keys, |p| p.cage_rest;
    /// Keys the shape of the cage at the playhead.
    KeyCage => "Key the cage", [Details], Keys;
    /// Gives the cage the file's rest shape.
    ResetCage => "Reset the cage", [Details], Cage;
    /// Writes the cage as `.obj`.
    ExportCage => "Export the cage", [Details], Cage;
    /// Changes what the selected grip holds: nothing, its position, or position and rotation.
    GripHold => "What a grip holds", [Details], Keys;
    /// Sets the deformation method by name, to compare methods on one pose.
    Deformer(String) => "Deformer", [Palette], Keys;
    /// Sets the frequency of the dynamics, hertz, for the thickest soft tissue; 0 switches dynamics off.
    Swing(f32) => "Swing of the flesh", [Palette], Deformer;
    /// Sets the damping ratio of the dynamics; 1 is critical damping.
    Damping(f32) => "Damping of the swing", [Palette], Deformer;
    /// Switches contact on or off: whether flesh stops other flesh that it meets. Every deformation method supports
    /// contact.
    Contact(bool) => "Contact of flesh with flesh", [Palette], Deformer;
    /// Moves the selection by this number of sculpt layers in document order, with wrap-around.
    SelectShape(i32) => "Next shape", [Details], Shape;
    /// Enables or disables the selected sculpt layer.
    ShapeOn(bool) => "Shape on or off", [Details], Shape;
    /// Removes the selected sculpt layer and its mark.
    RemoveShape => "Remove shape", [Details], Shape;
    /// Sets the factor on the selected sculpt layer's offset; 1 is the offset as drawn.
    Amplitude(f32) => "Shape's amplitude", [Details], Shape;
    /// Sets the stiffness of the selected sculpt layer, see [`crate::deform::sculpt::SculptState::stiffness`].
    Stiffness(f32) => "Shape's stiffness", [Details], Shape;
    /// Sets how far the selected sculpt layer extends beyond its mark.
    Reach(Reach) => "Shape's reach", [Details], Shape;
    /// Sets how far new sculpt layers extend beyond their marks; `None` uses the brush radius.
    NewReach(Option<Reach>) => "Reach of new shapes", [Details], Shape;
    /// Moves the passive vertices of the selected drawn sculpt layer by a classical tool; `None` lets them follow the
    /// nearest kinematic vertices.
    Surroundings(Option<Method>) => "Shape's surroundings", [Details], Shape;
    /// Sets the classical tool for the passive vertices of new sculpt layers.
    NewSurroundings(Option<Method>) => "Surroundings of new shapes", [Details], Shape;
    /// Sets the quantity in which the silhouette tool finds silhouettes.
    Silhouettes(Filter) => "Silhouettes found by", [Details], Shape;
    /// Whether an accent stroke moves the silhouette in depth, too.
    AccentDepth(bool) => "Depth of accent strokes", [Details], Shape, |p| p.accent_depth;
    /// Replaces the selected sculpt layer's offset by a profile curve.
    Profile(Curve) => "Shape's profile", [Details], Shape;
    /// Sets the path along which the profile of the selected sculpt layer runs.
    Along(Along) => "Profile along stroke or bone", [Details], Shape;
    /// Sets the function around the bone of the selected sculpt layer's profile; `None` is 1 all round.
    Around(Option<Around>) => "Profile around the bone", [Details], Shape;
    /// Sets the relative growth of the distance from the bone where the profile is 1.
    Growth(f32) => "Growth of the profile", [Details], Shape;
    /// Sets the rotation of the scale vectors towards the bone's tail where the profile is 1, degrees.
    Tilt(f32) => "Tilt of the profile", [Details], Shape;
    /// Makes a sculpt layer of all skin that is attached to the bones of the selected joint, with a profile along the
    /// bones.
    ShapeOnBone => "Shape on the bones of a joint", [Details], Shape;
    /// Sets the number of waves along the selected sculpt layer, whose profile must be a wave.
    WaveCount(f32) => "Waves along a shape", [Details], Shape;
    /// Sets the waves' temporal frequency, hertz.
    WaveSpeed(f32) => "Waves' speed", [Details], Shape;
    /// Sets the waves' phase at the start, radians.
    WavePhase(f32) => "Waves' phase", [Details], Shape;
    /// Sets the weight of a morph target in the displayed pose.
    Morph{
        /// Node with morph targets.
        node: NodeId,
        /// Index of the target.
        target: u32,
        /// New weight, finite; 0 switches the target off, 1 applies it fully.
        weight: f32,
        /// Whether the change joins the undo step of the previous one, as during the drag of a slider.
        continues: bool,
    } => "Weight of a morph target", [Details], Morphs;
    /// Gives all morph targets of a node their weights in the rest pose.
    ResetMorphs(NodeId) => "Reset morph targets", [Details], Morphs;
    /// Keys the displayed morph weights of a node at the playhead.
    KeyMorphs(NodeId) => "Key morph targets", [Details], Morphs;
    /// Selects the measure tool and the kind of measure.
    Measure(MeasureBy) => "Measure", [Palette], Keys;
    /// Shows or hides bones, strokes and triangle edges over the body.
    Wire(bool) => "Wire", [Palette], Keys, |p| p.wire;
    /// Changes how the skin is attached to the bones. The second value tells whether the change joins the undo step of
    /// the previous one, as during the drag of a slider.
    Bind(BindChange, bool) => "Bind the skin", [Details], Rig;
    /// Makes the flesh below a part of the skin firmer or softer, for the method `volume` and for contact. The second value
    /// tells whether the change joins the undo step of the previous one, as during the drag of a slider.
    Firm(FirmChange, bool) => "Firm and soft regions of the skin", [Details], Deformer;
    /// Changes the limits of joints. The second value tells whether the change joins the undo step of the previous one.
    Limit(LimitChange, bool) => "Limits of joints", [Details], Transform;
    /// Shows or hides the cone of the selected joint's limit. The joint tool always shows it.
    LimitCone(bool) => "Cone of a joint's limit", [Details], Transform, |p| p.limit_cone;
    /// Shows or hides the attachment points and scale vectors of the skin. Their colours show the weights of the
    /// selected joint.
    Binding(bool) => "Binding", [Palette], Keys, |p| p.binding;
    /// Colours the skin by weights of the selected joint, by weights of all joints, or by its strain.
    #[serde(alias = "weights")]
    Colors(SkinColors) => "Colours on the skin", [Details], Keys;
    /// Sets how the flesh around the selected joint follows it, with the method `swing-twist`.
    JointDeformer(Deformer) => "Deformer of the joint", [Details], Rig;
    /// Shows or hides the curve along which the skin crosses itself.
    Crossings(bool) => "Crossings of the skin", [Palette], Keys, |p| p.crossings;
    /// Starts or stops the turntable, which slowly rotates the character about its vertical axis.
    Turntable(bool) => "Turntable", [Palette], Keys, |p| p.turntable;
    /// Rotates the view in steps; negative is left.
    SnapTurn(i32) => "Snap turn", [Control(Button::StickX), Palette], Keys;
    /// Sets world scale 1 and places the user in front of the character.
    LifeSize => "Life size", [Palette], Keys;
    /// Sets how the stick of the free hand moves the user.
    Travel(Travel) => "Stick of the free hand", [Details], Display;
    /// Keeps the view of the character as the viewpoint with this index.
    KeepView(usize) => "Keep the view", [Details], Display;
    /// Moves the user to the viewpoint with this index and stops the turntable.
    GoToView(usize) => "Go to a kept view", [Details], Display;
    /// Swaps the current view with the previous view and stops the turntable. The previous view is the one before the
    /// last pull, rotation or jump, or before the turntable started.
    UndoNavigation => "Last view", [Palette], Keys;
    /// Sets whether two-hand scaling may roll the world.
    RollWorld(bool) => "Two hands tilt the world", [Palette], Listed(&Display), |p| p.roll_world;
    /// Puts the tools into the left hand.
    LeftHanded(bool) => "Tools in the left hand", [Palette], Listed(&Display), |p| p.left_handed;
    /// Switches haptics on or off.
    Haptics(bool) => "Vibration", [Palette], Listed(&Display), |p| p.haptics;
    /// Outlines the skin of the selected joint, or of the selected sculpt layer, or switches the outline off.
    Outline(bool) => "Outline of the selection", [Details], Listed(&Display), |p| p.outline;
    /// Switches multisample antialiasing on or off.
    Smooth(bool) => "Smooth edges", [Palette], Listed(&Display), |p| p.smooth;
    /// Switches the curved drawing of triangles (Phong tessellation) on or off.
    Phong(bool) => "Phong tessellation", [Palette], Listed(&Display), |p| p.phong;
    /// Shades the surface by its materials, or as clay.
    Shading(Shading) => "Shading", [Palette, Details], Display;
    /// Sets whether near parts of the surface take ambient light from each other.
    Occlusion(Occlusion) => "Ambient occlusion", [Details], Display;
    /// Sets the size of the headset's pictures, as a factor on the width and height that the runtime recommends:
    /// [`crate::workbench::RENDER_SCALE_RANGE`].
    RenderScale(f32) => "Size of the headset's pictures", [Details], Display;
    /// Sets the refresh rate of the headset, hertz; `None` leaves it to the runtime.
    RefreshRate(Option<f32>) => "Refresh rate of the headset", [Details], Display;
    /// Sets whether the headset's pictures omit the pixels that the lenses hide.
    HiddenArea(bool) => "Pixels hidden by the lenses", [Details], Display, |p| p.hidden_area;
    /// Shows the user's room in the headset instead of the backdrop, or the backdrop.
    Passthrough(bool) => "Room in the headset", [Details], Display, |p| p.passthrough;
    /// Plays or stops the motion.
    Play(bool) => "Play", [Palette], Keys;
    /// Shows or hides the motion path of the selected joint.
    MotionPath(bool) => "Motion path of the selected joint", [Palette], Timeline, |p| p.path;
    /// Shows or hides onion skins: ghosts of the character at other times.
    Onion(bool) => "Onion skins", [Palette], Keys, |p| p.onion.on;
    /// Sets which onion skins show.
    Ghosts{
        /// Number before the playhead, 0..=4.
        before: u32,
        /// Number after the playhead, 0..=4.
        after: u32,
        /// Where they lie.
        spacing: GhostSpacing,
    } => "Number and spacing of onion skins", [Details], Timeline;
    /// Moves the playhead to a time, seconds, and shows the motion there.
    Scrub(f64) => "Scrub", [Palette], Keys;
    /// Keys the displayed pose at the playhead.
    Key => "Key pose", [Palette], Keys;
    /// Keys the displayed rotation of the selected joint at the playhead. Also keys its location and scale if they have keys
    /// or differ from the rest pose.
    KeyJoint => "Key the selected joint", [Details], Keys;
    /// Removes the keys under the playhead.
    DeleteKey => "Delete key", [Palette], Keys;
    /// Moves the keys under the playhead to a time, seconds, clamped between the neighbouring keys.
    MoveKey(f64) => "Move key", [Palette], Tools;
    /// Switches auto-key on or off. Auto-key keys every change at the playhead.
    AutoKey(bool) => "Auto key", [Palette], Timeline;
    /// Switches the recording of grabs on or off. While it is on, a grab sets keys of the motion that the hand gives the
    /// character, in real time from the playhead on.
    Record(bool) => "Record grabs", [Palette], Timeline;
    /// Sets the frame rate, frames per second: 24, 25, 30, 50 or 60.
    Rate(u32) => "Frame rate", [Palette], Tools;
    /// Sets whether playback starts again at its end.
    Loop(bool) => "Loop of playback", [Details], Timeline, |p| p.loops;
    /// Sets in point and out point of playback, seconds, rounded to frames. `None` plays the whole motion.
    PlayRange(Option<[f64; 2]>) => "Range of playback", [Details], Timeline;
    /// Keys the motion that the newest offset stroke gave the character while it was drawn. The keys start at the
    /// playhead and keep the speed of drawing.
    KeyStroke => "Key stroke", [Palette], Tools;
    /// Sets the interpolation of all keyed channels.
    Interpolation(Interpolation) => "Between keys", [Palette], Tools;
    /// Applies an edit of a panel. With true, the edit joins the previous undo step, as during the drag of a slider.
    Change(Box<Edit>, bool) => "Settings of deformer, poses, clips and layers", [Details], Side;
    /// Restores the state after a step of the history; the first step is 1.
    Jump(usize) => "Any step of the history", [Details], History;
    /// Selects a joint, or nothing.
    Select(Option<NodeId>) => "Select a joint by name", [Details], Pick;
    /// Selects the parent of the selected joint.
    SelectParent => "Select the parent", [Details], Listed(&Transform);
    /// Selects the partner of the selected joint on the other side of the body.
    SelectPartner => "Select the other side", [Details], Listed(&Transform);
    /// Sets a node's local transform in the displayed pose, relative to the parent node. With true, the change joins the
    /// previous undo step, as during a drag. With mirror on, the partner joint follows.
    Place(NodeId, Box<Trs>, bool) => "Location, rotation and scale of a joint", [Details], Transform;
    /// Copies the displayed local transforms of the selected joint and of all joints below it.
    CopyPose => "Copy pose", [Details], Keys;
    /// Applies the copied transforms to the same joints. With true, reflects them onto the joints of the other side.
    PastePose(bool) => "Paste pose", [Details], Keys;
    /// Exchanges the left and the right side of the displayed pose.
    MirrorPose => "Mirror pose", [Details], Transform;
    /// Gives a node the local transform of the rest pose; without a node, does so for all nodes.
    ResetPose(Option<NodeId>) => "Reset to the rest pose", [Details], Transform;
    /// Copies a sculpt layer to the other side of the body.
    OtherSide(SculptId) => "Shape on the other side", [Details], Outliner;
    /// Opens a file.
    Open(PathBuf) => "Open", [Files], Keys;
    /// Saves the project.
    Save => "Save", [Files, Palette], Keys;
    /// Exports a posed glTF file.
    Export => "Export", [Files, Palette], Keys;
    /// Sets the error bound of exports, millimetres; see [`super::Preferences::export_error`].
    ExportError(Option<f64>) => "Error of exports", [Details], Side;
    /// Switches between the headset and the window.
    OtherFace => "Headset or window", [Palette], Keys;
    /// Starts the tour at its first instruction, or ends it.
    Tour(bool) => "Tour of the first steps", [Palette], Bar;
    /// Ends the session.
    Quit => "Quit", [Palette], Keys;
}
