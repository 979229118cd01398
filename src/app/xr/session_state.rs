//! The life of a session, as the runtime tells it: what to do at each change of its state.

use openxr as xr;

/// What a change of state asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// Nothing.
    Stay,
    /// The headset is there: xrBeginSession.
    Begin,
    /// It was taken off or the runtime wants it back: save, xrEndSession.
    End,
    /// Nobody sees the pictures any more, but frames go on: save.
    Hidden,
    /// The user is done with the program.
    Quit,
    /// The session will not come back: begin another one.
    Rebuild,
}

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionState {
    state: xr::SessionState,
    running: bool,
}

impl Default for SessionState {
    fn default() -> Self {
        Self { state: xr::SessionState::UNKNOWN, running: false }
    }
}

impl SessionState {
    /// Between xrBeginSession and xrEndSession: frames must be made.
    pub fn running(&self) -> bool {
        self.running
    }

    /// The user's attention: actions are delivered.
    pub fn focused(&self) -> bool {
        self.state == xr::SessionState::FOCUSED
    }

    /// As OpenXR calls it.
    pub fn name(&self) -> &'static str {
        match self.state {
            xr::SessionState::IDLE => "IDLE",
            xr::SessionState::READY => "READY",
            xr::SessionState::SYNCHRONIZED => "SYNCHRONIZED",
            xr::SessionState::VISIBLE => "VISIBLE",
            xr::SessionState::FOCUSED => "FOCUSED",
            xr::SessionState::STOPPING => "STOPPING",
            xr::SessionState::LOSS_PENDING => "LOSS_PENDING",
            xr::SessionState::EXITING => "EXITING",
            _ => "UNKNOWN",
        }
    }

    /// The runtime says that the state is another.
    pub fn change(&mut self, to: xr::SessionState) -> Transition {
        let seen = |s| s == xr::SessionState::VISIBLE || s == xr::SessionState::FOCUSED;
        let was_seen = seen(self.state);
        self.state = to;
        match to {
            xr::SessionState::READY if !self.running => {
                self.running = true;
                Transition::Begin
            }
            xr::SessionState::STOPPING if self.running => {
                self.running = false;
                Transition::End
            }
            xr::SessionState::SYNCHRONIZED if was_seen => Transition::Hidden,
            xr::SessionState::EXITING => {
                self.running = false;
                Transition::Quit
            }
            xr::SessionState::LOSS_PENDING => {
                self.running = false;
                Transition::Rebuild
            }
            _ => Transition::Stay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xr::SessionState as S;

    fn turns(states: &[S]) -> (Vec<Transition>, SessionState) {
        let mut life = SessionState::default();
        (states.iter().map(|s| life.change(*s)).collect(), life)
    }

    #[test]
    fn a_headset_put_on_taken_off_and_put_on_again_runs_twice() {
        let on = [S::READY, S::SYNCHRONIZED, S::VISIBLE, S::FOCUSED];
        let off = [S::VISIBLE, S::SYNCHRONIZED, S::STOPPING, S::IDLE];
        let day: Vec<S> = [&[S::IDLE][..], &on, &off, &on].concat();
        let (turns, life) = turns(&day);
        assert_eq!(turns.iter().filter(|t| **t == Transition::Begin).count(), 2);
        assert_eq!(turns.iter().filter(|t| **t == Transition::End).count(), 1);
        assert_eq!(turns[6], Transition::Hidden, "what nobody sees is saved");
        assert!(life.running() && life.focused());
    }

    #[test]
    fn the_ends_of_a_session_are_told_apart() {
        let (quit, life) = turns(&[S::IDLE, S::READY, S::SYNCHRONIZED, S::STOPPING, S::IDLE, S::EXITING]);
        assert_eq!(quit[3..], [Transition::End, Transition::Stay, Transition::Quit]);
        assert!(!life.running());
        let (lost, life) = turns(&[S::IDLE, S::READY, S::FOCUSED, S::LOSS_PENDING]);
        assert_eq!(lost[3], Transition::Rebuild);
        assert!(!life.running() && !life.focused());
        assert_eq!(life.name(), "LOSS_PENDING");
    }

    #[test]
    fn frames_begin_once_and_a_stop_without_a_begin_ends_nothing() {
        let (turns, _) = turns(&[S::READY, S::READY, S::STOPPING, S::STOPPING]);
        assert_eq!(turns, [Transition::Begin, Transition::Stay, Transition::End, Transition::Stay]);
    }
}
