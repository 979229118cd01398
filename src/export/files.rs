//! Writes a finished .glb to its destination: as one file (`.glb`, `.vrm`), or as a `.gltf` with its data in a `.bin`
//! file in the same folder.
//!
//! No reader sees a `.gltf` without its data: the `.bin` is written first, and the `.gltf` that refers to it is renamed
//! into place last. If `NAME.bin` exists with other data, an older `NAME.gltf` may need it, so the new data goes into
//! `NAME-HASH.bin`.

use super::{glb, write_atomically};
use crate::asset::Asset;
use crate::base::{Error, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Number of hash digits in the name of a `.bin`.
const DIGITS: usize = 16;

/// Returns whether a file name ends in `.glb`, `.gltf` or `.vrm`.
pub fn is_model(path: &Path) -> bool {
    ["glb", "gltf", "vrm"].iter().any(|e| ends_in(path, e))
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Writes a .glb, or a .gltf and a .bin if the name ends in `.gltf`. A failed write leaves the old file intact.
///
/// # Errors
/// The errors of [`write_atomically`]; or the name of a .gltf is not Unicode.
pub fn write_model(path: impl AsRef<Path>, content: &[u8]) -> Result<()> {
    let path = path.as_ref();
    if !ends_in(path, "gltf") {
        return write_atomically(path, content);
    }
    let (mut json, bin) = parts(content).ok_or_else(|| {
        Error::broken(
            path,
            "file",
            "the data to write is not a .glb",
            "report this as a fault of the exporter",
        )
    })?;
    let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else {
        let problem =
            format!("{}: the name is no Unicode, so the .gltf cannot name its .bin", path.display());
        return Err(Error::input(problem, "choose another name, or a .glb"));
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let before = own_data(path, stem);
    let mut written = None;
    if !bin.is_empty() {
        let plain = format!("{stem}.bin");
        let holds = |name: &str| std::fs::read(folder.join(name)).ok().map(|old| old == bin);
        let name = match holds(&plain) {
            Some(false) => format!("{stem}-{}.bin", &blake3::hash(bin).to_hex()[..DIGITS]),
            _ => plain,
        };
        if holds(&name) != Some(true) {
            write_atomically(folder.join(&name), bin)?;
            written = Some(folder.join(&name));
        }
        json["buffers"][0]["uri"] = encoded(&name).into();
    }
    let text = serde_json::to_vec(&json).map_err(|e| Error::io(path, e.into()))?;
    if let Err(error) = write_atomically(path, &text) {
        // Remove the new `.bin`, because no file refers to it.
        written.map(std::fs::remove_file);
        return Err(error);
    }
    let now = own_data(path, stem);
    if let Some(old) = before.filter(|old| now.as_ref() != Some(old)) {
        // If this fails, the leftover `.bin` does no harm.
        let _ = std::fs::remove_file(old);
    }
    Ok(())
}

/// Returns whether a loaded file has exactly the content of this .glb.
///
/// # Errors
/// The file cannot be read.
pub(super) fn holds(path: &Path, loaded: &Asset, content: &[u8]) -> Result<bool> {
    if !ends_in(path, "gltf") {
        return Ok(std::fs::read(path).map_err(|e| Error::io(path, e))? == content);
    }
    let mut json = loaded.source.json.clone();
    let chunk = loaded.source.buffers.first().map_or(&[][..], Vec::as_slice);
    take_uri(&mut json, chunk);
    Ok(glb::container(path, &json, chunk)? == content)
}

/// Removes the URI of the first buffer if `chunk` has data, because the buffer becomes the chunk of a .glb.
pub(super) fn take_uri(json: &mut Value, chunk: &[u8]) {
    let first = json.pointer_mut("/buffers/0").and_then(Value::as_object_mut);
    if let Some(first) = first.filter(|_| !chunk.is_empty()) {
        first.shift_remove("uri");
    }
}

/// Returns the path of the `NAME-HASH.bin` that a .gltf refers to. No other file refers to it.
fn own_data(path: &Path, stem: &str) -> Option<PathBuf> {
    let json: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let uri = json.pointer("/buffers/0/uri")?.as_str()?;
    let hash = uri.strip_suffix(".bin")?.strip_prefix(&encoded(stem))?.strip_prefix('-')?;
    let is_hash = hash.len() == DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| path.with_file_name(format!("{stem}-{hash}.bin")))
}

/// Returns the JSON and the data of a .glb, without the chunk's padding.
fn parts(content: &[u8]) -> Option<(Value, &[u8])> {
    let word = |at: usize| Some(u32::from_le_bytes(content.get(at..at + 4)?.try_into().ok()?) as usize);
    let end = 20usize.checked_add(word(12)?)?;
    let json: Value = serde_json::from_slice(content.get(20..end)?).ok()?;
    let chunk = content.get(end + 8..).unwrap_or_default();
    let length = json.pointer("/buffers/0/byteLength").and_then(Value::as_u64);
    let length = length.map_or(chunk.len(), |l| chunk.len().min(usize::try_from(l).unwrap_or(usize::MAX)));
    Some((json, &chunk[..length]))
}

/// Returns a file name as a percent-encoded relative URI.
fn encoded(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    name.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::Shape;
    use crate::export::unedited;

    fn glb(rings: usize) -> Vec<u8> {
        let shape = Shape { bones: 2, rings, segments: 4, radius: 0.1, length: 1.0, blend: 0.5 };
        unedited(&shape.capsule_asset()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn every_ending_holds_the_same_model() {
        let folder = tempfile::tempdir().unwrap();
        let content = glb(3);
        for name in ["a.glb", "b.vrm", "c.GLTF", "hero ü#1.gltf"] {
            let path = folder.path().join(name);
            assert!(is_model(&path));
            write_model(&path, &content).unwrap();
            let loaded = Asset::load(&path).unwrap();
            assert!(loaded.problems.is_empty(), "{name}: {:?}", loaded.problems);
            assert!(holds(&path, &loaded, &content).unwrap(), "{name}");
            assert!(!holds(&path, &loaded, &glb(4)).unwrap(), "{name}");
            assert_eq!(unedited(&loaded).unwrap(), content, "{name}");
        }
        let all = ["a.glb", "b.vrm", "c.GLTF", "c.bin", "hero ü#1.bin", "hero ü#1.gltf"];
        assert_eq!(names(folder.path()), all);
        assert!(!is_model(Path::new("a.png")) && !is_model(Path::new("glb")));
    }

    #[test]
    fn a_pair_is_replaced_as_one_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gltf");
        for rings in [3, 4, 5, 5, 3] {
            write_model(&path, &glb(rings)).unwrap();
            assert!(holds(&path, &Asset::load(&path).unwrap(), &glb(rings)).unwrap());
            assert!(names(folder.path()).len() <= 3, "{:?}", names(folder.path()));
        }
        // Write the first content again; a.bin still has its data.
        assert_eq!(names(folder.path()), ["a.bin", "a.gltf"]);
        // The .gltf cannot be replaced: its new .bin is removed, and the existing files stay unchanged.
        let taken = folder.path().join("b.gltf");
        std::fs::create_dir(&taken).unwrap();
        assert!(write_model(&taken, &glb(4)).is_err());
        assert_eq!(names(folder.path()), ["a.bin", "a.gltf", "b.gltf"]);
    }
}
