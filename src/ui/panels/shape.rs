//! The panel of marks and sculpt layers: what a press at a mark does, the reach of new layers, and the selected layer
//! with its amplitude, stiffness, reach, profile and waves.

use super::widgets::{Print, Slide};
use super::{Memory, Pressed, Shows, widgets};
use crate::deform::classic::Method;
use crate::deform::sculpt::{Along, Around, Curve, Easing, Profile};
use crate::render::Filter;
use crate::surface::Reach;
use crate::workbench::{
    AMPLITUDES, COUNTS, Command, GROWTHS, MarkBy, SPEEDS, STIFFNESSES, ShapeState, TILTS, WAVE,
};
use egui::{ComboBox, Ui};
use std::f32::consts::TAU;

/// Largest number of edges that the slider of the reach offers.
const EDGES: f64 = 40.0;
/// Range of the slider of a distance, as fractions of the diagonal of the character's bounding box.
const DISTANCES: [f64; 2] = [0.002, 0.5];

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut Memory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let shape = bench.shape_state();
    match &shape {
        Some(shape) => selected(ui, shows, shape, memory, pressed),
        None => {
            ui.label("Draw on the skin, then pull at the mark.");
        }
    }
    shows.button(ui, pressed, "Shape on the selected joint's bones", Command::ShapeOnBone);
    let p = bench.preferences();
    widgets::caption(ui, "On the skin");
    let marks = MarkBy::ALL.map(|by| (by.label(), p.marks == by, Command::MarkBy(by)));
    shows.choices(ui, pressed, marks);
    widgets::caption(ui, "Reach of new shapes");
    let edge = bench.edge();
    let old = p.reach.unwrap_or_default();
    let new = |reach| Command::NewReach(Some(reach));
    let choices = [
        ("As the brush", p.reach.is_none(), Command::NewReach(None)),
        ("By edges", matches!(p.reach, Some(Reach::Edges(_))), new(Reach::Edges(old.edges(edge)))),
        ("By skin", matches!(p.reach, Some(Reach::Along(_))), new(Reach::Along(old.metres(edge)))),
        ("By air", matches!(p.reach, Some(Reach::Euclidean(_))), new(Reach::Euclidean(old.metres(edge)))),
    ];
    shows.choices(ui, pressed, choices);
    if let Some(reach) = p.reach {
        reach_slider(ui, shows, "new reach", reach, memory, pressed, |r| Command::NewReach(Some(r)));
    }
    widgets::caption(ui, "Surroundings of new shapes");
    shows.choices(ui, pressed, surroundings(p.surroundings, "By tool", Command::NewSurroundings));
    widgets::caption(ui, "Silhouettes found by");
    let filters = Filter::ALL.map(|f| (f.label(), p.silhouettes == f, Command::Silhouettes(f)));
    shows.choices(ui, pressed, filters);
    widgets::caption(ui, "Depth of accent strokes");
    let depths = [("Keep", false), ("Follow the hand", true)];
    shows.choices(
        ui,
        pressed,
        depths.map(|(text, on)| (text, p.accent_depth == on, Command::AccentDepth(on))),
    );
}

/// Draws the selected sculpt layer.
fn selected(ui: &mut Ui, shows: &Shows<'_>, shape: &ShapeState, memory: &mut Memory, pressed: &mut Pressed) {
    ui.horizontal(|ui| {
        let mut on = shape.on;
        pressed.command(Command::ShapeOn(!on), ui.checkbox(&mut on, &shape.name).changed());
        let [at, all] = shape.place;
        if all > 1 {
            pressed.command(
                Command::SelectShape(1),
                widgets::small(ui, format!("{at} of {all}, next")).clicked(),
            );
        }
        pressed.command(Command::RemoveShape, widgets::small(ui, "Remove").clicked());
    });
    let mut slide = |ui: &mut Ui,
                     label: &str,
                     [least, most]: [f32; 2],
                     value: f32,
                     even: bool,
                     make: fn(f32) -> Command| {
        let range = [least, most].map(f64::from);
        let slide = Slide { label, range, logarithmic: !even, print: Print::Decimals(2) };
        let slid = widgets::slide(ui, &slide, f64::from(value), &mut memory.held);
        pressed.slides.extend(slid.moved.map(|(now, continues)| (make(now as f32), continues)));
    };
    slide(ui, "amplitude", AMPLITUDES, shape.amplitude, true, Command::Amplitude);
    slide(ui, "stiffness", STIFFNESSES, shape.stiffness, false, Command::Stiffness);
    if let Some(Curve::Wave(wave)) = shape.curve {
        slide(ui, "waves", COUNTS, wave.count, true, Command::WaveCount);
        slide(ui, "a second", SPEEDS, wave.speed, true, Command::WaveSpeed);
        slide(ui, "phase", [0.0, TAU], wave.phase, true, Command::WavePhase);
    }
    let name = shape.curve.map_or("drawn by hand", curve_name);
    widgets::caption(ui, "Profile");
    curves(ui, "profile", name, pressed, Command::Profile);
    if let Some(profile) = &shape.profile {
        course(ui, shows, (profile, shape.marked), memory, pressed);
    }
    widgets::caption(ui, "Reach");
    let (reach, edge) = (shape.reach, shows.bench.shape_edge());
    let choices = [
        ("Edges", matches!(reach, Reach::Edges(_)), Command::Reach(Reach::Edges(reach.edges(edge)))),
        (
            "Along the skin",
            matches!(reach, Reach::Along(_)),
            Command::Reach(Reach::Along(reach.metres(edge))),
        ),
        (
            "Straight",
            matches!(reach, Reach::Euclidean(_)),
            Command::Reach(Reach::Euclidean(reach.metres(edge))),
        ),
    ];
    shows.choices(ui, pressed, choices);
    reach_slider(ui, shows, "reach", reach, memory, pressed, Command::Reach);
    if shape.curve.is_none() {
        widgets::caption(ui, "Surroundings");
        shows.choices(ui, pressed, surroundings(shape.surroundings, "Smooth", Command::Surroundings));
    }
}

/// The choices of the tool that moves the passive vertices.
fn surroundings(
    now: Option<Method>,
    none: &'static str,
    make: fn(Option<Method>) -> Command,
) -> [(&'static str, bool, Command); 4] {
    let [a, b, c] = Method::ALL.map(|m| (m.label(), now == Some(m), make(Some(m))));
    [(none, now.is_none(), make(None)), a, b, c]
}

/// Draws the growth and tilt of a profile, its path, and its function around the bone.
fn course(
    ui: &mut Ui,
    shows: &Shows<'_>,
    (profile, marked): (&Profile, bool),
    memory: &mut Memory,
    pressed: &mut Pressed,
) {
    let degrees = Print::Unit(0, "°");
    let mut slide =
        |ui: &mut Ui, label: &str, print: Print, range: [f32; 2], value: f32, make: fn(f32) -> Command| {
            let slide = Slide { label, range: range.map(f64::from), logarithmic: false, print };
            let slid = widgets::slide(ui, &slide, f64::from(value), &mut memory.held);
            pressed.slides.extend(slid.moved.map(|(now, continues)| (make(now as f32), continues)));
        };
    slide(ui, "growth", Print::Decimals(2), GROWTHS, profile.amount, Command::Growth);
    slide(ui, "tilt", degrees, TILTS, profile.tilt.to_degrees(), Command::Tilt);
    widgets::caption(ui, "Profile along");
    let texts = if marked { ["The stroke", "The bone"] } else { ["All bones", "Each bone"] };
    let paths = [(texts[0], Along::Stroke), (texts[1], Along::Bone)];
    shows.choices(ui, pressed, paths.map(|(text, to)| (text, profile.along == to, Command::Along(to))));
    widgets::caption(ui, "Profile around the bone");
    let name = profile.around.map_or("all round", |a| curve_name(a.curve));
    let facing = profile.around.map_or(0.0, |a| a.facing);
    curves(ui, "around", name, pressed, |curve| {
        // An even function all round is none.
        Command::Around((curve != Curve::Even).then_some(Around { curve, facing }))
    });
    if let Some(around) = profile.around {
        let slide = Slide { label: "facing", range: [-180.0, 180.0], logarithmic: false, print: degrees };
        let value = f64::from(around.facing.to_degrees());
        let slid = widgets::slide(ui, &slide, value, &mut memory.held);
        let make = |v: f64| Command::Around(Some(Around { facing: (v as f32).to_radians(), ..around }));
        pressed.slides.extend(slid.moved.map(|(now, continues)| (make(now), continues)));
    }
}

/// Draws the slider of a reach in edges or metres.
fn reach_slider(
    ui: &mut Ui,
    shows: &Shows<'_>,
    label: &str,
    reach: Reach,
    memory: &mut Memory,
    pressed: &mut Pressed,
    make: fn(Reach) -> Command,
) {
    let size = f64::from(shows.bench.bounds().diagonal()).max(1e-6);
    let distance = (DISTANCES.map(|d| d * size), true, Print::Unit(3, "m"));
    let (value, (range, logarithmic, print)) = match reach {
        Reach::Edges(n) => (f64::from(n), ([1.0, EDGES], false, Print::Decimals(0))),
        Reach::Along(d) | Reach::Euclidean(d) => (f64::from(d), distance),
    };
    let slid = widgets::slide(ui, &Slide { label, range, logarithmic, print }, value, &mut memory.held);
    let new = |v: f64| match reach {
        Reach::Edges(_) => Reach::Edges(v.round().clamp(1.0, EDGES) as u32),
        Reach::Along(_) => Reach::Along(v as f32),
        Reach::Euclidean(_) => Reach::Euclidean(v as f32),
    };
    pressed.slides.extend(slid.moved.map(|(now, continues)| (make(new(now)), continues)));
}

/// Draws the choice of a curve.
fn curves(ui: &mut Ui, id: &str, name: &str, pressed: &mut Pressed, make: impl Fn(Curve) -> Command) {
    ComboBox::from_id_salt(id).selected_text(name).show_ui(ui, |ui| {
        let plain = [("even", Curve::Even), ("bulge", Curve::Parabola), ("wave", Curve::Wave(WAVE))];
        let eased = Easing::ALL.iter().map(|e| (e.name(), Curve::Ease(*e)));
        for (label, curve) in plain.into_iter().chain(eased) {
            let clicked = ui.selectable_label(name == label, label).clicked();
            pressed.command(make(curve), clicked);
        }
    });
}

/// Name of a curve in the panel.
fn curve_name(curve: Curve) -> &'static str {
    match curve {
        Curve::Even => "even",
        Curve::Parabola => "bulge",
        Curve::Ease(easing) => easing.name(),
        Curve::Wave(_) => "wave",
    }
}
