//! Renders the view of a headset user who stands before a character and holds the palette. It needs no headset.

use crate::app::context::Context;
use crate::app::xr::profiles::profiles;
use crate::asset::Property;
use crate::base::math::{Quat, Vec3};
use crate::base::{Error, Result};
use crate::document::{Channel, Edit, KeyEdit, Target};
use crate::rig::{Pose, PosedRig};
use crate::scene::{Evaluation, Model, Studio};
use crate::take::Eye;
use crate::ui::Section;
use crate::ui::palette::{FileList, Page, Panel, PanelScreens, PanelState, Panels, Placement, Spot, Strain};
use crate::workbench::{Command, Input, Preferences, Rigid, Tracked, Tracking, Workbench};
use image::RgbaImage;

/// What the palette shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Show {
    /// The palette with the page of strokes and bones.
    Pose,
    /// The palette with the page of keys and playback.
    Time,
    /// The palette with the page of views and strain numbers.
    View,
    /// The palette with the page of files and settings.
    Session,
    /// The file panel.
    Files,
    /// The details panel with the settings of the deformer.
    Deformer,
    /// The details panel with the selected sculpt layer.
    Shape,
    /// The details panel with bones and weights.
    Rig,
    /// The details panel with the cage.
    Cage,
    /// The details panel with the weights of the morph targets.
    Morphs,
    /// The details panel with joints, strokes, marks and sculpt layers.
    Outliner,
    /// The details panel with the transform of the selected joint.
    Transform,
    /// The details panel with the stored poses.
    Poses,
    /// The details panel with the keys of three poses.
    Keys,
    /// The details panel with curves of the file's first clip.
    Curves,
    /// The details panel with the clips of the file.
    Clips,
    /// The details panel with the looks of the figure and the options of the headset.
    Display,
    /// The details panel with the steps of the history.
    History,
    /// No headset: the window.
    #[value(alias = "desk")]
    Window,
    /// The window in the light theme.
    #[value(alias = "desk-light")]
    WindowLight,
    /// The window with its list of keys.
    #[value(alias = "desk-keys")]
    WindowKeys,
    /// The window with the keys of three poses.
    WindowTimeline,
    /// The window with curves of the file's first clip.
    WindowCurves,
}

/// Half the distance between the eyes, metres.
const HALF_EYES: f32 = 0.0315;
/// Controller profile whose button names the palette shows.
const CONTROLLER: &str = "oculus/touch_controller";

fn tracked(position: Vec3, orientation: Quat) -> Tracked {
    Tracked { pose: Rigid { position, orientation }, tracking: Tracking::Tracked }
}

/// Builds input for a user who looks at the palette and points the right hand at `target`.
fn input(time: f64, target: Option<Vec3>) -> Input {
    let head = Quat::from_rotation_y(0.36) * Quat::from_rotation_x(-0.16);
    let hand = Vec3::new(0.1, 1.25, -0.4);
    let ahead = target.map_or(Vec3::new(0.4, -0.6, -0.5), |t| t - hand).normalize();
    let mut out = Input { time, focused: true, head: tracked(Vec3::Y * 1.6, head), ..Input::default() };
    // The left hand holds the palette beside the character and below the user's head.
    let palm = tracked(Vec3::new(-0.34, 1.2, -0.52), Quat::IDENTITY);
    (out.hands[0].grip, out.hands[0].aim) = (palm, palm);
    out.hands[1].grip = tracked(hand, Quat::IDENTITY);
    out.hands[1].aim = tracked(hand, Quat::from_rotation_arc(Vec3::NEG_Z, ahead));
    out
}

/// Renders the view of one eye (`size` in pixels), or the views of both eyes side by side if `stereo` is set.
///
/// # Errors
/// An error if the document cannot be opened, memory is short or the GPU device is lost.
pub fn picture(
    context: &mut Context,
    (model, pose, shape): (&Model, &Pose, &Evaluation),
    show: Show,
    (size, stereo): ([u32; 2], bool),
) -> Result<RgbaImage> {
    let section = match show {
        Show::Deformer => Some(Section::Deformer),
        Show::Shape => Some(Section::Shape),
        Show::Rig => Some(Section::Rig),
        Show::Cage => Some(Section::Cage),
        Show::Morphs => Some(Section::Morphs),
        Show::Outliner => Some(Section::Outliner),
        Show::Transform => Some(Section::Transform),
        Show::Poses => Some(Section::Poses),
        Show::Keys | Show::Curves => Some(Section::Keys),
        Show::Clips => Some(Section::Clips),
        Show::Display => Some(Section::Display),
        Show::History => Some(Section::History),
        _ => None,
    };
    let preferences = Preferences {
        palette: show != Show::Files,
        files: show == Show::Files,
        details: section.is_some(),
        ..Preferences::default()
    };
    let mut session = model.start(None)?;
    // This panel shows the document's pose.
    if show == Show::Morphs && session.posed() != *pose {
        session.apply(Edit::SetPose(pose.clone()))?;
    }
    let mut bench = Workbench::new(session, model.bound.character.clone(), preferences);
    if show == Show::Transform {
        bench.select(bench.posable().get(bench.posable().len() / 2).copied());
    }
    match show {
        Show::Keys => key_poses(&mut bench),
        Show::Curves => key_clip(&mut bench),
        _ => {}
    }
    let rig = PosedRig::new(model.skeleton(), pose);
    let mut panels = Panels::new();
    let mut state = state(model, shape);
    let (page, aimed) = match show {
        Show::Pose => (Page::Pose, Spot::Command(Command::Mirror(true))),
        Show::Time => (Page::Time, Spot::Command(Command::Key)),
        Show::View => (Page::View, Spot::Command(Command::LifeSize)),
        Show::Session => (Page::Session, Spot::Command(Command::Export)),
        _ => (Page::Pose, Spot::Command(Command::Save)),
    };
    // Open the page as a user does: the right hand points at the tab and presses the trigger.
    let tab = section.map_or(Spot::Page(page), Spot::Section);
    let aimed = match show {
        Show::Keys => Spot::Text("All".into()),
        Show::Curves => Spot::Text("Curves".into()),
        _ if section.is_some() => tab.clone(),
        _ => aimed,
    };
    // The picture of the keys shows them selected.
    let pull = if matches!(show, Show::Keys | Show::Curves) { 1.0 } else { 0.0 };
    // Panels at the hand need some frames until they are in place.
    let settle = [(&tab, 0.0); 12];
    let press = [(&tab, 1.0), (&tab, 0.0), (&aimed, 0.0), (&aimed, pull), (&aimed, 0.0), (&aimed, 0.0)];
    for (frame, (spot, pull)) in settle.into_iter().chain(press).enumerate() {
        let mut input = input(frame as f64 * 0.1, panels.target(spot));
        input.hands[1].draw = pull;
        state.follow(&bench);
        panels.see(&bench, &rig);
        let tool = bench.tool_hand();
        panels.step(&input, tool, &state, Some(&bench)).mark(tool, &mut input);
        bench.step(&input);
    }
    let renderer = context.renderer()?;
    let mut studio = Studio::new(&renderer, model)?;
    studio.hide(bench.session().document().hidden());
    studio.outline(model, bench.outlined())?;
    let mut screens = PanelScreens::new(renderer.device())?;
    let output = bench.output();
    let mut lines = output.lines.clone();
    panels.draw(&output.world_from_room, &mut lines);
    let mut head = input(0.0, None).head.pose;
    // The user looks at the details panel, or between the palette and the character.
    let of = |panel| panels.out().placements.iter().find(|p| p.panel == panel);
    let to = |p: &Placement| (p.pose.position - head.position).normalize();
    let looks = match (of(Panel::Details), of(Panel::Palette)) {
        (Some(details), _) => Some(to(details)),
        (None, Some(palette)) => Some(to(palette).with_y(0.0).normalize() + Vec3::new(0.0, -0.3, -1.0)),
        (None, None) => None,
    };
    if let Some(to) = looks.map(Vec3::normalize) {
        head.orientation = Quat::from_rotation_arc(Vec3::NEG_Z, to.with_y(0.0).normalize())
            * Quat::from_rotation_x(to.y.asin());
    }
    let aspect = size[0] as f32 / size[1] as f32;
    let up = 0.5f32;
    let side = (up.tan() * aspect).atan();
    let eye = |x: f32| {
        let pose = Rigid { position: head.point(Vec3::X * x), orientation: head.orientation };
        Eye { pose, fov: [-side, side, up, -up] }.view(&output.world_from_room)
    };
    let eyes: Vec<_> = if stereo { vec![eye(-HALF_EYES), eye(HALF_EYES)] } else { vec![eye(0.0)] };
    let views: Vec<_> = eyes.into_iter().flatten().collect();
    if views.is_empty() {
        return Err(Error::input(format!("no picture of {} x {}", size[0], size[1]), "give another --size"));
    }
    studio.look_mut().scale = views[0].eye_scale(size);
    // `bound` must live until the device has finished the frame.
    let mut bound = None;
    let pictures = studio.shoot_with(shape, &views, size, &lines, |frame, targets| {
        screens.record(frame, &mut panels)?;
        let bound = bound.insert(screens.bind(targets)?);
        screens.record_quads(frame, targets, bound, &panels, &output.world_from_room);
        Ok(())
    })?;
    let mut out = RgbaImage::new(size[0] * pictures.len() as u32, size[1]);
    for (i, picture) in pictures.iter().enumerate() {
        image::imageops::replace(&mut out, picture, i64::from(size[0]) * i as i64, 0);
    }
    Ok(out)
}

/// Keys the pose at three times.
pub(super) fn key_poses(bench: &mut Workbench) {
    for time in [0.0, 0.5, 1.25] {
        bench.run_command(Command::Scrub(time));
        bench.run_command(Command::Key);
    }
    bench.run_command(Command::Scrub(0.75));
}

/// Keys the first clip of the file, or poses if there is none, and selects the joint that turns most.
pub(super) fn key_clip(bench: &mut Workbench) {
    if bench.character().skeleton.clips.is_empty() {
        key_poses(bench);
    } else {
        bench.apply(Edit::Keys(KeyEdit::Import { clip: 0 }), false);
    }
    bench.run_command(Command::Scrub(0.75));
    let turn = |c: &Channel| {
        let first = Quat::from_slice(c.value(0));
        let angle = |key: usize| first.angle_between(Quat::from_slice(c.value(key)));
        (0..c.times.len()).map(angle).fold(0.0, f32::max)
    };
    let turning = bench.session().document().motion().channels().iter().filter_map(|c| match c.target {
        Target::Node { node, property: Property::Rotation } => Some((node, turn(c))),
        _ => None,
    });
    let most = turning.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(node, _)| node);
    bench.select(most);
}

/// Builds the panels' state from outside the workbench: measurements, button names and the file list.
pub(super) fn state(model: &Model, shape: &Evaluation) -> PanelState {
    let report = model.measure(&shape.control);
    let crossings = model.crossings().pairs(&shape.control).len();
    let turned_over = model.distortion().turned_over(&shape.control);
    let iterations = (shape.iterations > 0).then_some(shape.iterations);
    let method = if iterations.is_some() { "springs" } else { "" };
    let all = profiles();
    let controller = all.iter().find(|p| p.name == CONTROLLER);
    let folder = model.asset.path.parent().filter(|p| !p.as_os_str().is_empty());
    PanelState {
        strain: Some(Strain::new(method, iterations, &report, turned_over, crossings)),
        labels: [0, 1].map(|hand| crate::workbench::Labels::new(|c| controller?.control(c, hand))),
        files: FileList::read(folder.unwrap_or(".".as_ref()), &[], None).unwrap_or_default(),
        ..PanelState::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workbench::Control;

    /// Formats the controller table of docs/reference.md. Controllers with equal button names share a row.
    fn controls() -> String {
        let mut rows: Vec<(Vec<&str>, String)> = Vec::new();
        for profile in profiles().iter().filter(|p| !p.title.contains("before")) {
            let cell = |control: Control| match [0, 1].map(|hand| profile.control(control, hand)) {
                [Some(left), Some(right)] if left != right => format!("{left}, {right}"),
                [Some(one), _] | [None, Some(one)] => one.to_owned(),
                [None, None] if control == Control::Grab => "by the grab tool".to_owned(),
                [None, None] => "on the palette".to_owned(),
            };
            let order = [Control::Draw, Control::Grab, Control::Undo, Control::Redo, Control::Menu];
            let cells = order.into_iter().chain([Control::StickX, Control::StickY]).map(cell);
            let cells = cells.collect::<Vec<_>>().join(" | ");
            match rows.iter_mut().find(|(_, known)| *known == cells) {
                Some((titles, _)) => titles.push(profile.title),
                None => rows.push((vec![profile.title], cells)),
            }
        }
        let lines = rows.iter().map(|(titles, cells)| format!("| {} | {cells} |\n", titles.join(", ")));
        let head = "| controller (left, right) | draw, press | grab, pull | undo | redo | palette | turn | brush |\n";
        format!("{head}|---|---|---|---|---|---|---|---|\n{}", lines.collect::<String>())
    }

    #[test]
    fn the_reference_has_every_controllers_buttons() {
        let reference = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
        let reference = std::fs::read_to_string(reference).unwrap();
        assert!(
            reference.contains(&controls()),
            "docs/reference.md, xr doctor: the table is\n\n{}",
            controls()
        );
    }
}
