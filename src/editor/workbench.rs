//! The workbench: a document on its character, the tools, and the view. A frame of input goes in, edits and what is to
//! be shown come out; nothing else is looked at, so that replayed input gives the same document.

use super::navigation::Navigation;
use super::tools::{
    Body, Desk, GrabTool, Hands, JointTool, LineTool, Moment, SkinTool, checked, newest_mark, show,
};
use super::{
    Command, Haptic, Input, Output, Playhead, Preferences, Request, Rigid, Timeline, Tool, Tracked, Tracking,
    recipe,
};
use crate::base::NodeId;
use crate::base::math::{Aabb, DQuat, DVec3, Vec3};
use crate::bind::Character;
use crate::deform::sculpt::SculptState;
use crate::edit::{DeformerSettings, Edit, Operation, Sculpt, Session, StrokeLayer};
use crate::render::{Segment, Tangents, View};
use crate::rig::{Pose, PosedRig};
use std::borrow::Cow;
use std::sync::Arc;

/// Radians per second of the turntable.
const TURNTABLE: f32 = 0.35;
/// Deflection of the stick that counts as a press, and below which it is let go.
const FLICK: [f32; 2] = [0.7, 0.4];
/// The brush grows by this factor per second at full deflection.
const GROWTH: f32 = 3.0;

/// Joints within this distance of the tip can be pinned, metres of the room.
pub(super) const PIN_REACH: f32 = 0.12;
/// Tangent of half the angle that a controller's own camera sees: its middle is what counts.
const PROBE: f32 = 0.02;
/// Its near plane, metres of the room.
const NEAR: f32 = 0.002;

/// A document being worked on with tracked hands.
pub struct Workbench {
    pub(super) desk: Desk,
    pub(super) preferences: Preferences,
    pub(super) navigation: Navigation,
    pub(super) hands: Hands,
    /// Index of the hand that holds the tools.
    tool: usize,
    line: LineTool,
    grab: GrabTool,
    skin: SkinTool,
    joint: JointTool,
    landmarks: Vec<Segment>,
    output: Output,
    requests: Vec<Request>,
    /// For the fingers in the next frame, from commands.
    felt: [Option<Haptic>; 2],
    deformer_changed: bool,
    /// The first view has been chosen.
    placed: bool,
    /// The last frame was a window's.
    windowed: bool,
    head: Rigid,
    flicked: bool,
    bounds: Aabb,
    /// The joint that the tool hand was near last: what a panel pins, which the hand must leave the body for.
    touched: Option<NodeId>,
    pub(super) playhead: Playhead,
    pub(super) timeline: Timeline,
    /// The document's pose when it was looked at last: what differs from it is keyed.
    pub(super) keyed: Pose,
    /// The last change was an undo or redo.
    pub(super) undone: bool,
    /// Where a key was moved to last, and the history then.
    pub(super) moved_key: Option<(f64, (usize, usize))>,
}

impl Workbench {
    /// A workbench on a session and the character of its document.
    pub fn new(session: Session<'static>, character: Arc<Character>, preferences: Preferences) -> Self {
        let tool = preferences.tool_hand();
        let bounds = Aabb::of(character.display.positions.iter().copied());
        let mut session = session;
        session.know_triangles(character.display.triangles.len());
        let body = Body::new(&character);
        let mut desk = Desk {
            session,
            character,
            body,
            pose: Pose::default(),
            rig: PosedRig::default(),
            posed: true,
            changed: true,
            time: None,
            edited: false,
            notice: None,
        };
        desk.show_document();
        let keyed = desk.pose.clone();
        let timeline = Timeline::new(Playhead::default(), desk.session.document(), &desk.character.skeleton);
        let mut line = LineTool::default();
        line.document_changed(&desk);
        Self {
            desk,
            preferences: preferences.sane(),
            navigation: Navigation::default(),
            hands: Hands::default(),
            tool,
            line,
            grab: GrabTool::default(),
            skin: SkinTool::default(),
            joint: JointTool::default(),
            landmarks: show::landmarks(&bounds),
            output: Output::default(),
            requests: Vec::new(),
            felt: [None; 2],
            deformer_changed: true,
            placed: false,
            windowed: false,
            head: Rigid { position: Vec3::Y * 1.6, ..Rigid::default() },
            flicked: false,
            bounds,
            touched: None,
            playhead: Playhead::default(),
            timeline,
            keyed,
            undone: false,
            moved_key: None,
        }
    }

    /// The edits of the surface to show: the document's, with what a hand shapes just now in place of its own.
    pub fn sculpts(&self) -> Cow<'_, [Sculpt]> {
        let own = self.desk.session.document().sculpts();
        match self.skin.shaped() {
            None => Cow::Borrowed(own),
            Some(shaped) => {
                let mut all: Vec<Sculpt> = own.iter().filter(|s| s.id != shaped.id).cloned().collect();
                all.push(shaped.clone());
                Cow::Owned(all)
            }
        }
    }

    /// Their states; waves move with the hands' clock.
    pub fn sculpt_states(&self) -> Vec<SculptState> {
        self.sculpts().iter().filter_map(|s| s.state(self.hands.time)).collect()
    }

    /// Goes on with another session and character, as [`Workbench::new`]; gives the old session back.
    pub fn open(&mut self, session: Session<'static>, character: Arc<Character>) -> Session<'static> {
        let new = Self::new(session, character, self.preferences.clone());
        let old = std::mem::replace(self, new);
        // Buttons held down stay held down.
        self.hands = old.hands;
        self.tool = old.tool;
        self.head = old.head;
        self.requests = old.requests;
        old.desk.session
    }

    /// One frame.
    pub fn step(&mut self, input: &Input) -> &Output {
        self.output.haptics = std::mem::take(&mut self.felt);
        if let Some(head) = checked(&input.head) {
            self.head = head;
        }
        let moved = input.recentred.map(|pose| Tracked { pose, tracking: Tracking::Tracked });
        if let Some(new_from_old) = moved.as_ref().and_then(checked) {
            self.navigation.recentred(&new_from_old);
        }
        self.windowed = input.window.is_some();
        if let Some(world_from_room) = input.window {
            self.navigation.put(world_from_room);
            // Whoever puts a headset on after this is placed before the character.
            self.placed = false;
        } else if !self.placed && checked(&input.head).is_some() {
            self.navigation.first(&self.bounds, &self.head);
            self.placed = true;
        }
        self.hands.update(input, self.navigation.world_from_room());
        // A hand that is lost in the middle of a stroke keeps it.
        if !self.is_busy() {
            self.tool = self.hands.tool(self.preferences.tool_hand());
        }
        self.buttons();
        self.turn_and_size();
        self.run_film();
        self.take_hold();
        self.hands.place(input, self.navigation.world_from_room());
        self.use_tools();
        self.key_changes();
        // At a window joints are clicked at.
        if !self.windowed && !self.hands.hands[self.tool_hand()].on_panel {
            self.touched = self.near_joint().or(self.touched);
        }
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
            Command::GrabBy(by) => p.grab = by,
            Command::RedrawOffset => {
                p.tool = Tool::Line;
                self.cancel();
                if !self.line.redraw(&self.desk) {
                    self.limit();
                }
            }
            Command::RemoveStroke => {
                let mark = newest_mark(&self.desk).map(Edit::RemoveMark);
                let stroke = self.line.removal(&self.desk);
                let edit = if p.tool == Tool::Skin { mark.or(stroke) } else { stroke.or(mark) };
                match edit {
                    Some(edit) => self.change(edit),
                    None => self.limit(),
                }
            }
            Command::TogglePin => self.toggle_pin(),
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
            Command::LeftHanded(on) => {
                p.left_handed = on;
                self.tool = p.tool_hand();
                self.cancel();
            }
            Command::Haptics(on) => p.haptics = on,
            Command::Play(on) => self.play(on),
            Command::Scrub(time) => self.scrub(time),
            Command::Key => self.set_key(),
            Command::DeleteKey => self.delete_key(),
            Command::MoveKey(time) => self.move_key(time),
            Command::AutoKey(on) => self.playhead.auto_key = on,
            Command::Rate(rate) => self.set_rate(rate),
            Command::KeyStroke => self.key_stroke(),
            Command::Interpolation(way) => self.set_interpolation(way),
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

    /// The joint that a panel's [`Command::TogglePin`] is about, the last that the tool hand was near, and whether it
    /// is pinned.
    pub fn touched_joint(&self) -> Option<(&str, bool)> {
        let node = self.touched?;
        let pinned = self.desk.session.document().pins().binary_search(&node).is_ok();
        Some((&self.desk.character.skeleton.nodes[node.index()].name, pinned))
    }

    /// Runs an edit that a panel makes: as a step of its own, or as part of the one before it, as a slider's are.
    pub fn apply(&mut self, edit: Edit, continues: bool) {
        self.cancel();
        let deformer = self.desk.session.document().deformer().clone();
        self.desk.run(if continues { Operation::Continue(edit) } else { Operation::Do(edit) });
        self.document_changed(&deformer);
    }

    /// Selects a joint, or none: what is pinned, turned and framed. A headset selects what the tool hand touches.
    pub fn select(&mut self, node: Option<NodeId>) {
        self.touched = node.filter(|n| n.index() < self.desk.character.skeleton.nodes.len());
    }

    /// The selected joint.
    pub fn selected(&self) -> Option<NodeId> {
        self.touched
    }

    /// Takes hold of a joint, to be moved by [`Workbench::move_joint`]; false where it cannot be posed.
    pub fn hold_joint(&mut self, node: NodeId) -> bool {
        self.cancel();
        self.joint.hold(&self.desk, node)
    }

    /// Shows the held joint turned and moved from where it was taken hold of, as the world sees it; with mirror its
    /// partner too.
    pub fn move_joint(&mut self, turn: DQuat, shift: DVec3) {
        self.joint.set(&mut self.desk, turn, shift, self.preferences.mirror);
    }

    /// Lets the held joint go: the pose goes into the document as one step.
    pub fn let_joint_go(&mut self) {
        let deformer = self.desk.session.document().deformer().clone();
        self.joint.let_go(&mut self.desk);
        self.document_changed(&deformer);
    }

    /// Shows the document at a time, seconds, or, with none, the pose being edited, which a tool that is used goes back
    /// to by itself.
    pub fn show_time(&mut self, time: Option<f64>) {
        let time = time.filter(|t| t.is_finite()).map(|t| t.max(0.0));
        // Where the desk's cursor is, keys are set.
        self.playhead.time = time.unwrap_or(self.playhead.time);
        if time != self.desk.time && !self.is_busy() {
            self.desk.time = time;
            self.desk.show_document();
        }
    }

    /// The time that shows.
    pub fn time(&self) -> Option<f64> {
        self.desk.time
    }

    /// Makes the pose that shows at a time the one being edited: on top of the newest stroke, or below them all.
    pub fn take_pose(&mut self) {
        let Some(wanted) = self.desk.time.map(|_| self.desk.pose.clone()) else { return };
        let now = self.desk.session.posed();
        self.desk.time = None;
        match self.desk.adjustment(self.desk.session.document().strokes(), &now, &wanted) {
            Some(edit) => self.change(edit),
            None => self.desk.show_document(),
        }
    }

    /// The nodes that posing moves.
    pub fn posable(&self) -> &[NodeId] {
        &self.desk.body.posable
    }

    /// The layer whose offset stroke comes next.
    pub fn awaits_offset(&self) -> Option<&StrokeLayer> {
        self.line.open().and_then(|id| self.desk.session.document().stroke(id).ok())
    }

    /// Drops what is being drawn or held, as if it had never begun.
    pub fn drop_act(&mut self) {
        self.cancel();
    }

    /// The box of the character in bind, world, metres.
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// Goes to the state after that many steps of the history; the first opens the character and stays.
    pub fn jump(&mut self, step: usize) {
        if self.is_busy() {
            self.cancel();
        }
        let deformer = self.desk.session.document().deformer().clone();
        self.desk.run(Operation::Jump(step.max(1)));
        self.document_changed(&deformer);
    }

    /// Index into [`Input::hands`] of the hand that holds the tools now; the palette is on the other.
    pub fn tool_hand(&self) -> usize {
        self.tool
    }

    pub(super) fn cancel(&mut self) {
        self.line.cancel(&mut self.desk);
        self.grab.cancel(&mut self.desk);
        self.skin.cancel();
        self.joint.cancel(&mut self.desk);
    }

    /// Whether a stroke or a grab is under way.
    pub fn is_busy(&self) -> bool {
        self.line.is_busy() || self.grab.is_busy() || self.skin.is_busy() || self.joint.is_busy()
    }

    pub(super) fn limit(&mut self) {
        let tool = self.tool_hand();
        self.felt[tool] = self.preferences.haptics.then_some(Haptic::Limit);
    }

    /// The posable joint next to the tool hand's tip, within reach.
    fn near_joint(&self) -> Option<NodeId> {
        let tip = self.hands.hands[self.tool_hand()].tip.position;
        let reach = PIN_REACH * self.navigation.world_from_room().scale;
        let at = |n: &NodeId| Vec3::from(self.desk.rig.world[n.index()].translation).distance(tip);
        let near = self.desk.body.posable.iter().copied().filter(|n| at(n) <= reach);
        near.min_by(|a, b| at(a).total_cmp(&at(b)))
    }

    /// Pins or frees the joint nearest to the tip of the tool hand, at a window the selected one.
    fn toggle_pin(&mut self) {
        let on_panel = self.hands.hands[self.tool_hand()].on_panel;
        let Some(node) = (if on_panel || self.windowed { self.touched } else { self.near_joint() }) else {
            self.desk.notice = Some("no joint is near the tip: touch the one to pin".into());
            return self.limit();
        };
        let mut pins = self.desk.session.document().pins().to_vec();
        match pins.binary_search(&node) {
            Ok(i) => {
                pins.remove(i);
            }
            Err(i) => pins.insert(i, node),
        }
        self.change(Edit::SetPins(pins));
    }

    fn change(&mut self, edit: Edit) {
        self.apply(edit, false);
    }

    /// Undo and redo; while a tool is used they drop what it does.
    fn undo(&mut self, operation: Operation) {
        if self.is_busy() {
            return self.cancel();
        }
        let deformer = self.desk.session.document().deformer().clone();
        // The first step is the character's own; without it there is nothing to work on.
        self.undone = true;
        let bottom = operation == Operation::Undo && self.desk.session.history().0 <= 1;
        if bottom || !self.desk.run(operation) {
            self.limit();
        }
        self.document_changed(&deformer);
    }

    pub(super) fn document_changed(&mut self, deformer: &DeformerSettings) {
        self.deformer_changed |= deformer != self.desk.session.document().deformer();
        self.line.document_changed(&self.desk);
        self.grab.document_changed();
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
        if self.preferences.turntable && !self.windowed && !self.is_busy() && !self.navigation.is_pulling() {
            let angle = TURNTABLE * self.hands.step as f32;
            self.navigation.orbit(self.bounds.center(), angle);
        }
    }

    /// Squeezes, and the trigger of the grab tool: what they take hold of; the world follows those that hold it.
    fn take_hold(&mut self) {
        let tool = self.tool_hand();
        let busy = (self.line.is_busy() || self.skin.is_busy()).then_some(tool);
        let mut moment = moment(&self.hands, tool, &self.navigation, &self.preferences, &mut self.output);
        self.grab.take(&mut self.desk, &mut moment, busy);
        if !self.windowed {
            self.navigation.pull(self.grab.pulls(&moment), self.preferences.roll_world);
        }
    }

    fn use_tools(&mut self) {
        let tool = self.tool_hand();
        let mut moment = moment(&self.hands, tool, &self.navigation, &self.preferences, &mut self.output);
        self.grab.step(&mut self.desk, &mut moment);
        // A hand that holds something draws nothing.
        let free = !self.grab.holds(tool);
        match self.preferences.tool {
            Tool::Line if free || self.line.is_busy() => self.line.step(&mut self.desk, &mut moment),
            Tool::Skin if free || self.skin.is_busy() => self.skin.step(&mut self.desk, &mut moment),
            // At a window the gizmo moves the joint.
            Tool::Joint if (free || self.joint.is_busy()) && !self.windowed => {
                let near = self.touched;
                self.joint.step(&mut self.desk, &mut moment, near);
            }
            _ => {}
        }
    }

    fn write_output(&mut self) -> &Output {
        let tool = self.tool_hand();
        let world_from_room = *self.navigation.world_from_room();
        let out = &mut self.output;
        out.world_from_room = world_from_room;
        out.lines.clear();
        out.lines.segments.extend_from_slice(&self.landmarks);
        show::body(&self.desk, self.preferences.wire, &mut out.lines);
        self.skin.lines(&self.desk, &mut out.lines);
        self.line.document_lines(&self.desk, &mut out.lines);
        self.line.lines(&self.desk, &mut out.lines);
        self.grab.lines(&self.desk, &mut out.lines);
        let moment = Moment {
            hands: &self.hands,
            tool,
            scale: world_from_room.scale,
            preferences: &self.preferences,
            haptics: &mut out.haptics,
        };
        if !self.windowed {
            show::hands(&moment, &mut out.lines);
        }
        show::brush(&moment, world_from_room.point(self.head.position), &mut out.lines);
        out.probes = std::array::from_fn(|h| {
            let wanted = match self.preferences.tool {
                Tool::Line => false,
                Tool::Grab => true,
                Tool::Skin => h == tool,
                Tool::Joint => false,
            };
            let hand = &self.hands.hands[h];
            (wanted && !self.windowed && hand.tip_tracking > Tracking::Lost).then(|| {
                let tangents = Tangents { left: -PROBE, right: PROBE, up: PROBE, down: -PROBE };
                View::new(hand.aim.position, hand.aim.orientation, tangents, NEAR * world_from_room.scale)
            })
        });
        out.posed = std::mem::take(&mut self.desk.posed);
        out.deformer_changed = std::mem::take(&mut self.deformer_changed);
        out.requests.clear();
        out.requests.append(&mut self.requests);
        &self.output
    }
}

/// What tools see of a frame.
fn moment<'a>(
    hands: &'a Hands,
    tool: usize,
    navigation: &Navigation,
    preferences: &'a Preferences,
    output: &'a mut Output,
) -> Moment<'a> {
    let scale = navigation.world_from_room().scale;
    Moment { hands, tool, scale, preferences, haptics: &mut output.haptics }
}

#[cfg(test)]
pub(super) mod tests;
