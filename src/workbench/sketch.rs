//! A stroke over a picture as a sculpt layer: what the silhouette tool asks its front end for.

use crate::base::Result;
use crate::base::math::Vec3;
use crate::document::Document;
use crate::query::Filter;
use crate::render::{Renderer, View};
use crate::rig::{Pose, PosedRig};
use crate::scene::{Evaluator, Model, Studio, Where, recipe};
use crate::surface::{Accent, Reach, Sculpt, silsketch};
use std::sync::Arc;

/// Pixels of the picture that silhouettes are looked for in.
const SIZE: [u32; 2] = [800, 800];

/// An accent stroke, over what an eye sees.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// Where the hand was, world, metres: at least two places.
    pub stroke: Vec<Vec3>,
    /// A square picture of the character around it.
    pub view: View,
    /// The pose that is seen.
    pub pose: Pose,
    /// How far the edit goes beyond the silhouette along the skin, metres.
    pub reach: f32,
}

impl Sketch {
    /// Finds the silhouette that is meant and what the stroke makes of it, as the document shows the character. Takes tenths
    /// of a second; nothing is changed.
    ///
    /// # Errors
    /// There is no silhouette along the stroke; a lost device.
    pub fn sculpt(&self, renderer: &Arc<Renderer>, model: &Model, document: &Document) -> Result<Sculpt> {
        let mut evaluator = Evaluator::new(&Where::Cpu, model, &recipe(document.deformer())?)?;
        evaluator.set_document_sculpts(model, document)?;
        let shape = evaluator.evaluate(model, &self.pose)?;
        let options = Filter::Normal.options();
        let points = Studio::new(renderer, model)?.silhouettes(&shape, &self.view, SIZE, &options)?;
        let pixel = |p: &Vec3| self.view.project(*p).map(|[u, v]| [u * SIZE[0] as f32, v * SIZE[1] as f32]);
        let stroke: Vec<[f32; 2]> = self.stroke.iter().filter_map(pixel).collect();
        let accent =
            Accent { stroke: &stroke, view: &self.view, size: SIZE, reach: Reach::Along(self.reach) };
        let character = &model.bound.character;
        let found = silsketch(character, &shape.control, &points, &accent)?;
        let rig = PosedRig::new(model.skeleton(), &self.pose);
        Ok(found.sculpt(document.unused_sculpt_id(), character, &rig))
    }
}
