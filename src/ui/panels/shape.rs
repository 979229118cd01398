//! The panel of marks and sculpt layers: what a press at a mark does, the reach of new layers, and the selected layer
//! with its amplitude, stiffness, reach, profile and waves.

use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, widgets};
use crate::deform::classic::Method;
use crate::deform::sculpt::{Along, Around, Curve, Easing, Profile};
use crate::render::Filter;
use crate::surface::Reach;
use crate::workbench::{
    AMPLITUDES, COUNTS, Command, GROWTHS, MarkBy, SPEEDS, STIFFNESSES, ShapeState, TILTS, WAVE,
};
use egui::Ui;
use std::f32::consts::TAU;

/// Largest number of edges that the slider of the reach offers.
const EDGES: f64 = 40.0;
/// Range of the slider of a distance, as fractions of the diagonal of the character's bounding box.
const DISTANCES: [f64; 2] = [0.002, 0.5];

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
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
    let brush = ("As the brush", p.reach.is_none(), Command::NewReach(None));
    let new: fn(Reach) -> Command = |reach| Command::NewReach(Some(reach));
    let choices = reaches(["By edges", "By skin", "By air"], p.reach, bench.edge(), new);
    shows.choices(ui, pressed, [brush].into_iter().chain(choices));
    if let Some(reach) = p.reach {
        reach_slider(ui, shows, "new reach", reach, memory, pressed, new);
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
fn selected(
    ui: &mut Ui,
    shows: &Shows<'_>,
    shape: &ShapeState,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
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
    let two = Print::Decimals(2);
    let mut slide = |label: &str, range, value: f32, logarithmic: bool, make: fn(f32) -> Command| {
        let slide = Slide { logarithmic, ..even(label, range, two) };
        pressed.slide(ui, &slide, value, &mut memory.held, |now| make(now as f32));
    };
    slide("amplitude", AMPLITUDES, shape.amplitude, false, Command::Amplitude);
    slide("stiffness", STIFFNESSES, shape.stiffness, true, Command::Stiffness);
    if let Some(Curve::Wave(wave)) = shape.curve {
        slide("waves", COUNTS, wave.count, false, Command::WaveCount);
        slide("a second", SPEEDS, wave.speed, false, Command::WaveSpeed);
        slide("phase", [0.0, TAU], wave.phase, false, Command::WavePhase);
    }
    let name = shape.curve.map_or("drawn by hand", curve_name);
    widgets::caption(ui, "Profile");
    curves(ui, "profile", name, pressed, Command::Profile);
    if let Some(profile) = &shape.profile {
        course(ui, shows, (profile, shape.marked), memory, pressed);
    }
    widgets::caption(ui, "Reach");
    let texts = ["Edges", "Along the skin", "Straight"];
    let edge = shows.bench.shape_edge();
    shows.choices(ui, pressed, reaches(texts, Some(shape.reach), edge, Command::Reach));
    reach_slider(ui, shows, "reach", shape.reach, memory, pressed, Command::Reach);
    if shape.curve.is_none() {
        widgets::caption(ui, "Surroundings");
        shows.choices(ui, pressed, surroundings(shape.surroundings, "Smooth", Command::Surroundings));
    }
}

/// A slider whose value changes evenly along its track.
fn even(label: &str, range: [f32; 2], print: Print) -> Slide<'_> {
    Slide::even(label, range.map(f64::from), print)
}

/// The choices of how a reach is measured: by edges, along the skin, or through the air.
fn reaches(
    texts: [&'static str; 3],
    now: Option<Reach>,
    edge: f32,
    make: fn(Reach) -> Command,
) -> [(&'static str, bool, Command); 3] {
    let old = now.unwrap_or_default();
    let all =
        [Reach::Edges(old.edges(edge)), Reach::Along(old.metres(edge)), Reach::Euclidean(old.metres(edge))];
    let is =
        |reach: &Reach| now.is_some_and(|now| std::mem::discriminant(&now) == std::mem::discriminant(reach));
    std::array::from_fn(|i| (texts[i], is(&all[i]), make(all[i])))
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
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    let degrees = Print::Unit(0, "°");
    let (growth, tilt) = (even("growth", GROWTHS, Print::Decimals(2)), even("tilt", TILTS, degrees));
    let held = &mut memory.held;
    pressed.slide(ui, &growth, profile.amount, held, |now| Command::Growth(now as f32));
    pressed.slide(ui, &tilt, profile.tilt.to_degrees(), held, |now| Command::Tilt(now as f32));
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
        let facing = even("facing", [-180.0, 180.0], degrees);
        pressed.slide(ui, &facing, around.facing.to_degrees(), held, |now| {
            Command::Around(Some(Around { facing: (now as f32).to_radians(), ..around }))
        });
    }
}

/// Draws the slider of a reach in edges or metres.
fn reach_slider(
    ui: &mut Ui,
    shows: &Shows<'_>,
    label: &str,
    reach: Reach,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
    make: fn(Reach) -> Command,
) {
    let size = f64::from(shows.bench.bounds().diagonal()).max(1e-6);
    let distance = (DISTANCES.map(|d| d * size), true, Print::Unit(3, "m"));
    let (value, (range, logarithmic, print)) = match reach {
        Reach::Edges(n) => (f64::from(n), ([1.0, EDGES], false, Print::Decimals(0))),
        Reach::Along(d) | Reach::Euclidean(d) => (f64::from(d), distance),
    };
    let slide = Slide { label, range, logarithmic, print };
    pressed.slide(ui, &slide, value, &mut memory.held, |now| {
        make(match reach {
            Reach::Edges(_) => Reach::Edges(now.round().clamp(1.0, EDGES) as u32),
            Reach::Along(_) => Reach::Along(now as f32),
            Reach::Euclidean(_) => Reach::Euclidean(now as f32),
        })
    });
}

/// Draws the choice of a curve.
fn curves(ui: &mut Ui, id: &str, name: &str, pressed: &mut Pressed, make: impl Fn(Curve) -> Command) {
    let plain = [Curve::Even, Curve::Parabola, Curve::Wave(WAVE)];
    let all = plain.into_iter().chain(Easing::ALL.iter().map(|easing| Curve::Ease(*easing)));
    let items = all.map(|curve| (curve_name(curve), name == curve_name(curve), curve));
    pressed.commands.extend(widgets::pick(ui, (id, name, None), items).map(make));
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
