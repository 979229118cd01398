//! The document: everything the user has made for one character. Only [`super::Edit`]s change it.

use super::{AssetRef, CageMove, KeptPose, Motion};
use crate::base::{ChainId, Error, MarkId, NodeId, Result, SculptId, StrokeId};
use crate::bind::{BindOptions, Character};
use crate::cage::Cage;
use crate::deform::Geometric;
use crate::deform::Recipe;
use crate::deform::sculpt::SculptState;
use crate::deform::volume::Firm;
use crate::pose::{BoneChain, StrokeLayer, validate_chains};
use crate::rig::{Limit, Limits, Pose, RestShift, Skeleton};
use crate::surface::{Grip, MAX_SCULPTS, Sculpt, SurfaceStroke};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A deformation method and its parameters, in the method's own serialised form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeformerSettings {
    /// Method name, for example `lbs`; empty for the program's default.
    pub method: String,
    /// Parameter values by parameter name.
    pub parameters: BTreeMap<String, Value>,
}

impl DeformerSettings {
    /// Returns the settings of a method with its default parameters.
    pub fn of(method: &str) -> Self {
        Self { method: method.to_owned(), parameters: BTreeMap::new() }
    }

    /// Returns the settings of another method with its default parameters. The crease angle stays, because it belongs to
    /// the mesh.
    pub fn switched(&self, method: &str) -> Self {
        let mut new = Self::of(method);
        new.parameters
            .extend(self.parameters.get("crease").map(|angle| ("crease".to_owned(), angle.clone())));
        new
    }

    /// Returns the deformer recipe for this method and these parameters.
    ///
    /// # Errors
    /// Same as [`Recipe::from_settings`].
    pub fn recipe(&self) -> Result<Recipe> {
        Recipe::from_settings(&self.method, &self.parameters)
    }
}

/// Everything the user has made for one character. The methods of this type only read; [`super::Edit::apply`] changes a
/// document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub(super) name: String,
    pub(super) asset: Option<AssetRef>,
    pub(super) pose: Pose,
    pub(super) strokes: Vec<StrokeLayer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) poses: Vec<KeptPose>,
    /// Channels and clips. Older files store a list of whole poses under `keys`.
    #[serde(default, alias = "keys", skip_serializing_if = "Motion::is_default")]
    pub(super) motion: Motion,
    pub(super) deformer: DeformerSettings,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) binding: Box<BindOptions>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) marks: Vec<SurfaceStroke>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pins: Vec<NodeId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sculpts: Vec<Sculpt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) bones: Vec<BoneChain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cage: Option<Box<Cage>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hidden: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) grips: Vec<Grip>,
    #[serde(default, skip_serializing_if = "Firm::is_empty")]
    pub(super) firm: Firm,
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub(super) limits: Limits,
}

/// Whether a binding has the default settings, which files omit.
pub(super) fn is_default(binding: &BindOptions) -> bool {
    *binding == BindOptions::default()
}

impl Document {
    /// Returns the document's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns this document about another file, which has the same nodes and triangles.
    pub fn about(&self, asset: AssetRef) -> Self {
        Self { asset: Some(asset), ..self.clone() }
    }

    /// Returns the asset file, or `None` before one is opened.
    pub fn asset(&self) -> Option<&AssetRef> {
        self.asset.as_ref()
    }

    /// Returns the base pose, to which the strokes apply, without the rest shape of the cage.
    pub fn base_pose(&self) -> &Pose {
        &self.pose
    }

    /// Returns the cage, if the character has one.
    pub fn cage(&self) -> Option<&Cage> {
        self.cage.as_deref()
    }

    /// Returns the stroke layers, in the order in which they apply.
    pub fn strokes(&self) -> &[StrokeLayer] {
        &self.strokes
    }

    /// Returns the stroke layer with this id.
    ///
    /// # Errors
    /// No stroke layer has this id.
    pub fn stroke(&self, id: StrokeId) -> Result<&StrokeLayer> {
        Ok(&self.strokes[self.stroke_index(id)?])
    }

    /// Returns the animation: channels, clip layers and frame rate.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// Returns the deformation method and its parameters.
    pub fn deformer(&self) -> &DeformerSettings {
        &self.deformer
    }

    /// Returns the settings by which the skin is attached to the bones.
    pub fn binding(&self) -> &BindOptions {
        &self.binding
    }

    /// Returns the marks on the skin, in drawing order.
    pub fn marks(&self) -> &[SurfaceStroke] {
        &self.marks
    }

    /// Returns the pinned nodes, which stay in place during posing by hand, sorted by id.
    pub fn pins(&self) -> &[NodeId] {
        &self.pins
    }

    /// Returns the limits of the joints that have one. Tools respect them; clips, keys and stored poses do not.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the parts of the display mesh that are hidden, as ascending indices of
    /// [`crate::geom::DisplayMesh::parts`]. Strokes reach the skin below hidden parts. Exports contain all parts.
    pub fn hidden(&self) -> &[u32] {
        &self.hidden
    }

    /// Returns the sculpt layers, in the order in which they were made.
    pub fn sculpts(&self) -> &[Sculpt] {
        &self.sculpts
    }

    /// Returns the sculpt layer with this id.
    ///
    /// # Errors
    /// No sculpt layer has this id.
    pub fn sculpt(&self, id: SculptId) -> Result<&Sculpt> {
        Ok(&self.sculpts[self.sculpt_index(id)?])
    }

    /// Returns the bones drawn inside a mesh without skeleton, parents before children.
    pub fn bones(&self) -> &[BoneChain] {
        &self.bones
    }

    /// Returns an unused id for a new chain of bones.
    pub fn unused_chain_id(&self) -> ChainId {
        ChainId(self.bones.iter().map(|c| c.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns the states of all active sculpt layers. `seconds` is the time of animated waves.
    pub fn sculpt_states(&self, seconds: f64) -> Vec<SculptState> {
        self.sculpts.iter().filter_map(|s| s.state(seconds)).collect()
    }

    /// Returns an unused id for a new sculpt layer.
    pub fn unused_sculpt_id(&self) -> SculptId {
        SculptId(self.sculpts.iter().map(|s| s.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns an unused id for a new mark.
    pub fn unused_mark_id(&self) -> MarkId {
        MarkId(self.marks.iter().map(|m| m.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns an unused id for a new stroke.
    pub fn unused_stroke_id(&self) -> StrokeId {
        StrokeId(self.strokes.iter().map(|s| s.id.0 + 1).max().unwrap_or(0))
    }

    /// Returns the edited pose with all strokes applied.
    pub fn posed(&self, skeleton: &Skeleton) -> Pose {
        self.posed_below(skeleton, self.strokes.len())
    }

    /// Returns whether both documents have equal poses, strokes, limits, deformers, bindings, sculpt layers, cages, grips
    /// and firm regions, ignoring motion.
    pub fn is_shaped_like(&self, other: &Self) -> bool {
        (&self.pose, &self.strokes, &self.deformer) == (&other.pose, &other.strokes, &other.deformer)
            && (&self.sculpts, &self.cage, &self.binding) == (&other.sculpts, &other.cage, &other.binding)
            && (&self.grips, &self.firm, &self.limits) == (&other.grips, &other.firm, &other.limits)
    }

    /// Returns the pose with the first `layers` strokes applied, which is the input of the next stroke.
    pub fn posed_below(&self, skeleton: &Skeleton, layers: usize) -> Pose {
        self.stroked(skeleton, layers, self.base_over(self.rest(skeleton)))
    }

    /// Returns the edited pose with all strokes applied, over another rest shape than the cage's.
    pub fn posed_over(&self, skeleton: &Skeleton, rest: RestShift) -> Pose {
        self.stroked(skeleton, self.strokes.len(), self.base_over(rest))
    }

    /// Returns the pose that the strokes give on another base pose.
    pub fn posed_from(&self, skeleton: &Skeleton, base: Pose) -> Pose {
        let base = Pose { local: base.local, weights: base.weights, ..self.base_over(self.rest(skeleton)) };
        self.stroked(skeleton, self.strokes.len(), base)
    }

    /// Applies the first `layers` strokes to a pose.
    fn stroked(&self, skeleton: &Skeleton, layers: usize, base: Pose) -> Pose {
        let strokes = self.strokes.iter().take(layers);
        strokes.fold(base, |pose, layer| layer.applied(skeleton, &self.limits, &pose))
    }

    /// Returns the base pose over a rest shape, with the grips.
    fn base_over(&self, rest: RestShift) -> Pose {
        let mut base = Pose { rest, ..self.pose.clone() };
        self.grips_into(&mut base.grips);
        base
    }

    /// Returns the rest shape of the cage's own offsets.
    fn rest(&self, skeleton: &Skeleton) -> RestShift {
        self.cage().map_or_else(RestShift::default, |cage| cage.rest(skeleton))
    }

    /// Reads a document from the JSON of a project file and checks it against the skeleton.
    ///
    /// # Errors
    /// The JSON is damaged, is not a document, or belongs to another character.
    pub fn from_json(json: Value, skeleton: &Skeleton) -> Result<Self> {
        let document: Self = serde_json::from_value(json).map_err(|e| {
            Error::input(format!("the document cannot be read: {e}"), "open it with the Sinew that saved it")
        })?;
        if document.asset.is_none() {
            return Err(Error::input("the document is about no character", "open one and save again"));
        }
        document.validate(skeleton, None)?;
        Ok(document)
    }

    /// Returns the deformer recipe of the document, bound to its grips, with its firm regions.
    ///
    /// # Errors
    /// Same as [`DeformerSettings::recipe`].
    pub fn recipe(&self) -> Result<Recipe> {
        self.recipe_of(&self.deformer)
    }

    /// Returns the deformer recipe of other settings, bound to the grips of the document, with its firm regions.
    ///
    /// # Errors
    /// Same as [`DeformerSettings::recipe`].
    pub fn recipe_of(&self, settings: &DeformerSettings) -> Result<Recipe> {
        let mut recipe = settings.recipe()?;
        recipe.set_grips(&self.grip_shapes());
        recipe.firm.clone_from(&self.firm);
        Ok(recipe)
    }

    /// Checks marks, binding, grips and firm regions against the character.
    ///
    /// # Errors
    /// A mark lies on a triangle that the display mesh does not have, or the binding, a grip or a firm region names a
    /// vertex that the control mesh does not have.
    pub fn fits(&self, character: &Character) -> Result<()> {
        let triangles = character.display.triangles.len();
        self.marks.iter().try_for_each(|mark| mark.validate(Some(triangles)))?;
        if let Geometric::Blend { factor, painted } = &self.deformer.recipe()?.geometric {
            painted.or(*factor).check(character.control.positions.len())?;
        }
        self.grips.iter().try_for_each(|grip| grip.fits(character))?;
        self.firm_fits(character)?;
        self.binding.fits(character)
    }

    /// Moves vertices of the rest cage and returns where they were, in reverse order.
    pub(super) fn move_cage(&mut self, moves: &[CageMove]) -> Result<Vec<CageMove>> {
        let missing = || Error::input("the character has no cage", "make or import one first");
        let cage = self.cage.as_mut().ok_or_else(missing)?;
        let sound =
            |m: &CageMove| (m.vertex as usize) < cage.offsets.len() && m.offset.iter().all(|v| v.is_finite());
        if !moves.iter().all(sound) {
            let problem = "a vertex of the cage does not exist or would move endlessly far";
            return Err(Error::input(problem, format!("the cage has {} vertices", cage.offsets.len())));
        }
        let old = moves.iter().map(|m| {
            let offset = std::mem::replace(&mut cage.offsets[m.vertex as usize], m.offset);
            CageMove { vertex: m.vertex, offset }
        });
        let mut old: Vec<CageMove> = old.collect();
        old.reverse();
        Ok(old)
    }

    pub(super) fn mark_index(&self, id: MarkId) -> Result<usize> {
        self.marks.iter().position(|m| m.id == id).ok_or_else(|| {
            Error::input(format!("there is no mark {}", id.0), format!("there are {}", self.marks.len()))
        })
    }

    pub(super) fn sculpt_index(&self, id: SculptId) -> Result<usize> {
        self.sculpts.iter().position(|s| s.id == id).ok_or_else(|| {
            Error::input(format!("there is no shape {}", id.0), format!("there are {}", self.sculpts.len()))
        })
    }

    pub(super) fn stroke_index(&self, id: StrokeId) -> Result<usize> {
        self.strokes.iter().position(|s| s.id == id).ok_or_else(|| {
            let known: Vec<String> = self.strokes.iter().map(|s| s.id.0.to_string()).collect();
            Error::input(
                format!("there is no stroke {}", id.0),
                if known.is_empty() {
                    "draw one first".into()
                } else {
                    format!("there are {}", known.join(", "))
                },
            )
        })
    }

    /// Checks an untrusted document (from a journal or project file) against its skeleton.
    pub(super) fn validate(&self, skeleton: &Skeleton, triangles: Option<usize>) -> Result<()> {
        if self.asset.is_none() {
            return Ok(());
        }
        validate_pose(&self.pose, skeleton)?;
        for layer in &self.strokes {
            layer.validate(skeleton.nodes.len())?;
        }
        let mut ids: Vec<u32> = self.strokes.iter().map(|s| s.id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < self.strokes.len() {
            return Err(Error::input("two strokes share an id", "restore the document from its journal"));
        }
        for mark in &self.marks {
            mark.validate(triangles)?;
        }
        let mut ids: Vec<u32> = self.marks.iter().map(|m| m.id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < self.marks.len() || ids.len() > MAX_MARKS {
            return Err(Error::input(
                "two marks share an id, or there are too many",
                "restore the document from its journal",
            ));
        }
        for sculpt in &self.sculpts {
            sculpt.validate(None)?;
        }
        let mut ids: Vec<u32> = self.sculpts.iter().map(|s| s.id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < self.sculpts.len() || ids.len() > MAX_SCULPTS {
            return Err(Error::input(
                "two shapes share an id, or there are too many",
                "restore the document from its journal",
            ));
        }
        self.deformer.recipe()?;
        self.binding.validate(skeleton)?;
        validate_pins(&self.pins, skeleton)?;
        validate_limits(&self.limits, skeleton)?;
        validate_hidden(&self.hidden)?;
        validate_chains(&self.bones)?;
        self.cage.as_ref().map_or(Ok(()), |cage| cage.validate(skeleton))?;
        self.validate_grips()?;
        self.validate_firm()?;
        self.validate_poses(skeleton)?;
        self.motion.validate(skeleton)?;
        Ok(())
    }
}

/// Maximum number of marks in a document.
pub(super) const MAX_MARKS: usize = 4096;

/// Checks that pins are nodes of the skeleton, sorted and without duplicates.
pub(super) fn validate_pins(pins: &[NodeId], skeleton: &Skeleton) -> Result<()> {
    if pins.iter().all(|p| p.index() < skeleton.nodes.len()) && pins.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(Error::input("a pin is out of order or on no node", "give nodes of the character by rising id"))
}

/// Checks that limits belong to nodes of the skeleton and have valid numbers.
pub(super) fn validate_limits(limits: &Limits, skeleton: &Skeleton) -> Result<()> {
    if limits.keys().any(|n| n.index() >= skeleton.nodes.len()) {
        return Err(Error::input("a limit belongs to no node", "give limits to nodes of the character"));
    }
    limits.values().try_for_each(Limit::validate)
}

/// Maximum index of a hidden part, far above the number of parts of a character.
const MAX_PART: u32 = 1 << 20;

/// Checks that hidden parts are sorted and without duplicates.
pub(super) fn validate_hidden(hidden: &[u32]) -> Result<()> {
    if hidden.iter().all(|p| *p < MAX_PART) && hidden.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(Error::input("a hidden part is out of order or too large", "give parts of the mesh by rising index"))
}

/// Maximum time of a key, seconds.
pub(super) const LAST: f64 = 1e7;

/// Checks that a key may have this time.
pub(super) fn validate_time(time: f64) -> Result<()> {
    if (0.0..=LAST).contains(&time) {
        return Ok(());
    }
    Err(Error::input(format!("{time} s is no time for a key"), format!("give seconds from 0 to {LAST}")))
}

/// Checks that a pose has the skeleton's nodes and weights and that all values are finite.
pub(super) fn validate_pose(pose: &Pose, skeleton: &Skeleton) -> Result<()> {
    if pose.local.len() != skeleton.nodes.len() || pose.weights.len() != skeleton.nodes.len() {
        return Err(Error::input(
            format!("the pose has {} nodes, the character {}", pose.local.len(), skeleton.nodes.len()),
            "use it with the file it was made for",
        ));
    }
    for (i, node) in skeleton.nodes.iter().enumerate() {
        let t = &pose.local[i];
        let mut floats = t.translation.iter().chain(&t.rotation).chain(&t.scale).chain(&pose.weights[i]);
        if !floats.all(|v| v.is_finite()) {
            return Err(Error::input(format!("the pose of {:?} is not finite", node.name), "pose it again"));
        }
        if pose.weights[i].len() != node.weights.len() {
            return Err(Error::input(
                format!("{:?} has {} morph weights", node.name, pose.weights[i].len()),
                format!("give {}", node.weights.len()),
            ));
        }
    }
    Ok(())
}
