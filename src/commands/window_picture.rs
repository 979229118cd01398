//! Renders the editor window with a character offscreen, without opening a window.

use super::headset_picture;
use super::headset_picture::Show;
use crate::app::context::Context;
use crate::base::Result;
use crate::document::Edit;
use crate::render::PanelPainter;
use crate::rig::Pose;
use crate::scene::{Evaluation, Model, Studio};
use crate::ui::window::{Choices, Theme, WindowEditor, WindowInput};
use crate::workbench::{Preferences, Workbench};
use egui::{Event, Key, Modifiers, PointerButton};
use image::{Rgba, RgbaImage};

/// Returns true if `show` asks for a picture of the editor window.
pub fn is_window(show: Show) -> bool {
    matches!(
        show,
        Show::Window | Show::WindowLight | Show::WindowKeys | Show::WindowTimeline | Show::WindowCurves
    )
}

/// Renders the editor window, `size` in pixels, with the character's document open.
///
/// # Errors
/// An error if the document cannot be opened, memory is short or the GPU device is lost.
pub fn picture(
    context: &mut Context,
    (model, pose, shape): (&Model, &Pose, &Evaluation),
    show: Show,
    size: [u32; 2],
) -> Result<RgbaImage> {
    let mut session = model.start(None)?;
    if session.posed() != *pose {
        session.apply(Edit::SetPose(pose.clone()))?;
    }
    let mut bench = Workbench::new(session, model.bound.character.clone(), Preferences::default());
    match show {
        Show::WindowTimeline => headset_picture::key_poses(&mut bench),
        Show::WindowCurves => headset_picture::key_clip(&mut bench),
        _ => {}
    }
    let theme = if show == Show::WindowLight { Theme::Light } else { Theme::Dark };
    let mut desk = WindowEditor::new(Choices { theme, ..Choices::default() });
    desk.facts.know(model);
    desk.facts.strain = headset_picture::state(model, shape).strain;
    let mut input = WindowInput { size, scale: 1.0, focused: true, ..WindowInput::default() };
    let key =
        |key, modifiers| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    let timeline = matches!(show, Show::WindowTimeline | Show::WindowCurves);
    desk.keep_texts();
    let mut presses = if show == Show::WindowCurves { vec!["All", "Curves"] } else { Vec::new() };
    // egui lays out panels correctly only after a first pass has measured them.
    for frame in 0..if presses.is_empty() { 4 } else { 12 } {
        input.time = f64::from(frame) * 0.1;
        input.events = if frame == 1 { vec![key(Key::Home, Modifiers::NONE)] } else { Vec::new() };
        if frame == 1 && show == Show::WindowKeys {
            input.events.push(key(Key::Questionmark, Modifiers::NONE));
        }
        if frame == 1 && timeline {
            input.events.push(key(Key::T, Modifiers::SHIFT));
        }
        if frame > 3 && frame % 2 == 0 {
            let found = presses.pop().and_then(|text| desk.texts().iter().rev().find(|t| t.0 == text));
            input.events.extend(found.into_iter().flat_map(|t| click(t.1.center())));
        }
        desk.step(&input, Some(&mut bench));
    }
    let renderer = context.renderer()?;
    let mut studio = Studio::new(&renderer, model)?;
    studio.hide(bench.session().document().hidden());
    studio.outline(model, bench.outlined())?;
    let output = desk.output();
    let [left, top, width, height] = output.viewport;
    let mut seen = studio.shoot(shape, &output.views[..1], [width, height], &output.lines)?;
    let mut out = RgbaImage::new(size[0], size[1]);
    image::imageops::replace(&mut out, &seen.remove(0), i64::from(left), i64::from(top));
    let device = renderer.device();
    let painter = PanelPainter::new(device)?;
    let mut panels = painter.image("window", size)?;
    device.run(|frame| {
        painter.upload(frame, &mut panels, &output.paint)?;
        frame.barrier();
        painter.draw(frame, &panels);
        Ok(())
    })?;
    let over: Vec<[u8; 4]> = device.read_image(&panels.image, 0)?;
    for (below, above) in out.pixels_mut().zip(over) {
        let clear = 255 - u32::from(above[3]);
        let mixed = |i: usize| {
            let value = u32::from(above[i]) + (u32::from(below.0[i]) * clear + 127) / 255;
            value.min(255) as u8
        };
        *below = Rgba([mixed(0), mixed(1), mixed(2), 255]);
    }
    Ok(out)
}

/// Returns the events of a click.
fn click(pos: egui::Pos2) -> [Event; 3] {
    let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
    let event = |pressed| Event::PointerButton { pos, button, pressed, modifiers };
    [Event::PointerMoved(pos), event(true), event(false)]
}
