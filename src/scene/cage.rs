//! The cage of a loaded character: creation, coupling with the skin, and shape in a pose.

use super::Model;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Progress, Result};
use crate::bind::Character;
use crate::cage::{
    Cage, CageMesh, CageReport, Coordinates, Coupling, Workspace, check, fitted, from_asset, local,
    make_cage, oriented, read,
};
use crate::deform::rest::SkinCage;
use crate::rig::{Mirror, PosedRig};
use std::path::PathBuf;
use std::sync::Arc;

/// Where a cage comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum CageSource {
    /// A new cage of about this many vertices around the character.
    Made(usize),
    /// A file, `.obj`, `.glb` or `.gltf`, and the name of its node if it has several.
    File(PathBuf, Option<String>),
    /// A node of the character's own file.
    Node(String),
}

/// A new cage with its coupling.
#[derive(Clone)]
pub struct NewCage {
    /// The cage, at rest.
    pub cage: Cage,
    /// The coupling of the character and this cage.
    pub coupling: Arc<Coupling>,
    /// Facts that the user should know, such as a changed unit.
    pub told: Vec<String>,
}

/// The coupling that a model computed last, with its input.
pub(super) struct Coupled {
    mesh: CageMesh,
    coordinates: Coordinates,
    coupling: Arc<Coupling>,
}

impl Model {
    /// Makes or reads a cage, checks it and couples it with the character. Takes up to several seconds.
    ///
    /// # Errors
    /// If the source gives no sound cage around the character, or the work is cancelled.
    pub fn new_cage(
        &self,
        source: &CageSource,
        coordinates: Coordinates,
        progress: &Progress,
    ) -> Result<(NewCage, CageReport)> {
        let control = &self.bound.character.control;
        let (mut told, name) = (Vec::new(), name_of(source));
        let mesh = match source {
            CageSource::Made(vertices) => {
                let mirror = Mirror::of_skin(&self.bound.character.skeleton, &control.positions);
                let plane = mirror.and_then(|m| m.plane_of_skin(&control.positions));
                make_cage(&control.positions, &control.triangles, *vertices, plane, progress)?
            }
            CageSource::File(path, node) => read(path, node.as_deref())?,
            CageSource::Node(node) => from_asset(&self.asset, node)?,
        };
        let (mut mesh, turned) = oriented(&mesh);
        if turned {
            told.push("the cage was inside out: its faces are now reversed".to_owned());
        }
        if let Some((scaled, factor)) = fitted(&mesh, &control.positions) {
            told.push(format!("the cage is in another unit: it is now scaled by {factor}"));
            mesh = scaled;
        }
        let report = check(&mesh, &control.positions).map_err(|e| in_file(source, e))?;
        told.extend(report.warning());
        let coupling = self.compute(&mesh, coordinates, progress)?;
        let negative = coupling.report().negative;
        if negative > 0 && coordinates == Coordinates::MeanValue {
            let all = control.positions.len();
            told.push(format!(
                "near concave parts of the cage, {negative} of {all} vertices move a little against it: their coordinates are \
                 negative; a cage with local coordinates, from the command line, has none"
            ));
        }
        let narrow = |values: &[f64]| values.iter().map(|w| *w as f32).collect();
        let offsets = vec![[0.0; 3]; mesh.positions.len()];
        let (joints, tails) = (narrow(coupling.psi()), narrow(coupling.tips()));
        let cage = Cage { name, mesh, coordinates, joints, tails, offsets };
        cage.validate(self.skeleton())?;
        Ok((NewCage { cage, coupling, told }, report))
    }

    /// Returns the coupling of the character and a cage. If the model does not have the coupling yet, this computes it
    /// and takes up to several seconds.
    ///
    /// # Errors
    /// If the skin does not determine the cage, or the work is cancelled.
    pub fn couple(&self, cage: &Cage, progress: &Progress) -> Result<Arc<Coupling>> {
        match self.coupled(cage) {
            Some(coupling) => Ok(coupling),
            None => self.compute(&cage.mesh, cage.coordinates, progress),
        }
    }

    /// Returns the coupling of the character and a cage if the model has computed it.
    pub fn coupled(&self, cage: &Cage) -> Option<Arc<Coupling>> {
        let kept = self.cage.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let fits = |c: &&Coupled| c.coordinates == cage.coordinates && c.mesh == cage.mesh;
        kept.as_ref().filter(fits).map(|c| c.coupling.clone())
    }

    fn compute(
        &self,
        mesh: &CageMesh,
        coordinates: Coordinates,
        progress: &Progress,
    ) -> Result<Arc<Coupling>> {
        let character = &self.bound.character;
        let skin = match coordinates {
            Coordinates::MeanValue => None,
            Coordinates::Local => {
                let points: Vec<DVec3> = character.control.positions.iter().map(|x| x.as_dvec3()).collect();
                Some(local(mesh, &points, progress)?)
            }
        };
        let coupling = Arc::new(Coupling::bind(character, mesh, skin, progress)?);
        let kept = Coupled { mesh: mesh.clone(), coordinates, coupling: coupling.clone() };
        *self.cage.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(kept);
        Ok(coupling)
    }
}

/// Returns the coordinates of the skin as deformation reads them.
pub(super) fn skin_cage(coupling: &Coupling) -> SkinCage {
    SkinCage { cage: coupling.cage_vertices(), rows: coupling.phi().to_vec() }
}

/// Adds the path of the cage's file to an error of the check.
fn in_file(source: &CageSource, error: Error) -> Error {
    match (source, error) {
        (CageSource::File(path, _), Error::Input { problem, remedy }) => {
            Error::broken(path, "cage", problem.strip_prefix("cage: ").unwrap_or(&problem), remedy)
        }
        (_, error) => error,
    }
}

fn name_of(source: &CageSource) -> String {
    match source {
        CageSource::Made(_) => "Cage".to_owned(),
        CageSource::Node(node) => node.clone(),
        CageSource::File(path, node) => node
            .clone()
            .unwrap_or_else(|| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()),
    }
}

/// The shape of a cage in a pose: the cage that gives the skin under linear blend skinning ("CageUp", Corda et al.
/// 2020, equation 8). With other methods, the cage still follows the skin of linear blend skinning, not the displayed
/// skin.
#[derive(Default)]
pub struct PosedCage {
    rows: Vec<DVec3>,
    workspace: Workspace,
    /// Positions of the cage's vertices, world space, metres.
    pub positions: Vec<DVec3>,
}

impl PosedCage {
    /// Computes the shape in a pose. Does not allocate after the first call.
    pub fn follow(&mut self, character: &Character, coupling: &Coupling, rig: &PosedRig) {
        let control = &character.control;
        let cage = coupling.cage_vertices();
        self.rows.clear();
        self.rows.extend(coupling.rows().iter().map(|&v| {
            let v = v as usize;
            let mut x = control.positions[v];
            if rig.rest.cage.len() == cage {
                let row = &coupling.phi()[v * cage..(v + 1) * cage];
                x += row.iter().zip(&rig.rest.cage).map(|(&w, &d)| w * d).sum::<Vec3>();
            }
            let (mut sum, mut whole) = (Vec3::ZERO, 0.0);
            for (joint, weight) in control.influences.of(v) {
                sum += weight * rig.skinning[usize::from(joint)].transform_point3(x);
                whole += weight;
            }
            (sum / whole).as_dvec3()
        }));
        coupling.cage_up(&self.rows, &mut self.workspace, &mut self.positions);
    }
}
