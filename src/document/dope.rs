//! The dope sheet: all keys by row and time, as plain data for any panel.

use super::{Document, KeyAt, Target};
use crate::base::{GripId, NodeId, SculptId};
use crate::rig::Skeleton;

/// The object whose keys a row of the dope sheet shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// All properties of one node.
    Node(NodeId),
    /// Amplitude and stiffness of one sculpt layer.
    Sculpt(SculptId),
    /// The cage.
    Cage,
    /// Method and name of one deformer setting.
    Setting(String, String),
    /// A grip on the skin.
    Grip(GripId),
}

/// A row of the dope sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Object that the row shows.
    pub subject: Subject,
    /// Name to display.
    pub label: String,
    /// Key times, seconds, increasing.
    pub times: Vec<f64>,
}

/// The keys of a document, as rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DopeSheet {
    /// Nodes in file order, then sculpt layers, then settings, then grips.
    pub rows: Vec<Row>,
    /// Times at which any row has a key, seconds, increasing.
    pub columns: Vec<f64>,
    /// End of the last key or clip, seconds.
    pub duration: f64,
    /// Frame rate, frames per second.
    pub rate: u32,
}

impl DopeSheet {
    /// Returns all keys of the document at the given times.
    pub fn keys_in(document: &Document, columns: &[f64]) -> Vec<KeyAt> {
        let channels = document.motion.channels.iter();
        let keys = channels.flat_map(|c| {
            let there = columns.iter().filter(|t| c.key_at(**t).is_ok());
            there.map(|&time| KeyAt { target: c.target.clone(), time })
        });
        keys.collect()
    }

    /// Returns the column nearest to a time, at most `within` seconds away.
    pub fn column_near(&self, time: f64, within: f64) -> Option<f64> {
        let after = self.columns.partition_point(|c| *c < time);
        let beside = self.columns[after.saturating_sub(1)..].iter().take(2).copied();
        let near = beside.filter(|c| (c - time).abs() <= within);
        near.min_by(|a, b| (a - time).abs().total_cmp(&(b - time).abs()))
    }
}

impl Target {
    /// Returns the subject of the row that shows this target.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Node { node, .. } => Subject::Node(*node),
            Self::SculptAmplitude(id) | Self::SculptStiffness(id) => Subject::Sculpt(*id),
            Self::Cage(_) => Subject::Cage,
            Self::Setting { method, name } => Subject::Setting(method.clone(), name.clone()),
            Self::Grip { grip, .. } => Subject::Grip(*grip),
        }
    }
}

/// Returns the dope sheet of a document.
pub fn dope_sheet(document: &Document, skeleton: &Skeleton) -> DopeSheet {
    let mut rows: Vec<Row> = Vec::new();
    for channel in &document.motion.channels {
        let subject = channel.target.subject();
        // Channels are sorted by target, so the channels of one row are adjacent.
        if rows.last().is_none_or(|r| r.subject != subject) {
            let label = match &subject {
                Subject::Node(node) => {
                    skeleton.nodes.get(node.index()).map_or_else(|| "?".into(), |n| n.name.clone())
                }
                Subject::Sculpt(id) => {
                    let sculpt = document.sculpts.iter().find(|s| s.id == *id);
                    sculpt.map_or_else(|| channel.target.label(skeleton), |s| s.name.clone())
                }
                Subject::Grip(id) => {
                    let grip = document.grips.iter().find(|g| g.id == *id);
                    grip.map_or_else(|| channel.target.label(skeleton), |g| g.name.clone())
                }
                Subject::Cage | Subject::Setting(..) => channel.target.label(skeleton),
            };
            rows.push(Row { subject, label, times: Vec::new() });
        }
        if let Some(row) = rows.last_mut() {
            row.times.extend(&channel.times);
        }
    }
    merge_sculpts(&mut rows);
    for row in &mut rows {
        row.times.sort_unstable_by(f64::total_cmp);
        row.times.dedup();
    }
    DopeSheet {
        columns: document.motion.key_times(),
        duration: document.motion.duration(),
        rate: document.motion.rate,
        rows,
    }
}

/// Merges the two rows of each sculpt layer, because channels list all amplitudes before all stiffnesses.
fn merge_sculpts(rows: &mut Vec<Row>) {
    rows.sort_by(|a, b| a.subject.cmp(&b.subject));
    rows.dedup_by(|next, row| {
        let same = next.subject == row.subject;
        if same {
            row.times.append(&mut next.times);
        }
        same
    });
}
