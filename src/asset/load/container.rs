//! Splits a file's bytes into JSON and the binary chunk (glTF 2.0, section 4: GLB file format specification).

use super::context::REMEDY;
use crate::asset::{Problem, limits};
use crate::base::{Error, Result};
use serde_json::{Map, Value};
use std::path::Path;

/// The parts of a file.
pub(super) struct Container<'a> {
    pub json: Map<String, Value>,
    pub bin: Option<&'a [u8]>,
    pub problems: Vec<Problem>,
}

/// Splits a .gltf or .glb. The content determines the format, not the name.
pub(super) fn split<'a>(bytes: &'a [u8], path: &Path) -> Result<Container<'a>> {
    let mut problems = Vec::new();
    let (text, bin) =
        if bytes.starts_with(b"glTF") { glb(bytes, path, &mut problems)? } else { (bytes, None) };
    let json = parse(text, path, &mut problems)?;
    Ok(Container { json, bin, problems })
}

fn glb<'a>(
    bytes: &'a [u8],
    path: &Path,
    problems: &mut Vec<Problem>,
) -> Result<(&'a [u8], Option<&'a [u8]>)> {
    let broken = |problem: String| Error::broken(path, "GLB container", problem, REMEDY);
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    };
    match word(4) {
        Some(2) => {}
        Some(1) => return Err(version_1(path)),
        Some(version) => return Err(Error::unsupported(path, format!("GLB version {version}"), REMEDY)),
        None => return Err(broken("the file ends within its header".into())),
    }
    let length = word(8).ok_or_else(|| broken("the file ends within its header".into()))? as usize;
    if length > bytes.len() {
        return Err(broken(format!("its header says {length} bytes, the file has {}", bytes.len())));
    }
    if length < bytes.len() {
        problems.push(Problem {
            at: "GLB container".into(),
            text: format!("{} bytes after its end were ignored", bytes.len() - length),
        });
    }
    let (mut json, mut bin) = (None, None);
    let mut at = 12;
    while at < length {
        let (Some(size), Some(kind)) = (word(at), word(at + 4)) else {
            return Err(broken("it ends within a chunk's header".into()));
        };
        let start = at + 8;
        let end = start.saturating_add(size as usize);
        let chunk = (end <= length).then(|| bytes.get(start..end)).flatten();
        let chunk =
            chunk.ok_or_else(|| broken(format!("a chunk of {size} bytes at byte {at} is cut off")))?;
        match kind {
            0x4E4F_534A if json.is_none() => json = Some(chunk),
            0x004E_4942 if bin.is_none() && json.is_some() => bin = Some(chunk),
            0x4E4F_534A | 0x004E_4942 => problems.push(Problem {
                at: "GLB container".into(),
                text: format!("a second or misplaced chunk at byte {at} was ignored"),
            }),
            _ => {}
        }
        at = end;
    }
    Ok((json.ok_or_else(|| broken("it has no JSON chunk".into()))?, bin))
}

fn parse(text: &[u8], path: &Path, problems: &mut Vec<Problem>) -> Result<Map<String, Value>> {
    let broken = |problem: String| Error::broken(path, "JSON", problem, REMEDY);
    let mut text = text;
    if let Some(rest) = text.strip_prefix(b"\xEF\xBB\xBF") {
        text = rest;
        problems.push(Problem { at: "JSON".into(), text: "a byte order mark was ignored".into() });
    }
    while let [rest @ .., 0] = text {
        text = rest;
    }
    if text.is_empty() {
        return Err(broken("it is empty".into()));
    }
    if text.len() > limits::JSON_BYTES {
        return Err(broken(format!("it has {} bytes, the limit is {}", text.len(), limits::JSON_BYTES)));
    }
    let values = count_values(text);
    if values > limits::JSON_VALUES {
        return Err(broken(format!("it has about {values} values, the limit is {}", limits::JSON_VALUES)));
    }
    let first = text.iter().find(|b| !b.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err(Error::broken(
            path,
            "file",
            "it is neither glTF JSON nor a binary glTF",
            "choose a .gltf, .glb or .vrm file",
        ));
    }
    match serde_json::from_slice(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(broken("it is not an object".into())),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Returns an upper bound on the number of values in a JSON text. Each value except the first follows a comma,
/// bracket or brace outside strings (a key counts together with its value).
fn count_values(text: &[u8]) -> usize {
    let (mut count, mut inside, mut escaped) = (1, false, false);
    for &byte in text {
        if inside {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => inside = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => inside = true,
                b',' | b'[' | b'{' => count += 1,
                _ => {}
            }
        }
    }
    count
}

/// Returns the error for glTF 1.0.
pub(super) fn version_1(path: &Path) -> Error {
    Error::unsupported(path, "glTF 1.0", "convert it to glTF 2.0, e.g. with gltf-pipeline")
}
