//! Errors of an OpenXR runtime, classified by the required reaction.

use crate::base::Error;
use openxr as xr;

/// Result of an OpenXR call.
pub type Result<T> = std::result::Result<T, XrError>;

/// Reason for which a session cannot continue.
#[derive(Debug)]
pub enum XrError {
    /// The session is lost but the instance is not: create a new session.
    SessionLost(String),
    /// The instance is lost: reconnect when the runtime is available again.
    InstanceLost(String),
    /// No loader, no runtime or no headset is available yet.
    Absent(Error),
    /// An error that a retry cannot fix.
    Fatal(Error),
}

impl XrError {
    /// Converts the failure to an error with advice for the user.
    pub fn into_error(self) -> Error {
        match self {
            Self::SessionLost(problem) | Self::InstanceLost(problem) => {
                Error::xr(problem, "start the OpenXR runtime again")
            }
            Self::Absent(error) | Self::Fatal(error) => error,
        }
    }
}

impl From<Error> for XrError {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

/// Returns a function for `map_err` that classifies the result of a failed OpenXR call.
pub fn failed(call: &'static str) -> impl Fn(xr::sys::Result) -> XrError {
    move |result| {
        use xr::sys::Result as R;
        let text = format!("{call}: {}", name(result));
        match result {
            R::ERROR_SESSION_LOST => XrError::SessionLost(text),
            // If the runtime's service dies between two messages, calls fail with ERROR_RUNTIME_FAILURE.
            R::ERROR_INSTANCE_LOST | R::ERROR_RUNTIME_FAILURE => XrError::InstanceLost(text),
            // API layers return ERROR_INITIALIZATION_FAILED if the runtime cannot be reached.
            R::ERROR_RUNTIME_UNAVAILABLE | R::ERROR_INITIALIZATION_FAILED => {
                XrError::Absent(Error::xr(text, NO_RUNTIME))
            }
            R::ERROR_FORM_FACTOR_UNAVAILABLE | R::ERROR_FORM_FACTOR_UNSUPPORTED => {
                XrError::Absent(Error::xr(text, NO_HEADSET))
            }
            _ => XrError::Fatal(Error::xr(text, "update the OpenXR runtime, or use another one")),
        }
    }
}

/// Advice if the OpenXR loader is missing.
pub const NO_LOADER: &str =
    "install the OpenXR loader (Debian: libopenxr-loader1), or run through tools/xr-runtime";
/// Advice if no OpenXR runtime is available.
pub const NO_RUNTIME: &str = "start SteamVR or Monado and make it the active runtime, set XR_RUNTIME_JSON to its \
                              manifest, or run through tools/xr-runtime";
/// Advice if no headset is connected.
pub const NO_HEADSET: &str = "connect the headset, switch it on and put it on";

/// Returns the name of a result as in the specification.
fn name(result: xr::sys::Result) -> String {
    format!("{result:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_from_absence_and_from_mistakes() {
        use xr::sys::Result as R;
        let of = failed("xrWaitFrame");
        assert!(matches!(of(R::ERROR_SESSION_LOST), XrError::SessionLost(t) if t.contains("xrWaitFrame")));
        for gone in [R::ERROR_INSTANCE_LOST, R::ERROR_RUNTIME_FAILURE] {
            assert!(matches!(of(gone), XrError::InstanceLost(_)), "{gone:?}");
        }
        for (absent, word) in [
            (R::ERROR_RUNTIME_UNAVAILABLE, "XR_RUNTIME_JSON"),
            (R::ERROR_INITIALIZATION_FAILED, "Monado"),
            (R::ERROR_FORM_FACTOR_UNAVAILABLE, "headset"),
        ] {
            let XrError::Absent(error) = of(absent) else { panic!("{absent:?}") };
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(matches!(of(R::ERROR_VALIDATION_FAILURE), XrError::Fatal(_)));
    }
}
