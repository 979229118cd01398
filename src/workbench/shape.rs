//! The selected sculpt layer: what a palette or a panel changes of it, and what all of them are at the moment shown.

use super::{Command, CommandKind, Workbench};
use crate::base::SculptId;
use crate::deform::Recipe;
use crate::deform::sculpt::{Along, Curve, Profile, SculptState, Wave};
use crate::document::{Edit, KeyEdit, KeyValue, Target};
use crate::surface::{Form, Sculpt};

/// Amplitudes on sliders.
pub const AMPLITUDES: [f32; 2] = [-1.0, 2.0];
/// Stiffness on sliders, which run by its logarithm.
pub const STIFFNESSES: [f32; 2] = [0.1, 100.0];
/// Waves along a shape on sliders.
pub const COUNTS: [f32; 2] = [0.5, 6.0];
/// Waves a second on sliders.
pub const SPEEDS: [f32; 2] = [-3.0, 3.0];
/// A wave as it is first chosen.
pub const WAVE: Wave = Wave { count: 2.0, speed: 1.0, phase: 0.0 };
/// What a profile first adds to a vertex's distance from its bone, as a share.
const AMOUNT: f32 = 0.25;

/// The selected shape, as panels show it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeState {
    /// Its name.
    pub name: String,
    /// Which of how many, from 1.
    pub place: [usize; 2],
    /// It takes part.
    pub on: bool,
    /// At the moment shown.
    pub amplitude: f32,
    /// At the moment shown.
    pub stiffness: f32,
    /// Its profile; `None` if it was drawn by hand.
    pub curve: Option<Curve>,
}

/// A change that goes on from the one before, as a slider's do: of which shape, none for the flesh's, by what, and the history
/// after it.
pub(super) type Going = (Option<SculptId>, CommandKind, (usize, usize));

impl Workbench {
    /// The sculpt layers to show: the document's, with what a hand shapes just now in place of its own.
    pub fn sculpts<'a>(&'a self) -> impl Iterator<Item = &'a Sculpt> + Clone {
        let shaped = self.skin.shaped();
        let own = self.context.session.document().sculpts();
        let known = shaped.is_some_and(|shaped| own.iter().any(|s| s.id == shaped.id));
        let now = move |s: &'a Sculpt| shaped.filter(|shaped| shaped.id == s.id).unwrap_or(s);
        own.iter().map(now).chain(shaped.filter(|_| !known))
    }

    /// Their states at the moment shown, as the last step left them.
    pub fn sculpt_states(&self) -> &[SculptState] {
        &self.states
    }

    /// The deformer at the moment shown, keyed settings in place, as the last step left it.
    pub fn recipe(&self) -> &Recipe {
        self.live.recipe()
    }

    /// The selected shape: that of the last pull or choice, else the newest.
    pub fn shape(&self) -> Option<&Sculpt> {
        let all = self.context.session.document().sculpts();
        all.iter().find(|s| Some(s.id) == self.shape).or(all.last())
    }

    /// The same for panels.
    pub fn shape_state(&self) -> Option<ShapeState> {
        let shape = self.shape()?;
        let all = self.context.session.document().sculpts();
        let state = self.states.iter().find(|s| s.id == shape.id);
        Some(ShapeState {
            name: shape.name.clone(),
            place: [1 + all.iter().position(|s| s.id == shape.id)?, all.len()],
            on: shape.enabled,
            amplitude: state.map_or(shape.amplitude, |s| s.amplitude),
            stiffness: state.map_or(shape.stiffness, |s| s.stiffness),
            curve: match &shape.form {
                Form::Drawn(_) => None,
                Form::Profile(profile) => Some(profile.curve),
            },
        })
    }

    /// Selects a shape; none is the newest.
    pub fn select_shape(&mut self, id: Option<SculptId>) {
        self.shape = id;
    }

    /// Runs a command that is about the selected shape.
    pub(super) fn run_shape_command(&mut self, command: &Command) {
        let Some(shape) = self.shape().cloned() else {
            self.context.notice = Some("there is no shape: draw on the skin, then pull at the mark".into());
            return self.limit();
        };
        let mut new = shape.clone();
        let fits = |value: f32, [least, most]: [f32; 2]| {
            if value.is_finite() { value.clamp(least, most) } else { least }
        };
        match command {
            Command::SelectShape(steps) => {
                let all = self.context.session.document().sculpts();
                let at = all.iter().position(|s| s.id == shape.id).unwrap_or(0) as i64;
                let to = (at + i64::from(*steps)).rem_euclid(all.len().max(1) as i64);
                return self.shape = all.get(to as usize).map(|s| s.id);
            }
            Command::RemoveShape => {
                let mark =
                    shape.mark.filter(|m| self.context.session.document().marks().iter().any(|k| k.id == *m));
                let edits = [Some(Edit::RemoveSculpt(shape.id)), mark.map(Edit::RemoveMark)];
                return self.change(Edit::Group(edits.into_iter().flatten().collect()));
            }
            Command::ShapeOn(on) => new.enabled = *on,
            Command::Amplitude(value) => new.amplitude = fits(*value, AMPLITUDES),
            Command::Stiffness(value) => new.stiffness = fits(*value, STIFFNESSES),
            Command::Profile(curve) => {
                let (amount, along) = match &shape.form {
                    Form::Profile(old) => (old.amount, old.along),
                    Form::Drawn(_) => (AMOUNT, Along::Stroke),
                };
                new.form = Form::Profile(Profile { curve: *curve, amount, along });
            }
            Command::WaveCount(_) | Command::WaveSpeed(_) | Command::WavePhase(_) => {
                let Form::Profile(Profile { curve: Curve::Wave(wave), .. }) = &mut new.form else {
                    self.context.notice = Some("this shape is no wave: choose that profile first".into());
                    return self.limit();
                };
                match command {
                    Command::WaveCount(value) => wave.count = fits(*value, COUNTS),
                    Command::WaveSpeed(value) => wave.speed = fits(*value, SPEEDS),
                    Command::WavePhase(value) => wave.phase = fits(*value, [0.0, std::f32::consts::TAU]),
                    _ => {}
                }
            }
            _ => return,
        }
        if new == shape {
            return;
        }
        // What was at the moment shown is taken along: the slider goes on from what it showed.
        if let Some(now) =
            self.states.iter().find(|s| s.id == shape.id).filter(|_| self.context.time.is_some())
        {
            new.amplitude = if new.amplitude == shape.amplitude { now.amplitude } else { new.amplitude };
            new.stiffness = if new.stiffness == shape.stiffness { now.stiffness } else { new.stiffness };
        }
        let going = |bench: &Self| (Some(shape.id), command.kind(), bench.context.session.history());
        let slides = !matches!(command, Command::ShapeOn(_) | Command::Profile(_));
        let continues = slides && self.sliding == Some(going(self));
        self.shape = Some(shape.id);
        self.apply(Edit::SetSculpt(Box::new(new)), continues);
        self.sliding = Some(going(self));
        self.find_states();
    }

    /// Keys of the shapes' amplitude and stiffness at the moment shown; none without shapes.
    pub(super) fn shape_keys(&self, time: f64) -> Option<KeyEdit> {
        let mut keys = Vec::new();
        for s in &self.states {
            keys.push(KeyValue { target: Target::SculptAmplitude(s.id), value: vec![s.amplitude] });
            keys.push(KeyValue { target: Target::SculptStiffness(s.id), value: vec![s.stiffness] });
        }
        (!keys.is_empty()).then_some(KeyEdit::Insert { time, keys })
    }

    /// Keys of what differs from before of the shapes that are known; `None` if nothing does.
    pub(super) fn shape_changes(&self, time: f64, before: &[SculptState]) -> Option<KeyEdit> {
        let mut keys = Vec::new();
        for now in &self.keyed_states {
            let Some(old) = before.iter().find(|s| s.id == now.id) else { continue };
            if old.amplitude != now.amplitude {
                keys.push(KeyValue { target: Target::SculptAmplitude(now.id), value: vec![now.amplitude] });
            }
            if old.stiffness != now.stiffness {
                keys.push(KeyValue { target: Target::SculptStiffness(now.id), value: vec![now.stiffness] });
            }
        }
        (!keys.is_empty()).then_some(KeyEdit::Insert { time, keys })
    }

    /// Edits that give the document's shapes the amplitude and stiffness they are shown with.
    pub(super) fn shapes_as_shown(&self) -> Vec<Edit> {
        let differs = |s: &&Sculpt| {
            let now = self.states.iter().find(|state| state.id == s.id);
            now.is_some_and(|now| (now.amplitude, now.stiffness) != (s.amplitude, s.stiffness))
        };
        let all = self.context.session.document().sculpts().iter().filter(differs);
        let set = |s: &Sculpt| {
            let state = self.states.iter().find(|state| state.id == s.id)?;
            let (amplitude, stiffness) = (state.amplitude, state.stiffness);
            Some(Edit::SetSculpt(Box::new(Sculpt { amplitude, stiffness, ..s.clone() })))
        };
        all.filter_map(set).collect()
    }

    /// Finds the deformer and the states of the moment shown: on the motion keys tell them, otherwise they are the document's
    /// own, and waves move with the hands' clock. Does not allocate while shapes stay.
    pub(super) fn find_states(&mut self) {
        let document = self.context.session.document();
        // A window rests: there waves stand as they are at the playhead.
        let idle = if self.windowed { self.playhead.time } else { self.hands.time };
        let seconds = self.context.time.unwrap_or(idle);
        self.states.clear();
        document.sculpt_states_into(self.context.time, seconds, &mut self.states);
        self.live.go_to(document, self.context.time);
        if let Some(shaped) = self.skin.shaped() {
            self.shape = Some(shaped.id);
            // What a hand shapes is shown as it is shaped.
            self.states.retain(|s| s.id != shaped.id);
            self.states.extend(shaped.state(seconds));
        }
    }
}
