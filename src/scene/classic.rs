//! Classical surface editing methods on a loaded character.

use super::{Evaluation, Model};
use crate::base::Result;
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::deform::classic::{Arap, ArapOptions, ArapScale, Energy, Lists, Lse, LseOptions, Skinned};
use crate::deform::surface::{self, Crease, Display};
use crate::rig::{Pose, PosedRig};
use std::time::{Duration, Instant};

/// The editing method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classic {
    /// Laplacian surface editing; preserves the details of the posed shape.
    Lse(LseOptions),
    /// As-rigid-as-possible, initialised with LSE; preserves the local rigidity of the posed shape.
    Arap(Energy, u32),
    /// As-rigid-as-possible scale vectors; preserves the bind-pose scale vectors, rotated by the bones.
    ArapScale,
}

/// A shape with an edited region.
#[derive(Clone, Debug)]
pub struct Reshaped {
    /// The complete surface.
    pub shape: Evaluation,
    /// Number of unknown vertices.
    pub unknowns: usize,
    /// Time to build and factor the matrices.
    pub factor: Duration,
    /// Time to solve.
    pub solve: Duration,
}

/// Moves the kinematic vertices of a region to `targets` (world space, metres, in list order). The passive vertices
/// follow by the chosen method.
///
/// # Errors
/// If lists or targets do not fit the character, see [`crate::deform::classic`].
pub fn reshape(
    model: &Model,
    (pose, shape): (&Pose, &Evaluation),
    (lists, targets): (&Lists<'_>, &[Vec3]),
    tool: Classic,
) -> Result<Reshaped> {
    let character = &model.bound.character;
    let control = &character.control;
    let mut places: Vec<DVec3> = shape.control.iter().map(|p| p.as_dvec3()).collect();
    for (&v, target) in lists.kinematic.iter().zip(targets) {
        if let Some(place) = places.get_mut(v as usize) {
            *place = target.as_dvec3();
        }
    }
    let rig = PosedRig::new(model.skeleton(), pose);
    let start = Instant::now();
    let (rest, triangles) = (&shape.control[..], &control.triangles[..]);
    let (unknowns, factor) = match tool {
        Classic::Lse(options) => {
            let mut solver = Lse::new(rest, triangles, lists, options)?;
            let factor = start.elapsed();
            solver.solve(&mut places)?;
            (solver.unknowns(), factor)
        }
        Classic::Arap(energy, iterations) => {
            let mut first = Lse::new(rest, triangles, lists, LseOptions::default())?;
            let options = ArapOptions { energy, iterations, ..ArapOptions::default() };
            let mut solver = Arap::new(rest, triangles, lists, options)?;
            let factor = start.elapsed();
            first.solve(&mut places)?;
            solver.solve(&mut places)?;
            (solver.unknowns(), factor)
        }
        Classic::ArapScale => {
            let attach = &model.bound.attachments;
            let mut solver = ArapScale::new(&control.positions, &attach.scale_vector, triangles, lists)?;
            let factor = start.elapsed();
            let bone = |v: usize| &rig.bones[attach.bone[v].index()];
            let vertices = 0..control.positions.len();
            let rotations: Vec<DQuat> = vertices.clone().map(|v| bone(v).rotation.as_dquat()).collect();
            let anchor = |v: usize| bone(v).head.lerp(bone(v).tail, attach.t[v]).as_dvec3();
            let anchors: Vec<DVec3> = vertices.map(anchor).collect();
            solver.solve(Skinned { rotations: &rotations, anchors: &anchors }, &mut places)?;
            (lists.passive.len(), factor)
        }
    };
    let solve = start.elapsed().saturating_sub(factor);
    let moved: Vec<Vec3> = places.iter().map(|p| p.as_vec3()).collect();
    let mut display = Display::default();
    let morph = model.morph(pose);
    surface::bind(character, Crease::Source).reference(&rig, &moved, &morph, &mut display);
    let shape = Evaluation {
        positions: display.positions,
        normals: display.normals,
        control: moved,
        ..shape.clone()
    };
    Ok(Reshaped { shape, unknowns, factor, solve })
}
