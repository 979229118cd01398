//! The routes by which users reach each command. Buttons, panels, hints and the doctor all use this table.

use super::Command;

/// An abstract control of a hand (see [`super::Hand`]), independent of the controller's buttons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Control {
    /// The tool's main action; on a panel, a click.
    Draw,
    /// Grabs the body or the world.
    Grab,
    /// Thumbstick or trackpad, horizontal.
    StickX,
    /// Thumbstick or trackpad, vertical.
    StickY,
    /// Undo button.
    Undo,
    /// Redo button.
    Redo,
    /// Shows or hides the palette.
    Menu,
}

impl Control {
    /// All controls.
    pub const ALL: [Self; 7] =
        [Self::Draw, Self::Grab, Self::StickX, Self::StickY, Self::Undo, Self::Redo, Self::Menu];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Grab => "grab",
            Self::StickX => "turn",
            Self::StickY => "brush radius",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Menu => "palette",
        }
    }
}

/// A route to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A button, trigger, squeeze or stick of a controller; no panel is needed.
    Control(Control),
    /// An entry of the palette.
    Palette,
    /// An entry of the file panel, which the palette can open.
    Files,
    /// An entry of the details panel, which the palette can open.
    Details,
}

/// Declares each [`Command`] in palette order: its name and its label.
macro_rules! commands {
    ($($name:ident => $label:literal,)+) => {
        /// A [`Command`] without its value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each is the command of its name")]
        pub enum CommandKind {
            $($name,)+
        }

        impl CommandKind {
            /// All kinds of command, in palette order.
            pub const ALL: [Self; [$($label),+].len()] = [$(Self::$name),+];

            /// Name for the user interface.
            pub fn label(self) -> &'static str {
                [$($label),+][self as usize]
            }
        }

        impl Command {
            /// The command without its value.
            pub fn kind(&self) -> CommandKind {
                match self {
                    $(Self::$name { .. } => CommandKind::$name,)+
                }
            }
        }
    };
}

commands! {
    Undo => "Undo",
    Redo => "Redo",
    Palette => "Palette",
    Files => "Files",
    Details => "Details",
    Tool => "Tool",
    Radius => "Brush radius",
    Lengths => "Bone lengths",
    Roll => "Roll twists",
    Mirror => "Mirror",
    GrabBy => "What follows a grab",
    MarkBy => "Skin: pull, offset, knots or paint",
    PaintShare => "Share of DQS to paint",
    LoadFactors => "Load shares of DQS",
    RedrawOffset => "Redraw offset",
    RemoveStroke => "Remove stroke",
    TogglePin => "Pin joint",
    BonesPerStroke => "Bones per stroke",
    Rig => "Rig the mesh",
    MakeCage => "Make a cage",
    RemoveCage => "Remove the cage",
    CageSet => "What follows a hand at the cage",
    CageRest => "Rest pose for the cage",
    KeyCage => "Key the cage",
    ResetCage => "Reset the cage",
    ExportCage => "Export the cage",
    GripHold => "What a grip holds",
    Deformer => "Deformer",
    Swing => "Swing of the flesh",
    Damping => "Damping of the swing",
    Contact => "Contact of flesh with flesh",
    SelectShape => "Next shape",
    ShapeOn => "Shape on or off",
    RemoveShape => "Remove shape",
    Amplitude => "Shape's amplitude",
    Stiffness => "Shape's stiffness",
    Reach => "Shape's reach",
    NewReach => "Reach of new shapes",
    Surroundings => "Shape's surroundings",
    NewSurroundings => "Surroundings of new shapes",
    Silhouettes => "Silhouettes found by",
    AccentDepth => "Depth of accent strokes",
    Profile => "Shape's profile",
    Along => "Profile along stroke or bone",
    Around => "Profile around the bone",
    Growth => "Growth of the profile",
    Tilt => "Tilt of the profile",
    ShapeOnBone => "Shape on the bones of a joint",
    WaveCount => "Waves along a shape",
    WaveSpeed => "Waves' speed",
    WavePhase => "Waves' phase",
    Morph => "Weight of a morph target",
    ResetMorphs => "Reset morph targets",
    KeyMorphs => "Key morph targets",
    Measure => "Measure",
    Wire => "Wire",
    Bind => "Bind the skin",
    Firm => "Firm and soft regions of the skin",
    Limit => "Limits of joints",
    LimitCone => "Cone of a joint's limit",
    Binding => "Binding",
    Colors => "Colours on the skin",
    JointDeformer => "Deformer of the joint",
    Crossings => "Crossings of the skin",
    Turntable => "Turntable",
    SnapTurn => "Snap turn",
    LifeSize => "Life size",
    UndoNavigation => "Last view",
    RollWorld => "Roll world",
    LeftHanded => "Left-handed",
    Haptics => "Haptics",
    Smooth => "Smooth edges",
    Phong => "Phong tessellation",
    Shading => "Shading",
    Occlusion => "Ambient occlusion",
    RenderScale => "Size of the headset's pictures",
    RefreshRate => "Refresh rate of the headset",
    HiddenArea => "Pixels hidden by the lenses",
    Passthrough => "Room in the headset",
    Play => "Play",
    MotionPath => "Motion path of the selected joint",
    Onion => "Onion skins",
    Ghosts => "Number and spacing of onion skins",
    Scrub => "Scrub",
    Key => "Key pose",
    DeleteKey => "Delete key",
    MoveKey => "Move key",
    AutoKey => "Auto key",
    Rate => "Frame rate",
    Loop => "Loop of playback",
    PlayRange => "Range of playback",
    KeyStroke => "Key stroke",
    Interpolation => "Between keys",
    Change => "Settings of deformer, poses, clips and layers",
    Jump => "Any step of the history",
    Select => "Select a joint by name",
    Place => "Location, rotation and scale of a joint",
    CopyPose => "Copy pose",
    PastePose => "Paste pose",
    MirrorPose => "Mirror pose",
    ResetPose => "Reset to the rest pose",
    OtherSide => "Shape on the other side",
    Open => "Open",
    Save => "Save",
    Export => "Export",
    OtherFace => "Headset or window",
    Tour => "Tour of the first steps",
    Quit => "Quit",
}

impl CommandKind {
    /// All routes to the command. Only a control of the controller opens the palette; the file panel has the file
    /// commands.
    pub fn routes(self) -> &'static [Route] {
        match self {
            Self::Undo => &[Route::Control(Control::Undo), Route::Palette],
            Self::Redo => &[Route::Control(Control::Redo), Route::Palette],
            Self::Palette => &[Route::Control(Control::Menu)],
            Self::Radius => &[Route::Control(Control::StickY), Route::Palette],
            Self::SnapTurn => &[Route::Control(Control::StickX), Route::Palette],
            Self::Open => &[Route::Files],
            Self::BonesPerStroke | Self::Rig | Self::Colors | Self::JointDeformer => &[Route::Details],
            Self::Bind | Self::Firm => &[Route::Details],
            Self::MakeCage | Self::RemoveCage | Self::CageSet | Self::CageRest => &[Route::Details],
            Self::KeyCage | Self::ResetCage | Self::ExportCage | Self::GripHold => &[Route::Details],
            Self::SelectShape | Self::ShapeOn | Self::RemoveShape | Self::OtherSide => &[Route::Details],
            Self::Amplitude | Self::Stiffness | Self::Profile => &[Route::Details],
            Self::Along | Self::Around | Self::Growth | Self::Tilt | Self::ShapeOnBone => &[Route::Details],
            Self::Reach | Self::NewReach | Self::MarkBy | Self::Surroundings | Self::NewSurroundings => {
                &[Route::Details]
            }
            Self::PaintShare | Self::LoadFactors | Self::Silhouettes | Self::AccentDepth => &[Route::Details],
            Self::WaveCount | Self::WaveSpeed | Self::WavePhase => &[Route::Details],
            Self::Morph | Self::ResetMorphs | Self::KeyMorphs => &[Route::Details],
            Self::Change | Self::Jump | Self::Select => &[Route::Details],
            Self::Place | Self::CopyPose | Self::PastePose | Self::MirrorPose => &[Route::Details],
            Self::ResetPose | Self::Loop | Self::PlayRange | Self::Ghosts => &[Route::Details],
            Self::Limit | Self::LimitCone => &[Route::Details],
            Self::Shading => &[Route::Palette, Route::Details],
            Self::Occlusion | Self::RenderScale | Self::RefreshRate => &[Route::Details],
            Self::HiddenArea | Self::Passthrough => &[Route::Details],
            Self::Save | Self::Export => &[Route::Files, Route::Palette],
            _ => &[Route::Palette],
        }
    }

    /// The commands that the palette must offer, in order.
    pub fn palette() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.routes().contains(&Route::Palette))
    }

    /// The commands that the file panel must offer, in order.
    pub fn files() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.routes().contains(&Route::Files))
    }
}

/// The names of a controller's buttons, for hints such as `A: undo`; `None` if the controller lacks the control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    names: [Option<&'static str>; Control::ALL.len()],
}

impl Labels {
    /// Collects the button name of each control.
    pub fn new(name: impl Fn(Control) -> Option<&'static str>) -> Self {
        Self { names: Control::ALL.map(name) }
    }

    /// The button name of a control.
    pub fn of(&self, control: Control) -> Option<&'static str> {
        self.names[control as usize]
    }

    /// Hint lines such as `A: undo`, for each available control.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let lines = Control::ALL.map(|c| self.of(c).map(|name| format!("{name}: {}", c.label())));
        lines.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_route() {
        assert!(CommandKind::ALL.iter().all(|kind| !kind.routes().is_empty()));
        assert!(CommandKind::palette().all(|kind| kind != CommandKind::Palette));
        assert_eq!(CommandKind::files().count(), 3);
        assert_eq!(Command::SnapTurn(-1).kind(), CommandKind::SnapTurn);
    }

    #[test]
    fn labels_make_hints() {
        let labels = Labels::new(|c| (c == Control::Undo).then_some("A"));
        assert_eq!(labels.lines().collect::<Vec<_>>(), ["A: undo"]);
        assert!(Control::ALL.iter().enumerate().all(|(i, c)| *c as usize == i));
    }
}
