//! Checked access to JSON objects of the file.

use super::context::Context;
use crate::base::{Error, Result};
use serde_json::{Map, Value};

/// A JSON object of the file, with the element's name for messages.
#[derive(Clone)]
pub(super) struct Item<'c> {
    pub ctx: &'c Context<'c>,
    pub map: &'c Map<String, Value>,
    pub at: String,
}

impl<'c> Item<'c> {
    /// Creates an error about this element.
    pub fn broken(&self, problem: impl Into<String>) -> Error {
        self.ctx.broken(&self.at, problem)
    }

    /// Reports a flaw of this element that was repaired.
    pub fn mend(&self, text: impl Into<String>) {
        self.ctx.mend(&self.at, text);
    }

    /// Returns the element's name, or `what index` if it has none.
    pub fn name(&self, what: &str, index: usize) -> String {
        match self.map.get("name") {
            Some(Value::String(name)) if !name.is_empty() => return name.clone(),
            None | Some(Value::String(_)) => {}
            Some(_) => self.mend("its name is not a string and was ignored"),
        }
        format!("{what} {index}")
    }

    /// Returns an unsigned integer; `3.0` is accepted too.
    pub fn whole(&self, key: &str) -> Result<Option<u64>> {
        self.map
            .get(key)
            .map(|value| whole(value).ok_or_else(|| self.broken(format!("\"{key}\" is not a whole number"))))
            .transpose()
    }

    /// Returns an unsigned integer; an error if it is absent.
    pub fn required_whole(&self, key: &str) -> Result<u64> {
        self.whole(key)?.ok_or_else(|| self.broken(format!("\"{key}\" is missing")))
    }

    /// Returns an index into a table of `len` elements; messages call an element `what`.
    pub fn index(&self, key: &str, len: usize, what: &str) -> Result<Option<usize>> {
        self.map.get(key).map(|value| self.as_index(value, len, what)).transpose()
    }

    /// Converts a value to an index into a table of `len` elements; messages call an element `what`.
    pub fn as_index(&self, value: &Value, len: usize, what: &str) -> Result<usize> {
        let index = whole(value)
            .ok_or_else(|| self.broken(format!("its reference to a {what} is not a whole number")))?;
        if index >= len as u64 {
            return Err(self.broken(format!("it refers to {what} {index}, but the file has {len}")));
        }
        Ok(index as usize)
    }

    /// Returns a finite number; `None` if absent.
    pub fn float(&self, key: &str) -> Result<Option<f32>> {
        self.map
            .get(key)
            .map(|value| float(value).ok_or_else(|| self.broken(format!("\"{key}\" is not a finite number"))))
            .transpose()
    }

    /// Returns an array of finite numbers; `None` if absent.
    pub fn floats(&self, key: &str) -> Result<Option<Vec<f32>>> {
        let Some(value) = self.map.get(key) else { return Ok(None) };
        let wrong = || self.broken(format!("\"{key}\" is not an array of finite numbers"));
        let list = value.as_array().ok_or_else(wrong)?;
        list.iter().map(|v| float(v).ok_or_else(wrong)).collect::<Result<_>>().map(Some)
    }

    /// Returns an array of exactly `N` finite numbers; `None` if absent.
    pub fn fixed<const N: usize>(&self, key: &str) -> Result<Option<[f32; N]>> {
        let Some(list) = self.floats(key)? else { return Ok(None) };
        let array =
            list.try_into().map_err(|_| self.broken(format!("\"{key}\" does not have {N} numbers")))?;
        Ok(Some(array))
    }

    /// Returns a string; `None` if absent.
    pub fn text(&self, key: &str) -> Result<Option<&'c str>> {
        self.map
            .get(key)
            .map(|v| v.as_str().ok_or_else(|| self.broken(format!("\"{key}\" is not a string"))))
            .transpose()
    }

    /// Returns a boolean; false if absent.
    pub fn flag(&self, key: &str) -> Result<bool> {
        match self.map.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.broken(format!("\"{key}\" is neither true nor false"))),
        }
    }

    /// Returns an array; empty if absent.
    pub fn list(&self, key: &str) -> Result<&'c [Value]> {
        match self.map.get(key) {
            None => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(self.broken(format!("\"{key}\" is not an array"))),
        }
    }

    /// Returns a nested JSON object; messages add `key` to its location.
    pub fn child(&self, key: &str) -> Result<Option<Item<'c>>> {
        let Some(value) = self.map.get(key) else { return Ok(None) };
        self.of(value, key).map(Some)
    }

    /// Returns the objects of a nested array; messages add `what` and the index to their location.
    pub fn children(&self, key: &str, what: &str) -> Result<Vec<Item<'c>>> {
        self.list(key)?.iter().enumerate().map(|(i, value)| self.of(value, &format!("{what} {i}"))).collect()
    }

    fn of(&self, value: &'c Value, what: &str) -> Result<Item<'c>> {
        let map = value.as_object().ok_or_else(|| self.broken(format!("{what} is not a JSON object")))?;
        Ok(Item { ctx: self.ctx, map, at: format!("{} {what}", self.at) })
    }

    /// Returns the element's extension `name`. An extension that is not a JSON object is ignored.
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
