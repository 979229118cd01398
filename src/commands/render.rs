//! `sinew render`: a picture of a file, in any pose.

use super::pose::PoseArgs;
use super::{headset_picture, window_picture};
use crate::app::context::{Context, wanted_samples, write_png};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::document::{DeformerSettings, Document};
use crate::render::{BASELINE, Camera, Lines, OFFSET};
use crate::rig::{PosedRig, named_node};
use crate::scene::{Angle, Evaluator, Model, Studio, onion, recipe};
use std::path::Path;

/// How to take the picture.
pub struct Shot<'a> {
    /// The pose.
    pub pose: &'a PoseArgs,
    /// The method.
    pub deformer: &'a DeformerSettings,
    /// From where.
    pub angle: Angle,
    /// Pixels, of each eye.
    pub size: [u32; 2],
    /// Pixels per point of lines; none: in proportion to the picture.
    pub scale: Option<f32>,
    /// Samples per pixel, 1 or 4.
    pub samples: u32,
    /// Two eyes.
    pub stereo: bool,
    /// Two eyes in one picture, for red and cyan glasses.
    pub anaglyph: bool,
    /// The skeleton on top.
    pub skeleton: bool,
    /// The triangles' edges on the surface.
    pub wire: bool,
    /// A project's strokes on top.
    pub strokes: bool,
    /// Without floor and shadows.
    pub plain: bool,
    /// Outlines of so many keys of a project before and after.
    pub onion: Option<usize>,
    /// Joints whose path over a project's motion is drawn.
    pub arcs: &'a [String],
    /// What a user in a headset sees instead, with this on the palette.
    pub panels: Option<headset_picture::Show>,
}

/// Renders a file.
///
/// # Errors
/// Whatever loading, posing, rendering or writing finds wrong.
pub fn render(context: &mut Context, file: &Path, shot: &Shot<'_>, out: &Path) -> Result<()> {
    if out.extension().is_none_or(|e| !e.eq_ignore_ascii_case("png")) {
        let problem = format!("{}: unknown kind of file", out.display());
        return Err(Error::input(problem, "end the name of --out in .png"));
    }
    let model = Model::load(file, &BindOptions::default())?;
    let pose = shot.pose.resolve(&model)?;
    let side = context.side(false)?;
    let recipe = recipe(&model.deformer(shot.deformer))?;
    let mut evaluator = Evaluator::new(&side, &model, &recipe)?;
    evaluator.set_sculpt_states(&model.shown_at(shot.pose.time.map(f64::from)).sculpts);
    let shape = evaluator.evaluate(&model, &pose)?;
    if let Some(show) = shot.panels.filter(|s| window_picture::is_window(*s)) {
        let picture = window_picture::picture(context, (&model, &pose, &shape), show, shot.size)?;
        return write_png(out, &picture);
    }
    if let Some(show) = shot.panels {
        let picture =
            headset_picture::picture(context, (&model, &pose, &shape), show, (shot.size, shot.stereo))?;
        return write_png(out, &picture);
    }
    let mut bounds = Aabb::of(shape.positions.iter().copied());
    let mut lines = Lines::default();
    if shot.skeleton {
        draw_bones(&model, &PosedRig::new(model.skeleton(), &pose), &mut lines);
    }
    if let Some(document) = model.document.as_ref().filter(|_| shot.strokes) {
        bounds = draw_strokes(document, &bounds, &mut lines);
    }
    if let Some(document) = &model.document {
        for name in shot.arcs {
            let node = named_node(model.skeleton(), name)?;
            let path = onion::path(model.skeleton(), document, node);
            path.iter().for_each(|(p, _)| {
                bounds = Aabb { min: bounds.min.min(*p), max: bounds.max.max(*p) };
            });
            onion::arc(&path, &mut lines);
        }
        if let Some(count) = shot.onion {
            let aspect = shot.size[0] as f32 / shot.size[1] as f32;
            let eye = Camera::framing(&bounds, aspect, shot.angle.yaw, shot.angle.pitch).eye;
            let time = shot.pose.time.map_or(0.0, f64::from);
            let mut skins = Lines::default();
            onion::onion(&model, document, &mut evaluator, (time, count), eye, &mut skins)?;
            // Below everything else that is drawn.
            skins.segments.append(&mut lines.segments);
            lines.segments = skins.segments;
        }
    } else if shot.onion.is_some() || !shot.arcs.is_empty() {
        return Err(Error::input(
            "onion skins and arcs are of a project's motion",
            "give a project; `sinew save` makes one",
        ));
    }
    let mut studio = Studio::new(&context.renderer()?, &model)?;
    studio.set_samples(wanted_samples(context.renderer()?.device(), Some(shot.samples), true));
    let look = studio.look_mut();
    look.scale = shot.scale.unwrap_or_else(|| size_scale(shot.size));
    (look.wire, look.floor, look.shadows) = (shot.wire, !shot.plain, !shot.plain);
    let picture = match shot {
        Shot { anaglyph: true, .. } => studio.anaglyph(&shape, &bounds, shot.angle, shot.size, &lines)?,
        Shot { stereo: true, .. } => studio.stereo(&shape, &bounds, shot.angle, shot.size, &lines)?,
        _ => studio.picture(&shape, &bounds, shot.angle, shot.size, &lines)?,
    };
    write_png(out, &picture)
}

/// Pixels per point of lines that keep their share of the picture: 1 at the size that is usual.
pub fn size_scale(size: [u32; 2]) -> f32 {
    size[0].min(size[1]) as f32 / 960.0
}

/// Adds a document's strokes; returns the bounds with them.
pub fn draw_strokes(document: &Document, bounds: &Aabb, lines: &mut Lines) -> Aabb {
    let mut out = *bounds;
    for layer in document.strokes() {
        for (stroke, color) in [(Some(&layer.baseline), BASELINE), (layer.offset.as_ref(), OFFSET)] {
            let Some(stroke) = stroke else { continue };
            let spline = stroke.spline();
            // Close enough together for a curve.
            let at = |k: u32| spline.at_length(spline.length() * f64::from(k) / 64.0);
            let points: Vec<Vec3> = (0..=64).map(|k| spline.position(at(k)).as_vec3()).collect();
            lines.stroke(&points, color, 6.0);
            for p in points {
                out = Aabb { min: out.min.min(p), max: out.max.max(p) };
            }
        }
    }
    out
}

/// Adds the bones of a pose that deform the body.
pub fn draw_bones(model: &Model, rig: &PosedRig, lines: &mut Lines) {
    let deforming = model.bound.character.deforming_bones();
    for ((bone, posed), deforming) in model.skeleton().bones.iter().zip(&rig.bones).zip(deforming) {
        if deforming && bone.head != bone.tail {
            lines.bone(posed.head, posed.tail, 2.0);
        }
    }
}
