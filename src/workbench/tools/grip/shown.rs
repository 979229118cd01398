//! Grips prepared for display, and the vertices that a stroke selects for a new grip.

use super::{DETOUR, MARK};
use crate::base::math::{Affine3A, Mat3A, Vec3, Vec3A};
use crate::base::{GripId, JointId};
use crate::bind::Character;
use crate::deform::fast::is_bare;
use crate::geom::Place;
use crate::rig::{GripPose, Plane, PosedRig};
use crate::scene::SurfaceSample;
use crate::surface::{Grip, SurfacePoint, closes, enclosed};
use crate::workbench::tools::EditContext;
use crate::workbench::tools::skin::{between, point_of};

/// A grip of the document, prepared for display.
pub(super) struct ShownGrip {
    pub id: GripId,
    /// Segments on the skin: the outline of a region, or a mark around a point.
    pub outline: Vec<[Place; 2]>,
    pub region: bool,
    /// The vertices, ascending.
    pub vertices: Vec<u32>,
    /// Centre in the bind pose, metres.
    pub bind: Vec3,
    /// The map from bind space to the file's rest pose in model space, at the centre.
    rest: Affine3A,
    /// Coordinates of the centre in the document's cage; empty without one.
    cage: Vec<f32>,
    /// The joint that carries model space.
    space: Option<JointId>,
}

impl ShownGrip {
    /// Prepares a grip. `rest` is the file's rest pose.
    pub fn new(context: &EditContext, grip: &Grip, rest: &PosedRig) -> Self {
        let character = &context.character;
        let control = &character.control;
        let vertices: Vec<u32> = grip.vertices.iter().collect();
        let has = |v: &u32| vertices.binary_search(v).is_ok();
        let region = grip.is_region();
        let mut outline = Vec::new();
        for (t, corners) in control.triangles.iter().enumerate() {
            let at = |k: usize, share: f32| {
                let mut b = [0.0; 3];
                (b[k % 3], b[(k + 1) % 3]) = (1.0 - share, share);
                (t as u32, b)
            };
            let inside = corners.map(|v| has(&v));
            match inside.iter().filter(|i| **i).count() {
                1 if !region => {
                    let k = inside.iter().position(|i| *i).unwrap_or(0);
                    outline.push([at(k, MARK), at(k + 2, 1.0 - MARK)]);
                }
                2 if region => {
                    let k = (0..3).find(|&k| inside[k] && inside[(k + 1) % 3]).unwrap_or(0);
                    outline.push([at(k, 0.0), at(k, 1.0)]);
                }
                _ => {}
            }
        }
        let count = control.positions.len();
        let known = || vertices.iter().map(|&v| v as usize).filter(|v| *v < count);
        let share = 1.0 / known().count().max(1) as f32;
        let heaviest =
            known().next().and_then(|v| control.influences.of(v).max_by(|a, b| a.1.total_cmp(&b.1)));
        let mut cage = Vec::new();
        if let Some(coupling) =
            context.coupling.as_ref().filter(|c| c.phi().len() == count * c.cage_vertices())
        {
            cage.resize(coupling.cage_vertices(), 0.0);
            for v in known() {
                let row = &coupling.phi()[v * cage.len()..(v + 1) * cage.len()];
                cage.iter_mut().zip(row).for_each(|(sum, w)| *sum += share * w);
            }
        }
        let bind = known().map(|v| control.positions[v]).sum::<Vec3>() * share;
        Self {
            id: grip.id,
            outline,
            region,
            bind,
            rest: skinning(character, rest, &vertices),
            cage,
            space: heaviest.map(|(j, _)| JointId::from(usize::from(j))).filter(|_| is_bare(character)),
            vertices,
        }
    }

    /// Centre in bind space after the cage has changed the rest shape, metres.
    fn shifted(&self, context: &EditContext) -> Vec3 {
        let offsets = self.cage.iter().zip(&context.pose.rest.cage);
        self.bind + offsets.map(|(w, offset)| *offset * *w).sum::<Vec3>()
    }

    /// Centre in the rest shape, model space, metres.
    fn rest(&self, context: &EditContext) -> Vec3 {
        self.rest.transform_point3(self.shifted(context))
    }

    /// The transform from model space to the world.
    pub fn world_from_model(&self, rig: &PosedRig) -> Affine3A {
        self.space.and_then(|j| rig.skinning.get(j.index()).copied()).unwrap_or(Affine3A::IDENTITY)
    }

    /// Position of the grip's centre in a pose, world space, metres.
    pub fn place(&self, context: &EditContext, grip: &GripPose) -> Vec3 {
        let place = self.rest(context) + grip.translation();
        self.world_from_model(&context.rig).transform_point3(place)
    }

    /// The translation that puts the grip at the place where a sample of its skin was measured. Ignores rotations.
    pub fn seen(&self, context: &EditContext, sample: &SurfaceSample) -> Option<Vec3> {
        let x = context.body.bind_position(&context.character, &point_of(sample))?;
        Some(self.translation_to(context, sample.position + self.bind - x))
    }

    /// The translation that puts the centre at a place in the world.
    fn translation_to(&self, context: &EditContext, place: Vec3) -> Vec3 {
        let model_from_world = self.world_from_model(&context.rig).inverse();
        model_from_world.transform_point3(place) - self.rest(context)
    }

    /// Centre after linear blend skinning, world space, metres.
    fn skinned(&self, context: &EditContext) -> Vec3 {
        skinning(&context.character, &context.rig, &self.vertices).transform_point3(self.shifted(context))
    }

    /// The translation of a grip that is moved away from its skin, after linear blend skinning, as `of` is moved by
    /// `translation`, reflected at `plane`.
    pub fn reflected(&self, context: &EditContext, plane: &Plane, of: &Self, translation: Vec3) -> Vec3 {
        let there = of.world_from_model(&context.rig).transform_point3(of.rest(context) + translation);
        let by = plane.direction((there - of.skinned(context)).as_dvec3()).as_vec3();
        self.translation_to(context, self.skinned(context) + by)
    }
}

/// Returns the mean of the blended transforms of vertices.
fn skinning(character: &Character, rig: &PosedRig, vertices: &[u32]) -> Affine3A {
    let control = &character.control;
    let count = control.positions.len();
    let known = || vertices.iter().map(|&v| v as usize).filter(|v| *v < count);
    let share = 1.0 / known().count().max(1) as f32;
    let zero = Affine3A { matrix3: Mat3A::ZERO, translation: Vec3A::ZERO };
    let weights = known().flat_map(|v| control.influences.of(v));
    let maps = weights.filter_map(|(j, w)| Some((rig.skinning.get(usize::from(j))?, w * share)));
    maps.fold(zero, |sum, (map, w)| Affine3A {
        matrix3: sum.matrix3 + map.matrix3 * w,
        translation: sum.translation + map.translation * w,
    })
}

/// Returns the vertices of a stroke: those inside a closed stroke, or the one nearest to the start of another stroke.
pub(super) fn drawn(context: &EditContext, points: &[SurfacePoint]) -> Option<Vec<u32>> {
    let character = &context.character;
    let first = points.first()?;
    let places: Vec<Vec3> = points.iter().filter_map(|p| context.body.bind_position(character, p)).collect();
    if closes(&places, context.body.edge) {
        let mut way: Vec<u32> = points.iter().map(|p| p.triangle).collect();
        let gap = places.first()?.distance(*places.last()?);
        let longest = DETOUR * gap + 3.0 * context.body.edge;
        let back = between(context, points.last()?, first, longest);
        way.extend(back.into_iter().flatten().map(|p| p.triangle));
        return Some(enclosed(&character.control, &way));
    }
    let corners = context.body.walk.corners(first.triangle)?;
    let heaviest = (0..3).max_by(|&a, &b| first.barycentrics[a].total_cmp(&first.barycentrics[b]))?;
    Some(vec![corners[heaviest]])
}
