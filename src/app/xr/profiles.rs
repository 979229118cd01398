//! The one table of controllers: which component of which interaction profile stands for what
//! (OpenXR 1.1 specification, "Interaction Profile Paths"; `xr.xml`, `interaction_profiles`).
//!
//! A boolean component may stand for a float (0 or 1) and a float for a boolean (the runtime sets the threshold):
//! OpenXR converts both ways. Every controller has its palette under one thumb: on a menu button where both hands have
//! one, else on a press of the stick too.

use crate::workbench::Control;

/// The three action sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Moving about.
    Nav,
    /// Working on the character.
    Tool,
    /// Buttons that work from every tool.
    Ui,
}

impl Set {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Nav, Self::Tool, Self::Ui];

    /// The name that OpenXR gets.
    pub fn name(self) -> &'static str {
        ["nav", "tool", "ui"][self as usize]
    }

    /// For the runtime's own binding editor.
    pub fn title(self) -> &'static str {
        ["Moving about", "Tools", "Buttons"][self as usize]
    }
}

/// What an action delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tracked pose.
    Pose,
    /// A number, 0..=1.
    Float,
    /// Two numbers, -1..=1.
    Vector,
    /// Pressed or not.
    Bool,
    /// A motor.
    Vibration,
}

/// An action, one per hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Act {
    /// The palm.
    Grip,
    /// The pointer.
    Aim,
    /// The motor.
    Haptic,
    /// Trigger, select, pinch.
    Draw,
    /// Squeeze, grasp.
    Grab,
    /// Thumbstick.
    Stick,
    /// One step back.
    Undo,
    /// One step forward.
    Redo,
    /// The palette.
    Menu,
    /// Where the thumb is on a trackpad.
    Pad,
    /// The trackpad is pressed: left and right undo and redo, up and down are the stick's.
    PadPress,
}

impl Act {
    /// All of them.
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

    /// The set it belongs to.
    pub fn set(self) -> Set {
        match self {
            Self::Grip | Self::Grab | Self::Stick => Set::Nav,
            Self::Aim | Self::Draw | Self::Haptic => Set::Tool,
            Self::Undo | Self::Redo | Self::Menu | Self::Pad | Self::PadPress => Set::Ui,
        }
    }

    /// What it delivers.
    pub fn kind(self) -> Kind {
        match self {
            Self::Grip | Self::Aim => Kind::Pose,
            Self::Haptic => Kind::Vibration,
            Self::Draw | Self::Grab => Kind::Float,
            Self::Stick | Self::Pad => Kind::Vector,
            Self::Undo | Self::Redo | Self::Menu | Self::PadPress => Kind::Bool,
        }
    }

    /// The name that OpenXR gets.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 11] =
            ["grip", "aim", "haptic", "draw", "grab", "stick", "undo", "redo", "menu", "pad", "pad_press"];
        NAMES[self as usize]
    }

    /// For the runtime's own binding editor.
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

/// Left hand, right hand: indices of [`crate::workbench::Input::hands`].
pub const HANDS: [&str; 2] = ["/user/hand/left", "/user/hand/right"];

/// A component of a profile and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The action.
    pub act: Act,
    /// 0 left, 1 right, none for both hands.
    pub hand: Option<usize>,
    /// Behind the hand's path, e.g. `input/aim/pose`.
    pub component: &'static str,
    /// What people call it; empty for poses and motors.
    pub label: &'static str,
}

impl Binding {
    /// Whether a hand has it.
    pub fn on(&self, hand: usize) -> bool {
        self.hand.is_none_or(|h| h == hand)
    }
}

/// When a runtime knows a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Always.
    Core,
    /// With OpenXR 1.1, or before it with this extension.
    Promoted(&'static str),
    /// With OpenXR 1.1, under this path.
    Version11,
    /// With this extension.
    Extension(&'static str),
}

/// An interaction profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Behind `/interaction_profiles/`.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// When a runtime knows it.
    pub needs: Needs,
    /// Its bindings.
    pub bindings: Vec<Binding>,
    /// A bare hand has no button: a pinch with the palm turned to the face shows the palette.
    pub palm_menu: bool,
}

impl Profile {
    /// The path that OpenXR knows it by.
    pub fn path(&self) -> String {
        format!("/interaction_profiles/{}", self.name)
    }

    /// Whether a runtime of this version (major, minor) with these extensions knows it.
    pub fn usable(&self, version: (u16, u16), extension: impl Fn(&str) -> bool) -> bool {
        match self.needs {
            Needs::Core => true,
            Needs::Version11 => version >= (1, 1),
            Needs::Promoted(name) => version >= (1, 1) || extension(name),
            Needs::Extension(name) => extension(name),
        }
    }

    /// A hand's first binding of an action.
    pub fn binding(&self, act: Act, hand: usize) -> Option<&Binding> {
        self.bindings.iter().find(|b| b.act == act && b.on(hand))
    }

    /// What a hand's control is called; `None` if there is no such control.
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

/// A hand-held controller of two buttons, stick, trigger and squeeze, with a menu button on the left one alone.
const TOUCH: &[&[Binding]] = &[TRIGGER, SQUEEZE, STICK, XYAB, MENU_LEFT, STICK_MENU, HAPTIC];

/// Every profile. Where a runtime has none of them, it must give khr/simple_controller.
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
                    // On a table the tip draws too.
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
