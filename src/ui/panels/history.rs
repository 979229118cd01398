//! The list of the document's history steps. A click restores the state after a step.

use super::{Pressed, widgets};
use crate::base::NodeId;
use crate::document::{Edit, KeyEdit, StrokeLine};
use crate::pose::{Adjustment, StrokeLayer};
use crate::workbench::{Command, Workbench};
use egui::{RichText, Ui};

pub(super) fn show(ui: &mut Ui, bench: &Workbench, pressed: &mut Pressed) {
    let (done, all) = bench.session().history();
    widgets::list(ui, "history", (220.0, true), all, |ui, range| {
        let steps = bench.session().steps().enumerate();
        for (i, (first, undo, last)) in steps.skip(range.start).take(range.len()) {
            let recorded =
                !matches!(first, Edit::Keys(_)) && matches!(last, Edit::Keys(KeyEdit::Channels(_)));
            let text = if recorded { "Record a motion".to_owned() } else { label((first, undo), bench) };
            let text = RichText::new(text);
            let text = if i < done { text } else { text.weak().italics() };
            if widgets::row(ui, 0.0, text, i + 1 == done).clicked() {
                pressed.commands.push(Command::Jump(i + 1));
            }
        }
    });
}

/// Returns the displayed name of an edit, with the edit that reverts it.
fn label((edit, undo): (&Edit, &Edit), bench: &Workbench) -> String {
    let nodes = &bench.character().skeleton.nodes;
    let node = |id: &NodeId| nodes.get(id.index()).map_or("a node", |n| n.name.as_str()).to_owned();
    let clips = &bench.character().skeleton.clips;
    let clip = |index: usize| clips.get(index).map_or("of the file", |c| c.name.as_str());
    match edit {
        Edit::Open { .. } => "Open".to_owned(),
        Edit::Replace(_) => "Open the project".to_owned(),
        Edit::Rename(name) => format!("Name it {name}"),
        Edit::SetPose(_) => "Set the pose".to_owned(),
        Edit::SetLocal { node: id, .. } | Edit::RotateJoint { node: id, .. } => format!("Move {}", node(id)),
        Edit::SetWeights { node: id, .. } => format!("Morphs of {}", node(id)),
        Edit::AddStroke { layer, .. } => format!("Draw {}", layer.name),
        Edit::SetStroke(layer) => match adjusted(layer, undo)[..] {
            [] => format!("Change {}", layer.name),
            [joint] => format!("Move {}", node(&joint)),
            [first, ref rest @ ..] => format!("Move {} and {} more", node(&first), rest.len()),
        },
        Edit::RemoveStroke(id) => format!("Remove stroke {}", id.0 + 1),
        Edit::RedrawOffset { id, .. } => format!("Offset of stroke {}", id.0 + 1),
        Edit::MoveKnot { id, line, .. } => {
            let line = if *line == StrokeLine::Baseline { "baseline" } else { "offset" };
            format!("Bend the {line} of stroke {}", id.0 + 1)
        }
        Edit::RenameStroke { name, .. } => format!("Name a stroke {name}"),
        Edit::AddMark { mark, .. } => format!("Draw {}", mark.name),
        Edit::SetMark(mark) => format!("Change {}", mark.name),
        Edit::RemoveMark(id) => format!("Remove mark {}", id.0 + 1),
        Edit::AddSculpt { sculpt, .. } => format!("Shape {}", sculpt.name),
        Edit::SetSculpt(sculpt) => format!("Change {}", sculpt.name),
        Edit::AddGrip { grip, .. } => format!("Add {}", grip.name),
        Edit::SetGrip(grip) => format!("{}: {}", grip.name, grip.hold.name()),
        Edit::MoveGrip { id, .. } => format!("Move grip {}", u64::from(id.0) + 1),
        Edit::RemoveGrip(id) => format!("Remove grip {}", u64::from(id.0) + 1),
        Edit::AddFirm { region, .. } => {
            format!("{} {}", if region.factor < 1.0 { "Soft at" } else { "Firm at" }, region.name)
        }
        Edit::SetFirm { id, .. } => format!("Firmness of region {}", id.0 + 1),
        Edit::RemoveFirm(id) => format!("Remove firm region {}", id.0 + 1),
        Edit::SetBones(chains) => format!("Bones: {}", chains.iter().map(|c| c.bones()).sum::<usize>()),
        Edit::SetCage(Some(cage)) => format!("Cage {}", cage.name),
        Edit::SetCage(None) => "Remove the cage".to_owned(),
        Edit::MoveCage(_) => "Move the cage".to_owned(),
        Edit::SetHidden(hidden) => format!("Hidden parts: {}", hidden.len()),
        Edit::SetPins(pins) => format!("Pins: {}", pins.len()),
        Edit::SetLimits(limits) => format!("Limits: {}", limits.len()),
        Edit::SetLimit { node: id, limit: Some(_) } => format!("Limit of {}", node(id)),
        Edit::SetLimit { node: id, limit: None } => format!("Remove the limit of {}", node(id)),
        Edit::SetKey(key) => format!("Key at {:.2} s", key.time),
        Edit::RemoveKey(time) => format!("Remove the key at {time:.2} s"),
        Edit::Keys(KeyEdit::Move { .. }) => "Move keys".to_owned(),
        Edit::Keys(KeyEdit::Scale { .. }) => "Retime keys".to_owned(),
        Edit::Keys(KeyEdit::Remove(_)) => "Delete keys".to_owned(),
        Edit::Keys(KeyEdit::Insert { time, .. }) => format!("Keys at {time:.2} s"),
        Edit::Keys(KeyEdit::Channels(_)) => "Change keys".to_owned(),
        Edit::Keys(KeyEdit::Interpolation { .. }) => "Interpolation of keys".to_owned(),
        Edit::Keys(KeyEdit::Tangents { .. } | KeyEdit::Curve { .. }) => "Change a curve".to_owned(),
        Edit::Keys(KeyEdit::Import { clip: index }) => format!("Keys of clip {}", clip(*index)),
        Edit::Keys(KeyEdit::Clips(layers)) if layers.is_empty() => "Remove the clips".to_owned(),
        Edit::Keys(KeyEdit::Clips(layers)) => {
            let names: Vec<&str> = layers.iter().map(|layer| clip(layer.clip)).collect();
            format!("Clips: {}", names.join(", "))
        }
        Edit::Keys(KeyEdit::Rate(rate)) => format!("{rate} frames per second"),
        Edit::SetDeformer(settings) => {
            let method = super::deformer::method_label(&settings.method);
            format!("Deformer: {method}")
        }
        Edit::SetBinding(binding) => format!("Binding: {}", binding.method.label().to_lowercase()),
        // An edit with the copy of the displayed pose before it has the name of the edit.
        Edit::Group(edits) if matches!(edits[..], [Edit::Group(_), _]) => {
            let undo = if let Edit::Group(undos) = undo { undos.first().unwrap_or(undo) } else { undo };
            label((&edits[1], undo), bench)
        }
        Edit::Group(edits) if !edits.is_empty() => {
            // A group is reverted in the opposite order.
            let undo = if let Edit::Group(undos) = undo { undos.last().unwrap_or(undo) } else { undo };
            let first = label((&edits[0], undo), bench);
            if edits.len() == 1 { first } else { format!("{first} and {} more", edits.len() - 1) }
        }
        // The name of any other edit is its serialized name.
        other => serde_json::to_value(other).ok().map_or_else(|| "Edit".to_owned(), |v| name_of(&v)),
    }
}

/// Returns the joints that an edit of a stroke layer moved by hand; none if the edit changed the strokes.
fn adjusted(layer: &StrokeLayer, undo: &Edit) -> Vec<NodeId> {
    let Edit::SetStroke(old) = undo else { return Vec::new() };
    if (StrokeLayer { adjustments: old.adjustments.clone(), ..layer.clone() }) != **old {
        return Vec::new();
    }
    let other = |a: &&Adjustment| !old.adjustments.contains(a);
    let gone = |a: &&Adjustment| !layer.adjustments.iter().any(|b| a.node == b.node);
    let changed = layer.adjustments.iter().filter(other).chain(old.adjustments.iter().filter(gone));
    changed.map(|a| a.node).collect()
}

/// Converts `remove_sculpt` to `Remove sculpt`.
fn name_of(value: &serde_json::Value) -> String {
    let key = value.as_object().and_then(|o| o.keys().next().cloned());
    let text = key.or(value.as_str().map(str::to_owned)).unwrap_or_default().replace('_', " ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |c| c.to_uppercase().collect::<String>() + letters.as_str())
}
