//! Controllers in an OpenXR session: action sets, suggested bindings, poses, haptics and button names.

use super::controls::{Located, Palm, Raw, fill};
use super::fingers::FingerTrackers;
use super::profiles::{Act, HANDS, Needs, Profile, Set};
use crate::base::Error;
use crate::base::math::Vec3;
use crate::workbench::{Control, Haptic, Input, Labels, Tracked};
use openxr as xr;
use std::collections::BTreeMap;

/// Returns the interaction profiles to suggest bindings for: all of them, or only the profile `name` in tests.
///
/// # Errors
/// Fails if no profile, or more than one, begins with `name`; the error lists the known names.
pub fn chosen(name: Option<&str>) -> crate::base::Result<Vec<Profile>> {
    let all = super::profiles::profiles();
    let Some(name) = name else { return Ok(all) };
    let known: Vec<&str> = all.iter().map(|p| p.name).collect();
    let remedy = format!("it has {}", known.join(", "));
    let one: Vec<Profile> = all.into_iter().filter(|p| p.name.starts_with(name)).collect();
    match one.len() {
        1 => Ok(one),
        0 => Err(Error::input(format!("no interaction profile is called {name}"), remedy)),
        _ => Err(Error::input(format!("several interaction profiles begin with {name}"), remedy)),
    }
}

/// Returns the extensions that `profiles` need, given the runtime's version (major, minor) and extensions `offered`.
pub fn extensions(
    profiles: &[Profile],
    version: (u16, u16),
    offered: &xr::ExtensionSet,
) -> Vec<&'static str> {
    let offers = |name: &str| offers(offered, name);
    let needed = profiles.iter().filter_map(|p| match p.needs {
        Needs::Core | Needs::Version11 => None,
        // The extension is core in 1.1. Enabling it there is valid, but some runtimes warn.
        Needs::Promoted(name) => (version < (1, 1) && offers(name)).then_some(name),
        Needs::Extension(name) => offers(name).then_some(name),
    });
    let mut out: Vec<&str> = needed.collect();
    out.dedup();
    out
}

/// Returns whether a set contains the extension `name`.
pub fn offers(set: &xr::ExtensionSet, name: &str) -> bool {
    set.names().iter().any(|n| n.strip_suffix(&[0]) == Some(name.as_bytes()))
}

/// The actions of an OpenXR instance; they outlive its sessions.
pub struct Actions {
    sets: [xr::ActionSet; 3],
    hands: [xr::Path; 2],
    grip: xr::Action<xr::Posef>,
    aim: xr::Action<xr::Posef>,
    haptic: xr::Action<xr::Haptic>,
    draw: xr::Action<f32>,
    grab: xr::Action<f32>,
    stick: xr::Action<xr::Vector2f>,
    pad: xr::Action<xr::Vector2f>,
    undo: xr::Action<bool>,
    redo: xr::Action<bool>,
    menu: xr::Action<bool>,
    pad_press: xr::Action<bool>,
    /// Interaction profiles whose bindings the runtime accepted, by path.
    profiles: BTreeMap<xr::Path, Profile>,
    /// Log messages about bindings that were dropped or rejected.
    pub notes: Vec<String>,
}

impl Actions {
    /// Creates the actions and suggests bindings for every profile that the instance can support, given its version
    /// (major, minor) and the extensions `enabled`. A path that the runtime does not know is omitted and noted. A
    /// rejected profile does not affect other profiles.
    ///
    /// # Errors
    /// Fails if the instance is lost or the runtime cannot create actions.
    pub fn new(
        instance: &xr::Instance,
        version: (u16, u16),
        enabled: &xr::ExtensionSet,
        profiles: Vec<Profile>,
    ) -> xr::Result<Self> {
        let hands = [instance.string_to_path(HANDS[0])?, instance.string_to_path(HANDS[1])?];
        let set = |set: Set| instance.create_action_set(set.name(), set.title(), 0);
        let sets = [set(Set::Nav)?, set(Set::Tool)?, set(Set::Ui)?];
        let make = Maker { sets: &sets, hands: &hands };
        let mut actions = Self {
            grip: make.action(Act::Grip)?,
            aim: make.action(Act::Aim)?,
            haptic: make.action(Act::Haptic)?,
            draw: make.action(Act::Draw)?,
            grab: make.action(Act::Grab)?,
            stick: make.action(Act::Stick)?,
            pad: make.action(Act::Pad)?,
            undo: make.action(Act::Undo)?,
            redo: make.action(Act::Redo)?,
            menu: make.action(Act::Menu)?,
            pad_press: make.action(Act::PadPress)?,
            sets,
            hands,
            profiles: BTreeMap::new(),
            notes: Vec::new(),
        };
        for profile in profiles {
            if !profile.usable(version, |name| offers(enabled, name)) {
                continue;
            }
            let path = instance.string_to_path(&profile.path())?;
            if actions.suggest(instance, path, &profile)? {
                actions.profiles.insert(path, profile);
            }
        }
        Ok(actions)
    }

    fn binding(&self, act: Act, path: xr::Path) -> xr::Binding<'_> {
        match act {
            Act::Grip => xr::Binding::new(&self.grip, path),
            Act::Aim => xr::Binding::new(&self.aim, path),
            Act::Haptic => xr::Binding::new(&self.haptic, path),
            Act::Draw => xr::Binding::new(&self.draw, path),
            Act::Grab => xr::Binding::new(&self.grab, path),
            Act::Stick => xr::Binding::new(&self.stick, path),
            Act::Pad => xr::Binding::new(&self.pad, path),
            Act::Undo => xr::Binding::new(&self.undo, path),
            Act::Redo => xr::Binding::new(&self.redo, path),
            Act::Menu => xr::Binding::new(&self.menu, path),
            Act::PadPress => xr::Binding::new(&self.pad_press, path),
        }
    }

    /// Suggests the bindings of a profile; returns whether the runtime accepted at least one.
    fn suggest(&mut self, instance: &xr::Instance, path: xr::Path, profile: &Profile) -> xr::Result<bool> {
        let mut notes = Vec::new();
        let mut bindings = Vec::new();
        for b in &profile.bindings {
            for hand in (0..2).filter(|&h| b.on(h)) {
                let text = format!("{}/{}", HANDS[hand], b.component);
                bindings.push((self.binding(b.act, instance.string_to_path(&text)?), text));
            }
        }
        let all: Vec<xr::Binding<'_>> = bindings.iter().map(|(b, _)| *b).collect();
        let suggest =
            |bindings: &[xr::Binding<'_>]| instance.suggest_interaction_profile_bindings(path, bindings);
        let mut result = suggest(&all);
        if result == Err(xr::sys::Result::ERROR_PATH_UNSUPPORTED) {
            // A single unknown path makes the runtime reject all bindings, and each suggestion replaces the last. So
            // test the paths one by one, then suggest the known paths together.
            let mut known = Vec::new();
            for (binding, text) in &bindings {
                match suggest(std::slice::from_ref(binding)) {
                    Ok(()) => known.push(*binding),
                    Err(xr::sys::Result::ERROR_PATH_UNSUPPORTED) => {
                        notes.push(format!("{}: {text} is not known to this runtime", profile.name));
                    }
                    Err(error) => return Err(error),
                }
            }
            if !known.is_empty() {
                result = suggest(&known);
            }
        }
        let taken = match result {
            Ok(()) => true,
            Err(error @ (xr::sys::Result::ERROR_INSTANCE_LOST | xr::sys::Result::ERROR_RUNTIME_FAILURE)) => {
                return Err(error);
            }
            Err(error) => {
                notes = vec![format!("{}: this runtime refuses the profile ({error})", profile.name)];
                false
            }
        };
        self.notes.append(&mut notes);
        Ok(taken)
    }

    /// Attaches the actions to a new session and creates the action spaces of both hands. `fingers` belongs to this
    /// session.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn attach<G>(&self, session: &xr::Session<G>, fingers: FingerTrackers) -> xr::Result<Devices> {
        let [nav, tool, ui] = &self.sets;
        session.attach_action_sets(&[nav, tool, ui])?;
        let space =
            |action: &xr::Action<xr::Posef>, hand| action.create_space(session, hand, xr::Posef::IDENTITY);
        let hand = |hand| -> xr::Result<Device> {
            Ok(Device {
                grip: space(&self.grip, hand)?,
                aim: space(&self.aim, hand)?,
                last: [Tracked::default(); 2],
                palm: Palm::default(),
                profile: None,
            })
        };
        let mut devices = Devices { hands: [hand(self.hands[0])?, hand(self.hands[1])?], fingers };
        devices.refresh(self, session)?;
        Ok(devices)
    }

    /// Calls `xrSyncActions`. Without input focus the runtime reports all actions as inactive.
    ///
    /// # Errors
    /// Fails if the session or the instance is lost.
    pub fn sync<G>(&self, session: &xr::Session<G>) -> xr::Result<()> {
        let [nav, tool, ui] = &self.sets;
        session.sync_actions(&[nav.into(), tool.into(), ui.into()])
    }

    fn raw<G>(&self, session: &xr::Session<G>, hand: usize) -> xr::Result<Raw> {
        let path = self.hands[hand];
        let float = |a: &xr::Action<f32>| -> xr::Result<f32> {
            let s = a.state(session, path)?;
            Ok(if s.is_active { s.current_state } else { 0.0 })
        };
        let vector = |a: &xr::Action<xr::Vector2f>| -> xr::Result<[f32; 2]> {
            let s = a.state(session, path)?;
            Ok(if s.is_active { [s.current_state.x, s.current_state.y] } else { [0.0; 2] })
        };
        let bool = |a: &xr::Action<bool>| -> xr::Result<bool> {
            let s = a.state(session, path)?;
            Ok(s.is_active && s.current_state)
        };
        Ok(Raw {
            draw: float(&self.draw)?,
            grab: float(&self.grab)?,
            stick: vector(&self.stick)?,
            undo: bool(&self.undo)?,
            redo: bool(&self.redo)?,
            menu: bool(&self.menu)?,
            pad: vector(&self.pad)?,
            pad_press: bool(&self.pad_press)?,
        })
    }

    /// Plays the haptic pulses that a step of the workbench requested.
    ///
    /// # Errors
    /// Fails if the session or the instance is lost.
    pub fn feel<G>(&self, session: &xr::Session<G>, haptics: &[Option<Haptic>; 2]) -> xr::Result<()> {
        for (haptic, &hand) in haptics.iter().zip(&self.hands) {
            if let Some(haptic) = haptic {
                let (seconds, amplitude) = haptic.pulse();
                let event = xr::HapticVibration::new()
                    .amplitude(amplitude)
                    .frequency(xr::FREQUENCY_UNSPECIFIED)
                    .duration(xr::Duration::from_nanos((f64::from(seconds) * 1e9) as i64));
                self.haptic.apply_feedback(session, hand, &event)?;
            }
        }
        Ok(())
    }
}

struct Maker<'a> {
    sets: &'a [xr::ActionSet; 3],
    hands: &'a [xr::Path; 2],
}

impl Maker<'_> {
    fn action<T: xr::ActionTy>(&self, act: Act) -> xr::Result<xr::Action<T>> {
        self.sets[act.set() as usize].create_action(act.name(), act.title(), self.hands)
    }
}

/// The controller of one hand.
struct Device {
    grip: xr::Space,
    aim: xr::Space,
    /// Last known poses of grip and aim.
    last: [Tracked; 2],
    palm: Palm,
    profile: Option<xr::Path>,
}

/// The controllers of both hands in a session.
pub struct Devices {
    hands: [Device; 2],
    fingers: FingerTrackers,
}

impl Devices {
    /// Queries both hands' interaction profiles. Call it when a session starts and when the runtime reports a change.
    ///
    /// # Errors
    /// Fails if the session or the instance is lost.
    pub fn refresh<G>(&mut self, actions: &Actions, session: &xr::Session<G>) -> xr::Result<()> {
        for (device, &hand) in self.hands.iter_mut().zip(&actions.hands) {
            let path = session.current_interaction_profile(hand)?;
            device.profile = (path != xr::Path::NULL).then_some(path);
        }
        Ok(())
    }

    /// Returns the interaction profile of a hand; `None` without a controller.
    pub fn profile<'a>(&self, actions: &'a Actions, hand: usize) -> Option<&'a Profile> {
        actions.profiles.get(&self.hands[hand].profile?)
    }

    /// Returns the button names of both hands.
    pub fn labels(&self, actions: &Actions) -> [Labels; 2] {
        [0, 1].map(|hand| {
            let profile = self.profile(actions, hand);
            Labels::new(|control: Control| profile?.control(control, hand))
        })
    }

    /// Updates `input.hands` at time `time`, with poses in the space `room`. Call it after [`Actions::sync`];
    /// `input.head` must belong to the same frame. Leaves the surface samples unchanged.
    ///
    /// # Errors
    /// Fails if the session or the instance is lost.
    pub fn read<G>(
        &mut self,
        actions: &Actions,
        session: &xr::Session<G>,
        room: &xr::Space,
        time: xr::Time,
        input: &mut Input,
    ) -> xr::Result<()> {
        let head: Vec3 = input.head.pose.position;
        for (i, out) in input.hands.iter_mut().enumerate() {
            let bare = self.profile(actions, i).is_some_and(|p| p.palm_menu);
            let device = &mut self.hands[i];
            device.last = [
                located(&device.grip, room, time)?.after(&device.last[0]),
                located(&device.aim, room, time)?.after(&device.last[1]),
            ];
            [out.grip, out.aim] = device.last;
            let raw = actions.raw(session, i)?;
            out.fingers = self.fingers.read(i, room, time)?;
            fill(i, &raw, bare.then_some((&mut device.palm, head)), out);
        }
        Ok(())
    }
}

/// Returns the location of `space` in `base`.
///
/// # Errors
/// Fails if the session or the instance is lost.
pub fn located(space: &xr::Space, base: &xr::Space, time: xr::Time) -> xr::Result<Located> {
    use xr::SpaceLocationFlags as F;
    let at = space.locate(base, time)?;
    let has = |flags: F| at.location_flags.contains(flags);
    let (p, q) = (at.pose.position, at.pose.orientation);
    Ok(Located {
        valid: has(F::POSITION_VALID | F::ORIENTATION_VALID),
        tracked: has(F::POSITION_TRACKED | F::ORIENTATION_TRACKED),
        position: [p.x, p.y, p.z],
        orientation: [q.x, q.y, q.z, q.w],
    })
}
