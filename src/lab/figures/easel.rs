//! What figures are drawn with: Sinew's own characters, dressed and posed by edits of a document, and a camera.

use crate::app::context::Context;
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::commands::sculpt;
use crate::deform::Recipe;
use crate::document::{DeformerSettings, Edit, Session};
use crate::generate;
use crate::generate::Kind;
use crate::geom::Walk;
use crate::render::Lines;
use crate::rig::{Axis, PosedRig};
use crate::scene::{Angle, Cell, Evaluation, Evaluator, Model, Shaper, Studio, recipe};
use crate::surface::{Region, SurfaceStroke};
use std::sync::Arc;
use std::time::Duration;

/// Colours of kinematic, passive and fixed vertices (thesis figure 34).
const REGION: [[u8; 4]; 3] = [[60, 220, 90, 255], [70, 130, 255, 255], [255, 70, 60, 255]];

/// The characters of a run, each made once.
pub struct Easel<'a> {
    context: &'a mut Context,
    models: Vec<(Kind, Arc<Model>)>,
}

impl<'a> Easel<'a> {
    /// An empty one.
    pub fn new(context: &'a mut Context) -> Self {
        Self { context, models: Vec::new() }
    }

    /// A camera for a model that is not one of the characters.
    ///
    /// # Errors
    /// When memory is short.
    pub fn studio(&mut self, model: &Model) -> Result<Studio> {
        Studio::new(&self.context.renderer()?, model)
    }

    /// A character at rest under a method, seen from an angle in pictures of a size.
    ///
    /// # Errors
    /// Whatever making and binding find wrong.
    pub fn sitter(&mut self, kind: Kind, method: &str, angle: [f32; 2], size: [u32; 2]) -> Result<Sitter> {
        let settings = DeformerSettings { method: method.to_owned(), ..Default::default() };
        self.sitter_of(kind, settings, angle, size)
    }

    /// The same with settings of the method.
    ///
    /// # Errors
    /// As [`Easel::sitter`].
    pub fn sitter_of(
        &mut self,
        kind: Kind,
        settings: DeformerSettings,
        angle: [f32; 2],
        size: [u32; 2],
    ) -> Result<Sitter> {
        let known = self.models.iter().find(|(k, _)| *k == kind).map(|(_, model)| model.clone());
        let model = match known {
            Some(model) => model,
            None => {
                let asset = crate::asset::Asset::from_slice(&generate::glb(kind)?, kind.name())?;
                let model = Arc::new(Model::bind(asset, &BindOptions::default(), Duration::ZERO)?);
                self.models.push((kind, model.clone()));
                model
            }
        };
        let mut session = model.start(None)?;
        let recipe: Recipe = recipe(&settings)?;
        session.apply(Edit::SetDeformer(settings))?;
        let evaluator = Evaluator::new(&self.context.side(false)?, &model, &recipe)?;
        let studio = Studio::new(&self.context.renderer()?, &model)?;
        let angle = Angle { yaw: angle[0].to_radians(), pitch: angle[1].to_radians() };
        Ok(Sitter { model, session, evaluator, studio, angle, size, frame: None })
    }
}

/// A character in a figure.
pub struct Sitter {
    /// The character.
    pub model: Arc<Model>,
    /// Its document.
    pub session: Session<'static>,
    evaluator: Evaluator,
    /// The camera and the light.
    pub studio: Studio,
    /// From where.
    pub angle: Angle,
    /// Of a picture, pixels.
    pub size: [u32; 2],
    /// What pictures frame; none for all of the shape.
    pub frame: Option<Aabb>,
}

impl Sitter {
    /// Adds a sculpt layer in the words of `sinew sculpt`.
    ///
    /// # Errors
    /// As [`sculpt::parse`].
    pub fn shape(&mut self, text: &str) -> Result<()> {
        let (mark, sculpt) = sculpt::parse(&self.model, self.session.document(), text)?;
        let mut edits = Vec::new();
        edits.extend(mark.map(|mark| Edit::AddMark { index: None, mark: Box::new(mark) }));
        edits.push(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) });
        self.session.apply(Edit::Group(edits))
    }

    /// Turns a joint about an axis of the world as it lies at the joint in bind, degrees.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn turn(&mut self, joint: &str, axis: Axis, degrees: f32) -> Result<()> {
        let node = self.node(joint)?;
        self.session.apply(Edit::RotateJoint { node, turns: vec![(axis, degrees)] })
    }

    /// A joint by name.
    ///
    /// # Errors
    /// There is none.
    pub fn node(&self, joint: &str) -> Result<crate::base::NodeId> {
        let none = || Error::input(format!("there is no joint {joint:?}"), "sinew inspect lists them");
        self.model.skeleton().find(joint).ok_or_else(none)
    }

    /// Frames a cube of `half` metres about the place between two joints of the pose.
    ///
    /// # Errors
    /// There is no such joint.
    pub fn look_at(&mut self, joints: [&str; 2], half: f32) -> Result<()> {
        let rig = PosedRig::new(self.model.skeleton(), &self.session.posed());
        let [a, b] = [self.node(joints[0])?, self.node(joints[1])?];
        let at = |n: crate::base::NodeId| Vec3::from(rig.world[n.index()].translation);
        let (center, half) = (0.5 * (at(a) + at(b)), Vec3::splat(half));
        self.frame = Some(Aabb { min: center - half, max: center + half });
        Ok(())
    }

    /// The shape at a time of the motion, or of the pose being edited, with waves at their start.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate(&mut self, time: Option<f64>) -> Result<Evaluation> {
        let document = self.session.document();
        let state = document.state(self.model.skeleton(), time);
        Shaper::new(&self.model, document, &mut self.evaluator).evaluate(&state)
    }

    /// The shapes of the motion at times that follow each other, with whatever swings between them.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn film(&mut self, times: &[f64]) -> Result<Vec<Evaluation>> {
        let document = self.session.document();
        let mut shaper = Shaper::new(&self.model, document, &mut self.evaluator);
        let state = |t: f64| document.state(self.model.skeleton(), Some(t));
        times.iter().map(|&t| shaper.evaluate_at(&state(t), t)).collect()
    }

    /// Renders an evaluated surface, with lines and a caption, as a cell of a figure.
    ///
    /// # Errors
    /// As [`Studio::picture`].
    pub fn picture(&mut self, shape: &Evaluation, lines: &Lines, caption: &str) -> Result<Cell> {
        let frame = self.frame.unwrap_or_else(|| Aabb::of(shape.positions.iter().copied()));
        let picture = self.studio.picture(shape, &frame, self.angle, self.size, lines)?;
        Ok(Cell { picture, caption: caption.lines().map(str::to_owned).collect() })
    }

    /// A picture of the document at a time, or of the pose being edited.
    ///
    /// # Errors
    /// As [`Sitter::evaluate`] and [`Sitter::picture`].
    pub fn shot(&mut self, time: Option<f64>, caption: &str) -> Result<Cell> {
        let shape = self.evaluate(time)?;
        self.picture(&shape, &Lines::default(), caption)
    }

    /// Places of a mark's points on a shape, a ring's first point again at its end.
    pub fn mark(&self, mark: &SurfaceStroke, shape: &Evaluation) -> Vec<Vec3> {
        let walk = Walk::new(&self.model.bound.character.control.triangles);
        let points = mark.points.iter().chain(mark.points.first().filter(|_| mark.closed));
        points.filter_map(|p| walk.position(&(p.triangle, p.barycentrics), &shape.control)).collect()
    }
}

/// A region's vertices as dots: kinematic green, passive blue, fixed red.
pub fn dots(region: &Region, shape: &Evaluation, width: f32, lines: &mut Lines) {
    for (list, color) in [&region.kinematic, &region.passive, &region.fixed].into_iter().zip(REGION) {
        list.iter().for_each(|&v| lines.dot(shape.control[v as usize], color, width));
    }
}
