//! A loaded character, bound and ready for any deformer.

use super::cage::Coupled;
use crate::asset::Asset;
use crate::base::math::{DVec3, Mat3, Vec3};
use crate::base::{Error, Result};
use crate::bind::{BindOptions, BindReport, Character, Morphs, bind_attachments, placement_of};
use crate::deform::Bound;
use crate::deform::surface::{Crease, Display, bind as bind_surface};
use crate::document::Document;
use crate::export::project;
use crate::geom::{Crossings, Distortion, Interior, Measure, MeasureReport, weld};
use crate::rig::{Pose, PosedRig, Skeleton};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Number of cubes of [`Model::interior`].
const INTERIOR: usize = 50_000;

/// A loaded and bound character.
pub struct Model {
    /// The file; for a project, the original character file.
    pub asset: Arc<Asset>,
    /// The document of a project; `None` for other files.
    pub document: Option<Document>,
    /// The character and its attachments.
    pub bound: Bound,
    binding: BindOptions,
    /// Morph targets.
    pub morphs: Arc<Morphs>,
    /// Statistics of the bind.
    pub report: BindReport,
    /// Durations of loading and binding.
    pub stages: Vec<(&'static str, Duration)>,
    measure: Arc<Measure>,
    crossings: OnceLock<Crossings>,
    distortion: OnceLock<Distortion>,
    interior: Arc<OnceLock<Option<Interior>>>,
    /// The last coupling with a cage.
    pub(super) cage: Arc<Mutex<Option<Coupled>>>,
}

/// A character that is not bound yet.
struct Loaded {
    asset: Asset,
    character: Arc<Character>,
    morphs: Morphs,
    stages: Vec<(&'static str, Duration)>,
}

impl Loaded {
    fn new(mut asset: Asset, loading: Duration) -> Result<Self> {
        let start = Instant::now();
        let character = Arc::new(Character::from_asset(&asset)?);
        take_drawn_normals(&mut asset, &character);
        let morphs = Morphs::from_asset(&asset, &character);
        Ok(Self { asset, character, morphs, stages: vec![("load", loading), ("weld", start.elapsed())] })
    }

    fn bind(self, options: &BindOptions) -> Result<Model> {
        let start = Instant::now();
        let Self { asset, character, morphs, mut stages } = self;
        let (attachments, report) = bind_attachments(&character, options)?;
        stages.push(("bind", start.elapsed()));
        Ok(Model {
            asset: Arc::new(asset),
            document: None,
            measure: Arc::new(Measure::new(&character.control)),
            bound: Bound::new(character, Arc::new(attachments)),
            binding: options.clone(),
            morphs: Arc::new(morphs),
            report,
            stages,
            crossings: OnceLock::new(),
            distortion: OnceLock::new(),
            interior: Arc::default(),
            cage: Arc::default(),
        })
    }
}

/// Gives primitives without normals in the file the normals with which their surface is drawn in the bind pose.
fn take_drawn_normals(asset: &mut Asset, character: &Arc<Character>) {
    let display = &character.display;
    if display.parts.iter().all(|part| !part.computed_normals) {
        return;
    }
    let skeleton = &character.skeleton;
    let rig = PosedRig::new(skeleton, &Pose::rest(skeleton));
    let mut drawn = Display::default();
    bind_surface(character, Crease::Source).reference(&rig, &character.control.positions, &[], &mut drawn);
    for part in display.parts.iter().filter(|part| part.computed_normals) {
        let primitive = &asset.meshes[part.mesh.index()].primitives[part.primitive];
        let Some(bind_from_mesh) = placement_of(asset, skeleton, part.node, primitive) else { continue };
        let mesh_from_bind = Mat3::from(bind_from_mesh.matrix3).transpose();
        let normals = &drawn.normals[part.vertices.start as usize..part.vertices.end as usize];
        let normals = normals.iter().map(|n| (mesh_from_bind * *n).try_normalize().unwrap_or(*n)).collect();
        asset.meshes[part.mesh.index()].primitives[part.primitive].normals = normals;
    }
}

impl Model {
    /// Loads and binds a file. `options` bind a file without a document; a project's document has its own settings.
    ///
    /// # Errors
    /// If the file cannot be loaded, converted or bound; see [`project::open`], [`Character::from_asset`] and
    /// [`bind_attachments`]. If the document of a project does not fit its character.
    pub fn load(path: &Path, options: &BindOptions) -> Result<Self> {
        let start = Instant::now();
        let (asset, json) = project::open(path)?;
        let loaded = Loaded::new(asset, start.elapsed())?;
        let Some(json) = json else { return loaded.bind(options) };
        let document = Document::from_json(json, &loaded.character.skeleton);
        let document = document.and_then(|d| d.fits(&loaded.character).map(|()| d));
        let document = document.map_err(|e| match e {
            Error::Input { problem, remedy } => Error::broken(path, "document", problem, remedy),
            other => other,
        })?;
        let model = loaded.bind(document.binding())?;
        Ok(Self { document: Some(document), ..model })
    }

    /// Binds an asset in memory. `loading` is the time that loading took.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn bind(asset: Asset, options: &BindOptions, loading: Duration) -> Result<Self> {
        Loaded::new(asset, loading)?.bind(options)
    }

    /// Returns the same character with another binding. Both models share all data that does not depend on the binding.
    /// Takes up to a second for a large character.
    ///
    /// # Errors
    /// As [`bind_attachments`].
    pub fn rebound(&self, options: &BindOptions) -> Result<Self> {
        let character = self.bound.character.clone();
        let (attachments, report) = bind_attachments(&character, options).map_err(|e| self.named(e))?;
        Ok(Self {
            asset: self.asset.clone(),
            document: self.document.clone(),
            bound: Bound::new(character, Arc::new(attachments)),
            binding: options.clone(),
            morphs: self.morphs.clone(),
            report,
            stages: self.stages.clone(),
            measure: self.measure.clone(),
            // The radius of limbs depends on the binding.
            crossings: OnceLock::new(),
            distortion: OnceLock::new(),
            interior: self.interior.clone(),
            cage: self.cage.clone(),
        })
    }

    /// Returns this model if it has the binding of a document, and otherwise the character with that binding.
    ///
    /// # Errors
    /// As [`Model::rebound`].
    pub fn bound_for(self: &Arc<Self>, document: &Document) -> Result<Arc<Self>> {
        if self.binding == *document.binding() {
            return Ok(self.clone());
        }
        self.rebound(document.binding()).map(Arc::new)
    }

    /// The settings of the binding.
    pub fn binding(&self) -> &BindOptions {
        &self.binding
    }

    /// Prefixes an input error with the file's name.
    pub fn named(&self, error: Error) -> Error {
        error.in_file(&self.asset.path)
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.bound.character.skeleton
    }

    /// The rest pose: the node transforms of the file.
    pub fn rest(&self) -> Pose {
        Pose::rest(self.skeleton())
    }

    /// Displacement of every display vertex by the pose's morph weights, bind space, metres; empty if the character
    /// has no morph targets.
    pub fn morph(&self, pose: &Pose) -> Vec<Vec3> {
        if self.morphs.is_empty() {
            return Vec::new();
        }
        let mut displacement = vec![Vec3::ZERO; self.bound.character.display.positions.len()];
        self.morphs.add_to_display(&pose.weights, &mut displacement);
        displacement
    }

    /// Volume in the bind pose, cubic metres: see [`Measure::volume`].
    pub fn volume(&self) -> f64 {
        self.measure.bind_volume()
    }

    /// The interior of the mesh in the rest pose, prepared at the first call. `None` without triangles.
    pub fn interior(&self) -> Option<&Interior> {
        let prepare = || {
            let control = &self.bound.character.control;
            let positions: Vec<DVec3> = control.positions.iter().map(|x| x.as_dvec3()).collect();
            // Parts of a body that meet at a seam are one, although they may be different meshes.
            let weld = weld(&control.positions, |_, _| true);
            let joined = |t: &[u32; 3]| t.map(|v| weld.first_of(v));
            let triangles: Vec<[u32; 3]> = control.triangles.iter().map(joined).collect();
            Interior::new(&positions, &triangles, INTERIOR)
        };
        self.interior.get_or_init(prepare).as_ref()
    }

    /// The search for triangles of the posed skin that cross each other, prepared at the first call. A limb's radius is
    /// the mean distance of its vertices from the bone.
    pub fn crossings(&self) -> &Crossings {
        self.crossings.get_or_init(|| self.search())
    }

    fn search(&self) -> Crossings {
        let attachments = &self.bound.attachments;
        let mut sums = vec![(0.0, 0.0f32); self.skeleton().bones.len()];
        for (bone, scale) in attachments.bone.iter().zip(&attachments.scale_vector) {
            let (sum, count) = &mut sums[bone.index()];
            (*sum, *count) = (*sum + scale.length(), *count + 1.0);
        }
        let radius: Vec<f32> =
            attachments.bone.iter().map(|b| sums[b.index()].0 / sums[b.index()].1).collect();
        Crossings::new(&self.bound.character.control, &radius)
    }

    /// The comparison of posed control vertices with the bind shape by triangles and energy, prepared at the first call.
    pub fn distortion(&self) -> &Distortion {
        self.distortion.get_or_init(|| Distortion::new(&self.bound.character.control))
    }

    /// Compares posed control vertices with the bind shape.
    pub fn measure(&self, control: &[Vec3]) -> MeasureReport {
        self.measure.report(control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Primitive;
    use crate::base::math::{Quat, Vec2};
    use crate::bind::shapes::Shape;

    /// A file without normals whose triangles share no vertices, as that of a flat-shaded model.
    #[test]
    fn primitives_without_normals_get_those_that_are_drawn() {
        let shape = Shape { bones: 1, rings: 12, segments: 16, radius: 0.2, length: 1.0, blend: 0.5 };
        let bare = shape.bare_asset();
        let own = &bare.meshes[0].primitives[0];
        let positions: Vec<Vec3> =
            own.triangles.iter().flatten().map(|v| own.positions[*v as usize]).collect();
        let count = positions.len() as u32;
        let separate = Primitive {
            normals: vec![Vec3::Y; positions.len()],
            uvs: vec![Vec2::ZERO; positions.len()],
            triangles: (0..count / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
            positions,
            ..Primitive::default()
        };
        let normals = |turn: Quat, scale: f32| {
            let mut asset = bare.clone();
            asset.meshes[0].primitives[0] = separate.clone();
            let node = asset.nodes.iter().position(|n| n.mesh.is_some()).unwrap();
            (asset.nodes[node].rest.rotation, asset.nodes[node].rest.scale) = (turn.into(), [scale; 3]);
            let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
            model.asset.meshes[0].primitives[0].normals.clone()
        };
        let plain = normals(Quat::IDENTITY, 1.0);
        for (i, (x, n)) in separate.positions.iter().zip(&plain).enumerate() {
            let same = separate.positions.iter().zip(&plain).filter(|(y, _)| *y == x);
            assert!(same.clone().all(|(_, m)| m.distance(*n) < 1e-5), "{i}: the edges are smooth");
            let axis = Vec3::new(0.0, x.y.clamp(0.0, 1.0), 0.0);
            assert!(n.angle_between(*x - axis) < 0.2, "{i}: {n} at {x}");
        }
        // Normals are in mesh space, whatever the node does.
        let turned = normals(Quat::from_rotation_z(1.0), 3.0);
        assert!(plain.iter().zip(&turned).all(|(a, b)| a.distance(*b) < 1e-4));
    }
}
