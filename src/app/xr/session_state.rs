//! The state machine of an OpenXR session: maps each state change to an action.

use openxr as xr;

/// Action that a state change requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// No action.
    Stay,
    /// The runtime is ready: call `xrBeginSession`.
    Begin,
    /// The user took the headset off or the runtime stops the session: save and call `xrEndSession`.
    End,
    /// The images are no longer visible, but frames continue: save.
    Hidden,
    /// The user quits the program.
    Quit,
    /// The session is lost: create a new one.
    Rebuild,
}

/// State of an OpenXR session.
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
    /// Returns whether the session runs, between `xrBeginSession` and `xrEndSession`; frames are then required.
    pub fn running(&self) -> bool {
        self.running
    }

    /// Returns whether the session has input focus, so that actions are delivered.
    pub fn focused(&self) -> bool {
        self.state == xr::SessionState::FOCUSED
    }

    /// Returns OpenXR's name of the state.
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

    /// Handles a state change from the runtime.
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
