//! A background thread that detects, while the user works in the window, that the user puts the headset on.
//!
//! An attempt to connect can start a runtime. The watch therefore connects only in two cases: the user commands it, or
//! a runtime starts while the window is open. The watch recognizes a new runtime by the socket of the runtime's
//! service, which is cheap to check. If the path of this socket is not known, the watch connects only on the user's
//! command. If a session already exists, the watch keeps it alive with empty frames. The user counts as wearing the
//! headset once the session gains focus (and user presence, if reported).

use super::Options;
use super::connection::XrConnection;
use super::error::{Result, XrError};
use super::session::Happened;
use super::session_state::Transition;
use crate::app::handover::{Found, HeadsetWatch};
use crate::base::{Error, Result as CoreResult};
use crate::gpu::Window;
use openxr as xr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

/// Interval between two checks for a new runtime.
const SEARCH: Duration = Duration::from_secs(1);
/// Interval between two polls of an existing session.
const LOOK: Duration = Duration::from_millis(50);
/// Number of attempts to connect to a new runtime.
const TRIES: u32 = 10;
/// Sockets of runtime services, relative to `XDG_RUNTIME_DIR`.
const SIGNS: [&str; 2] = ["monado_comp_ipc", "wivrn/comp_ipc"];

/// Initial state of the watch.
pub enum Start {
    /// No session exists; holds the times of the sockets of the runtimes that have started already.
    Alone(Sign),
    /// The user took the headset off; holds its session.
    Off(Box<XrConnection>),
    /// The user switched to the window while wearing the headset; holds its session. To return, the user must take the
    /// headset off and put it on again.
    Left(Box<XrConnection>),
}

/// The watch thread; dropping it closes the thread's OpenXR session.
pub struct Watch {
    orders: Option<Sender<()>>,
    found: Receiver<Found<Box<XrConnection>>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts the thread. `window` is the window to which the headset's GPU should be able to present. The thread
    /// calls `wake` when [`Watch::found`] has a result.
    ///
    /// # Errors
    /// Fails if the operating system cannot create a thread.
    pub fn new(
        options: &Options,
        start: Start,
        window: Arc<dyn Window>,
        wake: impl Fn() + Send + 'static,
    ) -> CoreResult<Self> {
        let (orders, commands) = channel();
        let (send, found) = channel();
        let (link, off, sign) = match start {
            Start::Alone(sign) => (None, false, sign),
            Start::Off(link) => (Some(link), true, Sign::now()),
            Start::Left(link) => (Some(link), false, Sign::now()),
        };
        let options = options.clone();
        let lookout = Lookout { options, window, link, off, called: false, sign, tries: 0, send };
        let watch = move || lookout.watch(&commands, &wake);
        let thread = std::thread::Builder::new().name("headset".into()).spawn(watch);
        let thread = Some(thread.map_err(|e| Error::io("a thread", e))?);
        Ok(Self { orders: Some(orders), found, thread })
    }
}

impl HeadsetWatch for Watch {
    type Connection = Box<XrConnection>;

    fn call(&self) {
        if let Some(orders) = &self.orders {
            // Sending fails if the thread ended because it found a headset.
            let _ = orders.send(());
        }
    }

    fn found(&self) -> Option<Found<Box<XrConnection>>> {
        self.found.try_recv().ok()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // The thread has already printed the message of a panic.
            let _ = thread.join();
        }
        // Close a connection that was found but not used.
        while let Some(found) = self.found() {
            if let Found::On(link) = found {
                link.close();
            }
        }
    }
}

/// Creation times of the runtimes' sockets; `None` for a missing socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sign([Option<SystemTime>; SIGNS.len()]);

impl Sign {
    /// Reads the current creation times.
    pub fn now() -> Self {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|f| f.is_absolute());
        let made =
            |name: &str| std::fs::metadata(folder.as_ref()?.join(name)).and_then(|m| m.modified()).ok();
        Self(SIGNS.map(made))
    }

    /// Returns whether a runtime has started between `self` and `now`.
    fn has_new(&self, now: &Self) -> bool {
        self.0.iter().zip(&now.0).any(|(before, now)| now.is_some() && now != before)
    }
}

struct Lookout {
    options: Options,
    window: Arc<dyn Window>,
    link: Option<Box<XrConnection>>,
    /// Whether the user has been without the headset, at the start of the watch or later.
    off: bool,
    /// Whether the user has asked for the headset.
    called: bool,
    sign: Sign,
    /// Remaining attempts to connect to a new runtime that may not be ready.
    tries: u32,
    send: Sender<Found<Box<XrConnection>>>,
}

impl Lookout {
    fn watch(mut self, orders: &Receiver<()>, wake: &impl Fn()) {
        loop {
            if self.link.is_some() && self.look().is_err() {
                self.lose();
            }
            if self.link.as_ref().is_some_and(|link| worn(link, &mut self.off, self.called)) {
                break;
            }
            match orders.recv_timeout(if self.link.is_some() { LOOK } else { SEARCH }) {
                Ok(()) => self.called = true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.lose(),
            }
            if self.link.is_none() && self.search().is_err() {
                wake();
            }
        }
        if let Some(link) = self.link.take() {
            let sent = self.send.send(Found::On(link));
            if let Err(unsent) = sent
                && let Found::On(link) = unsent.0
            {
                link.close();
            }
            wake();
        }
    }

    /// Connects to a runtime if there is a reason. Fails if the user asked for the headset and none was found.
    fn search(&mut self) -> std::result::Result<(), ()> {
        let now = Sign::now();
        if self.sign.has_new(&now) {
            self.tries = TRIES;
        }
        self.sign = now;
        if self.tries == 0 && !self.called {
            return Ok(());
        }
        self.tries = self.tries.saturating_sub(1);
        match XrConnection::open(&self.options, Some(self.window.as_ref())) {
            // Set `off`, because a user who starts a runtime now intends to use the headset.
            Ok(link) => (self.link, self.off, self.tries) = (Some(Box::new(link)), true, 0),
            Err(trouble) if std::mem::take(&mut self.called) => {
                let _ = self.send.send(Found::Nothing(trouble.into_error()));
                return Err(());
            }
            // The runtime may not be ready, because it creates its socket first.
            Err(XrError::Absent(_) | XrError::InstanceLost(_)) if self.tries > 0 => {}
            Err(trouble) => {
                eprintln!("sinew: {}", trouble.into_error());
                self.tries = 0;
            }
        }
        Ok(())
    }

    /// Handles the runtime's events and submits an empty frame if the session runs.
    fn look(&mut self) -> Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        let mut events = xr::EventDataBuffer::new();
        while let Some(happened) = link.session.poll(&link.runtime.instance, &mut events)? {
            match happened {
                Happened::Turned(Transition::Quit | Transition::Rebuild) | Happened::LossPending => {
                    return Err(XrError::SessionLost("the runtime has ended the session".into()));
                }
                Happened::Profiles => link.controls.refresh(&link.session)?,
                Happened::Turned(_) | Happened::TakenOff => {}
            }
        }
        if link.session.life().running() {
            let begun = link.session.begin()?;
            link.session.end(&begun, None, &[])?;
        }
        Ok(())
    }

    /// Closes a session that is lost or no longer needed.
    fn lose(&mut self) {
        if let Some(link) = self.link.take() {
            link.close();
        }
        (self.called, self.sign, self.tries) = (false, Sign::now(), 0);
    }
}

/// Returns true if the user wears the headset, and either took the headset off before (`off`) or asked for the headset
/// (`called`). Sets `off` if the user does not wear the headset.
fn worn(link: &XrConnection, off: &mut bool, called: bool) -> bool {
    let on = link.session.life().focused() && link.session.present() != Some(false);
    *off |= !on;
    on && (*off || called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_appears_when_its_socket_is_made_and_not_when_it_goes_or_stays() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let none = [None, None];
        for (before, now) in
            [(none, [at(1), None]), ([at(1), None], [at(2), None]), ([at(1), None], [at(1), at(1)])]
        {
            assert!(Sign(before).has_new(&Sign(now)), "{before:?} {now:?}");
        }
        for (before, now) in [(none, none), ([at(1), None], [at(1), None]), ([at(1), None], none)] {
            assert!(!Sign(before).has_new(&Sign(now)), "{before:?} {now:?}");
        }
    }
}
