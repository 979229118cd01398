//! Builds a finished model from an implicit body: contour, remesh, paint, compute weights.

use super::contour::{contour, largest_piece};
use super::implicit::{Cone, Implicit, Layer};
use super::model::{Model, Motion, Normals, Paint, Rig};
use super::paint::{Field, paint};
use super::remesh::remesh;
use super::trimesh::TriMesh;
use super::weights::{Segment, weights};
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use rayon::prelude::*;

/// An authored description of a character.
pub(super) struct Body {
    /// Name of the mesh.
    pub name: &'static str,
    /// Joints of the skeleton.
    pub rig: Rig,
    /// Bones to which the skin's vertices are assigned.
    pub segments: Vec<Segment>,
    /// The surface as an implicit body.
    pub shape: Implicit,
    /// Materials.
    pub paints: Vec<Paint>,
    /// Material index and region. Later decals cover earlier decals, and decals cover layers.
    pub regions: Vec<(usize, Field)>,
    /// Target number of control vertices.
    pub vertices: usize,
    /// Cell size of the first contour, metres; the contour loses thinner gaps and walls.
    pub cell: f32,
    /// An optional animation.
    pub motion: Option<Motion>,
}

impl Body {
    pub fn new(name: &'static str, vertices: usize, cell: f32) -> Self {
        Self {
            name,
            rig: Rig::default(),
            segments: Vec::new(),
            shape: Implicit::default(),
            paints: Vec::new(),
            regions: Vec::new(),
            vertices,
            cell,
            motion: None,
        }
    }

    /// Adds a joint and its bone, which moves the part `group`. `width` is the falloff of the weights, metres.
    pub fn bone(
        &mut self,
        name: impl Into<String>,
        parent: Option<usize>,
        [from, to]: [Vec3; 2],
        group: u16,
        width: f32,
    ) -> usize {
        let joint = self.rig.add(name, parent, from);
        self.segments.push(Segment { joint, a: from, b: to, group, width });
        joint
    }

    /// Adds a material and a layer of that material; returns the index of the layer.
    pub fn layer(&mut self, paint: Paint, blend: f32) -> usize {
        self.paints.push(paint);
        self.shape.layers.push(Layer::new(blend));
        let layer = self.shape.layers.len() - 1;
        self.regions.push((self.paints.len() - 1, Field::Layer(layer)));
        layer
    }

    /// Adds a material that covers existing ones where `field` is negative.
    pub fn decal(&mut self, paint: Paint, field: impl Fn(Vec3) -> f32 + Send + Sync + 'static) {
        self.paints.push(paint);
        self.regions.push((self.paints.len() - 1, Field::Decal(Box::new(field))));
    }

    /// Adds a shape to a layer.
    pub fn add(&mut self, layer: usize, cone: Cone) {
        self.shape.layers[layer].add(cone);
    }

    pub fn build(self) -> Result<Model> {
        let (positions, triangles) = contour(&self.shape, self.cell);
        let (positions, triangles) = largest_piece(&positions, &triangles);
        let Some(mut mesh) = TriMesh::new(positions, &triangles) else {
            return Err(Error::input(
                format!("the contour of {} is not a closed surface", self.name),
                "this is a fault of the generator: report it",
            ));
        };
        remesh(&mut mesh, &self.shape, self.vertices, 7);
        let paint_of = paint(&self, &mut mesh);
        let normals = mesh.position.par_iter().map(|&p| self.shape.normal(p)).collect();
        let group: Vec<u16> = mesh.position.par_iter().map(|&p| self.shape.sample(p).group).collect();
        let weights = weights(&mesh, &group, &self.segments, self.rig.joints.len());
        Ok(Model {
            name: self.name,
            triangles: mesh.triangles(),
            positions: mesh.position,
            normals: Normals::Smooth(normals),
            paint_of,
            paints: self.paints,
            weights,
            rig: self.rig,
            motion: self.motion,
        })
    }
}
