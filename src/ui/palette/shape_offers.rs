//! Items of the palette's Shape page: amplitude, stiffness and profile of the selected sculpt layer.

use super::state::PanelState;
use super::table::{Choice, Offer};
use crate::deform::sculpt::{Curve, Easing, Wave};
use crate::workbench::{AMPLITUDES, COUNTS, Command, CommandKind as C, SPEEDS, STIFFNESSES, WAVE};
use std::f32::consts::TAU;

/// Returns the behaviour of an item for the selected sculpt layer.
pub(super) fn offer_of_shape(kind: C, state: &PanelState) -> Offer {
    let shape = state.shape.as_ref();
    let press = |command, label: Option<String>| Offer::Press {
        command,
        enabled: shape.is_some(),
        label,
        count: None,
    };
    let wave = match shape.and_then(|s| s.curve) {
        Some(Curve::Wave(wave)) => Some(wave),
        _ => None,
    };
    let waves = |range: [f32; 2], get: fn(&Wave) -> f32, unit: &str, command: fn(f32) -> Command| {
        let value = get(&wave.unwrap_or(WAVE));
        let text = wave.map_or_else(|| "no wave".into(), |_| format!("{value:.1}{unit}"));
        slider(range, value, text, command)
    };
    match kind {
        C::SelectShape => press(
            Command::SelectShape(1),
            shape.map(|s| match s.place {
                [_, 1] => s.name.clone(),
                [at, all] => format!("{} ({at} of {all})", s.name),
            }),
        ),
        C::ShapeOn => {
            let on = shape.is_some_and(|s| s.on);
            Offer::Switch { on, command: Command::ShapeOn(!on) }
        }
        C::RemoveShape => press(Command::RemoveShape, None),
        C::Amplitude => {
            let value = shape.map_or(0.0, |s| s.amplitude);
            let text = shape.map_or_else(String::new, |_| format!("{:.0} %", value * 100.0));
            slider(AMPLITUDES, value, text, Command::Amplitude)
        }
        C::Stiffness => {
            let [least, most] = STIFFNESSES;
            let value = shape.map_or(least, |s| s.stiffness.clamp(least, most));
            Offer::Slider {
                value: (value / least).ln() / (most / least).ln(),
                text: shape.map_or_else(String::new, |_| format!("{value:.1}")),
                command: Box::new(move |at| Command::Stiffness(least * (most / least).powf(at))),
            }
        }
        C::WaveCount => waves(COUNTS, |w| w.count, "", Command::WaveCount),
        C::WaveSpeed => waves(SPEEDS, |w| w.speed, "/s", Command::WaveSpeed),
        C::WavePhase => waves([0.0, TAU], |w| w.phase, "", Command::WavePhase),
        _ => Offer::Choice(profiles(shape.and_then(|s| s.curve))),
    }
}

fn slider([least, most]: [f32; 2], value: f32, text: String, command: fn(f32) -> Command) -> Offer {
    Offer::Slider {
        value: ((value - least) / (most - least)).clamp(0.0, 1.0),
        text,
        command: Box::new(move |at| command(least + (most - least) * at)),
    }
}

/// Returns the choices of a profile. While the profile is an easing curve, the easing tile switches to the next easing.
fn profiles(now: Option<Curve>) -> Vec<Choice> {
    let eased = match now {
        Some(Curve::Ease(easing)) => Some(easing),
        _ => None,
    };
    let next = eased.map_or(Easing::CubicIn, |easing| {
        let at = Easing::ALL.iter().position(|e| *e == easing).unwrap_or(0);
        Easing::ALL[(at + 1) % Easing::ALL.len()]
    });
    let is = |f: fn(&Curve) -> bool| now.as_ref().is_some_and(f);
    let wave = match now {
        Some(Curve::Wave(wave)) => wave,
        _ => WAVE,
    };
    let choice = |label: &str, on: bool, curve: Curve| Choice {
        label: label.to_owned(),
        icon: None,
        on,
        command: Command::Profile(curve),
    };
    vec![
        choice("Even", is(|c| matches!(c, Curve::Even)), Curve::Even),
        choice("Bulge", is(|c| matches!(c, Curve::Parabola)), Curve::Parabola),
        choice(eased.map_or("Easing", Easing::name), eased.is_some(), Curve::Ease(next)),
        choice("Wave", is(|c| matches!(c, Curve::Wave(_))), Curve::Wave(wave)),
    ]
}
