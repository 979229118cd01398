//! While its user is at a window: is a headset put on? Looked for on a thread of its own.
//!
//! Connecting to a runtime may start it, so nobody does it unasked: only the user's command, a runtime that appears while
//! the window is open, and a session that is there already lead to the headset. A runtime's sign is the socket of its
//! service, which costs a look at a folder; those of other makers come by the command. A session that is there is kept as
//! the runtime wants it, with frames that show nothing; its user is in the headset when the session has their attention
//! (and, where the runtime can tell, their presence) after it had not.

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

/// Between two looks for a runtime.
const SEARCH: Duration = Duration::from_secs(1);
/// Between two looks at a session.
const LOOK: Duration = Duration::from_millis(50);
/// Looks at a runtime that has come, before it is given up.
const TRIES: u32 = 10;
/// Sockets of runtimes' services in the user's folder for such.
const SIGNS: [&str; 2] = ["monado_comp_ipc", "wivrn/comp_ipc"];

/// Where the watch begins.
pub enum Start {
    /// There is no session; what was there of runtimes before.
    Alone(Sign),
    /// The headset was taken off: its session, which waits for it.
    Off(Box<XrConnection>),
    /// The user has left it, wearing it: it must be taken off before it can be put on.
    Left(Box<XrConnection>),
}

/// The thread; dropping it ends the session that it has.
pub struct Watch {
    orders: Option<Sender<()>>,
    found: Receiver<Found<Box<XrConnection>>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to look. `window` is one that the headset's device should be able to present to; `wake` is called on the
    /// thread when there is something [`Watch::found`].
    ///
    /// # Errors
    /// The operating system's.
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
            // The thread has ended where a headset was found already.
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
            // A panic there has been told of already.
            let _ = thread.join();
        }
        // One that was found and nobody has taken.
        while let Some(found) = self.found() {
            if let Found::On(link) = found {
                link.close();
            }
        }
    }
}

/// When the sockets of runtimes were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sign([Option<SystemTime>; SIGNS.len()]);

impl Sign {
    /// As it is now.
    pub fn now() -> Self {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|f| f.is_absolute());
        let made =
            |name: &str| std::fs::metadata(folder.as_ref()?.join(name)).and_then(|m| m.modified()).ok();
        Self(SIGNS.map(made))
    }

    /// Whether a runtime has come since.
    fn has_new(&self, now: &Self) -> bool {
        self.0.iter().zip(&now.0).any(|(before, now)| now.is_some() && now != before)
    }
}

struct Lookout {
    options: Options,
    window: Arc<dyn Window>,
    link: Option<Box<XrConnection>>,
    /// The headset was seen off its user's head.
    off: bool,
    /// The user has asked for it.
    called: bool,
    sign: Sign,
    /// Times to try a runtime that has come and is not ready yet.
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

    /// Connects where there is a reason to. An error where the user asked for it in vain.
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
            // Who starts a runtime now means to use it.
            Ok(link) => (self.link, self.off, self.tries) = (Some(Box::new(link)), true, 0),
            Err(trouble) if std::mem::take(&mut self.called) => {
                let _ = self.send.send(Found::Nothing(trouble.into_error()));
                return Err(());
            }
            // It may not be ready yet: its socket comes first.
            Err(XrError::Absent(_) | XrError::InstanceLost(_)) if self.tries > 0 => {}
            Err(trouble) => {
                eprintln!("sinew: {}", trouble.into_error());
                self.tries = 0;
            }
        }
        Ok(())
    }

    /// The runtime's events, and a frame that shows nothing where it wants frames.
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

    /// The session is gone, or not wanted any more.
    fn lose(&mut self) {
        if let Some(link) = self.link.take() {
            link.close();
        }
        (self.called, self.sign, self.tries) = (false, Sign::now(), 0);
    }
}

/// Whether its user is in the headset, having been out of it or asked for it.
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
