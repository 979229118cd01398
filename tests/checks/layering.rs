//! The architecture's rules, read from the sources. A module uses only modules above it in the list of the crate's
//! documentation (tests may use what they like), and `unsafe` stays in its two places.

use std::path::{Path, PathBuf};

/// Returns the modules in the order of the list in `src/lib.rs`.
fn listed(lib: &str) -> Vec<&str> {
    let items = lib.lines().filter_map(|l| l.strip_prefix("//! - [`"));
    items.filter_map(|l| Some(l.split_once('`')?.0)).collect()
}

/// Returns the modules that `src/lib.rs` declares.
fn declared(lib: &str) -> Vec<&str> {
    lib.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')).collect()
}

/// Returns the code without line comments, up to the first inline module with `#[cfg(test)]`.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(|l| l.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first identifiers of the rest of a path: one identifier, or several for `{a, b::c}`.
fn heads(rest: &str) -> Vec<String> {
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut depth, mut out, mut start) = (0, Vec::new(), 0);
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                out.push(word(group[start..i].trim_start()));
                start = i + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    out
}

/// Returns the top-level modules that a file uses. `depth` is the depth of its own module, 1 for `src/rig/mod.rs`.
fn uses(text: &str, depth: usize) -> Vec<String> {
    let code = code(text);
    let root = "super::".repeat(depth);
    let paths = ["crate::", root.as_str()].into_iter().flat_map(|prefix| {
        code.match_indices(prefix)
            .filter(|(at, _)| !code[..*at].ends_with(['$', ':']))
            .map(|(at, _)| at + prefix.len())
    });
    paths.flat_map(|at| heads(&code[at..])).filter(|name| !name.is_empty() && name != "super").collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "tests" => out.extend(sources(&path)),
            false if name.ends_with(".rs") && !["tests.rs", "testing.rs"].contains(&name.as_str()) => {
                out.push(path)
            }
            _ => {}
        }
    }
    out.sort();
    out
}

#[test]
fn modules_use_only_modules_above_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = std::fs::read_to_string(src.join("lib.rs")).unwrap();
    let order = listed(&lib);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, declared(&lib), "the list and the declarations in src/lib.rs differ");
    let mut wrong = Vec::new();
    let mut read = 0;
    for (own, module) in order.iter().enumerate() {
        for file in sources(&src.join(module)) {
            let inside = file.strip_prefix(&src).unwrap();
            let depth = inside.components().count() - usize::from(inside.ends_with("mod.rs"));
            let text = std::fs::read_to_string(&file).unwrap();
            for used in uses(&text, depth) {
                read += 1;
                if order.iter().position(|m| *m == used).is_some_and(|layer| layer > own) {
                    wrong.push(format!("{}: {module} uses {used}, which is below it", inside.display()));
                }
            }
        }
    }
    assert!(read > 200, "only {read} uses were found: the reader is broken");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_sees_every_form_of_use() {
    let text = "use crate::base::{Error, Result};\nuse crate::{bind::{self, x}, rig};\n// crate::export::posed\n\
                fn f() { super::super::pose::g($crate::app::h) }\n#[cfg(test)]\nmod tests {\nuse crate::scene;\n}";
    assert_eq!(uses(text, 2), ["base", "bind", "rig", "pose"]);
    assert_eq!(uses("use super::gpu;", 1), ["gpu"]);
    assert_eq!(uses("use super::gpu;", 2), Vec::<String>::new());
}

/// Folders of one room that never name each other.
const SIBLINGS: [[&str; 2]; 1] = [["app/window", "app/xr"]];

#[test]
fn siblings_never_name_each_other() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (own, other) in SIBLINGS.into_iter().flat_map(|[a, b]| [(a, b), (b, a)]) {
        let (room, name) = other.split_once('/').unwrap();
        let files = sources(&src.join(own));
        assert!(files.len() > 3, "{own} has {} files: the list is out of date", files.len());
        for file in files {
            let text = code(&std::fs::read_to_string(&file).unwrap());
            let names = |path: String| {
                let after = text.match_indices(&path).map(|(at, _)| heads(&text[at + path.len()..]));
                after.flatten().any(|head| head == name)
            };
            if names(format!("crate::{room}::")) || names("super::super::".into()) {
                wrong.push(format!("{} names {other}", file.strip_prefix(&src).unwrap().display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Maximum number of files in a folder, including tests.
const MOST_FILES: usize = 25;

#[test]
fn folders_stay_small() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for file in rust_files(&src) {
        let folder = file.parent().unwrap().strip_prefix(&src).unwrap();
        *counts.entry(folder.display().to_string()).or_default() += 1;
    }
    assert!(counts.len() > 40, "only {} folders were found", counts.len());
    counts.retain(|_, count| *count > MOST_FILES);
    assert!(counts.is_empty(), "folders of more than {MOST_FILES} files: {counts:?}");
}

/// Folders where `unsafe` is allowed: they call Vulkan and OpenXR.
const FENCED: [&str; 2] = ["gpu", "app/xr"];

/// Returns whether code contains `unsafe`, or an attribute that allows it, outside of comments.
fn has_unsafe(text: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        let word = |c: char| !c.is_alphanumeric() && c != '_';
        line.split("//").next().unwrap_or_default().split(word).map(str::to_owned).collect()
    };
    text.lines().any(|line| words(line).iter().any(|w| w == "unsafe" || w == "unsafe_code"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    all.filter(|p| p.extension().is_some_and(|e| e == "rs")).collect()
}

#[test]
fn unsafe_stays_where_it_belongs() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut fenced, mut wrong) = (0, Vec::new());
    for file in rust_files(&src) {
        if has_unsafe(&std::fs::read_to_string(&file).unwrap()) {
            let inside = file.strip_prefix(&src).unwrap();
            if FENCED.iter().any(|f| inside.starts_with(f)) {
                fenced += 1;
            } else {
                wrong.push(inside.display().to_string());
            }
        }
    }
    assert!(fenced > 5, "only {fenced} files of gpu/ are unsafe: the reader is broken");
    assert!(wrong.is_empty(), "unsafe outside of {FENCED:?}: {wrong:?}");
    for bad in ["unsafe { f() }", "pub unsafe fn g() {}", "#![allow(unsafe_code, reason = \"x\")]"] {
        assert!(has_unsafe(bad), "{bad}");
    }
    assert!(!has_unsafe("// unsafe { f() }\nlet unsafely = 1;"));
}
