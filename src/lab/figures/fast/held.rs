//! Bare meshes that points and regions of their skin pose, by the edits of a document.

use super::{FREE, PLACE, REGION, WHOLE};
use crate::base::math::{Quat, Vec3};
use crate::base::{GripId, Result};
use crate::bind::BindOptions;
use crate::bind::shapes::bare_from_parts;
use crate::document::{DeformerSettings, Edit};
use crate::lab::figures::easel::{self, Easel};
use crate::render::Lines;
use crate::rig::GripHold;
use crate::scene::{Cell, Evaluation, Model};
use crate::surface::Grip;
use std::sync::Arc;
use std::time::Duration;

/// Maximum solver iterations; enough to converge.
const ITERATIONS: u32 = 400;

/// What a grip determines and where it goes from its place in the rest shape.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub hold: GripHold,
    pub by: Vec3,
    pub turn: Quat,
}

impl Move {
    /// A translation; the solver finds the rotation.
    pub fn place(x: f32, y: f32, z: f32) -> Self {
        Self { hold: GripHold::Position, by: Vec3::new(x, y, z), turn: Quat::IDENTITY }
    }

    /// A rotation followed by a translation.
    pub fn full(by: Vec3, turn: Quat) -> Self {
        Self { hold: GripHold::Full, by, turn }
    }
}

/// Builds a grey model without a skeleton.
pub(super) fn bare(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Arc<Model>> {
    let mut asset = bare_from_parts(positions, triangles);
    crate::lab::figures::grey(&mut asset);
    asset.materials.iter_mut().for_each(|m| m.double_sided = true);
    Ok(Arc::new(Model::bind(asset, &BindOptions::default(), Duration::ZERO)?))
}

/// Returns the vertex nearest to a place.
pub(super) fn nearest(model: &Model, place: Vec3) -> Vec<u32> {
    let x = &model.bound.character.control.positions;
    let away = |v: &u32| x[*v as usize].distance_squared(place);
    (0..x.len() as u32).min_by(|a, b| away(a).total_cmp(&away(b))).into_iter().collect()
}

/// Returns the vertices whose places fulfil a condition.
pub(super) fn within(model: &Model, inside: impl Fn(Vec3) -> bool) -> Vec<u32> {
    let x = &model.bound.character.control.positions;
    (0..x.len() as u32).filter(|&v| inside(x[v as usize])).collect()
}

/// A model with grips before a camera.
pub(super) struct Held {
    pub sitter: easel::Sitter,
    grips: Vec<Grip>,
}

impl Held {
    /// Adds grips to the document of a model. `settings` are those of the method `fast`.
    ///
    /// # Errors
    /// Any error of the edits and from binding.
    pub fn new(
        easel: &mut Easel<'_>,
        model: &Arc<Model>,
        grips: &[Vec<u32>],
        settings: &[(&str, serde_json::Value)],
        view: ([f32; 2], [u32; 2]),
    ) -> Result<Self> {
        let mut fast = DeformerSettings::of("fast");
        fast.parameters.insert("iterations".to_owned(), ITERATIONS.into());
        fast.parameters.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let grip = |(k, v): (usize, &Vec<u32>)| Grip::new(GripId::from(k), v.iter().copied());
        let grips: Vec<Grip> = grips.iter().enumerate().map(grip).collect();
        let add = |grip: &Grip| Edit::AddGrip { index: None, grip: Box::new(grip.clone()) };
        let edits = std::iter::once(Edit::SetDeformer(fast)).chain(grips.iter().map(add));
        Ok(Self { sitter: easel.edited(model, edits.collect(), view.0, view.1)?, grips })
    }

    /// Moves all grips and returns the shape that FAST finds.
    ///
    /// # Errors
    /// Any error of the edits and of the evaluation.
    pub fn pose(&mut self, moves: &[Move]) -> Result<Evaluation> {
        for (grip, to) in self.grips.iter_mut().zip(moves) {
            (grip.hold, grip.translation, grip.rotation) = (to.hold, to.by.to_array(), to.turn.to_array());
            self.sitter.session.apply(Edit::SetGrip(Box::new(grip.clone())))?;
        }
        self.sitter.evaluate(None)
    }

    /// Returns the places of the grips in the rest shape, metres.
    pub fn centers(&self) -> Vec<Vec3> {
        let x = &self.sitter.model.bound.character.control.positions;
        self.grips.iter().map(|g| g.shape().center(x)).collect()
    }

    /// Draws a dot per point in the colour of what it determines, and the vertices of regions in blue.
    pub fn dots(&self, shape: &Evaluation, lines: &mut Lines) {
        for grip in &self.grips {
            let (color, width) = match (grip.is_region(), grip.hold) {
                (true, _) => (REGION, 3.5),
                (false, GripHold::Free) => (FREE, 12.0),
                (false, GripHold::Position) => (PLACE, 12.0),
                (false, GripHold::Full) => (WHOLE, 12.0),
            };
            grip.vertices.iter().for_each(|v| lines.dot(shape.control[v as usize], color, width));
        }
    }

    /// Draws the shape that FAST finds, with its grips.
    ///
    /// # Errors
    /// As [`Held::pose`], and any error of rendering.
    pub fn shot(&mut self, moves: &[Move], caption: &str) -> Result<Cell> {
        let shape = self.pose(moves)?;
        let mut lines = Lines::default();
        self.dots(&shape, &mut lines);
        self.sitter.picture(&shape, &lines, caption)
    }
}
