//! Behaviour of the items on the page Rig: bones of a bare mesh, weights, and deformers of joints.

use super::state::PanelState;
use super::table::{Choice, Offer};
use crate::deform::swing_twist::Deformer;
use crate::scene::SkinColors;
use crate::ui::icons::Icon;
use crate::workbench::{Command, CommandKind as C, MOST_BONES};

/// Deformers of joints with their labels.
pub(crate) const DEFORMERS: [(Deformer, &str); 3] =
    [(Deformer::SwingTwist, "Swing-twist"), (Deformer::Linear, "Linear"), (Deformer::Spherical, "Spherical")];

/// How many bones a stroke gives, in words.
pub(crate) fn bones_label(bones: u32) -> String {
    match bones {
        0 => "at corners".to_owned(),
        1 => "1 bone".to_owned(),
        n => format!("{n} bones"),
    }
}

/// Returns the behaviour of an item of the page.
pub(super) fn offer_of_rig(kind: C, state: &PanelState) -> Offer {
    let p = &state.preferences;
    match kind {
        C::BonesPerStroke => Offer::Slider {
            value: p.bones as f32 / MOST_BONES as f32,
            text: bones_label(p.bones),
            command: Box::new(|at| Command::BonesPerStroke((at * MOST_BONES as f32).round() as u32)),
        },
        C::Rig => Offer::Press {
            command: Command::Rig(state.rigging.is_none()),
            enabled: state.bones > 0 || state.rigging.is_some(),
            label: state.rigging.map(|percent| format!("Cancel: weights {percent} %")),
            count: state.rigging.is_none().then_some(state.bones),
        },
        C::Colors => Offer::Choice(
            SkinColors::ALL
                .map(|view| Choice {
                    label: view.label().to_owned(),
                    icon: (view == SkinColors::Off).then_some(Icon::Colors),
                    on: p.colors == view,
                    command: Command::Colors(view),
                })
                .into(),
        ),
        _ => Offer::Choice(
            DEFORMERS
                .map(|(deformer, label)| Choice {
                    label: label.to_owned(),
                    icon: None,
                    on: state.joint_deformer == Some(deformer),
                    command: Command::JointDeformer(deformer),
                })
                .into(),
        ),
    }
}
