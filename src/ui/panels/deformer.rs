//! The panel of the deformation method, its settings, and the comparison with another method.

mod skinning;

use super::{PanelMemory, Pressed, Shows, theme, widgets};
use crate::deform::fast::{self, Hold};
use crate::deform::{Geometric, Recipe, springs};
use crate::document::{DeformerSettings, Edit};
use crate::scene::{DAMPINGS, SWINGS, method, recipe};
use crate::workbench::Command;
use egui::Ui;
use serde_json::{Value, json};
use skinning::{normals, of_blend, of_irs};

/// A numeric setting of the deformer.
struct Number {
    name: &'static str,
    label: &'static str,
    /// Range of the slider. The solver accepts all its values, and a change within it is visible in the result.
    range: [f64; 2],
    logarithmic: bool,
    whole: bool,
    /// Whether the deformer chooses the value if it is 0.
    automatic: bool,
    tip: &'static str,
}

const fn number(name: &'static str, label: &'static str, range: [f64; 2], tip: &'static str) -> Number {
    Number { name, label, range, logarithmic: false, whole: false, automatic: false, tip }
}

const fn reach(name: &'static str, label: &'static str, tip: &'static str) -> Number {
    Number { logarithmic: true, ..number(name, label, [0.02, 2.0], tip) }
}

/// Settings for the shape of the flesh.
const SHAPE: [Number; 9] = [
    number("surface", "Skin", [0.0, 1.0], "Keeps lengths along the skin"),
    number("length", "Thickness", [0.0, 2.0], "Keeps differences of distance from the bone"),
    number("torsion", "Twist", [0.0, 4.0], "Spreads twist and bend over the flesh"),
    number("bone", "Lean", [0.0, 4.0], "Keeps the flesh upright on its bone"),
    number("hold", "Hold", [0.0, 4.0], "Keeps to the blend of the bones' turns"),
    number("girth", "Girth", [0.0, 4.0], "Keeps the distance from the bone"),
    reach("girth_reach", "Girth reach", "How far a change of thickness fades, distances from the bone"),
    reach("bend_reach", "Bend reach", "How far a bend fades, distances from the bone"),
    reach("hold_reach", "Hold reach", "How far a difference from the blend fades, distances from the bone"),
];

/// The method `thesis` has only the first settings of [`SHAPE`].
const THESIS: usize = 4;

/// Settings for the dynamics of the flesh.
const MOVE: [Number; 2] = [
    number(
        "dynamics",
        "Swing",
        SWINGS,
        "Frequency at which the thickest flesh swings during playback, hertz; 0: off",
    ),
    number("damping", "Damping", DAMPINGS, "How soon swinging ends; 1: without overshooting"),
];

/// Values of the springs' setting `solver`.
const SOLVERS: [&str; 3] = ["jacobi", "chebyshev", "multigrid"];

/// Values of the setting `frames`.
const FRAMES: [&str; 2] = ["independent", "dependent"];

/// Settings for the flesh of the method `volume`.
const VOLUME: [Number; 2] = [
    number("firmness", "Firmness", [0.0, 4.0], "How closely the flesh at bones follows the skin weights"),
    number("volume", "Volume", [0.0, 1.0], "Resistance to changes of volume"),
];

/// Settings for the solver of the method `volume`.
const CUBES: [Number; 2] = [
    Number {
        logarithmic: true,
        whole: true,
        ..number("cubes", "Cubes", [500.0, 20_000.0], "About so many cubes fill the character")
    },
    Number { whole: true, ..number("cycles", "Cycles", [1.0, 16.0], "Solver cycles per frame") },
];

/// Numeric settings of FAST.
const FAST: [Number; 5] = [
    Number {
        logarithmic: true,
        whole: true,
        ..number("iterations", "Iterations", [1.0, 300.0], "Solver iterations per frame, at most")
    },
    Number {
        whole: true,
        ..number("extra", "Extra handles", [0.0, 64.0], "Handles without a joint; flesh bends between joints")
    },
    Number {
        whole: true,
        ..number("clusters", "Clusters", [0.0, 256.0], "Parts that rotate alike; 0: twice the handles")
    },
    number("hinge", "Hinge", [0.0, 2.0], "How firmly a joint stays attached to its parent"),
    Number { whole: true, ..number("seed", "Seed", [1.0, 100.0], "Chooses other clusters and handles") },
];

/// Values of FAST's setting `energy`; the setting is absent for the first one.
const ENERGIES: [&str; 4] = [AUTOMATIC, "volume", "rims", "triangles"];

/// Values of FAST's setting `acceleration`.
const ACCELERATIONS: [&str; 2] = ["anderson", "plain"];

/// Width of the list of a setting's values, logical pixels of the window.
const WIDTH: f32 = 110.0;

/// The shown value of a setting that the method chooses.
const AUTOMATIC: &str = "automatic";

/// Contact, which every method has.
const CONTACT: [Number; 1] = [Number {
    whole: true,
    ..number(
        "contact",
        "Contact",
        [0.0, 8.0],
        "Solver cycles in which flesh stops flesh; 0: it passes through",
    )
}];

/// Substeps of the method `volume`.
const SUBSTEPS: [Number; 1] = [Number {
    whole: true,
    automatic: true,
    ..number(
        "substeps",
        "Substeps",
        [0.0, 16.0],
        "Solves on the way to the pose; auto: more where joints rotate far",
    )
}];

/// Settings of the solver.
const SOLVE: [Number; 2] = [
    Number {
        logarithmic: true,
        whole: true,
        ..number("max_iterations", "Iterations", [1.0, 500.0], "At most; it stops when it has converged")
    },
    Number {
        logarithmic: true,
        ..number("dt", "Time step", [0.002, 0.5], "Seconds; no step makes it unstable")
    },
];

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let settings = shows.bench.session().document().deformer();
    let name = method(&settings.method);
    ui.horizontal(|ui| {
        ui.label("Method");
        if let Some(chosen) = methods(ui, "method", Some(name), false).flatten() {
            pressed.commands.push(Command::Deformer(chosen.to_owned()));
        }
        let defaults = widgets::offer(ui, true, "Defaults", "Forgets the settings below");
        pressed.command(Command::Deformer(name.to_owned()), defaults);
    });
    if let Some(compared) = shows.compared {
        ui.horizontal(|ui| {
            ui.label("Compare");
            let other = compared.map(|c| method(&c.method));
            if let Some(chosen) = methods(ui, "other", other, true) {
                let other = chosen.map(DeformerSettings::of);
                pressed.compare = Some(other);
            }
            if other.is_some() {
                ui.label(egui::RichText::new("drag the line").small().weak());
            }
        });
    }
    let Ok(known) = recipe(settings) else { return };
    of_method(ui, shows, &known, memory, pressed);
    normals(ui, settings, known.crease, memory, pressed);
}

/// Draws the settings of the method.
fn of_method(
    ui: &mut Ui,
    shows: &Shows<'_>,
    known: &Recipe,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    let settings = shows.bench.session().document().deformer();
    let name = method(&settings.method);
    let contact = json!({ "contact": known.volume.map_or(0, |v| v.contact) });
    let printed = |springs: &springs::Params| springs.variant == springs::Variant::Thesis;
    let springs = known.springs.as_ref().filter(|_| !known.is_volume());
    let (now, shape, solve) = match known.volume.filter(|_| known.is_volume()) {
        Some(params) => (serde_json::to_value(params), &VOLUME[..], &CUBES),
        None => match springs {
            Some(params) if printed(params) => (serde_json::to_value(params), &SHAPE[..THESIS], &SOLVE),
            Some(params) => (serde_json::to_value(params), &SHAPE[..], &SOLVE),
            None => {
                if let ("blend", Geometric::Blend { factor, painted }) = (name, &known.geometric) {
                    let field = [number("factor", "DQS share", [0.0, 1.0], "0 is LBS, 1 is DQS")];
                    ui.add_enabled_ui(painted.is_empty(), |ui| {
                        numbers(ui, &field, &json!({ "factor": factor }), settings, memory, pressed);
                    });
                    of_blend(ui, shows, painted, memory, pressed);
                }
                if let Geometric::Fast(params) = &known.geometric {
                    of_fast(ui, shows, params, memory, pressed);
                }
                if let Geometric::Irs(params) = &known.geometric {
                    of_irs(ui, shows, params, memory, pressed);
                }
                numbers(ui, &CONTACT, &contact, settings, memory, pressed);
                return regions(ui, shows, known, memory, pressed);
            }
        },
    };
    let Ok(now) = now else { return };
    numbers(ui, shape, &now, settings, memory, pressed);
    numbers(ui, &MOVE, &now, settings, memory, pressed);
    regions(ui, shows, known, memory, pressed);
    widgets::caption(ui, "Solver");
    numbers(ui, solve, &now, settings, memory, pressed);
    numbers(ui, &CONTACT, &contact, settings, memory, pressed);
    if known.is_volume() {
        numbers(ui, &SUBSTEPS, &now, settings, memory, pressed);
    }
    let start = Value::from(known.geometric.name());
    choice(ui, ("start", "Start"), &start, &Geometric::ALL.map(|g| g.name()), settings, pressed);
    if springs.is_some_and(|s| !printed(s)) {
        choice(ui, ("solver", "Solver"), &now["solver"], &SOLVERS, settings, pressed);
    }
    choice(ui, ("frames", "Frames"), &now["frames"], &FRAMES, settings, pressed);
    if let (Geometric::Fast(params), false) = (&known.geometric, known.is_volume()) {
        widgets::caption(ui, "FAST");
        of_fast(ui, shows, params, memory, pressed);
    }
}

/// Draws the firm and soft regions, if the method solves flesh.
fn regions(ui: &mut Ui, shows: &Shows<'_>, known: &Recipe, memory: &mut PanelMemory, pressed: &mut Pressed) {
    if known.volume.is_some() {
        super::firm::show(ui, shows, memory, pressed);
    }
}

/// Draws the settings of FAST, the last one for the selected joint.
fn of_fast(
    ui: &mut Ui,
    shows: &Shows<'_>,
    params: &fast::Params,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    let settings = shows.bench.session().document().deformer();
    let Ok(now) = serde_json::to_value(params) else { return };
    // Without a skeleton, FAST needs grips, so they come first.
    let first = shows.bench.is_bare() || !shows.bench.session().document().grips().is_empty();
    if first {
        super::grips::show(ui, shows, memory, pressed);
        widgets::caption(ui, "Solver");
    }
    numbers(ui, &FAST, &now, settings, memory, pressed);
    choice(ui, ("energy", "Keeps rigid"), &now["energy"], &ENERGIES, settings, pressed);
    choice(ui, ("acceleration", "Acceleration"), &now["acceleration"], &ACCELERATIONS, settings, pressed);
    if !first {
        super::grips::show(ui, shows, memory, pressed);
    }
    ui.horizontal(|ui| {
        name_of(ui, "Joint holds").on_hover_text("What the pose determines of the selected joint");
        let Some(joint) = shows.joint() else {
            ui.label("Select a joint.");
            return;
        };
        let now = params.hold(joint);
        let label = |hold: Hold| HOLDS[Hold::ALL.iter().position(|h| *h == hold).unwrap_or_default()];
        let items = Hold::ALL.into_iter().enumerate().map(|(i, hold)| (label(hold), hold == now, (i, hold)));
        let picked = widgets::pick(ui, ("hold", label(now), Some(WIDTH)), items);
        if let Some((number, hold)) = picked.filter(|(_, hold)| *hold != now) {
            let name = format!("{}{}", Hold::SETTING, joint.index());
            let value = if hold == Hold::Auto { Value::Null } else { Value::from(number) };
            pressed.edit(with(settings, &name, value), false);
        }
    });
}

/// Labels of [`Hold::ALL`].
const HOLDS: [&str; 4] = ["as posed", "nothing", "position", "transform"];

/// The displayed name of a deformation method.
pub(in crate::ui) fn method_label(name: &str) -> &str {
    match method(name) {
        "rigid" => "Rigid",
        "lbs" => "LBS",
        "dqs" => "DQS",
        "blend" => "Blend",
        "irs" => "IRS",
        "cor" => "CoR",
        "stb" => "STB",
        "swing-twist" => "Swing-twist",
        "fast" => "FAST",
        "springs" => "Springs",
        "fast+springs" => "FAST, springs",
        "thesis" => "Springs (thesis)",
        "volume" => "Volume",
        other => other,
    }
}

/// What a deformation method is, and for what it is good.
fn method_tip(name: &str) -> &'static str {
    match method(name) {
        "rigid" => "Each vertex follows one bone. For robots and dolls of separate parts",
        "lbs" => {
            "Linear blend skinning, as in games. For armour, machines, clothes; fast. Twisted joints become thin"
        }
        "dqs" => "Dual quaternion skinning. Twisted joints keep their thickness; bent joints bulge outwards",
        "blend" => "A mix of LBS and DQS. The mix can be painted on the skin",
        "irs" => "Incremental rotation skinning, from the bones alone. For files whose skin weights are bad",
        "cor" => "Optimized centres of rotation. Bent joints bulge less than with DQS",
        "stb" => "Stretchable, twistable bones. For limbs that become longer or twist far",
        "swing-twist" => {
            "Swing and twist apart, with own weights. For smooth twists; skin weights of the file do not matter"
        }
        "fast" => "Computes the joints that you do not pose, from the shape. For tentacles and loose poses",
        "springs" => "Springs from skin to bones keep the volume at joints. For bare bodies and muscles",
        "fast+springs" => "Springs on the pose that FAST finds",
        "thesis" => "The springs as the thesis prints them, for comparison",
        "volume" => {
            "Elastic flesh inside the body. For far bends, and with Contact; not for robots and armour"
        }
        _ => "",
    }
}

/// Returns the method that follows `name` in the table of methods, skipping `without`.
pub(in crate::ui) fn next_method(name: &str, without: &str) -> &'static str {
    let names = Recipe::NAMES;
    let at = names.iter().position(|n| *n == name).unwrap_or(0);
    let turned = (1..=names.len()).map(|i| names[(at + i) % names.len()]);
    turned.into_iter().find(|n| *n != without).unwrap_or(names[0])
}

/// Draws a list of methods. Returns the user's choice; `Some(None)` means no method.
fn methods(ui: &mut Ui, id: &str, now: Option<&str>, none: bool) -> Option<Option<&'static str>> {
    let off = none.then_some(("off", now.is_none(), None, ""));
    let line = |name| (method_label(name), now == Some(name), Some(name), method_tip(name));
    let all = Recipe::NAMES.into_iter().map(line);
    widgets::pick_with_tips(ui, (id, now.map_or("off", method_label), Some(96.0)), off.into_iter().chain(all))
}

/// Returns an edit that changes the setting `name`, or removes it if the value is null.
fn with(settings: &DeformerSettings, name: &str, value: Value) -> Edit {
    let mut new = settings.clone();
    new.method = method(&settings.method).to_owned();
    if value.is_null() {
        new.parameters.remove(name);
    } else {
        new.parameters.insert(name.to_owned(), value);
    }
    Edit::SetDeformer(new)
}

/// Draws the name of a setting before the setting's value.
fn name_of(ui: &mut Ui, label: &str) -> egui::Response {
    let size = egui::vec2(82.0, 20.0) * theme::scale(ui);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    let color = ui.visuals().text_color();
    let font = egui::TextStyle::Body.resolve(ui.style());
    ui.painter().text(rect.left_center(), egui::Align2::LEFT_CENTER, label, font, color);
    response
}

fn numbers(
    ui: &mut Ui,
    fields: &[Number],
    now: &Value,
    settings: &DeformerSettings,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    for field in fields {
        let value = now[field.name].as_f64().unwrap_or_default();
        ui.horizontal(|ui| {
            name_of(ui, field.label).on_hover_text(field.tip);
            let Number { range, logarithmic, whole, automatic, .. } = *field;
            let print = match (automatic, whole) {
                (true, _) => widgets::Print::Count("auto"),
                (_, true) => widgets::Print::Decimals(0),
                _ => widgets::Print::Decimals(3),
            };
            let slide = widgets::Slide { label: "", range, logarithmic, print };
            if let Some((value, continues)) = widgets::slide(ui, &slide, value, &mut memory.held).moved {
                // Rounds to four decimals. Otherwise files would show the superfluous digits of an f32 that was
                // converted to f64.
                let value = if whole {
                    Value::from(value.round() as u64)
                } else {
                    Value::from(format!("{:.4}", value).parse::<f64>().unwrap_or(value))
                };
                pressed.edit(with(settings, field.name, value), continues);
            }
        });
    }
}

fn choice(
    ui: &mut Ui,
    (name, label): (&'static str, &str),
    now: &Value,
    all: &[&str],
    settings: &DeformerSettings,
    pressed: &mut Pressed,
) {
    let now = now.as_str().unwrap_or(AUTOMATIC);
    ui.horizontal(|ui| {
        name_of(ui, label);
        let picked =
            widgets::pick(ui, (name, now, Some(WIDTH)), all.iter().map(|&one| (one, one == now, one)));
        if let Some(one) = picked.filter(|one| *one != now) {
            let value = if one == AUTOMATIC { Value::Null } else { one.into() };
            pressed.edit(with(settings, name, value), false);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::springs::thesis;

    #[test]
    fn the_sliders_of_the_thesiss_springs_are_its_parameters() {
        let names = |of: &[Number]| of.iter().all(|n| thesis::PARAMETERS.contains(&n.name));
        assert!(names(&SHAPE[..THESIS]) && names(&MOVE) && names(&SOLVE));
        assert!(SHAPE[THESIS..].iter().all(|n| !thesis::PARAMETERS.contains(&n.name)));
    }

    #[test]
    fn methods_go_round() {
        let mut name = "springs";
        let mut seen = Vec::new();
        for _ in 0..Recipe::NAMES.len() - 1 {
            name = next_method(name, "lbs");
            seen.push(name);
        }
        seen.sort_unstable();
        let mut all: Vec<_> = Recipe::NAMES.into_iter().filter(|n| *n != "lbs").collect();
        all.sort_unstable();
        assert_eq!(seen, all);
    }

    fn changed(method: &str, name: &str, value: Value) -> DeformerSettings {
        let Edit::SetDeformer(settings) = with(&DeformerSettings::of(method), name, value) else {
            panic!("{name}");
        };
        settings
    }

    fn of_fast(settings: &DeformerSettings) -> Value {
        let Geometric::Fast(params) = recipe(settings).unwrap().geometric else { panic!("{settings:?}") };
        serde_json::to_value(params).unwrap()
    }

    #[test]
    fn every_setting_of_fast_is_on_the_panel_and_takes_what_the_panel_gives() {
        let numbers = FAST.iter().map(|f| f.name);
        let mut shown: Vec<&str> = numbers.chain(["energy", "acceleration", "joints"]).collect();
        shown.sort_unstable();
        let all = serde_json::to_value(fast::Params::deformer()).unwrap();
        let mut names: Vec<&String> = all.as_object().unwrap().keys().collect();
        names.sort_unstable();
        assert_eq!(shown, names);
        for method in ["fast", "fast+springs"] {
            for (field, value) in FAST.iter().flat_map(|f| f.range.map(|v| (f, v))) {
                let given = if field.whole { Value::from(value as u64) } else { Value::from(value) };
                let got = of_fast(&changed(method, field.name, given))[field.name].as_f64().unwrap();
                assert!((got - value).abs() < 1e-6, "{method} {}: {got}", field.name);
            }
            for (name, values) in [("energy", &ENERGIES[1..]), ("acceleration", &ACCELERATIONS[..])] {
                for one in values {
                    let settings = changed(method, name, (*one).into());
                    assert_eq!(of_fast(&settings)[name], Value::from(*one));
                    let Edit::SetDeformer(without) = with(&settings, name, Value::Null) else { panic!() };
                    assert_eq!(without, DeformerSettings::of(method));
                }
            }
        }
    }

    #[test]
    fn every_slider_moves_a_setting_within_what_the_springs_take() {
        for field in SHAPE.iter().chain(&MOVE).chain(&SOLVE) {
            for value in field.range {
                let value = if field.whole { Value::from(value as u64) } else { Value::from(value) };
                let settings = changed("", field.name, value.clone());
                let params = serde_json::to_value(recipe(&settings).unwrap().springs.unwrap()).unwrap();
                let got = params[field.name].as_f64().unwrap();
                assert!((got - value.as_f64().unwrap()).abs() < 1e-6, "{}: {got}", field.name);
            }
        }
    }
}
