//! Converts an accent stroke to a sculpt layer: the background job of the silhouette tool. The job runs while the
//! stroke is drawn, for the preview, and once more for the finished stroke.

use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::classic::Method;
use crate::document::Document;
use crate::query::SilhouettePoint;
use crate::render::{Filter, Renderer, View};
use crate::rig::{Pose, PosedRig};
use crate::scene::{Evaluator, Model, Studio, SurroundingsSolver, Where};
use crate::surface::{Accent, Reach, Sculpt, silsketch};
use std::sync::Arc;

/// Smallest variation of a stroke's depths, relative to the largest depth, that counts as movement in depth. On a plane
/// that faces the window's camera, the mouse does not move in depth.
const FLAT: f32 = 1e-4;

/// What is known when an accent stroke begins.
#[derive(Clone, Debug, PartialEq)]
pub struct AccentStart {
    /// View of the character from the user's eye.
    pub view: View,
    /// Size of the image in which silhouettes are searched, pixels.
    pub size: [u32; 2],
    /// Pose of the character.
    pub pose: Pose,
    /// The quantity in which silhouettes are searched.
    pub filter: Filter,
    /// Whether the silhouette follows the hand in depth.
    pub depth: bool,
    /// How far the sculpt layer extends beyond the silhouette.
    pub reach: Reach,
    /// The classical tool that moves the skin around the silhouette.
    pub surroundings: Method,
}

/// An accent stroke.
#[derive(Clone, Debug, PartialEq)]
pub struct AccentStroke {
    /// What was known when the stroke began. All states of a growing stroke share this data.
    pub start: Arc<AccentStart>,
    /// Hand positions of the stroke, world space, metres.
    pub stroke: Vec<Vec3>,
}

/// The interpretation of an accent stroke.
#[derive(Clone, Debug, PartialEq)]
pub struct AccentOutcome {
    /// The sculpt layer that moves the silhouette onto the stroke.
    pub sculpt: Sculpt,
    /// The selected piece of silhouette, world space, metres.
    pub chain: Vec<Vec3>,
}

/// Interprets accent strokes. The solver keeps the data that all states of one stroke share: the shape, the
/// silhouettes of the shape and the factored matrix of the last region. The results do not depend on this data.
#[derive(Default)]
pub struct AccentSolver {
    found: Option<Found>,
}

/// Shape and silhouettes at the start of a stroke.
struct Found {
    start: Arc<AccentStart>,
    model: Arc<Model>,
    document: Arc<Document>,
    /// `model` with the binding of the document.
    bound: Arc<Model>,
    rig: PosedRig,
    /// Control vertices in the pose, with the document's sculpt layers, world space, metres.
    control: Vec<Vec3>,
    points: Vec<SilhouettePoint>,
    around: Option<SurroundingsSolver>,
}

impl AccentSolver {
    /// Finds the silhouette that the stroke follows and returns the sculpt layer that moves the silhouette onto the
    /// stroke. Uses the document's current sculpt layers. The first call for a stroke takes tenths of a second.
    ///
    /// # Errors
    /// If no silhouette runs along the stroke, or the device is lost.
    pub fn solve(
        &mut self,
        renderer: &Arc<Renderer>,
        model: &Arc<Model>,
        document: &Arc<Document>,
        accent: &AccentStroke,
    ) -> Result<AccentOutcome> {
        let same = |f: &Found| {
            let start = Arc::ptr_eq(&f.start, &accent.start);
            start && Arc::ptr_eq(&f.model, model) && Arc::ptr_eq(&f.document, document)
        };
        let found = match self.found.take().filter(same) {
            Some(found) => self.found.insert(found),
            None => self.found.insert(Found::new(renderer, model, document, &accent.start)?),
        };
        found.solve(&accent.stroke)
    }

    /// Frees the memory of the last stroke.
    pub fn forget(&mut self) {
        self.found = None;
    }
}

impl Found {
    fn new(
        renderer: &Arc<Renderer>,
        model: &Arc<Model>,
        document: &Arc<Document>,
        start: &Arc<AccentStart>,
    ) -> Result<Self> {
        let bound = model.bound_for(document)?;
        let mut evaluator = Evaluator::new(&Where::Cpu, &bound, &document.recipe()?)?;
        evaluator.set_document(&bound, document)?;
        let shape = evaluator.evaluate(&bound, &start.pose)?;
        let mut studio = Studio::new(renderer, &bound)?;
        studio.hide(document.hidden());
        let points = studio.silhouettes(&shape, &start.view, start.size, &start.filter.options())?;
        Ok(Self {
            start: start.clone(),
            model: model.clone(),
            document: document.clone(),
            rig: PosedRig::new(bound.skeleton(), &start.pose),
            bound,
            control: shape.control,
            points,
            around: None,
        })
    }

    fn solve(&mut self, stroke: &[Vec3]) -> Result<AccentOutcome> {
        let AccentStart { view, size, depth, reach, surroundings, .. } = &*self.start;
        let place = |p: &Vec3| {
            let [u, v] = view.project(*p)?;
            Some(([u * size[0] as f32, v * size[1] as f32], (view.clip_from_world * p.extend(1.0)).w))
        };
        let (stroke, depths): (Vec<[f32; 2]>, Vec<f32>) = stroke.iter().filter_map(place).unzip();
        let [least, most] = depths.iter().fold([f32::INFINITY, 0.0f32], |[a, b], d| [a.min(*d), b.max(*d)]);
        let depths = (*depth && most - least > FLAT * most).then_some(&depths[..]);
        let accent = Accent { stroke: &stroke, view, size: *size, depths, reach: *reach };
        let character = &self.bound.bound.character;
        let found = silsketch(character, &self.control, &self.points, &accent)?;
        let sculpt = found.sculpt(self.document.unused_sculpt_id(), character, &self.rig);
        sculpt.validate(Some(self.control.len()))?;
        let around = match self.around.take().filter(|a| a.suits(&sculpt.region, *surroundings)) {
            Some(known) => self.around.insert(known),
            None => {
                let (model, region) = (&self.bound, &sculpt.region);
                self.around.insert(SurroundingsSolver::new(model, &self.control, region, *surroundings)?)
            }
        };
        let around = around.solve(&self.bound, &self.rig, &self.control, &sculpt)?;
        let chain = found.chain.iter().map(|p| p.position.into()).collect();
        Ok(AccentOutcome { sculpt: Sculpt { surroundings: Some(around), ..sculpt }, chain })
    }
}
