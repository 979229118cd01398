//! `sinew render`: a picture of a file, in any pose.

use super::context::{Context, write_png};
use super::pose::PoseArgs;
use crate::base::math::Aabb;
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::edit::DeformerSettings;
use crate::editor::{Angle, Evaluator, Model, Studio, recipe};
use crate::render::Lines;
use crate::rig::PosedRig;
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
    /// Two eyes.
    pub stereo: bool,
    /// The skeleton on top.
    pub skeleton: bool,
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
    let shape = Evaluator::new(&side, &model, &recipe(shot.deformer)?)?.evaluate(&model, &pose)?;
    let bounds = Aabb::of(shape.positions.iter().copied());
    let mut lines = Lines::default();
    if shot.skeleton {
        draw_bones(&model, &PosedRig::new(model.skeleton(), &pose), &mut lines);
    }
    let mut studio = Studio::new(&context.renderer()?, &model)?;
    let picture = if shot.stereo {
        studio.stereo(&shape, &bounds, shot.angle, shot.size, &lines)?
    } else {
        studio.picture(&shape, &bounds, shot.angle, shot.size, &lines)?
    };
    write_png(out, &picture)
}

/// Adds the bones of a pose.
pub fn draw_bones(model: &Model, rig: &PosedRig, lines: &mut Lines) {
    for (bone, posed) in model.skeleton().bones.iter().zip(&rig.bones) {
        if bone.head != bone.tail {
            lines.bone(posed.head, posed.tail, 2.0);
        }
    }
}
