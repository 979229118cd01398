//! The platform's folders for a user's settings, state and caches: the XDG Base Directory Specification, `%APPDATA%`
//! and `%LOCALAPPDATA%`, `~/Library`. If XDG variables are set, they are used on every system. Variables with relative
//! paths are ignored.

use std::ffi::OsString;
use std::path::PathBuf;

/// A function that reads an environment variable, e.g. `|name| std::env::var_os(name)`.
pub trait Variables: Fn(&str) -> Option<OsString> {}
impl<F: Fn(&str) -> Option<OsString>> Variables for F {}

/// Returns the folder of settings; `None` if the environment names no folder.
pub fn settings(variables: impl Variables) -> Option<PathBuf> {
    own(variables, "XDG_CONFIG_HOME", ("APPDATA", "Sinew"), "Library/Application Support/Sinew", ".config")
}

/// Returns the folder of files that must survive a crash, such as journals.
pub fn state(variables: impl Variables) -> Option<PathBuf> {
    own(variables, "XDG_STATE_HOME", ("LOCALAPPDATA", "sinew"), ".local/state/sinew", ".local/state")
}

/// Returns the folder of files that can be recomputed.
pub fn caches(variables: impl Variables) -> Option<PathBuf> {
    own(variables, "XDG_CACHE_HOME", ("LOCALAPPDATA", "sinew/cache"), "Library/Caches/sinew", ".cache")
}

/// Chooses the folder for the current platform. `windows` holds a variable and the path below its value; `mac` and
/// `unix` are paths below the home folder.
fn own(
    variables: impl Variables,
    xdg: &str,
    windows: (&str, &str),
    mac: &str,
    unix: &str,
) -> Option<PathBuf> {
    let absolute = |name: &str| variables(name).map(PathBuf::from).filter(|p| p.is_absolute());
    if let Some(folder) = absolute(xdg) {
        return Some(folder.join("sinew"));
    }
    if cfg!(windows) {
        return Some(absolute(windows.0)?.join(windows.1));
    }
    let home = absolute("HOME")?;
    Some(if cfg!(target_os = "macos") { home.join(mac) } else { home.join(unix).join("sinew") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn xdg_variables_count_before_the_home_folder_and_relative_ones_do_not() {
        let of = |pairs: &'static [(&'static str, &'static str)]| {
            move |name: &str| pairs.iter().find(|p| p.0 == name).map(|p| OsString::from(p.1))
        };
        let both = of(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]);
        assert_eq!(state(both).unwrap(), PathBuf::from("/s/sinew"));
        let home = of(&[("XDG_STATE_HOME", "relative"), ("HOME", "/h")]);
        assert_eq!(state(home).unwrap(), PathBuf::from("/h/.local/state/sinew"));
        assert_eq!(settings(home).unwrap(), PathBuf::from("/h/.config/sinew"));
        assert_eq!(caches(home).unwrap(), PathBuf::from("/h/.cache/sinew"));
        assert_eq!(caches(of(&[("XDG_CACHE_HOME", "/c")])).unwrap(), PathBuf::from("/c/sinew"));
        assert!([settings(of(&[])), state(of(&[])), caches(of(&[]))].iter().all(Option::is_none));
    }
}
