//! A headset at hand: the runtime, its device, a session with the controllers on it. Made once, it goes from the loop that
//! watches for the headset to the one that shows frames, and back.

use super::actions::{Actions, Devices};
use super::error::{Result, failed};
use super::instance::{Runtime, Wishes};
use super::profiles::Profile;
use super::session::Session;
use super::{Options, actions, device};
use crate::gpu::{Device, DeviceOptions, Window};
use crate::workbench::Labels;
use std::sync::Arc;

/// A session and all that is under it.
pub struct XrConnection {
    // Dropped in this order; better by [`XrConnection::close`].
    pub controls: Controls,
    pub session: Session,
    pub device: Arc<Device>,
    pub runtime: Runtime,
    /// Why the device shows nothing in a window, where one was named.
    pub no_mirror: Option<String>,
}

impl XrConnection {
    /// Connects to the runtime and begins a session, on a device that can also present to a window where there is one.
    ///
    /// # Errors
    /// As [`Runtime::open`] and the runtime's.
    pub fn open(options: &Options, window: Option<&dyn Window>) -> Result<Self> {
        let profiles = actions::chosen(options.profile.as_deref())?;
        let wishes = Wishes { layers: options.layers.clone() };
        let runtime =
            Runtime::open(&wishes, |version, there| actions::extensions(&profiles, version, there))?;
        let device::Opened { device, no_mirror } = device::open(&runtime, &DeviceOptions::default(), window)?;
        let session = Session::new(&runtime, &device)?;
        let controls = Controls::new(&runtime, &session, profiles)?;
        Ok(Self { controls, session, device, runtime, no_mirror })
    }

    /// Takes everything back. The GPU must be idle.
    pub fn close(self) {
        let Self { controls, session, device, runtime, .. } = self;
        drop(controls);
        session.close();
        drop((device, runtime));
    }
}

/// The controllers on a session.
pub struct Controls {
    pub actions: Actions,
    pub devices: Devices,
}

impl Controls {
    fn new(runtime: &Runtime, session: &Session, profiles: Vec<Profile>) -> Result<Self> {
        let actions = Actions::new(&runtime.instance, runtime.version, &runtime.enabled, profiles)
            .map_err(failed("xrSuggestInteractionProfileBindings"))?;
        for note in &actions.notes {
            eprintln!("sinew: {note}");
        }
        let devices = actions.attach(session.handle()).map_err(failed("xrAttachSessionActionSets"))?;
        Ok(Self { actions, devices })
    }

    /// Other controllers are in the hands.
    ///
    /// # Errors
    /// The runtime's.
    pub fn refresh(&mut self, session: &Session) -> Result<()> {
        let refreshed = self.devices.refresh(&self.actions, session.handle());
        refreshed.map_err(failed("xrGetCurrentInteractionProfile"))
    }

    /// What their buttons are called.
    pub fn labels(&self) -> [Labels; 2] {
        self.devices.labels(&self.actions)
    }

    /// What is in the hands.
    pub fn profiles(&self) -> [String; 2] {
        [0, 1].map(|hand| self.devices.profile(&self.actions, hand).map_or_else(String::new, |p| p.path()))
    }
}
