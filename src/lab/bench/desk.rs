//! Measures a window's frame: editor, panels and device time while the view orbits or pans and while a stroke poses
//! the character. Runs the window's code offscreen.

use super::measure::{Effort, Sample};
use crate::app::window::Screen;
use crate::base::Result;
use crate::base::math::{Aabb, Vec3};
use crate::scene::{Actor, Model, Pipelines};
use crate::ui::window::{Choices, WindowEditor, WindowInput};
use crate::workbench::{Preferences, Workbench};
use egui::{Event, Modifiers, PointerButton, pos2};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Size of the window, pixels.
pub(super) const WINDOW: [u32; 2] = [1280, 800];
/// Unmeasured frames at the start: the driver compiles lazily, and two frames are in flight.
const WARM_UP: usize = 4;
/// Mouse moves per stroke.
const MOVES: usize = 24;

/// The action of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeskAct {
    /// Orbits the view.
    Orbit,
    /// Pans the view.
    Pan,
    /// Draws an offset stroke, so that the pose changes in every frame.
    Stroke,
}

/// Times of a window's frame.
#[derive(Clone, Debug, Serialize)]
pub struct DeskFrame {
    /// Name of the mesh.
    pub mesh: String,
    /// Size of the window, pixels.
    pub window: [u32; 2],
    /// The action of the mouse.
    pub act: DeskAct,
    /// CPU time of the editor's step, including the panels.
    pub editor: Sample,
    /// CPU time of the editor's step, recording and submission, without waiting for the device.
    pub cpu: Sample,
    /// Device time of the whole frame.
    pub device: Sample,
    /// Time from frame to frame, which the user perceives.
    pub interval: Sample,
}

/// Measures a character's frames under each mouse action.
pub(super) fn measure(
    pipelines: &Pipelines,
    name: &str,
    model: &Arc<Model>,
    window: [u32; 2],
    effort: &Effort,
) -> Result<Vec<DeskFrame>> {
    [DeskAct::Orbit, DeskAct::Pan, DeskAct::Stroke]
        .into_iter()
        .map(|act| Bed::new(pipelines, model, window)?.run(name, act, effort))
        .collect()
}

/// An offscreen window with the editor and a character.
struct Bed {
    desk: WindowEditor,
    bench: Workbench,
    screen: Screen,
    window: [u32; 2],
    time: f64,
    bounds: Aabb,
}

impl Bed {
    fn new(pipelines: &Pipelines, model: &Arc<Model>, window: [u32; 2]) -> Result<Self> {
        let mut screen = Screen::without_window(pipelines, window, None)?;
        let bench = Workbench::new(model.start(None)?, model.bound.character.clone(), Preferences::default());
        let recipe = bench.session().document().recipe()?;
        let stage = screen.stage();
        let actor = Actor::new(pipelines, stage.targets(), model, &recipe)?;
        stage.enter(Box::new(actor));
        let bounds = *bench.bounds();
        let mut bed =
            Self { desk: WindowEditor::new(Choices::default()), bench, screen, window, time: 0.0, bounds };
        // The first frames lay out the panels and frame the character.
        for _ in 0..WARM_UP {
            bed.frame(Vec::new())?;
        }
        Ok(bed)
    }

    /// Runs a frame with the given events. Returns CPU milliseconds of the editor and of the whole frame.
    fn frame(&mut self, events: Vec<Event>) -> Result<[f64; 2]> {
        // Waiting for the device does not count as CPU time.
        self.screen.stage().device().wait_idle()?;
        let start = Instant::now();
        self.time += 1.0 / 60.0;
        let picked = self.screen.picked()?;
        let input = WindowInput {
            time: self.time,
            size: self.window,
            scale: 1.0,
            focused: true,
            events,
            picked,
            ..WindowInput::default()
        };
        self.desk.step(&input, Some(&mut self.bench));
        let stepped = start.elapsed();
        self.screen.draw(self.window, self.desk.output_mut(), Some(self.bench.shown_pose()))?;
        Ok([stepped, start.elapsed()].map(|t| t.as_secs_f64() * 1e3))
    }

    /// Projects a world point to window pixels.
    fn pixel(&self, world: Vec3) -> [f32; 2] {
        let out = self.desk.output();
        let [u, v] = out.views.first().and_then(|view| view.project(world)).unwrap_or([0.5; 2]);
        let [x, y, width, height] = out.viewport.map(|v| v as f32);
        [x + u * width, y + v * height]
    }

    /// Drags the mouse along `path` with a button held, one frame per point; passes each frame's times to `each`.
    fn drag(
        &mut self,
        button: PointerButton,
        modifiers: Modifiers,
        path: impl Iterator<Item = [f32; 2]>,
        mut each: impl FnMut(&mut Self, [f64; 2]) -> bool,
    ) -> Result<()> {
        let press =
            |at: [f32; 2], pressed| Event::PointerButton { pos: at.into(), button, pressed, modifiers };
        let mut last = None;
        for at in path {
            let first = last.replace(at).is_none();
            let mut events = vec![Event::PointerMoved(pos2(at[0], at[1]))];
            if first {
                self.frame(events.clone())?;
                events = vec![Event::ModifiersChanged(modifiers), press(at, true)];
            }
            let took = self.frame(events)?;
            if !first && !each(self, took) {
                break;
            }
        }
        if let Some(at) = last {
            self.frame(vec![press(at, false)])?;
        }
        Ok(())
    }

    /// Returns a straight or bent path up through the character, in window pixels.
    fn way_up(&self, bent: f32) -> Vec<[f32; 2]> {
        let (low, high) = (self.bounds.min.y, self.bounds.max.y);
        let middle = self.bounds.center();
        let at = |i: usize| {
            let t = i as f32 / MOVES as f32;
            let shift = bent * (high - low) * t * t;
            self.pixel(Vec3::new(middle.x + shift, low + (high - low) * t, middle.z))
        };
        (0..=MOVES).map(at).collect()
    }

    fn run(mut self, name: &str, act: DeskAct, effort: &Effort) -> Result<DeskFrame> {
        let (mut editor, mut cpu, mut device, mut interval) = (vec![], vec![], vec![], vec![]);
        // `begin` and `last` stay `None` until the end of the first measured frame, so the time before this frame is
        // not counted.
        let (mut begin, mut last) = (None, None);
        let mut each = |bed: &mut Self, took: [f64; 2]| {
            // The frame-to-frame time includes the device time of this frame.
            let idle = bed.screen.stage().device().wait_idle();
            editor.push(took[0]);
            cpu.push(took[1]);
            device.push(bed.screen.stages().iter().map(|(_, ms)| f64::from(*ms)).sum());
            let now = Instant::now();
            interval.extend(last.replace(now).map(|last| (now - last).as_secs_f64() * 1e3));
            let enough = interval.len() >= 2 && now - *begin.get_or_insert(now) >= effort.budget;
            idle.is_ok() && !enough && interval.len() < 2 * effort.most
        };
        let [x, y] = self.pixel(self.bounds.center());
        let swing =
            (0..).map(|i: i32| [x + 60.0 * (i as f32 * 0.2).sin(), y + 20.0 * (i as f32 * 0.3).sin()]);
        match act {
            DeskAct::Orbit => self.drag(PointerButton::Middle, Modifiers::NONE, swing, &mut each)?,
            DeskAct::Pan => self.drag(PointerButton::Middle, Modifiers::SHIFT, swing, &mut each)?,
            DeskAct::Stroke => {
                let (base, offset) = (self.way_up(0.0), self.way_up(0.3));
                self.drag(PointerButton::Primary, Modifiers::NONE, base.into_iter(), |_, _| true)?;
                self.drag(PointerButton::Primary, Modifiers::NONE, offset.into_iter(), &mut each)?;
            }
        }
        let [editor, cpu, device, interval] = [editor, cpu, device, interval].map(|t| Sample::of(&t));
        Ok(DeskFrame { mesh: name.to_owned(), window: self.window, act, editor, cpu, device, interval })
    }
}

pub(super) fn label(act: DeskAct) -> &'static str {
    match act {
        DeskAct::Orbit => "orbit",
        DeskAct::Pan => "pan",
        DeskAct::Stroke => "stroke",
    }
}
