//! Measures the processor time that the panels of the headset and of the window take in a frame: while nothing changes,
//! while the pointer moves over them, and while the document changes in every frame.

use super::measure::{Effort, Sample};
use crate::base::Result;
use crate::base::math::{Quat, Vec3};
use crate::document::Edit;
use crate::scene::Model;
use crate::ui::Section;
use crate::ui::palette::{Page, PanelState, Panels, Spot};
use crate::ui::window::{Choices, WindowEditor, WindowInput};
use crate::workbench::{Command, Input, Preferences, Rigid, Tracked, Tracking, Workbench};
use egui::{Event, pos2};
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// Number of keyed poses of the motion.
const KEYS: usize = 48;
/// Interval between two keys, seconds.
const STEP: f64 = 0.125;
/// Frames that are not measured, in which the panels are laid out.
const WARM_UP: usize = 8;
/// Size of the window, pixels.
const WINDOW: [u32; 2] = [1280, 800];

/// What happens while the panels are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelAct {
    /// Nothing.
    Rest,
    /// The pointer moves over the panel.
    Point,
    /// The document or the displayed time changes in every frame.
    Change,
}

impl PanelAct {
    const ALL: [Self; 3] = [Self::Rest, Self::Point, Self::Change];
}

/// Processor times of a panel per frame.
#[derive(Clone, Debug, Serialize)]
pub struct PanelRow {
    /// Name of the mesh.
    pub mesh: String,
    /// The face and the panel, such as `headset, keys`.
    pub panel: String,
    /// The times, in the order rest, point, change.
    pub times: [Sample; 3],
}

/// Measures the panels with a character and a keyed motion.
pub(super) fn measure(name: &str, model: &Arc<Model>, effort: &Effort) -> Result<Vec<PanelRow>> {
    let mut rows = Vec::new();
    let mut add = |panel: String, times| rows.push(PanelRow { mesh: name.to_owned(), panel, times });
    for page in Page::ALL {
        let mut bed = Headset::new(model, None)?;
        bed.press(&Spot::Page(page));
        add(format!("headset, palette, {}", page.label()), bed.measure(effort));
    }
    for section in Section::ALL {
        let mut bed = Headset::new(model, Some(section))?;
        add(format!("headset, {}", section.label()), bed.measure(effort));
        if section == Section::Keys {
            bed.bench.select(bed.bench.posable().first().copied());
            bed.press(&Spot::Text("Curves".to_owned()));
            add("headset, Keys, curves".to_owned(), bed.measure(effort));
        }
    }
    for (shows, title) in [
        (Timeline::Closed, "window, all panels"),
        (Timeline::Sheet, "window, all panels, dope sheet open"),
        (Timeline::Curves, "window, all panels, curves open"),
    ] {
        add(title.to_owned(), Window::new(model, shows)?.measure(effort));
    }
    Ok(rows)
}

/// Returns a workbench whose motion has a key of every joint every [`STEP`] seconds.
fn keyed(model: &Model, preferences: Preferences) -> Result<Workbench> {
    let mut bench = Workbench::new(model.start(None)?, model.bound.character.clone(), preferences);
    for k in 0..KEYS {
        bench.run_command(Command::Scrub(k as f64 * STEP));
        bench.run_command(Command::Key);
    }
    Ok(bench)
}

/// Changes the document in an undo step of its own, or the displayed time.
fn change(bench: &mut Workbench, frame: usize) {
    if frame.is_multiple_of(2) {
        bench.run_command(Command::Scrub(STEP * (frame % KEYS) as f64));
    } else {
        bench.apply(Edit::Rename(format!("{frame}")), true);
    }
}

/// Runs frames until the effort is spent. Returns their times.
fn frames(effort: &Effort, mut frame: impl FnMut(usize) -> f64) -> Sample {
    (0..WARM_UP).for_each(|i| _ = frame(i));
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < 2 || begin.elapsed() < effort.budget && times.len() < 4 * effort.most {
        times.push(frame(WARM_UP + times.len()));
    }
    Sample::of(&times)
}

/// The panels of a headset whose user stands before the character.
struct Headset {
    bench: Workbench,
    panels: Panels,
    state: PanelState,
    input: Input,
    section: Option<Section>,
}

impl Headset {
    fn new(model: &Model, section: Option<Section>) -> Result<Self> {
        let preferences =
            Preferences { palette: section.is_none(), details: section.is_some(), ..Preferences::default() };
        let bench = keyed(model, preferences)?;
        let tracked = |position: Vec3| Tracked {
            pose: Rigid { position, orientation: Quat::IDENTITY },
            tracking: Tracking::Tracked,
        };
        let mut input = Input { focused: true, head: tracked(Vec3::Y * 1.6), ..Input::default() };
        for (hand, x) in input.hands.iter_mut().zip([-0.25, 0.25]) {
            (hand.grip, hand.aim) = (tracked(Vec3::new(x, 1.15, -0.35)), tracked(Vec3::new(x, 1.15, -0.35)));
        }
        let mut bed = Self { bench, panels: Panels::new(), state: PanelState::default(), input, section };
        (0..WARM_UP).for_each(|_| _ = bed.frame(None));
        if let Some(section) = section {
            bed.press(&Spot::Section(section));
        }
        Ok(bed)
    }

    /// Runs a frame with the ray at a point of the room, or away from the panels. Returns its time, milliseconds.
    fn frame(&mut self, at: Option<Vec3>) -> f64 {
        self.input.time += 1.0 / 90.0;
        let aim = &mut self.input.hands[1].aim.pose;
        let way = at.map_or(Vec3::new(1.0, -1.0, 0.2), |at| at - aim.position);
        aim.orientation = Quat::from_rotation_arc(Vec3::NEG_Z, way.normalize());
        let begin = Instant::now();
        self.state.follow(&self.bench);
        self.panels.step(&self.input, 1, &self.state, Some(&self.bench));
        begin.elapsed().as_secs_f64() * 1e3
    }

    fn press(&mut self, spot: &Spot) {
        let at = self.panels.target(spot);
        for draw in [0.0, 0.0, 1.0, 1.0, 0.0, 0.0] {
            self.input.hands[1].draw = draw;
            self.frame(at);
        }
    }

    fn measure(&mut self, effort: &Effort) -> [Sample; 3] {
        PanelAct::ALL.map(|act| {
            frames(effort, |i| {
                let mut at = None;
                if act == PanelAct::Point {
                    let spot = self.section.map_or(Spot::Page(Page::Pose), Spot::Section);
                    let shake = Vec3::new((i as f32).sin(), (1.7 * i as f32).cos(), 0.0) * 0.02;
                    at = self.panels.target(&spot).map(|t| t + Vec3::NEG_Y * 0.08 + shake);
                }
                if act == PanelAct::Change {
                    change(&mut self.bench, i);
                }
                self.frame(at)
            })
        })
    }
}

/// What the window's timeline shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timeline {
    Closed,
    Sheet,
    Curves,
}

/// The panels of a window.
struct Window {
    bench: Workbench,
    editor: WindowEditor,
    time: f64,
}

impl Window {
    fn new(model: &Model, shows: Timeline) -> Result<Self> {
        let bench = keyed(model, Preferences::default())?;
        let mut bed = Self { bench, editor: WindowEditor::new(Choices::default()), time: 0.0 };
        bed.frame(Vec::new());
        if shows == Timeline::Curves {
            bed.editor.keep_texts();
        }
        if shows != Timeline::Closed {
            bed.bench.select(bed.bench.posable().first().copied());
            let key = |pressed| Event::Key {
                key: egui::Key::T,
                physical_key: None,
                pressed,
                repeat: false,
                modifiers: egui::Modifiers::SHIFT,
            };
            bed.frame(vec![key(true), key(false)]);
            bed.frame(Vec::new());
        }
        if shows == Timeline::Curves {
            let at = bed.editor.texts().iter().rev().find(|t| t.0 == "Curves").map(|t| t.1.center());
            let event = |pos, pressed| {
                let (button, modifiers) = (egui::PointerButton::Primary, egui::Modifiers::NONE);
                Event::PointerButton { pos, button, pressed, modifiers }
            };
            if let Some(pos) = at {
                bed.frame(vec![Event::PointerMoved(pos), event(pos, true), event(pos, false)]);
            }
        }
        Ok(bed)
    }

    /// Runs a step of the editor. Returns its time, milliseconds.
    fn frame(&mut self, events: Vec<Event>) -> f64 {
        self.time += 1.0 / 60.0;
        let input = WindowInput {
            time: self.time,
            size: WINDOW,
            scale: 1.0,
            focused: true,
            events,
            ..WindowInput::default()
        };
        let begin = Instant::now();
        self.editor.step(&input, Some(&mut self.bench));
        begin.elapsed().as_secs_f64() * 1e3
    }

    fn measure(&mut self, effort: &Effort) -> [Sample; 3] {
        PanelAct::ALL.map(|act| {
            frames(effort, |i| {
                let mut events = Vec::new();
                if act == PanelAct::Point {
                    let y = 200.0 + 100.0 * (i as f32 * 0.7).sin();
                    events.push(Event::PointerMoved(pos2(WINDOW[0] as f32 - 100.0, y)));
                }
                if act == PanelAct::Change {
                    change(&mut self.bench, i);
                }
                self.frame(events)
            })
        })
    }
}

/// Formats the times as a table.
pub(super) fn text(rows: &[PanelRow]) -> String {
    let mut out = String::from("processor time of a frame's panels, ms (median)\n");
    let _ = writeln!(out, "{:<14}{:<40}{:>10}{:>10}{:>10}", "mesh", "panel", "rest", "pointer", "change");
    for row in rows {
        let [rest, point, change] = row.times.map(|t| t.median_ms);
        let _ = writeln!(out, "{:<14}{:<40}{rest:>10.3}{point:>10.3}{change:>10.3}", row.mesh, row.panel);
    }
    out
}
