//! Parses paths that users type or paste.

use crate::base::percent_decoded;
use std::path::{Path, PathBuf};

/// Parses an absolute path, a path in the home folder (`~/`), a `file://` URI or a path relative to `folder`, with or
/// without quotes. Returns `None` for an empty text.
pub(super) fn typed(text: &str, folder: &Path) -> Option<PathBuf> {
    let text = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let bare = ['"', '\''].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(text);
    if let Some(path) = of_uri(bare) {
        return Some(path);
    }
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    match (bare.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            Some(home.join(rest.trim_start_matches(['/', '\\'])))
        }
        _ if bare.is_empty() => None,
        _ => Some(folder.join(bare)),
    }
}

/// Returns the path of a text that was pasted outside a path field, if the text is an absolute path.
pub(super) fn pasted(text: &str) -> Option<PathBuf> {
    let path = typed(text, Path::new(""))?;
    path.is_absolute().then_some(path)
}

/// Converts `file:///a%20b` and `file://host/a%20b` to `/a b`.
fn of_uri(text: &str) -> Option<PathBuf> {
    let scheme = text.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://"))?;
    let rest = &text[scheme.len()..];
    let path = &rest[rest.find('/')?..];
    String::from_utf8(percent_decoded(path.as_bytes())).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_mean_paths() {
        let folder = Path::new("/home/me");
        for (text, path) in [
            ("hero.glb", "/home/me/hero.glb"),
            ("  ../you/hero.glb \n", "/home/me/../you/hero.glb"),
            ("/data/my hero.glb", "/data/my hero.glb"),
            ("\"/data/my hero.glb\"", "/data/my hero.glb"),
            ("'/data/hero.glb'", "/data/hero.glb"),
            ("file:///data/my%20h%C3%A9ro.glb\r\nfile:///data/other.glb\r\n", "/data/my héro.glb"),
            ("FILE://localhost/data/hero.glb", "/data/hero.glb"),
        ] {
            assert_eq!(typed(text, folder), Some(path.into()), "{text:?}");
        }
        assert_eq!((typed(" \n", folder), typed("\"\"", folder)), (None, None));
        if let Some(home) = std::env::var_os("HOME") {
            assert_eq!(typed("~/a.glb", folder), Some(Path::new(&home).join("a.glb")));
            assert_eq!(typed("~you/a.glb", folder), Some("/home/me/~you/a.glb".into()));
        }
        assert_eq!(pasted("file:///data/a.glb"), Some("/data/a.glb".into()));
        assert_eq!((pasted("some words"), pasted("a.glb")), (None, None));
    }
}
