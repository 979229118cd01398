//! Operations on a document. Tools emit them, the journal records them, scripts and replays run them, and undo
//! inverts them.
//!
//! Each operation is one line of JSON, for example `{"do":{"set_key":{"time":0.5,"pose":...}}}` or `"undo"`.

mod firm;
mod marks;

use super::contents::{validate_hidden, validate_pins, validate_pose};
use super::{
    AssetRef, DeformerSettings, Document, Key, KeyEdit, grip_edit, key_edit, limit_edit, sculpt_edit,
};
use crate::base::math::Trs;
use crate::base::{Error, FirmId, GripId, MarkId, NodeId, Result, SculptId, StrokeId};
use crate::bind::BindOptions;
use crate::cage::Cage;
use crate::deform::volume::FirmRegion;
use crate::pose::{BoneChain, Sample, Stroke, StrokeLayer, validate_chains};
use crate::rig::{Axis, Limit, Limits, Pose, Skeleton, rotate_joint};
use crate::surface::{Grip, Sculpt, SurfaceStroke};
use serde::{Deserialize, Serialize};

/// Maximum nesting depth of [`Edit::Group`]. The JSON reader of the journal has its own, larger limit.
const MAX_DEPTH: usize = 16;
/// Exclusive upper bound of stroke and mark ids.
pub(super) const MAX_ID: u32 = 1 << 30;

/// One entry of a journal or a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Applies an edit as a new undo step.
    Do(Edit),
    /// Applies an edit as part of the previous undo step, for example while a knot is dragged.
    Continue(Edit),
    /// Undoes one step.
    Undo,
    /// Redoes one step.
    Redo,
    /// Undoes or redoes until this many steps are applied.
    Jump(usize),
    /// Adds samples to the stroke being drawn. They are not part of the document yet.
    Drawing(Vec<Sample>),
}

/// A reversible change of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Starts a new document for a file, in the rest pose.
    Open {
        /// The asset file.
        asset: AssetRef,
    },
    /// Replaces the whole document.
    Replace(Box<Document>),
    /// Sets the document's name.
    Rename(String),
    /// Sets the base pose of all nodes, to which the strokes apply.
    SetPose(Pose),
    /// Sets the local transform of one node.
    SetLocal {
        /// Node to transform.
        node: NodeId,
        /// Local transform, relative to the parent node.
        local: Trs,
    },
    /// Sets the morph weights of one node.
    SetWeights {
        /// Node with morph targets.
        node: NodeId,
        /// One weight per morph target.
        weights: Vec<f32>,
    },
    /// Rotates a joint, see [`rotate_joint`].
    RotateJoint {
        /// Node of the joint.
        node: NodeId,
        /// Rotations about axes, in degrees, applied in order.
        turns: Vec<(Axis, f32)>,
    },
    /// Adds a stroke layer.
    AddStroke {
        /// Index among the layers; `None` puts the layer on top.
        index: Option<usize>,
        /// New layer, with an id from [`Document::unused_stroke_id`].
        layer: Box<StrokeLayer>,
    },
    /// Replaces the stroke layer that has this layer's id.
    SetStroke(Box<StrokeLayer>),
    /// Removes a stroke layer.
    RemoveStroke(StrokeId),
    /// Sets the offset stroke of a layer; `None` removes it.
    RedrawOffset {
        /// Id of the stroke layer.
        id: StrokeId,
        /// New offset stroke.
        offset: Option<Stroke>,
    },
    /// Moves one knot of a stroke. Moving a baseline knot recomputes the joint selection.
    MoveKnot {
        /// Id of the stroke layer.
        id: StrokeId,
        /// Which of the layer's two strokes has the knot.
        line: StrokeLine,
        /// Index of the knot.
        knot: usize,
        /// New position, world space, metres.
        position: [f32; 3],
    },
    /// Sets the name of a stroke layer.
    RenameStroke {
        /// Id of the stroke layer.
        id: StrokeId,
        /// New name.
        name: String,
    },
    /// Adds a mark on the skin.
    AddMark {
        /// Index among the marks; `None` appends.
        index: Option<usize>,
        /// New mark, with an id from [`Document::unused_mark_id`].
        mark: Box<SurfaceStroke>,
    },
    /// Replaces the mark that has this mark's id.
    SetMark(Box<SurfaceStroke>),
    /// Removes a mark.
    RemoveMark(MarkId),
    /// Adds a sculpt layer.
    AddSculpt {
        /// Index among the sculpt layers; `None` appends.
        index: Option<usize>,
        /// New layer, with an id from [`Document::unused_sculpt_id`].
        sculpt: Box<Sculpt>,
    },
    /// Replaces the sculpt layer that has this layer's id.
    SetSculpt(Box<Sculpt>),
    /// Removes a sculpt layer.
    RemoveSculpt(SculptId),
    /// Sets the pinned nodes, which stay in place during posing by hand, sorted by id.
    SetPins(Vec<NodeId>),
    /// Sets the limits of all joints.
    SetLimits(Limits),
    /// Sets the limit of one joint; `None` removes it.
    SetLimit {
        /// Node of the joint.
        node: NodeId,
        /// New limit.
        limit: Option<Box<Limit>>,
    },
    /// Sets the hidden parts of the display mesh: ascending indices.
    SetHidden(Vec<u32>),
    /// Sets the bones drawn inside a mesh without skeleton, parents before children.
    SetBones(Vec<BoneChain>),
    /// Sets keys for every property of every node at one time.
    SetKey(Key),
    /// Removes all keys at this time, seconds.
    RemoveKey(f64),
    /// Saves a pose in the library and replaces any pose of equal name; `None` removes that pose.
    KeepPose {
        /// Name of the pose.
        name: String,
        /// Saved pose, strokes applied.
        pose: Option<Box<Pose>>,
        /// Index in the library for a new pose; `None` appends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<usize>,
    },
    /// Sets the cage, or removes it.
    SetCage(Option<Box<Cage>>),
    /// Moves vertices of the rest cage. Other vertices stay.
    MoveCage(Vec<CageMove>),
    /// Changes keys, channels, clip layers or the frame rate.
    Keys(KeyEdit),
    /// Sets the deformation method and its parameters.
    SetDeformer(DeformerSettings),
    /// Sets how the skin is attached to the bones.
    SetBinding(Box<BindOptions>),
    /// Adds a grip on the skin.
    AddGrip {
        /// Index among the grips; `None` appends.
        index: Option<usize>,
        /// New grip, with an id from [`Document::unused_grip_id`].
        grip: Box<Grip>,
    },
    /// Replaces the grip that has this grip's id.
    SetGrip(Box<Grip>),
    /// Moves and rotates a grip.
    MoveGrip {
        /// Id of the grip.
        id: GripId,
        /// New translation from the rest shape, model space, metres.
        translation: [f32; 3],
        /// New rotation, a quaternion `x, y, z, w`.
        rotation: [f32; 4],
    },
    /// Removes a grip. Its keys stay, without effect.
    RemoveGrip(GripId),
    /// Adds a firm or soft region of the skin.
    AddFirm {
        /// Index among the regions; `None` appends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// New region, with an id from [`Document::unused_firm_id`].
        region: Box<FirmRegion>,
    },
    /// Sets the factor of a firm or soft region.
    SetFirm {
        /// Id of the region.
        id: FirmId,
        /// New factor on the stiffness of the flesh, 1/16..=16.
        factor: f32,
    },
    /// Removes a firm or soft region.
    RemoveFirm(FirmId),
    /// Applies several edits as one.
    Group(Vec<Edit>),
}

/// A vertex of the rest cage and where it moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CageMove {
    /// Index of the vertex.
    pub vertex: u32,
    /// New offset from the cage in the file's rest shape, bind space, metres.
    pub offset: [f32; 3],
}

/// One of the two strokes of a stroke layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrokeLine {
    /// The baseline, which selects joints.
    Baseline,
    /// The offset stroke, which poses the joints.
    Offset,
}

/// Data that an edit needs in addition to the document.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Skeleton of the document's character; for [`Edit::Open`] and [`Edit::Replace`], of the new character.
    pub skeleton: &'a Skeleton,
    /// Triangle count of the display mesh, if known; marks are checked against it.
    pub triangles: Option<usize>,
}

impl Edit {
    /// Applies the edit to the document and returns the inverse edit.
    ///
    /// # Errors
    /// The edit does not fit the document or the skeleton; the document stays unchanged.
    pub fn apply(&self, document: &mut Document, context: &Context) -> Result<Self> {
        let skeleton = context.skeleton;
        if document.asset.is_none() && !matches!(self, Self::Open { .. } | Self::Replace(_) | Self::Group(_))
        {
            return Err(Error::input("no character is open", "open a file first"));
        }
        Ok(match self {
            Self::Open { asset } => {
                let name = file_stem(&asset.path);
                let pose = Pose::rest(skeleton);
                let new = Document { name, asset: Some(asset.clone()), pose, ..Document::default() };
                Self::Replace(Box::new(std::mem::replace(document, new)))
            }
            Self::Replace(new) => {
                new.validate(skeleton, context.triangles)?;
                Self::Replace(Box::new(std::mem::replace(document, (**new).clone())))
            }
            Self::Rename(name) => Self::Rename(std::mem::replace(&mut document.name, name.clone())),
            Self::SetPose(pose) => {
                validate_pose(pose, skeleton)?;
                Self::SetPose(std::mem::replace(&mut document.pose, pose.without_rest()))
            }
            Self::SetLocal { node, local } => {
                let mut pose = document.pose.clone();
                *entry(&mut pose.local, *node)? = *local;
                validate_pose(&pose, skeleton)?;
                let old = std::mem::replace(&mut document.pose, pose);
                Self::SetLocal { node: *node, local: old.local[node.index()] }
            }
            Self::SetWeights { node, weights } => {
                let mut pose = document.pose.clone();
                entry(&mut pose.weights, *node)?.clone_from(weights);
                validate_pose(&pose, skeleton)?;
                let mut old = std::mem::replace(&mut document.pose, pose);
                Self::SetWeights { node: *node, weights: old.weights.swap_remove(node.index()) }
            }
            Self::RotateJoint { node, turns } => {
                let old = *entry(&mut document.pose.local, *node)?;
                rotate_joint(skeleton, &mut document.pose, *node, turns).inspect_err(|_| {
                    document.pose.local[node.index()] = old;
                })?;
                Self::SetLocal { node: *node, local: old }
            }
            Self::AddStroke { .. }
            | Self::SetStroke(_)
            | Self::RemoveStroke(_)
            | Self::RedrawOffset { .. }
            | Self::MoveKnot { .. }
            | Self::RenameStroke { .. } => self.apply_to_strokes(document, skeleton)?,
            Self::AddMark { .. } | Self::SetMark(_) | Self::RemoveMark(_) => {
                marks::apply(self, document, context)?
            }
            Self::AddSculpt { .. } | Self::SetSculpt(_) | Self::RemoveSculpt(_) => {
                sculpt_edit::apply(self, document, context)?
            }
            Self::SetPins(pins) => {
                validate_pins(pins, skeleton)?;
                Self::SetPins(std::mem::replace(&mut document.pins, pins.clone()))
            }
            Self::SetLimits(_) | Self::SetLimit { .. } => limit_edit::apply(self, document, skeleton)?,
            Self::SetHidden(hidden) => {
                validate_hidden(hidden)?;
                Self::SetHidden(std::mem::replace(&mut document.hidden, hidden.clone()))
            }
            Self::SetBones(chains) => {
                validate_chains(chains)?;
                if let Some(chain) = chains.iter().find(|c| c.id.0 >= MAX_ID) {
                    return Err(Error::input(format!("bone chain {}", chain.id.0), "use an unused id"));
                }
                Self::SetBones(std::mem::replace(&mut document.bones, chains.clone()))
            }
            Self::SetCage(cage) => {
                cage.as_ref().map_or(Ok(()), |cage| cage.validate(skeleton))?;
                Self::SetCage(std::mem::replace(&mut document.cage, cage.clone()))
            }
            Self::MoveCage(moves) => Self::MoveCage(document.move_cage(moves)?),
            Self::SetKey(key) => Self::Keys(key_edit::key_pose(key, document, skeleton)?),
            Self::RemoveKey(time) => Self::Keys(key_edit::remove_column(*time, document, skeleton)?),
            Self::KeepPose { name, pose, at } => document.keep_pose(name, pose.as_deref(), *at, skeleton)?,
            Self::Keys(edit) => Self::Keys(edit.apply(document, skeleton)?),
            Self::SetDeformer(deformer) => {
                deformer.recipe()?;
                Self::SetDeformer(std::mem::replace(&mut document.deformer, deformer.clone()))
            }
            Self::SetBinding(binding) => {
                binding.validate(skeleton)?;
                Self::SetBinding(std::mem::replace(&mut document.binding, binding.clone()))
            }
            Self::AddGrip { .. } | Self::SetGrip(_) | Self::MoveGrip { .. } | Self::RemoveGrip(_) => {
                grip_edit::apply(self, document)?
            }
            Self::AddFirm { .. } | Self::SetFirm { .. } | Self::RemoveFirm(_) => firm::apply(self, document)?,
            Self::Group(edits) => apply_group(edits, document, context)?,
        })
    }

    fn apply_to_strokes(&self, document: &mut Document, skeleton: &Skeleton) -> Result<Self> {
        Ok(match self {
            Self::AddStroke { index, layer } => {
                layer.validate(skeleton.nodes.len())?;
                let at = index.unwrap_or(document.strokes.len());
                if at > document.strokes.len()
                    || document.stroke_index(layer.id).is_ok()
                    || layer.id.0 >= MAX_ID
                {
                    return Err(Error::input(
                        format!("stroke {} cannot be added at {at}", layer.id.0),
                        "use an unused id and a place among the strokes",
                    ));
                }
                document.strokes.insert(at, (**layer).clone());
                Self::RemoveStroke(layer.id)
            }
            Self::SetStroke(layer) => {
                layer.validate(skeleton.nodes.len())?;
                let i = document.stroke_index(layer.id)?;
                Self::SetStroke(Box::new(std::mem::replace(&mut document.strokes[i], (**layer).clone())))
            }
            Self::RemoveStroke(id) => {
                let i = document.stroke_index(*id)?;
                Self::AddStroke { index: Some(i), layer: Box::new(document.strokes.remove(i)) }
            }
            Self::RedrawOffset { id, offset } => {
                let i = document.stroke_index(*id)?;
                let old = std::mem::replace(&mut document.strokes[i].offset, offset.clone());
                Self::RedrawOffset { id: *id, offset: old }
            }
            Self::RenameStroke { id, name } => {
                let i = document.stroke_index(*id)?;
                let renamed = StrokeLayer { name: name.clone(), ..document.strokes[i].clone() };
                renamed.validate(skeleton.nodes.len())?;
                let old = std::mem::replace(&mut document.strokes[i].name, renamed.name);
                Self::RenameStroke { id: *id, name: old }
            }
            Self::MoveKnot { id, line, knot, position } => {
                let i = document.stroke_index(*id)?;
                let old = document.strokes[i].clone();
                if *line == StrokeLine::Offset {
                    let moved = old.offset.as_ref().map(|o| o.with_knot(*knot, *position)).transpose()?;
                    let moved = moved.ok_or_else(|| {
                        Error::input(format!("stroke {} has no offset stroke", id.0), "draw one first")
                    })?;
                    document.strokes[i].offset = Some(moved);
                    Self::RedrawOffset { id: *id, offset: old.offset }
                } else {
                    let baseline = old.baseline.with_knot(*knot, *position)?;
                    let below = document.posed_below(skeleton, i);
                    let new = StrokeLayer::new(*id, baseline, old.radius, (skeleton, &old.except), &below)?;
                    let layer = &mut document.strokes[i];
                    (layer.baseline, layer.selection) = (new.baseline, new.selection);
                    Self::SetStroke(Box::new(old))
                }
            }
            _ => return Err(Error::input("this edit is not about strokes", "report it as a bug")),
        })
    }

    /// Returns whether this edit overwrites everything that `earlier`, an edit of the same undo step, has set.
    pub(super) fn supersedes(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (
                Self::MoveKnot { id, line, knot, .. },
                Self::MoveKnot { id: old_id, line: old_line, knot: old_knot, .. },
            ) => (id, line, knot) == (old_id, old_line, old_knot),
            (Self::RedrawOffset { id, .. }, Self::RedrawOffset { id: old, .. }) => id == old,
            (Self::SetLocal { node, .. }, Self::SetLocal { node: old, .. })
            | (Self::SetWeights { node, .. }, Self::SetWeights { node: old, .. })
            | (Self::SetLimit { node, .. }, Self::SetLimit { node: old, .. }) => node == old,
            (Self::Keys(edit), Self::Keys(old)) => edit.supersedes(old),
            (Self::SetSculpt(sculpt), Self::SetSculpt(old)) => sculpt.id == old.id,
            (Self::MoveGrip { id, .. }, Self::MoveGrip { id: old, .. }) => id == old,
            (Self::SetGrip(grip), Self::SetGrip(old)) => grip.id == old.id,
            (Self::SetFirm { id, .. }, Self::SetFirm { id: old, .. }) => id == old,
            (Self::SetPose(_), Self::SetPose(_))
            | (Self::SetDeformer(_), Self::SetDeformer(_))
            | (Self::SetBinding(_), Self::SetBinding(_))
            | (Self::SetBones(_), Self::SetBones(_)) => true,
            (Self::MoveCage(moves), Self::MoveCage(old)) => {
                moves.iter().map(|m| m.vertex).eq(old.iter().map(|m| m.vertex))
            }
            // Such groups occur when the user edits both sides of a character at once.
            (Self::Group(edits), Self::Group(old)) => {
                edits.len() == old.len() && edits.iter().zip(old).all(|(a, b)| a.supersedes(b))
            }
            _ => false,
        }
    }
}

/// Applies all edits, or none if one fails.
fn apply_group(edits: &[Edit], document: &mut Document, context: &Context) -> Result<Edit> {
    if depth(edits) > MAX_DEPTH {
        return Err(Error::input("groups of edits are nested too deeply", "put them into one group"));
    }
    let mut inverses = Vec::with_capacity(edits.len());
    for edit in edits {
        match edit.apply(document, context) {
            Ok(inverse) => inverses.push(inverse),
            Err(error) => {
                for inverse in inverses.iter().rev() {
                    inverse.apply(document, context)?;
                }
                return Err(error);
            }
        }
    }
    inverses.reverse();
    Ok(Edit::Group(inverses))
}

fn depth(edits: &[Edit]) -> usize {
    let inner = |e: &Edit| if let Edit::Group(edits) = e { depth(edits) } else { 0 };
    1 + edits.iter().map(inner).max().unwrap_or(0)
}

fn entry<T>(list: &mut [T], node: NodeId) -> Result<&mut T> {
    let count = list.len();
    list.get_mut(node.index()).ok_or_else(|| {
        Error::input(format!("there is no node {}", node.0), format!("the character has {count} nodes"))
    })
}

fn file_stem(path: &str) -> String {
    std::path::Path::new(path).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}
