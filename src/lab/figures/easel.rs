//! Tools to draw figures: Sinew's own characters with sculpt layers and poses, and a camera.

use crate::app::context::Context;
use crate::base::math::{Aabb, Vec3, Vec4};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::commands::sculpt;
use crate::document::{DeformerSettings, Edit, Session};
use crate::generate;
use crate::generate::Kind;
use crate::geom::Walk;
use crate::render::{Lines, Renderer};
use crate::rig::{Axis, PosedRig};
use crate::scene::{Angle, Cell, Evaluation, Evaluator, Model, Shaper, Studio, recipe};
use crate::surface::{Region, SurfaceStroke};
use std::sync::Arc;
use std::time::Duration;

/// Colours of kinematic, passive and fixed vertices (thesis figure 34).
const REGION: [[u8; 4]; 3] = [[60, 220, 90, 255], [70, 130, 255, 255], [255, 70, 60, 255]];

/// Creates the characters of a run; each character is generated only once.
pub struct Easel<'a> {
    context: &'a mut Context,
    models: Vec<(Kind, Arc<Model>)>,
}

impl<'a> Easel<'a> {
    /// Creates an easel without any models.
    pub fn new(context: &'a mut Context) -> Self {
        Self { context, models: Vec::new() }
    }

    /// Creates a camera and renderer for a custom model.
    ///
    /// # Errors
    /// An error if memory is short.
    pub fn studio(&mut self, model: &Model) -> Result<Studio> {
        Studio::new(&self.context.renderer()?, model)
    }

    /// Creates a camera and renderer for a model in linear colours per control vertex.
    ///
    /// # Errors
    /// An error if memory is short.
    pub fn painted(&mut self, model: &Model, colors: &[Vec4]) -> Result<Studio> {
        Studio::colored(&self.context.renderer()?, model, colors)
    }

    /// Returns the renderer of all pictures.
    ///
    /// # Errors
    /// An error if there is no device.
    pub fn renderer(&mut self) -> Result<Arc<Renderer>> {
        self.context.renderer()
    }

    /// Binds a deformation method to a model.
    ///
    /// # Errors
    /// Any error from binding.
    pub fn evaluator(&mut self, model: &Model, settings: &DeformerSettings) -> Result<Evaluator> {
        Evaluator::new(&self.context.side(false)?, model, &recipe(settings)?)
    }

    /// Returns a generated character with its own skin weights.
    ///
    /// # Errors
    /// Any error from generating or binding.
    pub fn model(&mut self, kind: Kind) -> Result<Arc<Model>> {
        if let Some((_, model)) = self.models.iter().find(|(k, _)| *k == kind) {
            return Ok(model.clone());
        }
        let asset = crate::asset::Asset::from_slice(&generate::glb(kind)?, kind.name())?;
        let model = Arc::new(Model::bind(asset, &BindOptions::default(), Duration::ZERO)?);
        self.models.push((kind, model.clone()));
        Ok(model)
    }

    /// Creates a character in its rest pose. `angle` is yaw and pitch in degrees, `size` the picture size in pixels.
    ///
    /// # Errors
    /// Any error from generating or binding.
    pub fn sitter(&mut self, kind: Kind, method: &str, angle: [f32; 2], size: [u32; 2]) -> Result<Sitter> {
        let settings = DeformerSettings::of(method);
        self.sitter_of(kind, settings, angle, size)
    }

    /// Creates a character in its rest pose, with explicit settings of the deformation method.
    ///
    /// # Errors
    /// Any error from generating or binding.
    pub fn sitter_of(
        &mut self,
        kind: Kind,
        settings: DeformerSettings,
        angle: [f32; 2],
        size: [u32; 2],
    ) -> Result<Sitter> {
        let model = self.model(kind)?;
        self.seated(&model, settings, angle, size)
    }

    /// Puts a model in its rest pose before a camera.
    ///
    /// # Errors
    /// Any error from binding.
    pub fn seated(
        &mut self,
        model: &Arc<Model>,
        settings: DeformerSettings,
        angle: [f32; 2],
        size: [u32; 2],
    ) -> Result<Sitter> {
        self.edited(model, vec![Edit::SetDeformer(settings)], angle, size)
    }

    /// Puts a model before a camera and applies edits to its document.
    ///
    /// # Errors
    /// Any error of the edits and from binding.
    pub fn edited(
        &mut self,
        model: &Arc<Model>,
        edits: Vec<Edit>,
        angle: [f32; 2],
        size: [u32; 2],
    ) -> Result<Sitter> {
        let mut session = model.start(None)?;
        session.apply(Edit::Group(edits))?;
        let recipe = session.document().recipe()?;
        let evaluator = Evaluator::new(&self.context.side(false)?, model, &recipe)?;
        let studio = Studio::new(&self.context.renderer()?, model)?;
        let angle = Angle { yaw: angle[0].to_radians(), pitch: angle[1].to_radians() };
        Ok(Sitter { model: model.clone(), session, evaluator, studio, angle, size, frame: None })
    }
}

/// A character in a figure, with its document, evaluator and camera.
pub struct Sitter {
    /// The character.
    pub model: Arc<Model>,
    /// The session with the character's document.
    pub session: Session<'static>,
    evaluator: Evaluator,
    /// The renderer with camera and light.
    pub studio: Studio,
    /// The camera's direction.
    pub angle: Angle,
    /// Size of a picture, pixels.
    pub size: [u32; 2],
    /// The bounds that pictures frame; `None` frames the whole shape.
    pub frame: Option<Aabb>,
}

impl Sitter {
    /// Adds a sculpt layer, given in the syntax of `sinew sculpt`.
    ///
    /// # Errors
    /// Any error of [`sculpt::parse`].
    pub fn shape(&mut self, text: &str) -> Result<()> {
        let (mark, sculpt) = sculpt::parse(&self.model, self.session.document(), text)?;
        let mut edits = Vec::new();
        edits.extend(mark.map(|mark| Edit::AddMark { index: None, mark: Box::new(mark) }));
        edits.push(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) });
        self.session.apply(Edit::Group(edits))
    }

    /// Rotates a joint by an angle in degrees. The axis is a world axis in the rest pose and moves rigidly with the
    /// joint's parent.
    ///
    /// # Errors
    /// [`Error::Input`] if the joint does not exist.
    pub fn turn(&mut self, joint: &str, axis: Axis, degrees: f32) -> Result<()> {
        let node = self.node(joint)?;
        self.session.apply(Edit::RotateJoint { node, turns: vec![(axis, degrees)] })
    }

    /// Returns the node of a joint by name.
    ///
    /// # Errors
    /// [`Error::Input`] if the joint does not exist.
    pub fn node(&self, joint: &str) -> Result<crate::base::NodeId> {
        let none = || Error::input(format!("there is no joint {joint:?}"), "sinew inspect lists them");
        self.model.skeleton().find(joint).ok_or_else(none)
    }

    /// Frames a cube around the midpoint of two posed joints; `half` is half the cube's edge in metres.
    ///
    /// # Errors
    /// [`Error::Input`] if a joint does not exist.
    pub fn look_at(&mut self, joints: [&str; 2], half: f32) -> Result<()> {
        let rig = PosedRig::new(self.model.skeleton(), &self.session.posed());
        let [a, b] = [self.node(joints[0])?, self.node(joints[1])?];
        let at = |n: crate::base::NodeId| Vec3::from(rig.world[n.index()].translation);
        let (center, half) = (0.5 * (at(a) + at(b)), Vec3::splat(half));
        self.frame = Some(Aabb { min: center - half, max: center + half });
        Ok(())
    }

    /// Evaluates the shape at a time of the motion, seconds. `None` evaluates the edited pose with waves at time 0.
    ///
    /// # Errors
    /// Any error of [`Evaluator::evaluate`].
    pub fn evaluate(&mut self, time: Option<f64>) -> Result<Evaluation> {
        let document = self.session.document();
        let state = document.state(self.model.skeleton(), time);
        Shaper::new(&self.model, document, &mut self.evaluator).evaluate(&state)
    }

    /// Evaluates the motion at successive times, seconds. The dynamics continue from each time to the next.
    ///
    /// # Errors
    /// Any error of [`Evaluator::evaluate`].
    pub fn film(&mut self, times: &[f64]) -> Result<Vec<Evaluation>> {
        let document = self.session.document();
        let mut shaper = Shaper::new(&self.model, document, &mut self.evaluator);
        let state = |t: f64| document.state(self.model.skeleton(), Some(t));
        times.iter().map(|&t| shaper.evaluate_at(&state(t), t)).collect()
    }

    /// Renders an evaluated surface, with lines and a caption, as a cell of a figure.
    ///
    /// # Errors
    /// Any error of [`Studio::picture`].
    pub fn picture(&mut self, shape: &Evaluation, lines: &Lines, caption: &str) -> Result<Cell> {
        let frame = self.frame.unwrap_or_else(|| Aabb::of(shape.positions.iter().copied()));
        let picture = self.studio.picture(shape, &frame, self.angle, self.size, lines)?;
        Ok(Cell { picture, caption: caption.lines().map(str::to_owned).collect() })
    }

    /// Renders the document at a time of the motion, seconds; `None` renders the edited pose.
    ///
    /// # Errors
    /// Any error of [`Sitter::evaluate`] or [`Sitter::picture`].
    pub fn shot(&mut self, time: Option<f64>, caption: &str) -> Result<Cell> {
        let shape = self.evaluate(time)?;
        self.picture(&shape, &Lines::default(), caption)
    }

    /// Returns the positions of a mark's points on a shape. For a ring, the first point is repeated at the end.
    pub fn mark(&self, mark: &SurfaceStroke, shape: &Evaluation) -> Vec<Vec3> {
        let walk = Walk::new(&self.model.bound.character.control.triangles);
        let points = mark.points.iter().chain(mark.points.first().filter(|_| mark.closed));
        points.filter_map(|p| walk.position(&(p.triangle, p.barycentrics), &shape.control)).collect()
    }
}

/// Draws a region's vertices as dots: kinematic green, passive blue, fixed red.
pub fn dots(region: &Region, shape: &Evaluation, width: f32, lines: &mut Lines) {
    for (list, color) in [&region.kinematic, &region.passive, &region.fixed].into_iter().zip(REGION) {
        list.iter().for_each(|&v| lines.dot(shape.control[v as usize], color, width));
    }
}
