//! What every part of the loader shares: the JSON tree with checked access, the buffers, the list of problems
//! and the budget of decoded bytes.

use super::view::View;
use crate::asset::{Problem, limits};
use crate::base::{Error, Result};
use serde_json::{Map, Value};
use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;

/// What to do about most broken files.
pub(super) const REMEDY: &str = "export the file again, or see what the glTF validator says of it";

/// Characters of an element's name in messages.
const NAME: usize = 80;

/// The content of the file's buffers.
#[derive(Default)]
pub(super) struct Buffers {
    /// Bytes per buffer, empty where they cannot be had.
    pub content: Vec<Vec<u8>>,
    /// Per buffer why its bytes cannot be had: an error only for what reads them.
    pub missing: Vec<Option<String>>,
}

/// A file being read.
pub(super) struct Context<'a> {
    pub path: &'a Path,
    pub json: &'a Map<String, Value>,
    pub buffers: &'a Buffers,
    /// One per buffer view, opened on first use.
    pub views: Vec<OnceCell<View>>,
    problems: RefCell<Vec<Problem>>,
    untold: Cell<usize>,
    budget: Cell<u64>,
}

impl<'a> Context<'a> {
    /// `problems` are those found so far.
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

    /// An error about an element of the file.
    pub fn broken(&self, at: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::broken(self.path, at, cut(problem.into(), limits::MESSAGE), REMEDY)
    }

    /// Notes a flaw that was mended.
    pub fn mend(&self, at: impl Into<String>, text: impl Into<String>) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < limits::PROBLEMS {
            problems.push(Problem { at: at.into(), text: cut(text.into(), limits::MESSAGE) });
        } else {
            self.untold.set(self.untold.get() + 1);
        }
    }

    /// All problems so far, leaving none.
    pub fn take_problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.take();
        if self.untold.get() > 0 {
            problems
                .push(Problem { at: "file".into(), text: format!("{} more problems", self.untold.get()) });
        }
        problems
    }

    /// Pays for `bytes` that are about to be allocated.
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

    /// Bytes that may still be decoded.
    pub fn remaining(&self) -> u64 {
        self.budget.get()
    }

    /// The top-level array `key`, at most `most` long, empty where absent.
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

    /// Element `index` of the top-level array `key`; `what` is its name in messages, e.g. `node`.
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

    /// All elements of the top-level array `key`, at most [`limits::ELEMENTS`].
    pub fn items<'c>(&'c self, key: &str, what: &str) -> Result<Vec<Item<'c>>> {
        let count = self.table(key, limits::ELEMENTS)?.len();
        (0..count).map(|index| self.item(key, what, index)).collect()
    }
}

/// A text of at most `most` characters, for messages: names in a file can have any length.
fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// Whether all values are numbers within [`limits::COORDINATE`].
pub(super) fn in_range(values: &[f32]) -> bool {
    values.iter().all(|v| v.abs() <= limits::COORDINATE)
}

/// A JSON object of the file and how messages call it.
#[derive(Clone)]
pub(super) struct Item<'c> {
    pub ctx: &'c Context<'c>,
    pub map: &'c Map<String, Value>,
    pub at: String,
}

impl<'c> Item<'c> {
    /// An error about this element.
    pub fn broken(&self, problem: impl Into<String>) -> Error {
        self.ctx.broken(&self.at, problem)
    }

    /// Notes a flaw of this element that was mended.
    pub fn mend(&self, text: impl Into<String>) {
        self.ctx.mend(&self.at, text);
    }

    /// The element's name, or `what index` where it has none.
    pub fn name(&self, what: &str, index: usize) -> String {
        match self.map.get("name") {
            Some(Value::String(name)) if !name.is_empty() => return name.clone(),
            None | Some(Value::String(_)) => {}
            Some(_) => self.mend("its name is not a string and was ignored"),
        }
        format!("{what} {index}")
    }

    /// A whole number, also where written `3.0`.
    pub fn whole(&self, key: &str) -> Result<Option<u64>> {
        self.map
            .get(key)
            .map(|value| whole(value).ok_or_else(|| self.broken(format!("\"{key}\" is not a whole number"))))
            .transpose()
    }

    /// A whole number that must be there.
    pub fn required_whole(&self, key: &str) -> Result<u64> {
        self.whole(key)?.ok_or_else(|| self.broken(format!("\"{key}\" is missing")))
    }

    /// An index into a table of `len` elements called `what`.
    pub fn index(&self, key: &str, len: usize, what: &str) -> Result<Option<usize>> {
        self.map.get(key).map(|value| self.as_index(value, len, what)).transpose()
    }

    /// A value as an index into a table of `len` elements called `what`.
    pub fn as_index(&self, value: &Value, len: usize, what: &str) -> Result<usize> {
        let index = whole(value)
            .ok_or_else(|| self.broken(format!("its reference to a {what} is not a whole number")))?;
        if index >= len as u64 {
            return Err(self.broken(format!("it refers to {what} {index}, but the file has {len}")));
        }
        Ok(index as usize)
    }

    /// A finite number.
    pub fn float(&self, key: &str) -> Result<Option<f32>> {
        self.map
            .get(key)
            .map(|value| float(value).ok_or_else(|| self.broken(format!("\"{key}\" is not a finite number"))))
            .transpose()
    }

    /// An array of finite numbers.
    pub fn floats(&self, key: &str) -> Result<Option<Vec<f32>>> {
        let Some(value) = self.map.get(key) else { return Ok(None) };
        let wrong = || self.broken(format!("\"{key}\" is not an array of finite numbers"));
        let list = value.as_array().ok_or_else(wrong)?;
        list.iter().map(|v| float(v).ok_or_else(wrong)).collect::<Result<_>>().map(Some)
    }

    /// An array of exactly `N` finite numbers.
    pub fn fixed<const N: usize>(&self, key: &str) -> Result<Option<[f32; N]>> {
        let Some(list) = self.floats(key)? else { return Ok(None) };
        let array =
            list.try_into().map_err(|_| self.broken(format!("\"{key}\" does not have {N} numbers")))?;
        Ok(Some(array))
    }

    /// A string.
    pub fn text(&self, key: &str) -> Result<Option<&'c str>> {
        self.map
            .get(key)
            .map(|v| v.as_str().ok_or_else(|| self.broken(format!("\"{key}\" is not a string"))))
            .transpose()
    }

    /// A truth value, false where absent.
    pub fn flag(&self, key: &str) -> Result<bool> {
        match self.map.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.broken(format!("\"{key}\" is neither true nor false"))),
        }
    }

    /// An array, empty where absent.
    pub fn list(&self, key: &str) -> Result<&'c [Value]> {
        match self.map.get(key) {
            None => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(self.broken(format!("\"{key}\" is not an array"))),
        }
    }

    /// A JSON object below this one; messages add `key` to the place.
    pub fn child(&self, key: &str) -> Result<Option<Item<'c>>> {
        let Some(value) = self.map.get(key) else { return Ok(None) };
        self.of(value, key).map(Some)
    }

    /// The objects of an array below this one; messages add `what` and the index.
    pub fn children(&self, key: &str, what: &str) -> Result<Vec<Item<'c>>> {
        self.list(key)?.iter().enumerate().map(|(i, value)| self.of(value, &format!("{what} {i}"))).collect()
    }

    fn of(&self, value: &'c Value, what: &str) -> Result<Item<'c>> {
        let map = value.as_object().ok_or_else(|| self.broken(format!("{what} is not a JSON object")))?;
        Ok(Item { ctx: self.ctx, map, at: format!("{} {what}", self.at) })
    }

    /// Extension `name` of this element; one that is not an object is ignored.
    pub fn extension(&self, name: &str) -> Option<Item<'c>> {
        let map = self.map.get("extensions")?.as_object()?.get(name)?.as_object()?;
        Some(Item { ctx: self.ctx, map, at: format!("{} {name}", self.at) })
    }
}

fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && (0.0..9.0e15).contains(&float)).then_some(float as u64)
    })
}

fn float(value: &Value) -> Option<f32> {
    value.as_f64().map(|v| v as f32).filter(|v| v.is_finite())
}
