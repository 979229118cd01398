//! Classical surface editing methods on a loaded character.

use super::{Evaluation, Model};
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::base::{Error, Result};
use crate::deform::classic::{Arap, ArapOptions, ArapScale, Energy, Lists, Lse, LseOptions, Method, Skinned};
use crate::deform::sculpt::cpu::rotation;
use crate::deform::sculpt::encode;
use crate::deform::surface::{self, Crease, Display};
use crate::rig::{Pose, PosedRig};
use crate::surface::{Form, Sculpt, Surroundings};
use std::time::{Duration, Instant};

/// Maximum rounds of ARAP for the surroundings of a layer.
const ROUNDS: u32 = 40;

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
    let mut places: Vec<DVec3> = shape.control.iter().map(|p| p.as_dvec3()).collect();
    for (&v, target) in lists.kinematic.iter().zip(targets) {
        if let Some(place) = places.get_mut(v as usize) {
            *place = target.as_dvec3();
        }
    }
    let rig = PosedRig::new(model.skeleton(), pose);
    let start = Instant::now();
    let (unknowns, factor) = solved(model, &rig, &shape.control, lists, &mut places, tool)?;
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

/// Solves for the passive vertices in `places`, the positions of all control vertices with the kinematic vertices at their
/// targets. `rest` has the positions before the edit. Returns the number of unknown vertices, and the time to build and
/// factor the matrices.
fn solved(
    model: &Model,
    rig: &PosedRig,
    rest: &[Vec3],
    lists: &Lists<'_>,
    places: &mut [DVec3],
    tool: Classic,
) -> Result<(usize, Duration)> {
    let control = &model.bound.character.control;
    let triangles = &control.triangles[..];
    let start = Instant::now();
    Ok(match tool {
        Classic::Lse(options) => {
            let mut solver = Lse::new(rest, triangles, lists, options)?;
            let factor = start.elapsed();
            solver.solve(places)?;
            (solver.unknowns(), factor)
        }
        Classic::Arap(energy, iterations) => {
            let mut first = Lse::new(rest, triangles, lists, LseOptions::default())?;
            let options = ArapOptions { energy, iterations, ..ArapOptions::default() };
            let mut solver = Arap::new(rest, triangles, lists, options)?;
            let factor = start.elapsed();
            first.solve(places)?;
            solver.solve(places)?;
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
            solver.solve(Skinned { rotations: &rotations, anchors: &anchors }, places)?;
            (lists.passive.len(), factor)
        }
    })
}

/// Computes the displacement of a drawn layer's passive vertices by a classical tool. `control` has the posed control
/// vertices without the layer, world space, metres.
///
/// # Errors
/// If the layer is not drawn by hand, or does not fit the character.
pub fn surroundings(
    model: &Model,
    pose: &Pose,
    control: &[Vec3],
    sculpt: &Sculpt,
    method: Method,
) -> Result<Surroundings> {
    let character = &model.bound.character;
    let Form::Drawn(offsets) = &sculpt.form else {
        let remedy = "draw the shape by hand, by a pull or an offset stroke";
        return Err(Error::input("a shape with a profile has no classical surroundings", remedy));
    };
    sculpt.validate(Some(control.len()))?;
    let region = &sculpt.region;
    let rig = PosedRig::new(model.skeleton(), pose);
    let mut places: Vec<DVec3> = control.iter().map(|p| p.as_dvec3()).collect();
    for (&v, offset) in region.kinematic.iter().zip(offsets) {
        let to = control[v as usize] + rotation(character, &rig, v) * Vec3::from(*offset);
        places[v as usize] = to.as_dvec3();
    }
    let tool = match method {
        Method::Lse => Classic::Lse(LseOptions::default()),
        Method::Arap => Classic::Arap(Energy::SpokesAndRims, ROUNDS),
        Method::ArapScale => Classic::ArapScale,
    };
    let lists = Lists { kinematic: &region.kinematic, passive: &region.passive, fixed: &region.fixed };
    solved(model, &rig, control, &lists, &mut places, tool)?;
    let moved = |&v: &u32| {
        let to = places[v as usize].as_vec3();
        encode(rotation(character, &rig, v), control[v as usize], to).to_array()
    };
    Ok(Surroundings { method, offsets: region.passive.iter().map(moved).collect() })
}
