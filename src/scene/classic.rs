//! Classical surface editing methods on a loaded character.

use super::{Evaluation, Model};
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::base::{Error, Result};
use crate::deform::classic::{Arap, ArapOptions, ArapScale, Energy, Lists, Lse, LseOptions, Method, Skinned};
use crate::deform::sculpt::cpu::rotation;
use crate::deform::sculpt::encode;
use crate::deform::surface::{self, Crease, Display};
use crate::rig::{Pose, PosedRig};
use crate::surface::{Form, Region, Sculpt, Surroundings};
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
    let mut solver = Solver::new(model, &shape.control, lists, tool)?;
    let factor = start.elapsed();
    solver.solve(model, &rig, &mut places)?;
    let (unknowns, solve) = (solver.unknowns(lists), start.elapsed().saturating_sub(factor));
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

/// A classical tool on a region, with its factored matrices.
enum Solver {
    Lse(Lse),
    /// The first solver gives the start of the second.
    Arap(Box<(Lse, Arap)>),
    ArapScale(ArapScale),
}

impl Solver {
    /// `rest` has the positions of all control vertices before the edit, world space, metres.
    fn new(model: &Model, rest: &[Vec3], lists: &Lists<'_>, tool: Classic) -> Result<Self> {
        let control = &model.bound.character.control;
        let triangles = &control.triangles[..];
        Ok(match tool {
            Classic::Lse(options) => Self::Lse(Lse::new(rest, triangles, lists, options)?),
            Classic::Arap(energy, iterations) => {
                let first = Lse::new(rest, triangles, lists, LseOptions::default())?;
                let options = ArapOptions { energy, iterations, ..ArapOptions::default() };
                Self::Arap(Box::new((first, Arap::new(rest, triangles, lists, options)?)))
            }
            Classic::ArapScale => {
                let attach = &model.bound.attachments;
                Self::ArapScale(ArapScale::new(&control.positions, &attach.scale_vector, triangles, lists)?)
            }
        })
    }

    /// Moves the passive vertices in `places`, the positions of all control vertices with the kinematic vertices at
    /// their targets.
    fn solve(&mut self, model: &Model, rig: &PosedRig, places: &mut [DVec3]) -> Result<()> {
        match self {
            Self::Lse(solver) => solver.solve(places),
            Self::Arap(both) => {
                let (first, solver) = &mut **both;
                first.solve(places)?;
                solver.solve(places).map(|_| ())
            }
            Self::ArapScale(solver) => {
                let attach = &model.bound.attachments;
                let bone = |v: usize| &rig.bones[attach.bone[v].index()];
                let vertices = 0..places.len();
                let rotations: Vec<DQuat> = vertices.clone().map(|v| bone(v).rotation.as_dquat()).collect();
                let anchor = |v: usize| bone(v).head.lerp(bone(v).tail, attach.t[v]).as_dvec3();
                let anchors: Vec<DVec3> = vertices.map(anchor).collect();
                solver.solve(Skinned { rotations: &rotations, anchors: &anchors }, places)
            }
        }
    }

    /// The number of unknown vertices. `lists` are those of the region.
    fn unknowns(&self, lists: &Lists<'_>) -> usize {
        match self {
            Self::Lse(solver) => solver.unknowns(),
            Self::Arap(both) => both.1.unknowns(),
            Self::ArapScale(_) => lists.passive.len(),
        }
    }
}

/// Computes the surroundings of drawn layers on one region of one shape: the matrices are factored once.
pub struct SurroundingsSolver {
    method: Method,
    region: Region,
    solver: Solver,
}

impl SurroundingsSolver {
    /// Factors the matrices. `control` has the posed control vertices without the layer, world space, metres.
    ///
    /// # Errors
    /// If the region does not fit the character.
    pub fn new(model: &Model, control: &[Vec3], region: &Region, method: Method) -> Result<Self> {
        let tool = match method {
            Method::Lse => Classic::Lse(LseOptions::default()),
            Method::Arap => Classic::Arap(Energy::SpokesAndRims, ROUNDS),
            Method::ArapScale => Classic::ArapScale,
        };
        let solver = Solver::new(model, control, &lists(region), tool)?;
        Ok(Self { method, region: region.clone(), solver })
    }

    /// Whether the matrices are those of this region and method.
    pub fn suits(&self, region: &Region, method: Method) -> bool {
        let (a, b) = (&self.region, region);
        let same = (&a.kinematic, &a.passive, &a.fixed) == (&b.kinematic, &b.passive, &b.fixed);
        same && self.method == method
    }

    /// Computes the displacement of a layer's passive vertices. Model, `control` and region are those of
    /// [`Self::new`]; `rig` is their pose. The result does not depend on earlier solves.
    ///
    /// # Errors
    /// If the layer is not drawn by hand, or does not fit the character.
    pub fn solve(
        &mut self,
        model: &Model,
        rig: &PosedRig,
        control: &[Vec3],
        sculpt: &Sculpt,
    ) -> Result<Surroundings> {
        let character = &model.bound.character;
        let Form::Drawn(offsets) = &sculpt.form else {
            let remedy = "draw the shape by hand, by a pull or an offset stroke";
            return Err(Error::input("a shape with a profile has no classical surroundings", remedy));
        };
        sculpt.validate(Some(control.len()))?;
        let region = &sculpt.region;
        let mut places: Vec<DVec3> = control.iter().map(|p| p.as_dvec3()).collect();
        for (&v, offset) in region.kinematic.iter().zip(offsets) {
            let to = control[v as usize] + rotation(character, rig, v) * Vec3::from(*offset);
            places[v as usize] = to.as_dvec3();
        }
        self.solver.solve(model, rig, &mut places)?;
        let moved = |&v: &u32| {
            let to = places[v as usize].as_vec3();
            encode(rotation(character, rig, v), control[v as usize], to).to_array()
        };
        Ok(Surroundings { method: self.method, offsets: region.passive.iter().map(moved).collect() })
    }
}

fn lists(region: &Region) -> Lists<'_> {
    Lists { kinematic: &region.kinematic, passive: &region.passive, fixed: &region.fixed }
}

/// Computes the displacement of a drawn layer's passive vertices by a classical tool, see [`SurroundingsSolver`].
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
    sculpt.validate(Some(control.len()))?;
    let rig = PosedRig::new(model.skeleton(), pose);
    SurroundingsSolver::new(model, control, &sculpt.region, method)?.solve(model, &rig, control, sculpt)
}
