//! The motion path of the selected joint, with a tick at every frame and a dot at every key. A hand or the mouse drags
//! the dots, see [`KeyDrag`].

use super::navigation::Rules;
use super::tools::{KeyDrag, REACH};
use super::{Haptic, Tool, Tracking, Workbench};
use crate::base::math::Vec3;
use crate::base::{NodeId, Version};
use crate::bind::Character;
use crate::scene::onion::{MotionPath, path_keys};
use std::sync::Arc;

/// Number of points of a path that a frame of the headset computes. The window, which stops when nothing changes,
/// computes all at once.
const POINTS: usize = 8;
/// Distance between a dragged joint and its hand from which the hand feels a limit, room metres.
const LIMIT: f32 = 0.03;

/// Distance from the displayed joint within which a key of another time cannot be taken, as a fraction of the diagonal
/// of the character's bounding box.
const COVERED: f32 = 5e-3;

/// The motion path of the selected joint.
#[derive(Default)]
pub(super) struct SelectedPath {
    /// The character, joint and document revision that the path belongs to.
    of: Option<(Arc<Character>, NodeId, Version)>,
    path: MotionPath,
    complete: bool,
    /// Time of the key that a hand or the mouse is at.
    lit: Option<f64>,
    drag: Option<KeyDrag>,
    /// Whether the drag has changed since the path was last computed.
    moved: bool,
    /// Number of the next point that a drag computes again.
    next: usize,
    /// Whether the trigger, not the squeeze, holds the key, and the key's place relative to the hand's tip.
    held: Option<(bool, Vec3)>,
    /// Time and display of the motion before a key was taken, and whether it played.
    before: Option<(f64, bool, bool)>,
    at_limit: bool,
}

impl SelectedPath {
    /// Whether a key is being dragged.
    pub fn is_busy(&self) -> bool {
        self.drag.is_some()
    }
}

impl Workbench {
    /// Adds the path to the lines of the frame. Computes it again, a part in each frame, if another joint is selected,
    /// or if the document has changed and no hand holds anything. While a key is dragged, computes the part that it
    /// changes.
    pub(super) fn draw_path(&mut self) {
        let shows = self.preferences().path && !self.shows_rest();
        let (Some(node), true) = (self.selected(), shows) else {
            self.path = SelectedPath::default();
            return;
        };
        let (revision, held) = (self.session().revision(), self.is_busy());
        let mut own = std::mem::take(&mut self.path);
        let same = |c: &Arc<Character>, n: NodeId| Arc::ptr_eq(c, self.character()) && n == node;
        let count = if self.windowed { usize::MAX } else { POINTS };
        let (skeleton, document) = (&self.character().skeleton, self.session().document());
        let known = own.of.as_ref().filter(|(c, n, _)| same(c, *n)).map(|(_, _, revision)| *revision);
        if known.is_none() {
            own.path = MotionPath::default();
            own.lit = None;
        }
        if known.is_none_or(|known| known != revision && !held) {
            own.of = Some((self.character().clone(), node, revision));
            own.path.start(skeleton, document, node);
            own.complete = false;
        }
        if let Some(drag) = &own.drag {
            let changed = std::mem::take(&mut own.moved);
            let place = Vec3::from(self.rig().world[drag.node.index()].translation);
            own.path.keys.iter_mut().filter(|k| k.time == drag.time).for_each(|k| k.place = Some(place));
            let preview = (drag.preview(), changed);
            own.next = own.path.refresh(skeleton, preview, drag.node, drag.span(), (own.next, count));
        } else if !own.complete {
            own.complete = own.path.extend(skeleton, document, node, count);
        }
        // A motion of one frame has no path.
        if own.path.points.len() > 1 {
            own.path.lines(own.drag.as_ref().map(|d| d.time).or(own.lit), &mut self.output.lines);
        }
        if let Some(drag) = &own.drag {
            drag.lines(&self.context, &mut self.output.lines);
        }
        self.path = own;
    }

    /// Time, seconds, and place, world space, metres, of each key on the displayed motion path that a hand can take. If
    /// a key lies at the displayed joint, a hand takes the joint instead of the key, unless the key is at the playhead.
    pub fn path_keys(&self) -> impl Iterator<Item = (f64, Vec3)> + '_ {
        let shown = self.path.path.points.len() > 1;
        let joint = self.selected().map(|n| Vec3::from(self.rig().world[n.index()].translation));
        let (near, now) = (COVERED * self.bounds().diagonal(), self.context.time);
        let free = move |time: f64, place: Vec3| {
            now == Some(time) || joint.is_none_or(|joint| joint.distance(place) > near)
        };
        let keys = self.path.path.keys.iter().filter(move |_| shown);
        keys.filter_map(|k| Some((k.time, k.place?))).filter(move |(time, place)| free(*time, *place))
    }

    /// Highlights the key of the motion path at a time, or none.
    pub fn light_key(&mut self, time: Option<f64>) {
        self.path.lit = time;
    }

    /// Takes the key of the displayed motion path at a time, for [`Workbench::drag_key`], and moves the playhead there.
    /// Returns false if there is no such key.
    pub fn hold_key(&mut self, time: f64) -> bool {
        let Some(node) = self.selected().filter(|_| self.preferences.path) else { return false };
        let skeleton = &self.context.character.skeleton;
        let keys = path_keys(skeleton, self.context.session.document(), node);
        let Some(at) = keys.iter().position(|k| *k == time) else { return false };
        let before = (self.playhead.time, self.playhead.shown, self.playhead.playing);
        self.scrub(time);
        if self.context.time != Some(time) || self.context.rest_view {
            return false;
        }
        let beside = at.checked_sub(1).into_iter().chain([at + 1]).filter_map(|i| keys.get(i).copied());
        let how = (self.preferences.grab, self.preferences.mirror);
        let drag = KeyDrag::new(&mut self.context, &mut self.grab, how, (node, time), beside);
        self.path.drag = Some(drag);
        self.path.before = Some(before).filter(|_| self.navigation.rules() >= Rules::Twelfth);
        (self.path.next, self.path.at_limit) = (0, false);
        true
    }

    /// Moves the joint of the held key to a place, world space, metres, at the key's time.
    pub fn drag_key(&mut self, to: Vec3) {
        let Some(drag) = &mut self.path.drag else { return };
        let Some(missed) = drag.follow(&mut self.context, to) else { return };
        self.path.moved = true;
        let scale = self.navigation.world_from_room().scale;
        let at_limit = missed > f64::from(LIMIT * scale);
        let was = std::mem::replace(&mut self.path.at_limit, at_limit);
        if at_limit && !was {
            self.limit();
        }
    }

    /// Releases the held key: keys the pose as one undo step.
    pub fn let_key_go(&mut self) {
        (self.path.held, self.path.before) = (None, None);
        let Some(drag) = self.path.drag.take() else { return };
        match drag.edit(&self.context) {
            Some(edit) => self.key(edit, false),
            None => self.context.show_document(),
        }
    }

    /// Drops the held key, and shows what showed before the hand took it. A motion that played plays on.
    pub(super) fn drop_key(&mut self) {
        self.path.held = None;
        if self.path.drag.take().is_some() {
            self.context.show_document();
            if let Some((_, _, revision)) = &mut self.path.of {
                // The path shows the drag, so it is computed again.
                *revision = Version::default();
            }
        }
        if let Some((time, shown, played)) = self.path.before.take() {
            (self.playhead.time, self.playhead.shown) = (time, shown);
            self.playhead.playing = played && self.navigation.rules() >= Rules::Thirteenth;
            self.show_moment();
        }
    }

    /// The key of the path that is nearest to the tip of the tool hand, within the brush radius: its time, its place
    /// and its distance, metres. A tip that is nearer to the joint itself takes the joint, unless the key is at the
    /// playhead.
    fn key_at_tip(&self) -> Option<(f64, Vec3, f32)> {
        let hand = &self.hands.hands[self.tool_hand()];
        if hand.on_panel || hand.tip_tracking == Tracking::Lost {
            return None;
        }
        let tip = hand.tip.position;
        let radius = self.preferences.radius * self.navigation.world_from_room().scale;
        let near = self.path_keys().map(|(time, at)| (time, at, at.distance(tip)));
        let joint = self.selected().filter(|_| self.navigation.rules() >= Rules::Twelfth);
        let joint = joint.map(|n| Vec3::from(self.rig().world[n.index()].translation).distance(tip));
        let free = |k: &(f64, Vec3, f32)| {
            self.context.time == Some(k.0) || joint.is_none_or(|distance| k.2 <= distance)
        };
        near.filter(|k| k.2 <= radius && free(k)).min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// Whether the tip is nearer to a key of the path than to a joint, so that it selects no other joint.
    pub(super) fn keeps_path(&self, joint: Option<NodeId>) -> bool {
        if self.path.is_busy() {
            return true;
        }
        let Some(key) = self.key_at_tip().filter(|_| self.navigation.rules() >= Rules::Third) else {
            return false;
        };
        let tip = self.hands.hands[self.tool_hand()].tip.position;
        let far = |n: NodeId| Vec3::from(self.context.rig.world[n.index()].translation).distance(tip);
        joint.is_none_or(|joint| key.2 <= far(joint))
    }

    /// Runs once a frame, before the tools. Lets the hand that draws grab, drag and release keys on the motion path.
    /// The trigger grabs a key with the tools that hold joints; the squeeze does so with any tool, away from the body.
    pub(super) fn use_path_keys(&mut self) {
        // In a window, the mouse takes keys.
        if self.windowed || self.navigation.rules() < Rules::Third {
            return;
        }
        let tool = self.tool_hand();
        let hand = self.hands.hands[tool].clone();
        if let Some((by_trigger, offset)) = self.path.held {
            let button = if by_trigger { hand.trigger } else { hand.squeeze };
            if !button.down {
                self.let_key_go();
            } else if hand.tip_tracking == Tracking::Tracked {
                self.drag_key(hand.tip.position + offset);
            }
            return;
        }
        let near = if self.is_busy() { None } else { self.key_at_tip() };
        let time = near.map(|k| k.0);
        if time.is_some() && time != self.path.lit && self.preferences.haptics {
            self.output.haptics[tool] = Some(Haptic::Hover);
        }
        self.path.lit = time;
        let Some((time, place, _)) = near.filter(|_| hand.tip_tracking == Tracking::Tracked) else { return };
        let holds = matches!(self.preferences.tool, Tool::Grab | Tool::Joint);
        let by_trigger = holds && hand.trigger.pressed;
        let context = &self.context;
        let reach = REACH * self.navigation.world_from_room().scale;
        let on_body = || {
            let palm = hand.palm.position;
            context.body.touch(&context.character, &context.rig, palm, reach).is_some()
        };
        let by_squeeze = hand.squeeze.pressed && !self.grab.holds(tool) && !on_body();
        if (by_trigger || by_squeeze) && self.hold_key(time) {
            self.path.held = Some((by_trigger, place - hand.tip.position));
            if self.preferences.haptics {
                self.output.haptics[tool] = Some(Haptic::Selection);
            }
        }
    }
}
