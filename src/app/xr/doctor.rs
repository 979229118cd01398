//! `sinew xr doctor`: checks that every command can be reached with every controller in the table of profiles, and
//! reports on the installed OpenXR runtime.

mod reach;
mod runtime;

pub use reach::{Case, How, Missing, Reach, examine};
pub use runtime::{RuntimeReport, probe};

use super::profiles::{Needs, profiles};
use crate::base::{Error, Result};
use crate::workbench::{CommandKind, Control};
use serde::Serialize;
use std::fmt::Write;

/// Result of `sinew xr doctor`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Result for each interaction profile.
    pub profiles: Vec<Reach>,
    /// Number of unreachable commands, summed over all profiles and cases; 0 if every command is reachable.
    pub missing: usize,
    /// Result for the installed runtime.
    pub runtime: RuntimeReport,
}

/// Checks the table of profiles and the runtime. Returns the report and whether the check passed; with
/// `need_runtime`, a headset must also be ready.
///
/// # Errors
/// Fails if the report cannot be written as JSON.
pub fn doctor(json: bool, need_runtime: bool) -> Result<(String, bool)> {
    let reaches = examine(&profiles());
    let missing = reaches.iter().map(|r| r.missing.len()).sum();
    let report = Report { profiles: reaches, missing, runtime: probe() };
    let well = report.missing == 0 && (!need_runtime || report.runtime.ready());
    let text = if json {
        serde_json::to_string_pretty(&report)
            .map_err(|e| Error::input(format!("the report is not JSON: {e}"), "report it as a bug"))?
    } else {
        text(&report)
    };
    Ok((text, well))
}

/// Returns a text for the user that describes what a profile requires of the runtime.
pub(super) fn needs(needs: Needs) -> String {
    match needs {
        Needs::Core => "OpenXR 1.0".into(),
        Needs::Version11 => "OpenXR 1.1".into(),
        Needs::Promoted(name) => format!("OpenXR 1.1 or {name}"),
        Needs::Extension(name) => name.into(),
    }
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    for r in &report.profiles {
        let _ = writeln!(out, "{} ({}; {})", r.title, r.profile, r.needs);
        for (hand, controls) in ["left", "right"].iter().zip(&r.controls) {
            let named: Vec<String> = controls.iter().map(|(act, name)| format!("{act}: {name}")).collect();
            let _ = writeln!(out, "  {hand:<6} {}", named.join(", "));
        }
        let by_palette: Vec<&str> = (CommandKind::ALL.iter())
            .filter(|k| r.by_palette_with_one.contains(k))
            .map(|k| k.label())
            .collect();
        let _ = writeln!(out, "  by the palette alone with one controller: {}", by_palette.join(", "));
        for note in &r.notes {
            let _ = writeln!(out, "  note: {note}");
        }
        for m in &r.missing {
            let _ = writeln!(out, "  OUT OF REACH {m}");
        }
    }
    let commands = CommandKind::ALL.len();
    let cases = Case::ALL.len();
    let _ = match report.missing {
        0 => writeln!(
            out,
            "\nAll {commands} commands and {} tools are in reach on {} profiles, each in {cases} cases: either hand as \
             the tool hand, both controllers or one.",
            reach::ACTS.len(),
            report.profiles.len()
        ),
        n => writeln!(out, "\n{n} commands are OUT OF REACH in some case."),
    };
    let _ = write!(out, "\n{}", report.runtime);
    out
}

/// Returns the printed name of a control.
fn named(control: Control) -> &'static str {
    control.label()
}

#[cfg(test)]
mod tests;
