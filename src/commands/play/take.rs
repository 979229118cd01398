//! Replays a take: reproduces its document, and renders both eyes' views during the take and the document at its end.

use super::write_outputs;
use crate::app::context::{Context, folder, say, stage, write_png};
use crate::base::{Error, Result};
use crate::deform::fast::Grips;
use crate::document::DeformerSettings;
use crate::project;
use crate::rig::Pose;
use crate::scene::{Evaluator, Studio};
use crate::surface::Sculpt;
use crate::take::{Replay, TakeReader};
use crate::ui::palette::{PanelScreens, PanelState, Panels};
use image::RgbaImage;
use std::path::Path;

/// Number of stereo pictures, spread evenly over the take.
const PICTURES: u64 = 8;
/// Smallest and largest size of an eye's picture, pixels; recorded sizes are clamped to this range.
const SIZES: [u32; 2] = [64, 4096];

/// Replays a take into a folder. Writes stereo pictures (`eyes-FRAME.png`, left eye on the left), pictures of the
/// document, `posed.glb`, `project.glb` and their receipts.
///
/// # Errors
/// An error if the replayed document differs from the recorded one, the file is not a take, or its character is
/// missing or changed. Any error from drawing or writing.
pub fn play(context: &mut Context, path: &Path, out: &Path) -> Result<()> {
    let frames = count(path)?;
    let (mut replay, _) = stage("open", || Replay::open(path))?;
    folder(out)?;
    let mut eyes = Eyes::new();
    let mut taken = 0;
    while replay.step()? {
        eyes.follow(&replay);
        let at = replay.frames();
        // The take is divided into `PICTURES` parts; this is the last frame of a part.
        if at * PICTURES >= (taken + 1) * frames {
            taken = at * PICTURES / frames;
            if let Some(pair) = eyes.picture(context, &mut replay)? {
                write_png(&out.join(format!("eyes-{at:06}.png")), &pair)?;
            }
        }
    }
    if let Some(torn) = replay.torn() {
        let path = path.display();
        eprintln!(
            "sinew: {path}: it breaks off at byte {} ({}); what is before is replayed",
            torn.offset, torn.reason
        );
    }
    let document = replay.bench().session().document();
    let hash = document.hash();
    say(format_args!("document {hash}"));
    say(format_args!("{} frames", replay.frames()));
    write_outputs(context, replay.model(), document, out)?;
    let (receipt, _) = stage("project", || {
        let mut evaluator = Evaluator::new(&context.side(false)?, replay.model(), &document.recipe()?)?;
        project::save(&out.join("project.glb"), replay.model(), document, &mut evaluator)
    })?;
    say(format_args!("{}\n{}", out.join("project.glb").display(), receipt.to_string().trim_end()));
    match replay.end() {
        Some(end) if end.document != hash => Err(Error::broken(
            path,
            "end",
            format!("it was recorded with document {}, but leads to {hash}", end.document),
            "replay it with the version of this program that recorded it",
        )),
        _ => Ok(()),
    }
}

/// Counts the frames of a take; returns at least 1.
fn count(path: &Path) -> Result<u64> {
    let mut reader = TakeReader::open(path)?;
    for event in reader.by_ref() {
        event?;
    }
    Ok(reader.frames().max(1))
}

/// A renderer and an evaluator, with the settings, grips and sculpt layers that they were made for.
type Made = (Studio, Evaluator, (DeformerSettings, Grips), Vec<Sculpt>);

/// Renderer and panels for the eyes' views, reused from picture to picture.
struct Eyes {
    stage: Option<Made>,
    panels: Panels,
    state: PanelState,
    screens: Option<PanelScreens>,
}

impl Eyes {
    fn new() -> Self {
        Self { stage: None, panels: Panels::new(), state: PanelState::default(), screens: None }
    }

    /// Updates the panels' layout and state for a frame. The take already contains what was pressed on them.
    fn follow(&mut self, replay: &Replay) {
        self.state.follow(replay.bench());
        self.panels.see(replay.bench(), replay.bench().rig());
        self.panels.step(
            &replay.frame().input,
            replay.bench().tool_hand(),
            &self.state,
            Some(replay.bench()),
        );
    }

    /// Renders the last frame's views of both eyes side by side; returns `None` if no views were recorded.
    fn picture(&mut self, context: &mut Context, replay: &mut Replay) -> Result<Option<RgbaImage>> {
        if replay.take_loaded() {
            self.stage = None;
        }
        let (model, bench) = (replay.model(), replay.bench());
        let document = bench.session().document();
        let settings = (document.deformer().clone(), bench.grip_shapes().clone());
        let (mut studio, mut evaluator, mut sculpts) = match self.stage.take() {
            Some((studio, evaluator, old, sculpts)) if old == settings => (studio, evaluator, sculpts),
            old => {
                let studio = match old {
                    Some((studio, ..)) => studio,
                    None => Studio::new(&context.renderer()?, model)?,
                };
                (studio, Evaluator::new(&context.side(false)?, model, &document.recipe()?)?, Vec::new())
            }
        };
        let output = bench.output();
        let views: Vec<_> =
            replay.frame().eyes.iter().filter_map(|eye| eye.view(&output.world_from_room)).collect();
        let mut pair = None;
        if views.len() == 2 {
            let size = replay.eye_size().map(|n| n.clamp(SIZES[0], SIZES[1]));
            let pose: &Pose = bench.pose();
            if !bench.sculpts().eq(&sculpts) {
                sculpts = bench.sculpts().cloned().collect();
                evaluator.set_sculpts(model, &sculpts)?;
            }
            evaluator.set_cage(bench.coupling().map(|c| &**c))?;
            evaluator.set_sculpt_states(bench.sculpt_states());
            evaluator.adopt(bench.recipe());
            let shape = evaluator.evaluate(model, pose)?;
            if self.screens.is_none() {
                self.screens = Some(PanelScreens::new(&context.device()?)?);
            }
            let (panels, screens) = (&mut self.panels, &mut self.screens);
            let mut lines = output.lines.clone();
            panels.draw(&output.world_from_room, &mut lines);
            let software = context.device()?.is_software();
            bench.preferences().set_look(studio.look_mut(), software);
            studio.look_mut().silhouettes = bench.shown_silhouettes();
            studio.outline(model, bench.outlined())?;
            studio.look_mut().scale = views[0].eye_scale(size);
            studio.set_samples(if bench.preferences().smooth { 4 } else { 1 });
            studio.look_mut().world_from_floor = output.world_from_floor;
            // `bound` must live until the device has finished the frame.
            let mut bound = None;
            let pictures = studio.shoot_with(&shape, &views, size, &lines, |frame, targets| {
                let Some(screens) = screens else { return Ok(()) };
                screens.record(frame, panels)?;
                let bound = bound.insert(screens.bind(targets)?);
                screens.record_quads(frame, targets, bound, panels, &output.world_from_room);
                Ok(())
            })?;
            let mut both = RgbaImage::new(size[0] * 2, size[1]);
            for (i, picture) in pictures.iter().enumerate() {
                image::imageops::replace(&mut both, picture, i64::from(size[0]) * i as i64, 0);
            }
            pair = Some(both);
        }
        self.stage = Some((studio, evaluator, settings, sculpts));
        Ok(pair)
    }
}
