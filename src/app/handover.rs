//! The interface by which the window detects a headset, so that window code and headset code stay independent.

use crate::base::Error;

/// Detects in the background that the user puts the headset on. Dropping the watch stops the detection.
pub trait HeadsetWatch {
    /// The OpenXR connection with which the headset visit begins.
    type Connection;

    /// Starts an immediate search for the headset, at the user's request.
    fn call(&self);

    /// Returns the result since the last call, if any.
    fn found(&self) -> Option<Found<Self::Connection>>;
}

/// Result of a headset watch.
pub enum Found<C> {
    /// The user wears the headset; holds the connection to its runtime.
    On(C),
    /// The search that the user requested found no headset.
    Nothing(Error),
}
