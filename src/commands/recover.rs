//! `sinew recover`: lists sessions that ended without saving, saves one as a project, or discards one.

use super::arguments::Side;
use super::save;
use crate::app::context::{Context, say};
use crate::base::{Error, Result, ago};
use crate::bind::BindOptions;
use crate::project::Saving;
use crate::project::recovery::{Found, Unfinished, folder, unfinished};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Which unfinished session, and what to do with it.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The session: its number in the list, or part of the name of its file or journal; optional if there is only one
    pub which: Option<String>,
    /// List the sessions, newest first (the default)
    #[arg(long, conflicts_with_all = ["restore", "discard"])]
    pub list: bool,
    /// Save the session's document as a project and remove its journal
    #[arg(long, value_name = "PROJECT.glb", conflicts_with = "discard")]
    pub restore: Option<PathBuf>,
    /// Remove the session's journal
    #[arg(long)]
    pub discard: bool,
    /// Processor that evaluates
    #[arg(long, value_enum, default_value_t = Side::Gpu)]
    pub on: Side,
    /// Print the list as JSON
    #[arg(long, conflicts_with_all = ["restore", "discard"])]
    pub json: bool,
}

/// Lists the unfinished sessions, or restores or discards one session.
///
/// # Errors
/// [`Error::Input`] if no session or several sessions match; any error from restoring.
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    let found = unfinished(&folder()?, None)?;
    let session = || chosen(&found.sessions, args.which.as_deref());
    match &args.restore {
        Some(out) => {
            save::ending(out)?;
            let session = session()?;
            let model = Arc::new(session.load(&BindOptions::default())?);
            let restored = session.restore(&model)?;
            let model = model.bound_for(restored.document())?;
            say(format_args!("restored {}", described(session)));
            let saving = Saving { every_frame: true, ..Saving::default() };
            save::write(context, &model, restored.document(), out, saving, args.on.is_cpu())?;
            let samples = restored.unfinished().len();
            if samples > 0 {
                say(format_args!("  a stroke of {samples} samples was not finished and is left out"));
            }
            crate::project::recovery::end(restored)?;
        }
        None if args.discard => {
            let session = session()?;
            session.discard()?;
            say(format_args!("discarded {}", described(session)));
        }
        None => {
            let list = if args.json { as_json(&found)? } else { as_text(&found, SystemTime::now()) };
            say(list.trim_end());
        }
    }
    Ok(())
}

fn chosen<'a>(sessions: &'a [Unfinished], which: Option<&str>) -> Result<&'a Unfinished> {
    let number = which.and_then(|w| w.parse::<usize>().ok());
    if let Some(session) = number.and_then(|n| sessions.get(n.wrapping_sub(1))) {
        return Ok(session);
    }
    let named = |s: &&Unfinished| {
        which.is_none_or(|w| s.file.path.contains(w) || s.journal.to_string_lossy().contains(w))
    };
    let fitting: Vec<&Unfinished> = sessions.iter().filter(named).collect();
    match fitting[..] {
        [only] => Ok(only),
        [] => Err(Error::input("there is no such unfinished session", "see `sinew recover --list`")),
        _ => Err(Error::input(
            format!("{} unfinished sessions fit", fitting.len()),
            "name one by its number in `sinew recover --list`",
        )),
    }
}

fn operations(count: usize) -> String {
    format!("{count} operation{}", if count == 1 { "" } else { "s" })
}

fn described(session: &Unfinished) -> String {
    format!("{}: {}", session.file.path, operations(session.operations))
}

fn as_text(found: &Found, now: SystemTime) -> String {
    let mut out = String::new();
    if found.sessions.is_empty() {
        out.push_str("No unfinished sessions.\n");
    }
    for (i, session) in found.sessions.iter().enumerate() {
        let gone = if Path::new(&session.file.path).exists() { "" } else { " (the file is missing)" };
        let age = ago(now.duration_since(session.modified).unwrap_or_default());
        let _ = writeln!(out, "{:>3}  {}{gone}", i + 1, session.file.path);
        let _ = writeln!(out, "     {}, last {age}", operations(session.operations));
        if let Some(project) = &session.saved {
            let _ = writeln!(out, "     went on after {} was saved", project.display());
        }
        if let Some(torn) = &session.torn {
            let what = if torn.lines > 0 { "damaged" } else { "torn" };
            let _ =
                writeln!(out, "     {what} after that: {} bytes are left out ({})", torn.bytes, torn.reason);
        }
        let _ = writeln!(out, "     {}", session.journal.display());
    }
    for error in &found.unreadable {
        let _ = writeln!(out, "  -  {error}");
    }
    out
}

fn as_json(found: &Found) -> Result<String> {
    let entry = |s: &Unfinished| {
        let since = s.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        serde_json::json!({
            "journal": s.journal,
            "file": s.file.path,
            "file_exists": Path::new(&s.file.path).exists(),
            "modified_s": since.as_secs_f64(),
            "operations": s.operations,
            "torn_bytes": s.torn.as_ref().map_or(0, |t| t.bytes),
            "saved": s.saved,
        })
    };
    let sessions: Vec<_> = found.sessions.iter().map(entry).collect();
    let unreadable: Vec<String> = found.unreadable.iter().map(Error::to_string).collect();
    let all = serde_json::json!({ "sessions": sessions, "unreadable": unreadable });
    serde_json::to_string_pretty(&all)
        .map_err(|e| Error::input(format!("the list is not JSON: {e}"), "list it without --json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::AssetRef;

    fn session(name: &str, operations: usize) -> Unfinished {
        Unfinished {
            journal: format!("/s/{name}-0123.journal").into(),
            file: AssetRef { path: format!("/h/{name}.glb"), hash: "00".into() },
            modified: UNIX_EPOCH,
            operations,
            torn: None,
            saved: None,
            is_current: false,
            is_saved: false,
        }
    }

    #[test]
    fn sessions_are_chosen_by_number_or_name_and_never_guessed() {
        let two = [session("hero", 3), session("heron", 1)];
        let of = |which| chosen(&two, which).map(|s| s.operations);
        assert_eq!(of(Some("1")).unwrap(), 3);
        assert_eq!(of(Some("heron")).unwrap(), 1);
        assert_eq!(of(Some("hero.glb")).unwrap(), 3);
        for (which, says) in [(None, "2 unfinished"), (Some("hero"), "2 unfinished"), (Some("9"), "no such")]
        {
            assert!(of(which).unwrap_err().to_string().contains(says), "{which:?}");
        }
        assert_eq!(chosen(&two[..1], None).unwrap().operations, 3);
        assert!(chosen(&[], None).is_err());
    }

    #[test]
    fn the_list_tells_file_age_and_operations() {
        let hero = Unfinished { saved: Some("/h/hero.project.glb".into()), ..session("hero", 1) };
        let found = Found { sessions: vec![hero], unreadable: Vec::new() };
        let text = as_text(&found, UNIX_EPOCH + std::time::Duration::from_secs(7300));
        assert!(text.contains("  1  /h/hero.glb (the file is missing)"), "{text}");
        assert!(text.contains("1 operation, last 2 hours ago"), "{text}");
        assert!(text.contains("went on after /h/hero.project.glb was saved"), "{text}");
        assert!(as_text(&Found::default(), UNIX_EPOCH).contains("No unfinished sessions"));
        let json: serde_json::Value = serde_json::from_str(&as_json(&found).unwrap()).unwrap();
        assert_eq!(json["sessions"][0]["operations"], 1);
    }
}
