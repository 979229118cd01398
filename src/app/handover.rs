//! What the window knows of the headset: whether somebody puts it on. The window and the headset never name each other.

use crate::base::Error;

/// Looks whether the headset is put on while its user is at the window. Dropping it ends the look.
pub trait HeadsetWatch {
    /// What the headset is entered with.
    type Connection;

    /// The user asks for the headset: look for it now.
    fn call(&self);

    /// What was found since the last call.
    fn found(&self) -> Option<Found<Self::Connection>>;
}

/// What a watch found.
pub enum Found<C> {
    /// A headset with its user in it.
    On(C),
    /// The user's call led to nothing.
    Nothing(Error),
}
