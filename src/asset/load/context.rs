//! Shared state of the loader: the JSON tree with checked access, the buffers, the list of problems, and the budget
//! of decoded bytes.

use super::item::Item;
use super::view::View;
use crate::asset::{Problem, limits};
use crate::base::{Error, Result};
use serde_json::{Map, Value};
use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;

/// The remedy for most broken files.
pub(super) const REMEDY: &str = "export the file again, or see what the glTF validator says of it";

/// Maximum characters of an element's name in messages.
const NAME: usize = 80;

/// The content of the file's buffers.
#[derive(Default)]
pub(super) struct Buffers {
    /// Bytes per buffer; empty if unavailable.
    pub content: Vec<Vec<u8>>,
    /// Per buffer: the reason why its bytes are unavailable. It is an error only if an element reads them.
    pub missing: Vec<Option<String>>,
}

/// A file being read.
pub(super) struct Context<'a> {
    pub path: &'a Path,
    pub json: &'a Map<String, Value>,
    pub buffers: &'a Buffers,
    /// Buffer views, each opened on first use.
    pub views: Vec<OnceCell<View>>,
    problems: RefCell<Vec<Problem>>,
    untold: Cell<usize>,
    budget: Cell<u64>,
}

impl<'a> Context<'a> {
    /// Creates the state. `problems` are the problems found so far.
    pub fn new(
        path: &'a Path,
        json: &'a Map<String, Value>,
        buffers: &'a Buffers,
        problems: Vec<Problem>,
    ) -> Self {
        let bytes: u64 = buffers.content.iter().map(|b| b.len() as u64).sum();
        let budget =
            (limits::DECODED_FLOOR + bytes.saturating_mul(limits::DECODED_RATIO)).min(limits::DECODED_BYTES);
        let views = json.get("bufferViews").and_then(Value::as_array).map_or(0, Vec::len);
        Self {
            path,
            json,
            buffers,
            views: (0..views.min(limits::ACCESSORS)).map(|_| OnceCell::new()).collect(),
            problems: RefCell::new(problems),
            untold: Cell::new(0),
            budget: Cell::new(budget),
        }
    }

    /// Creates an error about an element of the file.
    pub fn broken(&self, at: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::broken(self.path, at, cut(problem.into(), limits::MESSAGE), REMEDY)
    }

    /// Reports a flaw that was repaired.
    pub fn mend(&self, at: impl Into<String>, text: impl Into<String>) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < limits::PROBLEMS {
            problems.push(Problem { at: at.into(), text: cut(text.into(), limits::MESSAGE) });
        } else {
            self.untold.set(self.untold.get() + 1);
        }
    }

    /// Removes and returns all problems so far.
    pub fn take_problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.take();
        if self.untold.get() > 0 {
            problems
                .push(Problem { at: "file".into(), text: format!("{} more problems", self.untold.get()) });
        }
        problems
    }

    /// Deducts `bytes`, which are about to be allocated, from the budget. Fails if the budget is exhausted.
    pub fn spend(&self, at: &str, bytes: u64) -> Result<()> {
        match self.budget.get().checked_sub(bytes) {
            Some(rest) => {
                self.budget.set(rest);
                Ok(())
            }
            None => Err(Error::broken(
                self.path,
                at,
                "its decoded data would exceed what a file of this size may need",
                "split the file into smaller ones",
            )),
        }
    }

    /// Returns the bytes left in the budget.
    pub fn remaining(&self) -> u64 {
        self.budget.get()
    }

    /// Returns the top-level array `key`; empty if absent, an error if it has more than `most` elements.
    pub fn table(&self, key: &str, most: usize) -> Result<&'a [Value]> {
        let table: &'a [Value] = match self.json.get(key) {
            None => &[],
            Some(Value::Array(table)) => table,
            Some(_) => return Err(self.broken(format!("\"{key}\""), "it is not an array")),
        };
        if table.len() > most {
            return Err(Error::broken(
                self.path,
                format!("\"{key}\""),
                format!("it has {} entries, the limit is {most}", table.len()),
                "split the file into smaller ones",
            ));
        }
        Ok(table)
    }

    /// Returns element `index` of the top-level array `key`; messages call it `what`, e.g. `node`.
    pub fn item<'c>(&'c self, key: &str, what: &str, index: usize) -> Result<Item<'c>> {
        let value = self
            .json
            .get(key)
            .and_then(Value::as_array)
            .and_then(|table| table.get(index))
            .ok_or_else(|| self.broken(format!("{what} {index}"), "it does not exist"))?;
        let map = value
            .as_object()
            .ok_or_else(|| self.broken(format!("{what} {index}"), "it is not a JSON object"))?;
        let at = match map.get("name").and_then(Value::as_str) {
            Some(name) if !name.is_empty() => format!("{what} \"{}\"", cut(name.into(), NAME)),
            _ => format!("{what} {index}"),
        };
        Ok(Item { ctx: self, map, at })
    }

    /// Returns all elements of the top-level array `key`, at most [`limits::ELEMENTS`].
    pub fn items<'c>(&'c self, key: &str, what: &str) -> Result<Vec<Item<'c>>> {
        let count = self.table(key, limits::ELEMENTS)?.len();
        (0..count).map(|index| self.item(key, what, index)).collect()
    }
}

/// Truncates a message to `most` characters, because names in a file can have any length.
fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// Returns whether all values are finite and at most [`limits::COORDINATE`] in magnitude.
pub(super) fn in_range(values: &[f32]) -> bool {
    values.iter().all(|v| v.abs() <= limits::COORDINATE)
}
