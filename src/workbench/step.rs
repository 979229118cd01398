//! The workbench holds a document, its character, the tools and the view. A step takes one frame of input and returns
//! edits and output. A step reads nothing else, so replayed input gives the identical document.

mod binding;
mod cage;
mod commands;
mod facts;
mod fingers;
mod firm;
mod morphs;
mod output;
mod receive;
mod settings;
mod travel;

use super::borrow::Borrowing;
use super::navigation::{Navigation, Rules};
use super::path::SelectedPath;
use super::shape::Going;
use super::tools::AccentTool;
use super::tools::Body;
use super::tools::BoneTool;
use super::tools::CageTool;
use super::tools::FingerTool;
use super::tools::GrabTool;
use super::tools::GripTool;
use super::tools::JointTool;
use super::tools::LimitWatch;
use super::tools::LineTool;
use super::tools::MeasureTool;
use super::tools::SkinTool;
use super::tools::{EditContext, Moment, is_bare, show};
use super::tools::{Hands, checked};
use super::tour::Tour;
use super::{
    Command, Haptic, Input, Output, Pen, Playhead, Preferences, Request, Rigid, Timeline, Tool, Tracked,
    Tracking,
};
use crate::base::math::{Aabb, Trs, Vec3};
use crate::base::{NodeId, SculptId, Version};
use crate::bind::{Attachments, BindOptions, Character};
use crate::cage::{CageMesh, Coordinates};
use crate::deform::sculpt::SculptState;
use crate::document::{Recording, Sampler, Session};
use crate::rig::{Pose, PosedRig};
use crate::scene::{DrawnBones, GhostTimes, LiveRecipe, NewCage};
use crate::surface::Sculpt;
use std::sync::Arc;

use travel::Jump;

pub use binding::MAX_RINGS;
pub use cage::CAGE_VERTICES;

/// Angular speed of the turntable, radians per second.
pub(crate) const TURNTABLE: f32 = 0.35;
/// Thumbstick deflections that start and end a snap step.
const FLICK: [f32; 2] = [0.7, 0.4];
/// Growth factor of the brush per second at full deflection.
const GROWTH: f32 = 3.0;

/// Maximum distance from the tool tip to a joint that can be pinned, room metres.
pub(super) const PIN_REACH: f32 = 0.12;

/// A document under edit by tracked hands or a window.
pub struct Workbench {
    pub(super) context: EditContext,
    pub(super) preferences: Preferences,
    pub(super) navigation: Navigation,
    pub(super) hands: Hands,
    /// Index of the hand that holds the tools.
    tool: usize,
    line: LineTool,
    pub(super) grab: GrabTool,
    pub(super) skin: SkinTool,
    pub(super) joint: JointTool,
    pub(super) fingers: FingerTool,
    pub(super) accent: AccentTool,
    measure: MeasureTool,
    bone: BoneTool,
    pub(super) cage: CageTool,
    pub(super) grip: GripTool,
    crossings: show::Crossings,
    /// The cage whose coupling is known or asked for.
    coupled: Option<(CageMesh, Coordinates)>,
    /// The binding of the document that the character has or that is asked for.
    bound: BindOptions,
    /// Attachments of the character, once known.
    attachments: Option<Arc<Attachments>>,
    /// Sculpt layers from background jobs, added when no tool is in use.
    coming: Vec<Sculpt>,
    /// Joints of bones from background jobs, added when no tool is in use.
    coming_bones: Vec<DrawnBones>,
    /// Cages from background jobs, set when no tool is in use.
    coming_cages: Vec<NewCage>,
    /// Sculpt layers that wait for a requested refit, in their state at the request.
    pulled: Vec<Sculpt>,
    landmarks: show::Landmarks,
    /// Mean of the heads and tails of all bones in the file's rest pose, world space, metres.
    middle: Vec3,
    pub(super) output: Output,
    pub(super) path: SelectedPath,
    requests: Vec<Request>,
    /// Haptics that commands triggered, for the next frame.
    felt: [Option<Haptic>; 2],
    /// Whether the initial view has been set.
    placed: bool,
    /// Whether the last frame came from a window.
    pub(super) windowed: bool,
    head: Rigid,
    flicked: bool,
    jump: Jump,
    bounds: Aabb,
    /// Bounding box of the skin in the bind pose, without rigid parts, metres.
    figure: Aabb,
    /// The last joint that was near the tool hand. A panel's pin command uses this joint, because the hand has left the
    /// body when it points at the panel.
    touched: Option<NodeId>,
    pub(super) playhead: Playhead,
    pub(super) timeline: Timeline,
    /// Times of the onion skins.
    pub(super) ghosts: GhostTimes,
    /// Document revision that [`Self::key_changes`] last examined.
    pub(super) keyed_at: Version,
    /// The document's pose at `keyed_at`; auto-key records differences from this pose.
    pub(super) keyed: Pose,
    /// Whether the last change was an undo or redo.
    pub(super) undone: bool,
    /// Which acts began on a displayed motion.
    pub(super) borrowing: Borrowing,
    /// The recording of a grab in progress.
    pub(super) recording: Option<Recording>,
    /// Whether the motion played when the hand grabbed, and plays on after the recording.
    pub(super) plays_on: bool,
    /// The document's revision after the displayed pose was last copied into the edited pose.
    pub(super) adopted: Version,
    /// Time to which a key was last moved, and the history lengths after the move.
    pub(super) moved_key: Option<(f64, (usize, usize))>,
    /// The selected sculpt layer.
    pub(super) shape: Option<SculptId>,
    /// Which joints stand at their limits while a tool moves them.
    pub(super) limits: LimitWatch,
    /// Whether a limit stopped the last number of a joint's transform.
    pub(super) stopped: bool,
    /// The nodes and local transforms that [`Command::CopyPose`] copied.
    pub(super) copied: Vec<(NodeId, Trs)>,
    /// The last slider change of a sculpt layer.
    pub(super) sliding: Option<Going>,
    /// States of the sculpt layers at the displayed time.
    pub(super) states: Vec<SculptState>,
    /// The deformer at the displayed time.
    pub(super) live: LiveRecipe,
    /// The document's sculpt states at `keyed_at`; auto-key records differences from these states.
    pub(super) keyed_states: Vec<SculptState>,
    /// The tour; `None` while there is none.
    pub(super) tour: Option<Tour>,
}

impl Workbench {
    /// Creates a workbench from a session and the character of its document.
    pub fn new(session: Session<'static>, character: Arc<Character>, preferences: Preferences) -> Self {
        let tool = preferences.tool_hand();
        let bounds = Aabb::of(character.display.positions.iter().copied());
        let figure = figure(&character).unwrap_or(bounds);
        let mut session = session;
        session.know_triangles(character.display.triangles.len());
        let body = Body::new(&character);
        let mut context = EditContext {
            session,
            character,
            body,
            pose: Pose::default(),
            rig: PosedRig::default(),
            pose_version: Version::new(),
            time: None,
            sampler: Sampler::default(),
            beneath: None,
            coupling: None,
            uncoupled: None,
            rest_view: false,
            auto_key: false,
            joins: false,
            notice: None,
        };
        context.show_document();
        let keyed = context.pose.clone();
        let keyed_at = context.session.revision();
        let keyed_states = context.session.document().sculpt_states(0.0);
        let timeline =
            Timeline::new(Playhead::default(), context.session.document(), &context.character.skeleton);
        let mut live = LiveRecipe::default();
        live.learn(context.session.document());
        let middle =
            middle(&PosedRig::new(&context.character.skeleton, &Pose::rest(&context.character.skeleton)));
        let mut line = LineTool::default();
        line.document_changed(&context);
        let bound = context.session.document().binding().clone();
        let mut new = Self {
            context,
            preferences: preferences.sane(),
            navigation: Navigation::default(),
            hands: Hands::default(),
            tool,
            line,
            grab: GrabTool::default(),
            skin: SkinTool::default(),
            joint: JointTool::default(),
            fingers: FingerTool::default(),
            accent: AccentTool::default(),
            measure: MeasureTool::default(),
            bone: BoneTool::default(),
            cage: CageTool::default(),
            grip: GripTool::default(),
            crossings: show::Crossings::default(),
            coupled: None,
            bound,
            attachments: None,
            coming: Vec::new(),
            coming_bones: Vec::new(),
            coming_cages: Vec::new(),
            pulled: Vec::new(),
            landmarks: show::Landmarks::new(&bounds),
            middle,
            output: Output::default(),
            path: SelectedPath::default(),
            requests: Vec::new(),
            felt: [None; 2],
            placed: false,
            windowed: false,
            head: Rigid { position: Vec3::Y * 1.6, ..Rigid::default() },
            flicked: false,
            jump: Jump::None,
            bounds,
            figure,
            touched: None,
            playhead: Playhead::default(),
            timeline,
            ghosts: GhostTimes::default(),
            keyed_at,
            keyed,
            undone: false,
            borrowing: Borrowing::default(),
            recording: None,
            plays_on: false,
            adopted: Version::new(),
            moved_key: None,
            shape: None,
            limits: LimitWatch::default(),
            stopped: false,
            copied: Vec::new(),
            sliding: None,
            states: Vec::new(),
            live,
            keyed_states,
            tour: None,
        };
        new.cage_changed();
        new
    }

    /// Replaces session and character. Keeps the state of the input and the preferences. Returns the old session.
    pub fn open(&mut self, session: Session<'static>, character: Arc<Character>) -> Session<'static> {
        let new = Self::new(session, character, self.preferences.clone());
        let old = std::mem::replace(self, new);
        // A button that is already down must not count as newly pressed.
        self.hands = old.hands;
        self.tool = old.tool;
        self.head = old.head;
        self.requests.splice(0..0, old.requests);
        self.keep_to(old.navigation.rules());
        old.context.session
    }

    /// Processes one frame of input.
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
            self.navigation.put(world_from_room, input.floor.unwrap_or_default());
            // A user who puts on the headset later starts in front of the character.
            self.placed = false;
        } else if !self.placed && checked(&input.head).is_some() {
            self.navigation.first(&self.bounds, &self.head);
            self.placed = true;
        }
        self.hands.update(input, self.navigation.world_from_room());
        // The tools must not change hands during a stroke, even if tracking is lost.
        if !self.is_busy() {
            self.tool = self.hands.tool(self.preferences.tool_hand());
        }
        self.add_shapes();
        self.add_bones();
        self.add_cages();
        self.show_rest_for_cage();
        self.context.auto_key = self.playhead.auto_key;
        self.buttons();
        self.turn_and_size();
        if self.navigation.rules() != Rules::First {
            // Hand poses must include this frame's view rotation before hands grab.
            self.hands.place(input, self.navigation.world_from_room());
        }
        self.use_path_keys();
        self.run_timeline();
        self.take_hold();
        self.hands.place(input, self.navigation.world_from_room());
        let before = self.context.session.revision();
        self.play_beneath();
        self.use_tools();
        self.follow_fingers();
        self.record_grab();
        self.watch_limits();
        if self.context.session.revision() != before {
            // A tool, such as a dragged knot, may leave layers without their surroundings.
            self.ask_for_surroundings();
        }
        self.key_changes();
        self.follow_tour();
        // In a window, joints are clicked instead.
        if !self.windowed && !self.hands.hands[self.tool_hand()].on_panel {
            let near = self.near_joint();
            if !self.keeps_path(near) {
                self.touched = near.or(self.touched);
            }
        }
        self.find_states();
        self.aim_ghosts();
        self.write_output()
    }

    fn buttons(&mut self) {
        let pressed = |f: fn(&super::tools::HandFrame) -> bool| self.hands.hands.iter().any(f);
        let (undo, redo) = (pressed(|h| h.undo.pressed), pressed(|h| h.redo.pressed));
        // A finger pose may be a pinch.
        let menu = pressed(|h| h.menu.pressed) && !self.fingers.is_busy();
        for (on, command) in [(undo, Command::Undo), (redo, Command::Redo), (menu, Command::Palette)] {
            if on {
                self.run_command(command);
            }
        }
    }

    /// Applies the thumbsticks: the free hand's stick moves the user, the tool hand's stick resizes the brush. Runs the
    /// turntable.
    fn turn_and_size(&mut self) {
        let tool = self.tool_hand();
        self.travel();
        let hand = &self.hands.hands[tool];
        // On a panel, the stick scrolls.
        let size = hand.stick[1];
        if size.abs() > 0.2 && !hand.on_panel {
            let factor = GROWTH.powf(size * self.hands.step as f32);
            let radius = self.preferences.radius * factor;
            self.preferences.set_radius(radius);
        }
        if !self.preferences.turntable {
            self.navigation.stop_turning();
        } else if !self.windowed && !self.is_busy() && !self.navigation.is_pulling() {
            let angle = TURNTABLE * self.hands.step as f32;
            self.navigation.turn(self.axis(), angle);
        }
    }

    /// Applies squeezes and the grab tool's trigger. Pulls the world by the hands that hold the world.
    fn take_hold(&mut self) {
        let tool = self.tool_hand();
        // A squeeze at a grip is the grip tool's.
        let at_grip = self.preferences.tool == Tool::Grip && self.grip.is_at_grip();
        let mut busy = [self.path.is_busy() || self.fingers.is_busy(); 2];
        busy[tool] |= self.is_drawing() || at_grip;
        let mut moment =
            moment(&self.hands, (tool, self.windowed), &self.navigation, &self.preferences, &mut self.output);
        // Takes of the first two versions know no pins by the trigger.
        let pins = !self.windowed && self.navigation.rules() >= Rules::Third;
        let pinned = self.grab.take(&mut self.context, &mut moment, busy, pins);
        if !self.windowed {
            self.navigation.pull(self.grab.pulls(&moment), self.preferences.roll_world);
        }
        if let Some(node) = pinned {
            self.toggle_pin_of(node);
        }
    }

    fn use_tools(&mut self) {
        if self.path.is_busy() || self.fingers.is_busy() {
            return;
        }
        let tool = self.tool_hand();
        let mut moment =
            moment(&self.hands, (tool, self.windowed), &self.navigation, &self.preferences, &mut self.output);
        self.grab.step(&mut self.context, &mut moment);
        // A hand that holds something cannot draw.
        let free = !self.grab.holds(tool);
        match self.preferences.tool {
            Tool::Line if free || self.line.is_busy() => self.line.step(&mut self.context, &mut moment),
            Tool::Skin if free || self.skin.is_busy() => {
                let eye = self.navigation.world_from_room().point(self.head.position);
                let eye = self.windowed.then_some(eye);
                for (id, before) in self.skin.step(&mut self.context, &mut moment, eye) {
                    self.ask_to_refit(id, true, before);
                }
            }
            Tool::Silhouette if free || self.accent.is_busy() => {
                let head = self.navigation.world_from_room().rigid(&self.head);
                let from = (&head, self.windowed);
                self.requests.extend(self.accent.step(&self.context, &mut moment, from));
            }
            Tool::Bone if free || self.bone.is_busy() => {
                let eye = self.navigation.world_from_room().point(self.head.position);
                let eye = self.windowed.then_some(eye);
                self.requests.extend(self.bone.step(&mut self.context, &mut moment, (false, eye)));
            }
            Tool::Joint if (free || self.bone.is_busy()) && is_bare(&self.context) => {
                self.bone.step(&mut self.context, &mut moment, (true, None));
            }
            Tool::Cage if free || self.cage.is_busy() => self.cage.step(&mut self.context, &mut moment),
            Tool::Grip if free || self.grip.is_busy() => self.grip.step(&mut self.context, &mut moment),
            // In a window, the gizmo moves the joint.
            Tool::Joint if (free || self.joint.is_busy()) && !self.windowed => {
                let near = self.touched;
                self.joint.step(&mut self.context, &mut moment, near);
            }
            // In a window, joints are clicked instead.
            Tool::Measure if free => {
                let near = self.touched.filter(|_| !self.windowed);
                self.measure.step(&mut self.context, &mut moment, near);
            }
            _ => {}
        }
    }
}

/// Returns the bounding box of the skin in the bind pose, without rigid parts such as a sword; `None` without skin.
fn figure(character: &Character) -> Option<Aabb> {
    let (joints, control) = (&character.skeleton.joints, &character.control);
    let is_skin = |v: &usize| {
        control.influences.of(*v).any(|(joint, _)| joints.get(usize::from(joint)).is_some_and(|j| j.skinned))
    };
    let skin = (0..control.positions.len()).filter(is_skin).map(|v| control.positions[v]);
    Some(Aabb::of(skin)).filter(|aabb| !aabb.is_empty())
}

/// Returns the mean of the heads and tails of all bones, world space, metres.
fn middle(rig: &PosedRig) -> Vec3 {
    let sum: Vec3 = rig.bones.iter().map(|b| b.head + b.tail).sum();
    sum / (2 * rig.bones.len()).max(1) as f32
}

/// Builds the tools' view of the current frame.
fn moment<'a>(
    hands: &'a Hands,
    (tool, windowed): (usize, bool),
    navigation: &Navigation,
    preferences: &'a Preferences,
    output: &'a mut Output,
) -> Moment<'a> {
    let scale = navigation.world_from_room().scale;
    let rules = navigation.rules();
    let pen = if rules >= Rules::Seventh { preferences.pen } else { Pen::Free };
    Moment { hands, tool, scale, windowed, preferences, pen, rules, haptics: &mut output.haptics }
}

#[cfg(test)]
pub(crate) mod tests;
