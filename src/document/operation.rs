//! The one table of operations: what tools emit, what the journal records, what scripts and replays run and what
//! undo inverts.
//!
//! As JSON each is one line, e.g. `{"do":{"set_key":{"time":0.5,"pose":...}}}` or `"undo"`.

use super::contents::{MAX_MARKS, validate_pins, validate_pose};
use super::{AssetRef, DeformerSettings, Document, Key, KeyEdit, key_edit, sculpt_edit};
use crate::base::math::Trs;
use crate::base::{Error, MarkId, NodeId, Result, SculptId, StrokeId};
use crate::pose::{Sample, Stroke, StrokeLayer};
use crate::rig::{Axis, Pose, Skeleton, rotate_joint};
use crate::surface::{Sculpt, SurfaceStroke};
use serde::{Deserialize, Serialize};

/// Groups within groups; the journal's reader has a limit of its own beyond this.
const MAX_DEPTH: usize = 16;
/// Above all stroke ids.
pub(super) const MAX_ID: u32 = 1 << 30;

/// An entry of a journal or a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// An edit, one step of undo.
    Do(Edit),
    /// An edit that belongs to the step before it: a knot while it is dragged.
    Continue(Edit),
    /// Takes one step back.
    Undo,
    /// Takes one step forward again.
    Redo,
    /// Goes to the state after that many steps.
    Jump(usize),
    /// Samples of the stroke being drawn, as they arrive: no part of the document yet.
    Drawing(Vec<Sample>),
}

/// A change of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Starts over on a file, at rest.
    Open {
        /// The file.
        asset: AssetRef,
    },
    /// Puts a whole document in place of this one.
    Replace(Box<Document>),
    /// Names the document.
    Rename(String),
    /// Sets every node's pose below the strokes.
    SetPose(Pose),
    /// Sets one node's local transform.
    SetLocal {
        /// The node.
        node: NodeId,
        /// Its transform.
        local: Trs,
    },
    /// Sets one node's morph weights.
    SetWeights {
        /// The node.
        node: NodeId,
        /// One per morph target.
        weights: Vec<f32>,
    },
    /// Turns a joint, see [`rotate_joint`].
    RotateJoint {
        /// The joint's node.
        node: NodeId,
        /// Axis and degrees, in order.
        turns: Vec<(Axis, f32)>,
    },
    /// Adds a stroke layer.
    AddStroke {
        /// Its place among the layers; none for on top.
        index: Option<usize>,
        /// It, with an id of [`Document::unused_stroke_id`].
        layer: Box<StrokeLayer>,
    },
    /// Replaces the layer of the same id.
    SetStroke(Box<StrokeLayer>),
    /// Removes a layer.
    RemoveStroke(StrokeId),
    /// Draws the offset stroke of a layer, first or again; none erases it.
    RedrawOffset {
        /// The layer.
        id: StrokeId,
        /// The stroke.
        offset: Option<Stroke>,
    },
    /// Moves a knot. A moved baseline selects again.
    MoveKnot {
        /// The layer.
        id: StrokeId,
        /// Which of its strokes.
        line: Line,
        /// The knot's index.
        knot: usize,
        /// World, metres.
        position: [f32; 3],
    },
    /// Names a layer.
    RenameStroke {
        /// The layer.
        id: StrokeId,
        /// Its name.
        name: String,
    },
    /// Adds a mark on the skin.
    AddMark {
        /// Its place among the marks; none for last.
        index: Option<usize>,
        /// It, with an id of [`Document::unused_mark_id`].
        mark: Box<SurfaceStroke>,
    },
    /// Replaces the mark of the same id.
    SetMark(Box<SurfaceStroke>),
    /// Removes a mark.
    RemoveMark(MarkId),
    /// Adds a sculpt layer.
    AddSculpt {
        /// Its place among them; none for last.
        index: Option<usize>,
        /// It, with an id of [`Document::unused_sculpt_id`].
        sculpt: Box<Sculpt>,
    },
    /// Replaces the sculpt layer of the same id.
    SetSculpt(Box<Sculpt>),
    /// Removes a sculpt layer.
    RemoveSculpt(SculptId),
    /// Sets the nodes that stay where they are while the body is posed by hand, by rising id.
    SetPins(Vec<NodeId>),
    /// Keys a whole pose: every property of every node at a time.
    SetKey(Key),
    /// Removes all keys at a time, seconds.
    RemoveKey(f64),
    /// Keeps a pose in the library, in place of that of the same name; none forgets it.
    KeepPose {
        /// Its name.
        name: String,
        /// It, strokes applied.
        pose: Option<Box<Pose>>,
        /// Its place in the library where it is new; none for last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<usize>,
    },
    /// Changes keys, channels, layers of clips or the frame rate.
    Keys(KeyEdit),
    /// Chooses the deformation method.
    SetDeformer(DeformerSettings),
    /// Several edits as one.
    Group(Vec<Edit>),
}

/// A stroke of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The baseline.
    Baseline,
    /// The offset stroke.
    Offset,
}

/// What an edit needs to know beside the document.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The skeleton of the document's file; for [`Edit::Open`] and [`Edit::Replace`], of the new one.
    pub skeleton: &'a Skeleton,
    /// Triangles of its display mesh, where they are known: marks are checked against them.
    pub triangles: Option<usize>,
}

impl Edit {
    /// Changes the document and returns the edit that changes it back.
    ///
    /// # Errors
    /// An edit that does not fit the document or the skeleton; the document is as before then.
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
                Self::SetPose(std::mem::replace(&mut document.pose, pose.clone()))
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
                self.apply_to_marks(document, context)?
            }
            Self::AddSculpt { .. } | Self::SetSculpt(_) | Self::RemoveSculpt(_) => {
                sculpt_edit::apply(self, document, context)?
            }
            Self::SetPins(pins) => {
                validate_pins(pins, skeleton)?;
                Self::SetPins(std::mem::replace(&mut document.pins, pins.clone()))
            }
            Self::SetKey(key) => Self::Keys(key_edit::key_pose(key, document, skeleton)?),
            Self::RemoveKey(time) => Self::Keys(key_edit::remove_column(*time, document, skeleton)?),
            Self::KeepPose { name, pose, at } => document.keep_pose(name, pose.as_deref(), *at, skeleton)?,
            Self::Keys(edit) => Self::Keys(edit.apply(document, skeleton)?),
            Self::SetDeformer(deformer) => {
                deformer.recipe()?;
                Self::SetDeformer(std::mem::replace(&mut document.deformer, deformer.clone()))
            }
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
                if *line == Line::Offset {
                    let moved = old.offset.as_ref().map(|o| o.with_knot(*knot, *position)).transpose()?;
                    let moved = moved.ok_or_else(|| {
                        Error::input(format!("stroke {} has no offset stroke", id.0), "draw one first")
                    })?;
                    document.strokes[i].offset = Some(moved);
                    Self::RedrawOffset { id: *id, offset: old.offset }
                } else {
                    let baseline = old.baseline.with_knot(*knot, *position)?;
                    let below = document.posed_below(skeleton, i);
                    let new = StrokeLayer::new(*id, baseline, old.radius, skeleton, &below)?;
                    let layer = &mut document.strokes[i];
                    (layer.baseline, layer.selection) = (new.baseline, new.selection);
                    Self::SetStroke(Box::new(old))
                }
            }
            _ => return Err(Error::input("this edit is not about strokes", "report it as a bug")),
        })
    }

    fn apply_to_marks(&self, document: &mut Document, context: &Context) -> Result<Self> {
        Ok(match self {
            Self::AddMark { index, mark } => {
                mark.validate(context.triangles)?;
                let at = index.unwrap_or(document.marks.len());
                if at > document.marks.len()
                    || document.marks.len() >= MAX_MARKS
                    || document.mark_index(mark.id).is_ok()
                    || mark.id.0 >= MAX_ID
                {
                    return Err(Error::input(
                        format!("mark {} cannot be added at {at}", mark.id.0),
                        format!("use an unused id, a place among the marks, and no more than {MAX_MARKS}"),
                    ));
                }
                document.marks.insert(at, (**mark).clone());
                Self::RemoveMark(mark.id)
            }
            Self::SetMark(mark) => {
                mark.validate(context.triangles)?;
                let i = document.mark_index(mark.id)?;
                Self::SetMark(Box::new(std::mem::replace(&mut document.marks[i], (**mark).clone())))
            }
            Self::RemoveMark(id) => {
                let i = document.mark_index(*id)?;
                Self::AddMark { index: Some(i), mark: Box::new(document.marks.remove(i)) }
            }
            _ => return Err(Error::input("this edit is not about marks", "report it as a bug")),
        })
    }

    /// Whether this edit makes an earlier one of the same step void: its own value is all that counts.
    pub(super) fn supersedes(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (
                Self::MoveKnot { id, line, knot, .. },
                Self::MoveKnot { id: old_id, line: old_line, knot: old_knot, .. },
            ) => (id, line, knot) == (old_id, old_line, old_knot),
            (Self::RedrawOffset { id, .. }, Self::RedrawOffset { id: old, .. }) => id == old,
            (Self::SetLocal { node, .. }, Self::SetLocal { node: old, .. })
            | (Self::SetWeights { node, .. }, Self::SetWeights { node: old, .. }) => node == old,
            (Self::Keys(edit), Self::Keys(old)) => edit.supersedes(old),
            (Self::SetSculpt(sculpt), Self::SetSculpt(old)) => sculpt.id == old.id,
            (Self::SetPose(_), Self::SetPose(_)) | (Self::SetDeformer(_), Self::SetDeformer(_)) => true,
            // Both sides of a character at once.
            (Self::Group(edits), Self::Group(old)) => {
                edits.len() == old.len() && edits.iter().zip(old).all(|(a, b)| a.supersedes(b))
            }
            _ => false,
        }
    }
}

/// All or nothing.
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
