//! Resolves data URIs and references to external files.

use super::item::Item;
use crate::asset::limits;
use crate::base::{Error, Result, percent_decoded};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The content behind a URI.
pub(super) enum Content {
    /// Bytes of a data URI.
    Data(Vec<u8>),
    /// Bytes of an external file.
    File(Vec<u8>),
    /// The reason why the bytes are unavailable: the file does not exist, or the URI must not be followed.
    Missing(String),
}

/// Resolves a URI relative to `folder`. If `folder` is `None`, no files are read.
///
/// # Errors
/// A data URI is malformed, or a file is too large.
pub(super) fn resolve(item: &Item, uri: &str, folder: Option<&Path>) -> Result<Content> {
    if uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        return data(&uri[5..]).map(Content::Data).map_err(|problem| item.broken(problem));
    }
    let decoded = String::from_utf8(percent_decoded(uri.as_bytes()));
    let relative = match decoded.map_err(|_| "is not UTF-8".into()).and_then(|uri| relative_path(&uri)) {
        Ok(relative) => relative,
        Err(why) => return Ok(Content::Missing(format!("its URI {} {why}", shown(uri)))),
    };
    let Some(folder) = folder else {
        return Ok(Content::Missing(format!(
            "{} is a file of its own, and only one file was given",
            shown(uri)
        )));
    };
    // If the name contains a percent sign that was never encoded, the raw URI is tried too.
    let literal = relative_path(uri).ok().filter(|path| *path != relative);
    let names = [Some(relative), literal];
    let mut reason = String::new();
    for name in names.iter().flatten() {
        let path = folder.join(name);
        match read_file(&path) {
            Ok(bytes) => return Ok(Content::File(bytes)),
            Err(Error::Io { source, .. }) => {
                if reason.is_empty() {
                    reason = format!("{} cannot be read: {source}", shown(&name.to_string_lossy()));
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Content::Missing(reason))
}

/// Reads a regular file of at most [`limits::FILE_BYTES`].
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let io = |source| Error::io(path, source);
    let about = std::fs::metadata(path).map_err(io)?;
    if !about.is_file() {
        return Err(io(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file")));
    }
    // Some files contain more bytes than their reported length.
    let mut bytes = Vec::with_capacity(about.len().min(limits::FILE_BYTES) as usize);
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(limits::FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > limits::FILE_BYTES {
        let problem = format!("it has more than the {} bytes that are read", limits::FILE_BYTES);
        return Err(Error::broken(path, "file", problem, "split it into smaller ones"));
    }
    Ok(bytes)
}

/// Converts a decoded relative URI to a path near the glTF file, or returns the reason why it must not be followed.
fn relative_path(uri: &str) -> Result<PathBuf, String> {
    let head = uri.split(['/', '\\', '?', '#']).next().unwrap_or("");
    if let Some((scheme, _)) = head.split_once(':')
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    {
        return Err("does not name a file beside it; put the file there, or export a .glb".into());
    }
    if uri.is_empty() || uri.contains('\0') {
        return Err("is not a file name".into());
    }
    // Exporters on Windows may write backslashes.
    let path = PathBuf::from(uri.replace('\\', "/"));
    let (mut depth, mut lowest) = (0_isize, 0);
    for part in path.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => {
                return Err("is an absolute path; put the file beside the glTF file".into());
            }
        }
        lowest = lowest.min(depth);
    }
    if lowest < -(limits::PARENT_STEPS as isize) {
        return Err("leads too far above the file's folder; put the file beside the glTF file".into());
    }
    Ok(path)
}

/// Formats a URI for messages: quoted and truncated.
fn shown(uri: &str) -> String {
    let cut: String = uri.chars().take(80).collect();
    if cut.len() < uri.len() { format!("\"{cut}...\"") } else { format!("\"{cut}\"") }
}

/// Decodes a data URI without its scheme (RFC 2397).
fn data(rest: &str) -> Result<Vec<u8>, String> {
    let (head, body) = rest.split_once(',').ok_or("its data URI has no comma")?;
    if head.to_ascii_lowercase().ends_with(";base64") {
        let decoded;
        let text = if body.contains('%') {
            decoded = percent_decoded(body.as_bytes());
            &decoded[..]
        } else {
            body.as_bytes()
        };
        base64(text).ok_or_else(|| "its data URI is not base64".into())
    } else {
        Ok(percent_decoded(body.as_bytes()))
    }
}

/// Decodes base64 in the standard or URL alphabet, with or without padding (RFC 4648). White space is skipped.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut held, mut ended) = (0_u32, 0, false);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                ended = true;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return None,
        };
        if ended {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    (held < 6).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_uris() {
        assert_eq!(data("application/octet-stream;base64,AAEC/w==").unwrap(), [0, 1, 2, 255]);
        assert_eq!(data(";base64,AAEC_w").unwrap(), [0, 1, 2, 255]);
        assert_eq!(data(";base64,AAEC%2Fw%3D%3D").unwrap(), [0, 1, 2, 255]);
        assert_eq!(data("text/plain,a%20b%").unwrap(), b"a b%");
        assert!(data(";base64,A").is_err() && data(";base64,A*==").is_err() && data("base64").is_err());
        assert!(data(";base64,AA=A").is_err());
    }
}
