//! Checks which commands are reachable, by controller and hand.

use super::named;
use crate::app::xr::profiles::{Act, Profile};
use crate::workbench::{CommandKind, Control, Route};
use serde::{Serialize, Serializer};
use std::fmt;

/// The connected controllers, and the hand that holds the tool. A single controller always holds the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Whether the left and the right controller are connected.
    pub present: [bool; 2],
    /// The hand that holds the tool: 0 left, 1 right.
    pub tool_hand: usize,
}

impl Case {
    /// All cases.
    pub const ALL: [Self; 4] = [
        Self { present: [true, true], tool_hand: 0 },
        Self { present: [true, true], tool_hand: 1 },
        Self { present: [true, false], tool_hand: 0 },
        Self { present: [false, true], tool_hand: 1 },
    ];

    /// Returns whether only one controller is connected.
    pub fn single(&self) -> bool {
        self.present != [true, true]
    }

    fn hands(&self) -> impl Iterator<Item = usize> {
        (0..2).filter(|&hand| self.present[hand])
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hand = ["left", "right"][self.tool_hand];
        if self.single() {
            write!(f, "the {hand} controller alone")
        } else {
            write!(f, "both controllers, tools in the {hand} hand")
        }
    }
}

/// The way in which the user gives a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By a control of this hand (0 left, 1 right).
    Control(Control, usize),
    /// By the palette, or by the file panel that the palette opens.
    Palette,
}

/// An action of a hand that is not a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolAct {
    /// Drawing strokes in the air and on the skin.
    Stroke,
    /// Grabbing the body.
    Grab,
    /// Dragging the world.
    Pull,
    /// Pressing a button of a panel.
    Press,
}

/// All actions of a hand.
pub(super) const ACTS: [ToolAct; 4] = [ToolAct::Stroke, ToolAct::Grab, ToolAct::Pull, ToolAct::Press];

/// A command or action that is not reachable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Name of the interaction profile.
    pub profile: &'static str,
    /// Description of the case.
    pub case: String,
    /// The command or action.
    pub what: String,
    /// Reason why it is unreachable.
    pub why: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with {}: {}: {}", self.case, self.what, self.why)
    }
}

fn labels<S: Serializer>(kinds: &[CommandKind], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(kinds.iter().map(|k| k.label()))
}

/// Result of checking one profile.
#[derive(Clone, Debug, Serialize)]
pub struct Reach {
    /// Name of the interaction profile.
    pub profile: &'static str,
    /// Name of the controller for users.
    pub title: &'static str,
    /// Condition under which a runtime supports the profile.
    pub needs: String,
    /// Controls of each hand, left and right: purpose and name.
    pub controls: [Vec<(&'static str, &'static str)>; 2],
    /// Commands that need the palette if only one controller is connected.
    #[serde(serialize_with = "labels")]
    pub by_palette_with_one: Vec<CommandKind>,
    /// Unreachable commands and actions; empty if everything is reachable.
    pub missing: Vec<Missing>,
    /// Remarks on differences between controllers. All commands are reachable despite these differences.
    pub notes: Vec<&'static str>,
}

/// Returns an error with the reason if the palette is unusable. The hand without the tool holds the palette. With one
/// controller, the palette floats in front of the user. The tool hand points at the palette.
fn palette(profile: &Profile, case: &Case) -> Result<(), String> {
    if !case.hands().any(|hand| profile.control(Control::Menu, hand).is_some()) {
        return Err("no control shows the palette".into());
    }
    let other = 1 - case.tool_hand;
    if !case.single() && profile.binding(Act::Grip, other).is_none() {
        return Err("the hand that holds the palette has no grip pose".into());
    }
    press(profile, case)
}

fn press(profile: &Profile, case: &Case) -> Result<(), String> {
    for (act, what) in [(Act::Aim, "aim pose"), (Act::Draw, "trigger or select")] {
        if profile.binding(act, case.tool_hand).is_none() {
            return Err(format!("the tool hand has no {what}"));
        }
    }
    Ok(())
}

/// Returns how a command is given, or the reason why it is unreachable.
pub(super) fn reach(profile: &Profile, case: &Case, kind: CommandKind) -> Result<How, String> {
    let mut why = None;
    for route in kind.routes() {
        match route {
            Route::Control(control) => {
                // Prefer the tool hand's control.
                let mut hands: Vec<usize> = case.hands().collect();
                hands.sort_by_key(|&hand| hand != case.tool_hand);
                if let Some(hand) = hands.into_iter().find(|&h| profile.control(*control, h).is_some()) {
                    return Ok(How::Control(*control, hand));
                }
                why.get_or_insert(format!("no control for {}", named(*control)));
            }
            Route::Palette | Route::Files | Route::Details => match palette(profile, case) {
                Ok(()) => return Ok(How::Palette),
                Err(reason) => why = Some(reason),
            },
        }
    }
    Err(why.unwrap_or_else(|| "it has no route".into()))
}

fn act(profile: &Profile, case: &Case, act: ToolAct) -> Result<(), String> {
    match act {
        ToolAct::Press | ToolAct::Stroke => press(profile, case),
        // Grabbing needs the squeeze, or the Grab tool on the trigger if the controller lacks a squeeze.
        ToolAct::Grab | ToolAct::Pull => {
            if profile.binding(Act::Grip, case.tool_hand).is_none() {
                return Err("the tool hand has no grip pose".into());
            }
            if profile.binding(Act::Grab, case.tool_hand).is_some() {
                return Ok(());
            }
            reach(profile, case, CommandKind::Tool).and_then(|_| press(profile, case))
        }
    }
}

/// Checks for each profile whether every command and action is reachable.
pub fn examine(profiles: &[Profile]) -> Vec<Reach> {
    profiles.iter().map(examine_one).collect()
}

fn examine_one(profile: &Profile) -> Reach {
    let mut missing = Vec::new();
    let mut by_palette_with_one = Vec::new();
    for case in &Case::ALL {
        let mut miss = |what: String, why: String| {
            missing.push(Missing { profile: profile.name, case: case.to_string(), what, why });
        };
        for kind in CommandKind::ALL {
            match reach(profile, case, kind) {
                Ok(How::Palette) if case.single() && !by_palette_with_one.contains(&kind) => {
                    by_palette_with_one.push(kind);
                }
                Ok(_) => {}
                Err(why) => miss(kind.label().to_owned(), why),
            }
        }
        for a in ACTS {
            if let Err(why) = act(profile, case, a) {
                miss(format!("{a:?}"), why);
            }
        }
    }
    let has = |act: Act| (0..2).all(|hand| profile.binding(act, hand).is_some());
    let mut notes = Vec::new();
    if !has(Act::Grab) {
        notes.push("nothing squeezes: body and world are taken by the Grab tool on the trigger");
    }
    if !has(Act::Haptic) {
        notes.push("it has no motor: what is felt elsewhere is only seen");
    }
    if profile.palm_menu {
        notes.push("bare hands: a pinch with the palm turned to the face shows the palette");
    }
    let controls = [0, 1].map(|hand| {
        let all = Control::ALL.into_iter();
        all.filter_map(|c| Some((named(c), profile.control(c, hand)?))).collect()
    });
    let (title, needs) = (profile.title, super::needs(profile.needs));
    Reach { profile: profile.name, title, needs, controls, by_palette_with_one, missing, notes }
}
