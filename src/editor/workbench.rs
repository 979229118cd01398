//! The workbench: a document on its character, the tools, and the view. A frame of input goes in, edits and what is to
//! be shown come out; nothing else is looked at, so that replayed input gives the same document.

use super::navigation::Navigation;
use super::tools::{Desk, Hands, LineTool, Moment, checked};
use super::{Command, Input, Output, Preferences, Request, Rigid, Tool, recipe};
use crate::base::math::{Aabb, Vec3};
use crate::bind::Character;
use crate::edit::{DeformerSettings, Edit, Operation, Session, posable};
use crate::rig::{Pose, PosedRig};
use std::sync::Arc;

/// Radians per second of the turntable.
const TURNTABLE: f32 = 0.35;
/// Deflection of the stick that counts as a press, and below which it is let go.
const FLICK: [f32; 2] = [0.7, 0.4];
/// The brush grows by this factor per second at full deflection.
const GROWTH: f32 = 3.0;

/// A document being worked on with tracked hands.
pub struct Workbench {
    desk: Desk,
    preferences: Preferences,
    navigation: Navigation,
    hands: Hands,
    line: LineTool,
    output: Output,
    requests: Vec<Request>,
    deformer_changed: bool,
    /// The first view has been chosen.
    placed: bool,
    head: Rigid,
    flicked: bool,
    bounds: Aabb,
}

impl Workbench {
    /// A workbench on a session and the character of its document.
    pub fn new(session: Session<'static>, character: Arc<Character>, preferences: Preferences) -> Self {
        let bounds = Aabb::of(character.display.positions.iter().copied());
        let posable = posable(&character.skeleton);
        let pose = Pose::default();
        let mut desk = Desk {
            session,
            character,
            posable,
            pose,
            rig: PosedRig::default(),
            posed: true,
            changed: true,
            notice: None,
        };
        desk.show_document();
        let mut line = LineTool::default();
        line.document_changed(&desk);
        Self {
            desk,
            preferences: preferences.sane(),
            navigation: Navigation::default(),
            hands: Hands::default(),
            line,
            output: Output::default(),
            requests: Vec::new(),
            deformer_changed: true,
            placed: false,
            head: Rigid { position: Vec3::Y * 1.6, ..Rigid::default() },
            flicked: false,
            bounds,
        }
    }

    /// Goes on with another session and character, as [`Workbench::new`]; gives the old session back.
    pub fn open(&mut self, session: Session<'static>, character: Arc<Character>) -> Session<'static> {
        let new = Self::new(session, character, self.preferences.clone());
        let old = std::mem::replace(self, new);
        // Buttons held down stay held down.
        self.hands = old.hands;
        self.head = old.head;
        self.requests = old.requests;
        old.desk.session
    }

    /// One frame.
    pub fn step(&mut self, input: &Input) -> &Output {
        self.output.haptics = [None; 2];
        if let Some(head) = checked(&input.head) {
            self.head = head;
        }
        if let Some(new_from_old) =
            input.recentred.filter(|r| r.position.is_finite() && r.orientation.is_finite())
        {
            self.navigation.recentred(&new_from_old);
        }
        if !self.placed && checked(&input.head).is_some() {
            self.navigation.first(&self.bounds, &self.head);
            self.placed = true;
        }
        self.hands.update(input, self.navigation.world_from_room());
        self.buttons();
        self.turn_and_size();
        self.hands.place(input, self.navigation.world_from_room());
        self.use_tools();
        self.write_output()
    }

    /// What the last step wanted shown.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Does what a panel, a key or a button asks for.
    pub fn run_command(&mut self, command: Command) {
        let p = &mut self.preferences;
        match command {
            Command::Undo => self.undo(Operation::Undo),
            Command::Redo => self.undo(Operation::Redo),
            Command::Palette => p.palette = !p.palette,
            Command::Files => p.files = !p.files,
            Command::Tool(tool) if tool != p.tool => {
                p.tool = tool;
                self.cancel();
            }
            Command::Tool(_) => {}
            Command::Radius(radius) => {
                p.set_radius(radius);
            }
            Command::Lengths(lengths) => p.lengths = lengths,
            Command::Roll(on) => p.roll = on,
            Command::Mirror(on) => p.mirror = on,
            Command::RedrawOffset => {
                p.tool = Tool::Line;
                self.line.redraw(&self.desk);
            }
            Command::RemoveStroke => {
                if let Some(id) = self.desk.session.document().strokes().last().map(|l| l.id) {
                    self.change(Edit::RemoveStroke(id));
                }
            }
            Command::TogglePin => {}
            Command::Deformer(method) => {
                let settings = DeformerSettings { method, ..DeformerSettings::default() };
                match recipe(&settings) {
                    Ok(_) => self.change(Edit::SetDeformer(settings)),
                    Err(error) => self.desk.refuse(&error),
                }
            }
            Command::Wire(on) => p.wire = on,
            Command::Turntable(on) => p.turntable = on,
            Command::SnapTurn(steps) => self.navigation.snap_turn(steps, self.head.position),
            Command::LifeSize => self.navigation.life_size(&self.bounds, &self.head),
            Command::UndoNavigation => {
                self.navigation.undo();
            }
            Command::RollWorld(on) => {
                p.roll_world = on;
                if !on {
                    self.navigation.level(self.head.position);
                }
            }
            Command::LeftHanded(on) => p.left_handed = on,
            Command::Haptics(on) => p.haptics = on,
            Command::Open(path) => self.requests.push(Request::Open(path)),
            Command::Save => self.requests.push(Request::Save),
            Command::Export => self.requests.push(Request::Export),
            Command::Quit => self.requests.push(Request::Quit),
        }
    }

    /// The runtime is gone or the headset was taken off: what was being drawn is dropped, the document stays.
    pub fn interrupt(&mut self) {
        self.cancel();
        self.navigation.pull([None; 2], false);
    }

    /// Document, history and journal.
    pub fn session(&self) -> &Session<'static> {
        &self.desk.session
    }

    /// Puts the tools away: what is left is the session.
    pub fn into_session(self) -> Session<'static> {
        self.desk.session
    }

    /// The character.
    pub fn character(&self) -> &Arc<Character> {
        &self.desk.character
    }

    /// The pose to show: the document's, or what a tool makes of it at the moment.
    pub fn pose(&self) -> &Pose {
        &self.desk.pose
    }

    /// [`Workbench::pose`], evaluated.
    pub fn rig(&self) -> &PosedRig {
        &self.desk.rig
    }

    /// The user's choices.
    pub fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// What was refused last, or trouble with the journal; none after something went well.
    pub fn notice(&self) -> Option<&str> {
        self.desk.notice.as_deref()
    }

    /// How much larger than life the world is shown.
    pub fn magnification(&self) -> f32 {
        1.0 / self.navigation.world_from_room().scale
    }

    /// Whether there is a view to go back to ([`Command::UndoNavigation`]).
    pub fn has_last_view(&self) -> bool {
        self.navigation.has_history()
    }

    /// Index into [`Input::hands`] of the hand that holds the tools now; the palette is on the other.
    pub fn tool_hand(&self) -> usize {
        self.hands.tool(self.preferences.tool_hand())
    }

    fn cancel(&mut self) {
        self.line.cancel(&mut self.desk);
    }

    fn change(&mut self, edit: Edit) {
        self.cancel();
        let deformer = self.desk.session.document().deformer().clone();
        self.desk.apply(edit);
        self.document_changed(&deformer);
    }

    /// Undo and redo; while a tool is used they drop what it does.
    fn undo(&mut self, operation: Operation) {
        if self.line.is_busy() {
            return self.cancel();
        }
        let deformer = self.desk.session.document().deformer().clone();
        // The first step is the character's own; without it there is nothing to work on.
        let bottom = operation == Operation::Undo && self.desk.session.history().0 <= 1;
        if bottom || !self.desk.run(operation) {
            let tool = self.tool_hand();
            self.output.haptics[tool] = self.preferences.haptics.then_some(super::Haptic::Limit);
        }
        self.document_changed(&deformer);
    }

    fn document_changed(&mut self, deformer: &DeformerSettings) {
        self.deformer_changed |= deformer != self.desk.session.document().deformer();
        self.line.document_changed(&self.desk);
    }

    fn buttons(&mut self) {
        let pressed = |f: fn(&super::tools::HandFrame) -> bool| self.hands.hands.iter().any(f);
        let (undo, redo) = (pressed(|h| h.undo.pressed), pressed(|h| h.redo.pressed));
        let menu = pressed(|h| h.menu.pressed);
        for (on, command) in [(undo, Command::Undo), (redo, Command::Redo), (menu, Command::Palette)] {
            if on {
                self.run_command(command);
            }
        }
    }

    /// The off hand's stick turns the view, the tool hand's sizes the brush; the turntable.
    fn turn_and_size(&mut self) {
        let tool = self.tool_hand();
        let off = self.hands.hands[1 - tool].stick[0];
        if self.flicked {
            self.flicked = off.abs() > FLICK[1];
        } else if off.abs() > FLICK[0] {
            self.flicked = true;
            self.run_command(Command::SnapTurn(off.signum() as i32));
        }
        let hand = &self.hands.hands[tool];
        // On a panel the stick scrolls.
        let size = hand.stick[1];
        if size.abs() > 0.2 && !hand.on_panel {
            let factor = GROWTH.powf(size * self.hands.step as f32);
            let radius = self.preferences.radius * factor;
            self.preferences.set_radius(radius);
        }
        if self.preferences.turntable && !self.line.is_busy() && !self.navigation.is_pulling() {
            let angle = TURNTABLE * self.hands.step as f32;
            self.navigation.orbit(self.bounds.center(), angle);
        }
    }

    fn use_tools(&mut self) {
        let tool = self.tool_hand();
        let mut moment = Moment {
            hands: &self.hands,
            tool,
            scale: self.navigation.world_from_room().scale,
            preferences: &self.preferences,
            haptics: &mut self.output.haptics,
        };
        if self.preferences.tool == Tool::Line {
            self.line.step(&mut self.desk, &mut moment);
        }
    }

    fn write_output(&mut self) -> &Output {
        let out = &mut self.output;
        out.world_from_room = *self.navigation.world_from_room();
        out.lines.segments.clear();
        self.line.document_lines(&self.desk, &mut out.lines);
        self.line.lines(&self.desk, &mut out.lines);
        out.posed = std::mem::take(&mut self.desk.posed);
        out.deformer_changed = std::mem::take(&mut self.deformer_changed);
        out.requests.clear();
        out.requests.append(&mut self.requests);
        &self.output
    }
}
