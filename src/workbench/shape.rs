//! The selected sculpt layer: commands that change it, and the states of all sculpt layers at the displayed time.

use super::{Command, CommandKind, Workbench};
use crate::base::{Error, Result, SculptId};
use crate::deform::Recipe;
use crate::deform::classic::Method;
use crate::deform::fast::Grips;
use crate::deform::sculpt::{Around, Curve, Profile, SculptState, Wave};
use crate::document::{Edit, KeyEdit, KeyValue, Target};
use crate::surface::{Form, Reach, Region, Sculpt, Surroundings, segment_bones};
use std::f32::consts::PI;
use std::mem::discriminant;

/// Slider range of the amplitude.
pub const AMPLITUDES: [f32; 2] = [-1.0, 2.0];
/// Slider range of the stiffness; the slider is logarithmic.
pub const STIFFNESSES: [f32; 2] = [0.1, 100.0];
/// Slider range of the growth of a profile.
pub const GROWTHS: [f32; 2] = [-1.0, 2.0];
/// Slider range of the tilt of a profile, degrees.
pub const TILTS: [f32; 2] = [-90.0, 90.0];
/// Slider range of the number of waves along a sculpt layer.
pub const COUNTS: [f32; 2] = [0.5, 6.0];
/// Slider range of the waves' temporal frequency, hertz.
pub const SPEEDS: [f32; 2] = [-3.0, 3.0];
/// Initial wave.
pub const WAVE: Wave = Wave { count: 2.0, speed: 1.0, phase: 0.0 };
/// Initial amount of a profile, as a fraction of the vertex's distance from its bone.
const AMOUNT: f32 = 0.25;

/// The selected sculpt layer, for panels.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeState {
    /// Name of the sculpt layer.
    pub name: String,
    /// Position among all sculpt layers, from 1, and their number.
    pub place: [usize; 2],
    /// Whether the sculpt layer is enabled.
    pub on: bool,
    /// Amplitude at the displayed time.
    pub amplitude: f32,
    /// Stiffness at the displayed time.
    pub stiffness: f32,
    /// How far the layer extends beyond its kinematic vertices.
    pub reach: Reach,
    /// The tool that moves the passive vertices; with `None`, the passive vertices follow the nearest kinematic
    /// vertices.
    pub surroundings: Option<Method>,
    /// Curve of the profile; `None` for a freely drawn sculpt layer.
    pub curve: Option<Curve>,
    /// Whether the layer was made from a mark, not on bones.
    pub marked: bool,
    /// The profile; `None` for a freely drawn sculpt layer.
    pub profile: Option<Profile>,
}

/// Identifies a change that the next change can continue, such as a slider drag: the sculpt layer (`None` for settings
/// of the deformer), the command, and the history lengths after the change.
pub(super) type Going = (Option<SculptId>, CommandKind, (usize, usize));

impl Workbench {
    /// The sculpt layers to display: the layers of the document and the layer that an accent stroke would make. A
    /// layer that a hand is pulling is in its current state, and so is its mirror image.
    pub fn sculpts<'a>(&'a self) -> impl Iterator<Item = &'a Sculpt> + Clone {
        let own = self.context.session.document().sculpts();
        let now = move |s: &'a Sculpt| self.in_hand().find(|held| held.id == s.id).unwrap_or(s);
        let new = self.in_hand().filter(|held| own.iter().all(|s| s.id != held.id));
        own.iter().map(now).chain(new).chain(self.previewed())
    }

    /// The sculpt layer that a hand is pulling, and with mirror its mirror image.
    fn in_hand(&self) -> impl Iterator<Item = &Sculpt> + Clone {
        self.skin.shaped().into_iter().chain(self.skin.mirrored())
    }

    /// The sculpt layer that the accent stroke would make. The document has no layer with its id.
    fn previewed(&self) -> Option<&Sculpt> {
        let own = self.context.session.document().sculpts();
        self.accent.shaped().filter(|shaped| own.iter().all(|s| s.id != shaped.id))
    }

    /// States of the sculpt layers at the displayed time, from the last step.
    pub fn sculpt_states(&self) -> &[SculptState] {
        &self.states
    }

    /// The deformer with its keyed settings at the displayed time, from the last step.
    pub fn recipe(&self) -> &Recipe {
        self.live.recipe()
    }

    /// The document's grips, for a binding.
    pub fn grip_shapes(&self) -> &Grips {
        self.live.grips()
    }

    /// The selected sculpt layer: the layer that was last pulled or chosen, else the newest layer.
    pub fn shape(&self) -> Option<&Sculpt> {
        let all = self.context.session.document().sculpts();
        all.iter().find(|s| Some(s.id) == self.shape).or(all.last())
    }

    /// State of the selected sculpt layer, for panels.
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
            reach: shape.region.reach,
            surroundings: shape.surroundings.as_ref().map(|s| s.method),
            curve: match &shape.form {
                Form::Drawn(_) => None,
                Form::Profile(profile) => Some(profile.curve),
            },
            marked: shape.mark.is_some(),
            profile: match &shape.form {
                Form::Drawn(_) => None,
                Form::Profile(profile) => Some(*profile),
            },
        })
    }

    /// Mean length of the edges at the kinematic vertices of the selected sculpt layer, metres; 0 without one.
    pub fn shape_edge(&self) -> f32 {
        self.shape().map_or(0.0, |shape| shape.region.edge(&self.context.character))
    }

    /// Runs a command on the selected sculpt layer.
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
            Command::Reach(reach) => match shape.region.with_reach(&self.context.character, reach.sane()) {
                Ok(region) => new = Sculpt { region, ..new }.with_open_surroundings(),
                Err(error) => {
                    self.context.refuse(&error);
                    return self.limit();
                }
            },
            Command::Profile(curve) => {
                let old = match &shape.form {
                    Form::Profile(old) => *old,
                    Form::Drawn(_) => Profile { amount: AMOUNT, ..Profile::default() },
                };
                new.form = Form::Profile(Profile { curve: *curve, ..old });
                new.surroundings = None;
            }
            Command::Surroundings(_) if !matches!(shape.form, Form::Drawn(_)) => {
                self.context.notice =
                    Some("this shape has a profile: draw one by a pull or an offset stroke".into());
                return self.limit();
            }
            Command::Surroundings(method) => {
                if *method != shape.surroundings.as_ref().map(|s| s.method) {
                    new.surroundings = method.map(Surroundings::new);
                }
            }
            Command::Along(_) | Command::Around(_) | Command::Growth(_) | Command::Tilt(_) => {
                let Form::Profile(profile) = &mut new.form else {
                    self.context.notice = Some("this shape is drawn by hand: choose a profile first".into());
                    return self.limit();
                };
                match command {
                    Command::Along(along) => profile.along = *along,
                    Command::Around(around) => {
                        let turn = |v: f32| if v.is_finite() { v.clamp(-PI, PI) } else { 0.0 };
                        profile.around = around.map(|a| Around { facing: turn(a.facing), ..a });
                    }
                    Command::Growth(value) => profile.amount = fits(*value, GROWTHS),
                    Command::Tilt(degrees) => profile.tilt = fits(*degrees, TILTS).to_radians(),
                    _ => {}
                }
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
        // Start from the displayed (keyed) values, because the slider shows these.
        if let Some(now) =
            self.states.iter().find(|s| s.id == shape.id).filter(|_| self.context.time.is_some())
        {
            new.amplitude = if new.amplitude == shape.amplitude { now.amplitude } else { new.amplitude };
            new.stiffness = if new.stiffness == shape.stiffness { now.stiffness } else { new.stiffness };
        }
        let going = |bench: &Self| (Some(shape.id), command.kind(), bench.context.session.history());
        // A drag of a slider keeps the kind of its value.
        let slides = match (command, &shape.form) {
            (Command::ShapeOn(_) | Command::Profile(_) | Command::Along(_) | Command::Surroundings(_), _) => {
                false
            }
            (Command::Reach(reach), _) => discriminant(reach) == discriminant(&shape.region.reach),
            (Command::Around(around), Form::Profile(old)) => {
                around.zip(old.around).is_some_and(|(a, b)| a.curve == b.curve)
            }
            _ => true,
        };
        let continues = slides && self.sliding == Some(going(self));
        self.shape = Some(shape.id);
        self.apply(Edit::SetSculpt(Box::new(new)), continues);
        self.sliding = Some(going(self));
        self.find_states();
    }

    /// Adds a sculpt layer of the skin that is attached to the bones of the selected joint, and selects it.
    pub(super) fn add_shape_on_bone(&mut self) {
        match self.shape_on_bone() {
            Ok(sculpt) => {
                let id = sculpt.id;
                self.change(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) });
                self.shape = Some(id);
                self.find_states();
            }
            Err(error) => {
                self.context.refuse(&error);
                self.limit();
            }
        }
    }

    fn shape_on_bone(&self) -> Result<Sculpt> {
        let joint = self.bone_joint()?;
        let attachments = self.attachments().ok_or_else(|| {
            Error::input("the skin is still being attached to its bones", "try again in a moment")
        })?;
        let skeleton = &self.context.character.skeleton;
        let bones = segment_bones(skeleton, joint);
        let region = Region::on_bones(&self.context.character, attachments, &bones)?;
        let profile = Profile { curve: Curve::Parabola, amount: AMOUNT, ..Profile::default() };
        let id = self.context.session.document().unused_sculpt_id();
        let node = &skeleton.nodes[skeleton.joints[joint.index()].node.index()];
        let name = format!("{} {}", node.name, id.0 + 1);
        Ok(Sculpt { name, ..Sculpt::new(id, None, region, Form::Profile(profile)) })
    }

    /// Keys for the amplitude and stiffness of all sculpt layers at the displayed time; `None` without sculpt layers.
    pub(super) fn shape_keys(&self, time: f64) -> Option<KeyEdit> {
        let mut keys = Vec::new();
        for s in &self.states {
            keys.push(KeyValue { target: Target::SculptAmplitude(s.id), value: vec![s.amplitude] });
            keys.push(KeyValue { target: Target::SculptStiffness(s.id), value: vec![s.stiffness] });
        }
        (!keys.is_empty()).then_some(KeyEdit::Insert { time, keys })
    }

    /// Whether keys of the motion hide a difference of the sculpt layers' amplitudes and stiffnesses from `before`.
    pub(super) fn hides_changes(&self, before: &[SculptState]) -> bool {
        let motion = self.context.session.document().motion();
        let Some(KeyEdit::Insert { keys, .. }) = self.shape_changes(0.0, before) else { return false };
        keys.iter().any(|key| motion.channel(&key.target).is_some())
    }

    /// Keys for the amplitudes and stiffnesses that differ from `before`. Ignores sculpt layers that `before` does not
    /// contain. `None` if nothing differs.
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

    /// Edits that copy the displayed amplitude and stiffness into the document.
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

    /// Updates the deformer and the sculpt states for the displayed time. If the motion is displayed, or plays during a
    /// recording, they have keyed values; otherwise they have the document's values, and waves move with the input clock. Does not allocate while
    /// the set of sculpt layers is unchanged.
    pub(super) fn find_states(&mut self) {
        let document = self.context.session.document();
        // A window redraws on demand, so waves use the playhead's time there.
        let idle = if self.windowed { self.playhead.time } else { self.hands.time };
        let time = self.context.time.or(self.time_beneath());
        let seconds = time.unwrap_or(idle);
        self.states.clear();
        document.sculpt_states_into(time, seconds, &mut self.states);
        self.live.go_to(document, time);
        if let Some(shaped) = self.skin.shaped() {
            self.shape = Some(shaped.id);
        }
        for held in self.skin.shaped().into_iter().chain(self.skin.mirrored()) {
            // The sculpt layer that a hand pulls replaces the document's version of the layer.
            self.states.retain(|s| s.id != held.id);
            self.states.extend(held.state(seconds));
        }
        let preview = self.previewed().and_then(|sculpt| sculpt.state(seconds));
        self.states.extend(preview);
    }
}
