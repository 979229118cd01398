//! The table of interaction profiles: the action that each component of each controller triggers (OpenXR 1.1
//! specification, "Interaction Profile Paths"; `xr.xml`, `interaction_profiles`).
//!
//! A boolean component can be bound to a float action (0 or 1), and a float component to a boolean action (the runtime
//! sets the threshold): OpenXR converts both ways. The thumb of each hand can open the palette. If both controllers
//! have a menu button, this button opens the palette; otherwise, a click of the stick opens it, too.

use crate::workbench::Control;

/// The three OpenXR action sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Navigation in the scene.
    Nav,
    /// Tools that edit the character.
    Tool,
    /// Buttons that work with every tool.
    Ui,
}

impl Set {
    /// All action sets.
    pub const ALL: [Self; 3] = [Self::Nav, Self::Tool, Self::Ui];

    /// Returns the OpenXR name of the action set.
    pub fn name(self) -> &'static str {
        ["nav", "tool", "ui"][self as usize]
    }

    /// Returns the title that the runtime's binding editor shows.
    pub fn title(self) -> &'static str {
        ["Moving about", "Tools", "Buttons"][self as usize]
    }
}

/// Value type of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tracked pose.
    Pose,
    /// A scalar, 0..=1.
    Float,
    /// A 2D vector with components in -1..=1.
    Vector,
    /// A boolean.
    Bool,
    /// A haptic output.
    Vibration,
}

/// An action, which each hand has separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Act {
    /// Grip pose, at the palm.
    Grip,
    /// Aim pose, for pointing.
    Aim,
    /// Haptic feedback.
    Haptic,
    /// Draws a stroke: trigger, select button or pinch.
    Draw,
    /// Grabs: squeeze or grasp.
    Grab,
    /// Thumbstick position.
    Stick,
    /// Undo button.
    Undo,
    /// Redo button.
    Redo,
    /// Menu button, which shows the palette.
    Menu,
    /// Thumb position on a trackpad.
    Pad,
    /// Trackpad click: left and right give undo and redo, up and down replace the stick.
    PadPress,
}

impl Act {
    /// All actions.
    pub const ALL: [Self; 11] = [
        Self::Grip,
        Self::Aim,
        Self::Haptic,
        Self::Draw,
        Self::Grab,
        Self::Stick,
        Self::Undo,
        Self::Redo,
        Self::Menu,
        Self::Pad,
        Self::PadPress,
    ];

    /// Returns the action set of this action.
    pub fn set(self) -> Set {
        match self {
            Self::Grip | Self::Grab | Self::Stick => Set::Nav,
            Self::Aim | Self::Draw | Self::Haptic => Set::Tool,
            Self::Undo | Self::Redo | Self::Menu | Self::Pad | Self::PadPress => Set::Ui,
        }
    }

    /// Returns the value type of this action.
    pub fn kind(self) -> Kind {
        match self {
            Self::Grip | Self::Aim => Kind::Pose,
            Self::Haptic => Kind::Vibration,
            Self::Draw | Self::Grab => Kind::Float,
            Self::Stick | Self::Pad => Kind::Vector,
            Self::Undo | Self::Redo | Self::Menu | Self::PadPress => Kind::Bool,
        }
    }

    /// Returns the OpenXR name of the action.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 11] =
            ["grip", "aim", "haptic", "draw", "grab", "stick", "undo", "redo", "menu", "pad", "pad_press"];
        NAMES[self as usize]
    }

    /// Returns the title that the runtime's binding editor shows.
    pub fn title(self) -> &'static str {
        const TITLES: [&str; 11] = [
            "Palm",
            "Pointer",
            "Feel",
            "Draw and select",
            "Grab",
            "Turn and brush radius",
            "Undo",
            "Redo",
            "Palette",
            "Trackpad position",
            "Trackpad: left undo, right redo",
        ];
        TITLES[self as usize]
    }
}

/// User paths of the left and the right hand, in the order of [`crate::workbench::Input::hands`].
pub const HANDS: [&str; 2] = ["/user/hand/left", "/user/hand/right"];

/// The binding of a controller component to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The action to which the component is bound.
    pub act: Act,
    /// The hand: 0 left, 1 right, `None` for both.
    pub hand: Option<usize>,
    /// Component path below the hand's user path, e.g. `input/aim/pose`.
    pub component: &'static str,
    /// Name of the component for users; empty for poses and haptics.
    pub label: &'static str,
}

impl Binding {
    /// Returns whether the binding applies to a hand.
    pub fn on(&self, hand: usize) -> bool {
        self.hand.is_none_or(|h| h == hand)
    }
}

/// Condition under which a runtime supports a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Every runtime supports the profile.
    Core,
    /// OpenXR 1.1, or this extension in earlier versions.
    Promoted(&'static str),
    /// Only OpenXR 1.1, which defines this profile path.
    Version11,
    /// Only with this extension.
    Extension(&'static str),
}

/// An interaction profile with its bindings.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Path below `/interaction_profiles/`.
    pub name: &'static str,
    /// Name of the controller for users.
    pub title: &'static str,
    /// Condition under which a runtime supports the profile.
    pub needs: Needs,
    /// Bindings of components to actions.
    pub bindings: Vec<Binding>,
    /// Whether a pinch with the palm towards the face opens the palette, for bare hands without buttons.
    pub palm_menu: bool,
}

impl Profile {
    /// Returns the OpenXR path of the profile.
    pub fn path(&self) -> String {
        format!("/interaction_profiles/{}", self.name)
    }

    /// Returns whether a runtime with this version (major, minor) and these extensions supports the profile.
    pub fn usable(&self, version: (u16, u16), extension: impl Fn(&str) -> bool) -> bool {
        match self.needs {
            Needs::Core => true,
            Needs::Version11 => version >= (1, 1),
            Needs::Promoted(name) => version >= (1, 1) || extension(name),
            Needs::Extension(name) => extension(name),
        }
    }

    /// Returns the first binding of an action for a hand.
    pub fn binding(&self, act: Act, hand: usize) -> Option<&Binding> {
        self.bindings.iter().find(|b| b.act == act && b.on(hand))
    }

    /// Returns the name of a hand's control; `None` if the controller lacks it.
    pub fn control(&self, control: Control, hand: usize) -> Option<&'static str> {
        let label = |act| self.binding(act, hand).map(|b| b.label);
        let pad = |name| {
            let both = self.binding(Act::Pad, hand).and(self.binding(Act::PadPress, hand));
            both.map(|_| name)
        };
        match control {
            Control::Draw => label(Act::Draw),
            Control::Grab => label(Act::Grab),
            Control::StickX => label(Act::Stick),
            Control::StickY => label(Act::Stick).or_else(|| pad("pad up, down")),
            Control::Undo => label(Act::Undo).or_else(|| pad("pad left")),
            Control::Redo => label(Act::Redo).or_else(|| pad("pad right")),
            Control::Menu => {
                let palm = self.palm_menu && self.binding(Act::Draw, hand).is_some();
                label(Act::Menu).or(palm.then_some("pinch, palm to the face"))
            }
        }
    }
}

const fn both(act: Act, component: &'static str, label: &'static str) -> Binding {
    Binding { act, hand: None, component, label }
}

const fn left(act: Act, component: &'static str, label: &'static str) -> Binding {
    Binding { act, hand: Some(0), component, label }
}

const fn right(act: Act, component: &'static str, label: &'static str) -> Binding {
    Binding { act, hand: Some(1), component, label }
}

const POSES: &[Binding] = &[both(Act::Grip, "input/grip/pose", ""), both(Act::Aim, "input/aim/pose", "")];
const HAPTIC: &[Binding] = &[both(Act::Haptic, "output/haptic", "")];
const TRIGGER: &[Binding] = &[both(Act::Draw, "input/trigger/value", "trigger")];
const SQUEEZE: &[Binding] = &[both(Act::Grab, "input/squeeze/value", "grip")];
const SQUEEZE_CLICK: &[Binding] = &[both(Act::Grab, "input/squeeze/click", "grip")];
const STICK: &[Binding] = &[both(Act::Stick, "input/thumbstick", "stick")];
const STICK_MENU: &[Binding] = &[both(Act::Menu, "input/thumbstick/click", "stick press")];
const MENU: &[Binding] = &[both(Act::Menu, "input/menu/click", "menu")];
const MENU_LEFT: &[Binding] = &[left(Act::Menu, "input/menu/click", "menu")];
const PAD: &[Binding] =
    &[both(Act::Pad, "input/trackpad", "pad"), both(Act::PadPress, "input/trackpad/click", "pad press")];
const XYAB: &[Binding] = &[
    left(Act::Undo, "input/x/click", "X"),
    left(Act::Redo, "input/y/click", "Y"),
    right(Act::Undo, "input/a/click", "A"),
    right(Act::Redo, "input/b/click", "B"),
];
const AB: &[Binding] = &[both(Act::Undo, "input/a/click", "A"), both(Act::Redo, "input/b/click", "B")];

/// Bindings of a pair of controllers. Each controller has two buttons, a stick, a trigger and a squeeze; the left
/// controller also has a menu button.
const TOUCH: &[&[Binding]] = &[TRIGGER, SQUEEZE, STICK, XYAB, MENU_LEFT, STICK_MENU, HAPTIC];

/// Returns every supported profile. The specification requires each runtime to offer at least khr/simple_controller.
pub fn profiles() -> Vec<Profile> {
    let profile = |name, title, needs, groups: &[&[Binding]]| {
        let bindings = [POSES].iter().chain(groups).flat_map(|group| group.iter().copied()).collect();
        Profile { name, title, needs, bindings, palm_menu: false }
    };
    let hand = |name, title, extension, draw, grab| Profile {
        palm_menu: true,
        ..profile(
            name,
            title,
            Needs::Extension(extension),
            &[&[both(Act::Draw, draw, "pinch"), both(Act::Grab, grab, "fist")]],
        )
    };
    let bd = Needs::Promoted("XR_BD_controller_interaction");
    vec![
        profile(
            "khr/simple_controller",
            "Khronos simple controller",
            Needs::Core,
            &[&[both(Act::Draw, "input/select/click", "select")], MENU, HAPTIC],
        ),
        profile(
            "khr/generic_controller",
            "Khronos generic controller",
            Needs::Extension("XR_KHR_generic_controller"),
            &[
                TRIGGER,
                SQUEEZE,
                STICK,
                STICK_MENU,
                &[
                    both(Act::Undo, "input/primary/click", "first button"),
                    both(Act::Redo, "input/secondary/click", "second button"),
                ],
                HAPTIC,
            ],
        ),
        profile("oculus/touch_controller", "Oculus Touch", Needs::Core, TOUCH),
        profile(
            "valve/index_controller",
            "Valve Index",
            Needs::Core,
            &[TRIGGER, SQUEEZE, STICK, AB, STICK_MENU, HAPTIC],
        ),
        profile("htc/vive_controller", "HTC Vive", Needs::Core, &[TRIGGER, SQUEEZE_CLICK, MENU, PAD, HAPTIC]),
        profile(
            "microsoft/motion_controller",
            "Windows Mixed Reality",
            Needs::Core,
            &[TRIGGER, SQUEEZE_CLICK, STICK, MENU, PAD, HAPTIC],
        ),
        profile(
            "hp/mixed_reality_controller",
            "HP Reverb G2",
            Needs::Promoted("XR_EXT_hp_mixed_reality_controller"),
            &[TRIGGER, SQUEEZE, STICK, XYAB, MENU, HAPTIC],
        ),
        profile(
            "samsung/odyssey_controller",
            "Samsung Odyssey",
            Needs::Promoted("XR_EXT_samsung_odyssey_controller"),
            &[TRIGGER, SQUEEZE_CLICK, STICK, MENU, PAD, HAPTIC],
        ),
        profile(
            "bytedance/pico_neo3_controller",
            "Pico Neo3",
            bd,
            &[TRIGGER, SQUEEZE, STICK, XYAB, MENU, HAPTIC],
        ),
        profile("bytedance/pico4_controller", "Pico 4", bd, TOUCH),
        profile("bytedance/pico_g3_controller", "Pico G3", bd, &[TRIGGER, STICK, MENU]),
        profile(
            "bytedance/pico_ultra_controller_bd",
            "Pico 4 Ultra",
            Needs::Extension("XR_BD_ultra_controller_interaction"),
            TOUCH,
        ),
        profile(
            "htc/vive_cosmos_controller",
            "HTC Vive Cosmos",
            Needs::Promoted("XR_HTC_vive_cosmos_controller_interaction"),
            &[TRIGGER, SQUEEZE_CLICK, STICK, XYAB, MENU_LEFT, STICK_MENU, HAPTIC],
        ),
        profile(
            "htc/vive_focus3_controller",
            "HTC Vive Focus 3",
            Needs::Promoted("XR_HTC_vive_focus3_controller_interaction"),
            TOUCH,
        ),
        profile("meta/touch_pro_controller", "Quest Touch Pro", Needs::Version11, TOUCH),
        profile(
            "facebook/touch_controller_pro",
            "Quest Touch Pro, before OpenXR 1.1",
            Needs::Extension("XR_FB_touch_controller_pro"),
            TOUCH,
        ),
        profile("meta/touch_plus_controller", "Quest Touch Plus", Needs::Version11, TOUCH),
        profile(
            "meta/touch_controller_plus",
            "Quest Touch Plus, before OpenXR 1.1",
            Needs::Extension("XR_META_touch_controller_plus"),
            TOUCH,
        ),
        profile(
            "ml/ml2_controller",
            "Magic Leap 2",
            Needs::Promoted("XR_ML_ml2_controller_interaction"),
            &[TRIGGER, &[both(Act::Grab, "input/shoulder/click", "bumper")], MENU, PAD, HAPTIC],
        ),
        profile(
            "logitech/mx_ink_stylus_logitech",
            "Logitech MX Ink",
            Needs::Extension("XR_LOGITECH_mx_ink_stylus_interaction"),
            &[
                &[
                    both(Act::Draw, "input/cluster_middle_logitech/force", "middle button"),
                    // The pen also draws when its tip is pressed on a real surface such as a table.
                    both(Act::Draw, "input/tip_logitech/force", "tip"),
                    both(Act::Grab, "input/cluster_front_logitech/click", "front button"),
                    both(Act::Menu, "input/cluster_back_logitech/click", "back button"),
                ],
                HAPTIC,
            ],
        ),
        hand(
            "ext/hand_interaction_ext",
            "Hands",
            "XR_EXT_hand_interaction",
            "input/pinch_ext/value",
            "input/grasp_ext/value",
        ),
        hand(
            "microsoft/hand_interaction",
            "Hands (HoloLens)",
            "XR_MSFT_hand_interaction",
            "input/select/value",
            "input/squeeze/value",
        ),
    ]
}

#[cfg(test)]
#[path = "profiles/tests.rs"]
mod tests;
