//! Converts a silhouette stroke over an image to a sculpt layer: the background job of the silhouette tool.

use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::classic::Method;
use crate::document::Document;
use crate::query::Filter;
use crate::render::{Renderer, View};
use crate::rig::{Pose, PosedRig};
use crate::scene::{Evaluator, Model, Studio, Where, surroundings};
use crate::surface::{Accent, Reach, Sculpt, silsketch};
use std::sync::Arc;

/// Size of the image in which silhouettes are searched, pixels.
const SIZE: [u32; 2] = [800, 800];

/// A silhouette stroke and the view in which it was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// Hand positions of the stroke, world space, metres; at least two.
    pub stroke: Vec<Vec3>,
    /// Square view of the character from the user's eye.
    pub view: View,
    /// Pose of the character during the stroke.
    pub pose: Pose,
    /// How far the sculpt layer extends beyond the silhouette.
    pub reach: Reach,
    /// The classical tool that moves the skin around the silhouette.
    pub surroundings: Method,
}

impl Sketch {
    /// Finds the silhouette that the stroke follows and returns the sculpt layer that moves the silhouette onto the
    /// stroke. Uses the document's current sculpt layers. The call takes tenths of a second and does not change the
    /// document.
    ///
    /// # Errors
    /// If no silhouette runs along the stroke, or the device is lost.
    pub fn sculpt(&self, renderer: &Arc<Renderer>, model: &Model, document: &Document) -> Result<Sculpt> {
        let mut evaluator = Evaluator::new(&Where::Cpu, model, &document.recipe()?)?;
        evaluator.set_document(model, document)?;
        let shape = evaluator.evaluate(model, &self.pose)?;
        let options = Filter::Normal.options();
        let mut studio = Studio::new(renderer, model)?;
        studio.hide(document.hidden());
        let points = studio.silhouettes(&shape, &self.view, SIZE, &options)?;
        let pixel = |p: &Vec3| self.view.project(*p).map(|[u, v]| [u * SIZE[0] as f32, v * SIZE[1] as f32]);
        let stroke: Vec<[f32; 2]> = self.stroke.iter().filter_map(pixel).collect();
        let accent = Accent { stroke: &stroke, view: &self.view, size: SIZE, reach: self.reach };
        let character = &model.bound.character;
        let found = silsketch(character, &shape.control, &points, &accent)?;
        let rig = PosedRig::new(model.skeleton(), &self.pose);
        let sculpt = found.sculpt(document.unused_sculpt_id(), character, &rig);
        let found = surroundings(model, &self.pose, &shape.control, &sculpt, self.surroundings)?;
        Ok(Sculpt { surroundings: Some(found), ..sculpt })
    }
}
