//! The selected keys of the dope sheet, by row and time.

use crate::document::{Document, DopeSheet, KeyAt, SAME_KEY, Subject};
use std::collections::BTreeMap;
use std::ops::Range;

/// Selected keys. A key of a row stands for all channels of the row that have a key at its time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::ui) struct Selection {
    /// Times per row, seconds, increasing; no row is empty.
    rows: BTreeMap<Subject, Vec<f64>>,
    /// All selected times, seconds, increasing.
    times: Vec<f64>,
}

/// Returns the range of `times` that lies within [`SAME_KEY`] of a time. The dope sheet treats these keys as one.
pub(super) fn same_key(times: &[f64], time: f64) -> Range<usize> {
    let from = times.partition_point(|t| *t < time - SAME_KEY);
    from..from + times[from..].partition_point(|t| *t <= time + SAME_KEY)
}

/// Whether a sorted list has a time.
pub(super) fn has(times: &[f64], time: f64) -> bool {
    times.binary_search_by(|t| t.total_cmp(&time)).is_ok()
}

impl Selection {
    /// Selects these keys.
    pub fn of(keys: impl Iterator<Item = KeyAt>) -> Self {
        let mut out = Self::default();
        keys.for_each(|key| out.rows.entry(key.target.subject()).or_default().push(key.time));
        out.settle();
        out
    }

    /// Selects all keys of the sheet.
    pub fn set(&mut self, sheet: &DopeSheet) {
        self.rows = sheet.rows.iter().map(|row| (row.subject.clone(), row.times.clone())).collect();
        self.settle();
    }

    /// Adds keys of a row.
    pub fn add(&mut self, subject: &Subject, times: &[f64]) {
        if !times.is_empty() {
            self.rows.entry(subject.clone()).or_default().extend(times);
        }
    }

    /// Removes keys of a row.
    pub fn remove(&mut self, subject: &Subject, times: &[f64]) {
        if let Some(own) = self.rows.get_mut(subject) {
            own.retain(|t| !times.contains(t));
        }
    }

    /// Sorts the keys after changes by [`Self::add`] and [`Self::remove`].
    pub fn settle(&mut self) {
        let sort = |times: &mut Vec<f64>| {
            times.sort_unstable_by(f64::total_cmp);
            times.dedup();
        };
        self.rows.values_mut().for_each(sort);
        self.rows.retain(|_, times| !times.is_empty());
        self.times.clear();
        self.times.extend(self.rows.values().flatten());
        sort(&mut self.times);
    }

    /// Deselects keys that the sheet does not have.
    pub fn retain(&mut self, sheet: &DopeSheet) {
        for (subject, times) in &mut self.rows {
            let row = sheet.rows.iter().find(|row| row.subject == *subject);
            times.retain(|t| row.is_some_and(|row| has(&row.times, *t)));
        }
        self.settle();
    }

    /// Moves the keys in time, as edits of the document do.
    pub fn map(&mut self, to: impl Fn(f64) -> f64) {
        for time in self.rows.values_mut().flatten() {
            *time = f64::from(to(*time) as f32);
        }
        self.settle();
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of selected keys, counted per row.
    pub fn len(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    /// Returns the selected times of a row, seconds, increasing.
    pub fn of_row(&self, subject: &Subject) -> &[f64] {
        self.rows.get(subject).map_or(&[], Vec::as_slice)
    }

    /// Returns the object of the first selected row that is a node's or a grip's.
    pub fn owner(&self) -> Option<&Subject> {
        self.rows.keys().find(|subject| matches!(subject, Subject::Node(_) | Subject::Grip(_)))
    }

    /// Whether any row has a selected key at this time.
    pub fn has_column(&self, time: f64) -> bool {
        has(&self.times, time)
    }

    /// Returns the times of the first and the last selected key, seconds.
    pub fn ends(&self) -> Option<[f64; 2]> {
        Some([*self.times.first()?, *self.times.last()?])
    }

    /// Returns the document's keys that are selected, sorted by target and time.
    pub fn keys(&self, document: &Document) -> Vec<KeyAt> {
        let mut out = Vec::new();
        if self.is_empty() {
            return out;
        }
        for channel in document.motion().channels() {
            let times = self.of_row(&channel.target.subject());
            let there = times.iter().filter(|t| channel.key_at(**t).is_ok());
            out.extend(there.map(|&time| KeyAt { target: channel.target.clone(), time }));
        }
        out
    }
}
