//! An open connection to a headset: the runtime, its GPU device, and a session with controllers. The thread that
//! watches for the headset and the frame loop pass it to each other.

use super::actions::{Actions, Devices};
use super::error::{Result, failed};
use super::fingers::FingerTrackers;
use super::instance::{Runtime, Wishes};
use super::profiles::Profile;
use super::session::Session;
use super::{Options, actions, device};
use crate::gpu::{Device, DeviceOptions, Window};
use crate::workbench::Labels;
use std::sync::Arc;

/// An OpenXR session with its runtime, device and controllers.
pub struct XrConnection {
    // Fields are dropped in this order; prefer [`XrConnection::close`].
    pub controls: Controls,
    pub session: Session,
    pub device: Arc<Device>,
    pub runtime: Runtime,
    /// Reason why the device cannot present to the given window; `None` if it can.
    pub no_mirror: Option<String>,
}

impl XrConnection {
    /// Connects to the runtime and creates a session. The GPU device can also present to `window` if possible.
    ///
    /// # Errors
    /// Fails like [`Runtime::open`], or if an OpenXR call fails.
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

    /// Closes the session and the connection. The GPU must be idle.
    pub fn close(self) {
        let Self { controls, session, device, runtime, .. } = self;
        drop(controls);
        session.close();
        drop((device, runtime));
    }
}

/// The controllers of a session.
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
        let fingers = FingerTrackers::new(session.handle(), &runtime.instance, runtime.system);
        let devices =
            actions.attach(session.handle(), fingers).map_err(failed("xrAttachSessionActionSets"))?;
        Ok(Self { actions, devices })
    }

    /// Updates the interaction profiles after the runtime reported a change.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn refresh(&mut self, session: &Session) -> Result<()> {
        let refreshed = self.devices.refresh(&self.actions, session.handle());
        refreshed.map_err(failed("xrGetCurrentInteractionProfile"))
    }

    /// Returns the button names of both hands.
    pub fn labels(&self) -> [Labels; 2] {
        self.devices.labels(&self.actions)
    }

    /// Returns the path of each hand's interaction profile; empty without a controller.
    pub fn profiles(&self) -> [String; 2] {
        [0, 1].map(|hand| self.devices.profile(&self.actions, hand).map_or_else(String::new, |p| p.path()))
    }
}
