//! The dope sheet: rows of keys that the user selects, moves, copies, retimes and eases, and the range of playback.
//!
//! The selection is state of the panel. The edits that the panel gives carry their keys, so takes replay without it.

pub(in crate::ui) mod curves;
mod onion;
mod press;
mod selection;
mod sheet;
mod span;

use super::widgets::{self, offer};
use super::{PanelMemory, Pressed, theme};
use crate::asset::Interpolation;
use crate::base::{NodeId, Version, counted};
use crate::document::{DopeSheet, Easing, Edit, KeyClip, KeyEdit};
use crate::workbench::{Command, Timeline, Workbench};
use egui::Ui;
pub(in crate::ui) use selection::Selection;
pub(super) use sheet::diamond;
pub(in crate::ui) use sheet::{RULER, rows, ruler};
pub(in crate::ui) use span::{LATEST, round_up};

/// Interpolations between keys with their labels.
pub(in crate::ui) const INTERPOLATIONS: [(Interpolation, &str); 3] = [
    (Interpolation::Step, "Step"),
    (Interpolation::Linear, "Linear"),
    (Interpolation::CubicSpline, "Spline"),
];
/// Height of the rows where the panel does not scroll as a whole, logical pixels.
const HEIGHT: f32 = 220.0;

/// State of the dope sheet between frames.
#[derive(Default)]
pub(in crate::ui) struct SheetState {
    pub selection: Selection,
    /// The selection before the last move of keys, with the number of history steps before it.
    before: Option<(usize, Selection)>,
    /// Document revision whose keys the selection has.
    seen: Version,
    /// Copied keys.
    pub clip: KeyClip,
    /// First and last displayed time, seconds; `None` shows the whole motion.
    pub view: Option<[f64; 2]>,
    /// Distance by which the stick scrolls the time in the next pass, pixels to the right.
    pub pan: f32,
    press: Option<press::Press>,
    scrubbing: Option<span::Scrubbing>,
    /// Whether a drag was cancelled whose button is still down.
    dropped: bool,
    /// Whether the pointer was over the rows in the last pass.
    pub over: bool,
    /// The joint that was selected in the last pass.
    joint: Option<NodeId>,
    /// Whether the window shows the tools and more rows.
    pub open: bool,
    /// Height of the window's tools in the last pass, logical pixels.
    pub tools_height: f32,
    /// Whether a click or a box adds to the selection without Shift.
    adds: bool,
    /// Whether dragged keys may lie between frames.
    free: bool,
    /// The group of tools that the headset shows.
    group: Group,
    /// State of the curves.
    pub curves: curves::Curves,
}

/// A group of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Group {
    #[default]
    Keys,
    Easing,
    Playback,
    Onion,
    View,
}

impl Group {
    const ALL: [Self; 5] = [Self::Keys, Self::Easing, Self::Playback, Self::Onion, Self::View];

    fn label(self) -> &'static str {
        ["Edit", "Easing", "Playback", "Onion", "View"][self as usize]
    }
}

/// An action on the selected keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::ui) enum KeyAct {
    All,
    Copy,
    /// Pastes the copied keys at the playhead.
    Paste,
    /// Repeats the keys one frame after the last one.
    Duplicate,
    Delete,
    /// Moves each key to the nearest frame.
    Snap,
    /// Scales the times of the keys about the playhead.
    Retime(f64),
    Ease(Easing),
}

/// Draws the panel: tools, ruler and rows.
pub(super) fn show(ui: &mut Ui, bench: &Workbench, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let state = &mut memory.keys;
    state.follow(bench);
    tools(ui, bench, state, pressed);
    let header = ruler(ui, bench, state, pressed);
    if state.curves.on {
        let height = curves::HEIGHT[usize::from(theme::is_large(ui))];
        curves::show(ui, bench, state, pressed, (header, height));
    } else {
        rows(ui, bench, state, pressed, header, HEIGHT);
    }
}

impl SheetState {
    /// Removes keys from the selection that the document no longer has.
    pub fn follow(&mut self, bench: &Workbench) {
        let revision = bench.session().revision();
        if self.seen != revision {
            self.seen = revision;
            let steps = bench.session().history().0;
            if let Some((_, before)) = self.before.take_if(|(before, _)| *before == steps) {
                self.selection = before;
            }
            self.selection.retain(&bench.timeline().sheet);
        }
    }

    /// Moves the selection with its keys. Undo restores it.
    fn move_selection(&mut self, bench: &Workbench, to: impl Fn(f64) -> f64) {
        self.before = Some((bench.session().history().0, self.selection.clone()));
        self.selection.map(to);
    }

    /// Cancels a drag of keys, handles or a box. Returns `None` if there is none, and otherwise the command that restores the
    /// document, if the drag has changed it.
    pub fn drop_drag(&mut self, bench: &Workbench) -> Option<Option<Command>> {
        let steps = bench.session().history().0;
        let undo = match (self.press.take(), self.curves.drop_drag()) {
            (None, None) => return None,
            (_, curves) => curves.and_then(|press| press.undo(steps)),
        };
        self.dropped = true;
        Some(undo)
    }
}

/// Carries out an action on the selected keys.
pub(in crate::ui) fn act(act: KeyAct, bench: &Workbench, state: &mut SheetState, pressed: &mut Pressed) {
    let (document, timeline) = (bench.session().document(), bench.timeline());
    let keys = state.selection.keys(document);
    let now = timeline.playhead.time;
    match act {
        KeyAct::All => return state.selection.set(&timeline.sheet),
        KeyAct::Paste if state.clip.is_empty() => {
            pressed.tell = Some("no key is copied: select keys and copy them first".into());
            return;
        }
        KeyAct::Paste => {}
        _ if keys.is_empty() => {
            pressed.tell = Some("no key is selected: click one, or drag a box around some".into());
            return;
        }
        _ => {}
    }
    let paste = |clip: &KeyClip, at: f64, selection: &mut Selection| {
        *selection = Selection::of(clip.pasted(at));
        clip.paste(document, at)
    };
    let edit = match act {
        KeyAct::All => None,
        KeyAct::Copy => {
            state.clip = KeyClip::copy(document, &keys);
            None
        }
        KeyAct::Paste => paste(&state.clip, now, &mut state.selection),
        KeyAct::Duplicate => {
            let clip = KeyClip::copy(document, &keys);
            let at = clip.start() + clip.length() + timeline.frame();
            paste(&clip, at, &mut state.selection)
        }
        KeyAct::Delete => {
            state.selection = Selection::default();
            Some(Edit::Keys(KeyEdit::Remove(keys)))
        }
        KeyAct::Snap => {
            let edit = snapped(&keys, timeline);
            if edit.is_some() {
                state.move_selection(bench, |t| frame_near(t, timeline));
            }
            edit
        }
        KeyAct::Retime(factor) => retimed(keys, (now, factor), bench, state, pressed),
        KeyAct::Ease(easing) => {
            let eased = document.easing(&keys, easing).map(Edit::Keys);
            if eased.is_none() && !keys.is_empty() {
                let which = if keys.len() == 1 { "the selected key has" } else { "the selected keys have" };
                pressed.tell =
                    Some(format!("{which} the easing {} already, or no motion to ease", easing.label()));
            }
            eased
        }
    };
    if let Some(edit) = edit {
        pressed.edit(edit, false);
    }
}

/// Returns the frame nearest to a time, seconds.
fn frame_near(time: f64, timeline: &Timeline) -> f64 {
    let rate = f64::from(timeline.sheet.rate.max(1));
    f64::from(((time * rate).round() / rate) as f32)
}

/// Returns the edit that moves each key to the nearest frame; `None` if all keys lie on frames.
fn snapped(keys: &[crate::document::KeyAt], timeline: &Timeline) -> Option<Edit> {
    let mut keys = keys.to_vec();
    keys.retain(|k| frame_near(k.time, timeline) != k.time);
    keys.sort_by(|a, b| a.time.total_cmp(&b.time));
    let moves = keys.chunk_by(|a, b| a.time == b.time).map(|keys| {
        let seconds = frame_near(keys[0].time, timeline) - keys[0].time;
        Edit::Keys(KeyEdit::Move { keys: keys.to_vec(), seconds })
    });
    let mut moves: Vec<Edit> = moves.collect();
    if moves.len() > 1 { Some(Edit::Group(moves)) } else { moves.pop() }
}

/// Returns the edit that scales the times of keys about a pivot in seconds, and moves the selection with them.
fn retimed(
    keys: Vec<crate::document::KeyAt>,
    (pivot, factor): (f64, f64),
    bench: &Workbench,
    state: &mut SheetState,
    pressed: &mut Pressed,
) -> Option<Edit> {
    let to = |t: f64| pivot + (t - pivot) * factor;
    if state.selection.ends().is_some_and(|ends| ends.into_iter().any(|t| to(t) < 0.0)) {
        pressed.tell = Some("keys would lie before 0 s: move the playhead to the first key".into());
        return None;
    }
    state.move_selection(bench, to);
    Some(Edit::Keys(KeyEdit::Scale { keys, pivot, factor }))
}

/// Width of the tools of the onion skins in the window, logical pixels.
const ONION: f32 = 600.0;

/// Draws the tools: all groups in the window, one group in the headset.
pub(in crate::ui) fn tools(ui: &mut Ui, bench: &Workbench, state: &mut SheetState, pressed: &mut Pressed) {
    if ui.input(|i| i.pointer.any_released()) {
        // A click may have changed what the tools and the rows show.
        ui.ctx().request_repaint();
    }
    let large = theme::is_large(ui);
    if large {
        ui.horizontal_wrapped(|ui| {
            curves::choices(ui, state);
            if state.curves.on {
                curves::tools(ui, bench, state);
            }
        });
        if state.curves.on && !state.curves.tools {
            return;
        }
        ui.horizontal(|ui| {
            for group in Group::ALL {
                if ui.selectable_label(state.group == group, group.label()).clicked() {
                    state.group = group;
                }
            }
        });
    }
    ui.horizontal_wrapped(|ui| {
        if !large {
            curves::choices(ui, state);
            ui.separator();
        }
        let chosen = state.group;
        for group in Group::ALL.into_iter().filter(|g| !large || *g == chosen) {
            // Its numbers stay beside their buttons.
            if !large && group == Group::Onion && ui.available_size_before_wrap().x < ONION {
                ui.end_row();
            }
            if !large && matches!(group, Group::Easing | Group::Playback | Group::Onion) {
                ui.label(egui::RichText::new(group.label()).small().weak());
            }
            match group {
                Group::Keys => edit_tools(ui, bench, state, pressed),
                Group::Easing => easing_tools(ui, bench, state, pressed),
                Group::Playback => playback_tools(ui, bench, pressed),
                Group::Onion => onion::tools(ui, bench, pressed),
                Group::View => view_tools(ui, bench, state),
            }
            if !large && group != Group::View {
                ui.separator();
            }
        }
        // Last, so that no other tool moves when the user changes between rows and curves.
        if !large && state.curves.on {
            ui.separator();
            curves::tools(ui, bench, state);
        }
    });
}

fn edit_tools(ui: &mut Ui, bench: &Workbench, state: &mut SheetState, pressed: &mut Pressed) {
    let (some, copied) = (!state.selection.is_empty(), !state.clip.is_empty());
    let any = !bench.timeline().sheet.rows.is_empty();
    for (one, enabled, text, tip) in [
        (KeyAct::All, any, "All", "Selects all keys"),
        (KeyAct::Copy, some, "Copy", "Copies the selected keys   Ctrl-C"),
        (KeyAct::Paste, copied, "Paste", "Pastes the copied keys at the playhead   Ctrl-V"),
        (KeyAct::Duplicate, some, "Repeat", "Repeats the selected keys one frame after the last of them"),
        (KeyAct::Delete, some, "Delete", "Deletes the selected keys   Delete"),
        (KeyAct::Snap, some, "To frames", "Moves each selected key to the nearest frame"),
        (KeyAct::Retime(0.5), some, "× 0.5", "Halves the times of the selected keys about the playhead"),
        (KeyAct::Retime(2.0), some, "× 2", "Doubles the times of the selected keys about the playhead"),
    ] {
        if offer(ui, enabled, text, tip) {
            act(one, bench, state, pressed);
        }
    }
}

fn easing_tools(ui: &mut Ui, bench: &Workbench, state: &mut SheetState, pressed: &mut Pressed) {
    let some = !state.selection.is_empty();
    for (easing, tip) in Easing::ALL.into_iter().zip([
        "Holds the value until the next key",
        "Straight to and from the selected keys",
        "One slope through the selected keys, without overshoot",
        "The motion comes to rest at the selected keys",
        "The motion leaves the selected keys from rest",
        "The motion rests at the selected keys on both sides",
    ]) {
        if offer(ui, some, easing.label(), tip) {
            act(KeyAct::Ease(easing), bench, state, pressed);
        }
    }
}

fn playback_tools(ui: &mut Ui, bench: &Workbench, pressed: &mut Pressed) {
    let timeline = bench.timeline();
    let (head, duration) = (timeline.playhead, timeline.sheet.duration);
    if theme::is_large(ui) {
        let text = if head.playing { "Stop" } else { "Play" };
        pressed.command(Command::Play(!head.playing), offer(ui, true, text, "Plays the motion"));
    }
    let loops = bench.preferences().loops;
    let toggled = widgets::choice(ui, loops, "Loop", "Starts again at the end of playback");
    pressed.command(Command::Loop(!loops), toggled);
    let [start, end] = head.bounds(duration);
    let (now, frame) = (head.time, timeline.frame());
    let end_after = if end > now { end } else { duration.max(now + frame) };
    let set = |range| Command::PlayRange(Some(range));
    let clicked = offer(ui, true, "In", "Playback starts at the playhead");
    pressed.command(set([now, end_after]), clicked);
    let clicked = offer(ui, now > 0.0, "Out", "Playback ends at the playhead");
    pressed.command(set([if start < now { start } else { 0.0 }, now]), clicked);
    let clicked = offer(ui, head.range.is_some(), "Whole", "Plays the whole motion");
    pressed.command(Command::PlayRange(None), clicked);
}

fn view_tools(ui: &mut Ui, bench: &Workbench, state: &mut SheetState) {
    let timeline = bench.timeline();
    for (text, tip, factor) in [("−", "Shows more time", 1.5), ("+", "Shows less time", 1.0 / 1.5)] {
        if offer(ui, true, text, tip) {
            state.zoom(timeline, timeline.playhead.time, factor);
        }
    }
    if offer(ui, state.view.is_some(), "Fit", "Shows the whole motion") {
        state.view = None;
    }
    state.free ^= widgets::choice(ui, !state.free, "Snap", "Dragged keys snap to frames");
    if theme::is_large(ui) {
        widgets::toggle(ui, &mut state.adds, "Add", "A press or a box adds to the selection");
    }
}

/// Returns the name of the summary row: how many keys are selected.
fn summary(selection: &Selection, sheet: &DopeSheet) -> String {
    match selection.len() {
        0 => counted(sheet.rows.iter().map(|r| r.times.len()).sum(), "key"),
        count => format!("{count} selected"),
    }
}
