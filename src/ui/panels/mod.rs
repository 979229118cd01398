//! Panels that window and headset share: functions of egui that draw the state and return what the user did.
//!
//! The window draws them in its side panel, and the dope sheet in its timeline; the headset draws them on the details
//! panel. The style gives the scale: egui's spacing and text styles, which [`theme`] sets, are larger in the headset.

mod binding;
mod cage;
pub(super) mod clips;
pub(super) mod deformer;
mod display;
mod firm;
mod grips;
pub(super) mod history;
pub(super) mod keys;
mod limits;
pub(super) mod morphs;
pub(super) mod outliner;
pub(super) mod poses;
mod rig;
pub(super) mod shape;
#[cfg(test)]
mod tests;
pub(super) mod transform;
pub(super) mod widgets;

use super::theme;
pub use display::HeadsetOffers;

use crate::base::{JointId, SculptId};
use crate::document::{DeformerSettings, Edit};
use crate::workbench::{Command, CommandKind, MAX_RINGS, SkinPart, WindowPlace, Workbench};
use egui::{Response, Ui};
use widgets::SliderDrag;

/// State of the shared panels between frames.
#[derive(Default)]
pub(super) struct PanelMemory {
    /// Hash of the file that the filters belong to.
    file: String,
    /// Filter text of the outliner.
    pub filter: String,
    /// Text that filters the file's clips.
    pub clip_filter: String,
    /// The drag of a slider.
    pub held: SliderDrag,
    /// Number of applied history steps before the drag of a slider.
    steps: usize,
    /// The sculpt layer being renamed, and its new name.
    pub renaming: Option<(SculptId, String)>,
    /// Name that the next stored pose will have.
    pub pose_name: String,
    /// The pose being blended.
    pub blending: Option<poses::Blending>,
    /// State of the part about the binding.
    pub binding: binding::BindingState,
    /// State of the part about firm and soft regions.
    pub firm: firm::FirmState,
    /// State of the panel of morph targets.
    pub morphs: morphs::MorphState,
    /// State of the transform panel.
    pub transform: transform::TransformState,
    /// State of the dope sheet.
    pub keys: keys::SheetState,
}

impl PanelMemory {
    /// Prepares for a pass that shows `bench`. Forgets the filters and the name that is being edited if another file is open.
    pub fn meet(&mut self, bench: &Workbench) {
        if self.held == SliderDrag::None {
            self.steps = bench.session().history().0;
        }
        let hash = bench.session().document().asset().map_or("", |asset| &asset.hash);
        if self.file != hash {
            hash.clone_into(&mut self.file);
            self.filter.clear();
            self.clip_filter.clear();
            self.renaming = None;
        }
    }

    /// Returns the command that window and headset run when the user gives `command`. During a drag of a slider, keys, handles
    /// or a box, undo, redo and cancel instead end the drag without its result: `None`, or the command that restores the
    /// document if the drag has changed it. `down` is whether the pointer's button is down.
    pub fn instead(&mut self, command: Command, bench: &Workbench, down: bool) -> Option<Command> {
        if !matches!(command, Command::Undo | Command::Redo | Command::Cancel) {
            return Some(command);
        }
        if down && self.held == SliderDrag::Changes {
            self.held = SliderDrag::Dropped;
            return restored(self.steps, bench);
        }
        self.keys.drop_drag(bench).unwrap_or(Some(command))
    }
}

/// Returns the command that reverts the step of a drag which began after `steps` history steps; `None` if the drag has changed
/// no document, or if other steps follow.
pub(super) fn restored(steps: usize, bench: &Workbench) -> Option<Command> {
    (bench.session().history().0 == steps + 1).then_some(Command::Jump(steps))
}

/// The user's actions on the shared panels in one pass.
#[derive(Default)]
pub(super) struct Pressed {
    pub commands: Vec<Command>,
    /// Commands of sliders, and whether each belongs to the previous history step.
    pub slides: Vec<(Command, bool)>,
    /// The method to compare with; `Some(None)` ends the comparison.
    pub compare: Option<Option<DeformerSettings>>,
    /// Why an action was not carried out.
    pub tell: Option<String>,
}

impl Pressed {
    pub fn command(&mut self, command: Command, clicked: bool) {
        if clicked {
            self.commands.push(command);
        }
    }

    /// Draws a slider that gives a command.
    pub fn slide(
        &mut self,
        ui: &mut Ui,
        slide: &widgets::Slide<'_>,
        value: impl Into<f64>,
        held: &mut SliderDrag,
        make: impl FnOnce(f64) -> Command,
    ) {
        let slid = widgets::slide(ui, slide, value.into(), held);
        self.slides.extend(slid.moved.map(|(now, continues)| (make(now), continues)));
    }

    /// Adds an edit. With `continues`, it belongs to the previous history step.
    pub fn edit(&mut self, edit: Edit, continues: bool) {
        self.commands.push(Command::Change(Box::new(edit), continues));
    }
}

/// Gives the tooltip of an item that gives a command.
pub(super) type Tip<'a> = dyn Fn(&Command) -> Option<String> + 'a;

/// What the shared panels show.
pub(super) struct Shows<'a> {
    pub bench: &'a Workbench,
    /// The method of the comparison, if there is one; `None` where methods cannot be compared side by side.
    pub compared: Option<Option<&'a DeformerSettings>>,
    /// Whether the panel is the window's, onto which the user can drop files.
    pub window: bool,
    /// The finished part of the computation of skin weights for drawn bones, percent; `None` if none is under way.
    pub rigging: Option<u32>,
    /// What the connected headset offers; `None` without a connection.
    pub headset: Option<&'a HeadsetOffers>,
    /// Gives the name and the keys of a command; `None` if no key gives the command.
    pub tip: &'a Tip<'a>,
}

impl<'a> Shows<'a> {
    /// The selected joint.
    fn joint(&self) -> Option<JointId> {
        self.bench.selected().and_then(|node| self.bench.character().skeleton.nodes[node.index()].joint)
    }

    /// Draws the slider of the rings around a mark, if there is a mark, or says what to draw. Returns what can be attached or
    /// made firmer on the skin, with its description.
    fn skin_parts(
        &self,
        ui: &mut Ui,
        rings: &mut u32,
        (label, advice): (&str, &str),
        held: &mut SliderDrag,
    ) -> Vec<(&'a str, SkinPart)> {
        let parts = self.bench.skin_parts(*rings);
        if parts.iter().all(Option::is_none) {
            ui.label(advice);
        }
        if parts[0].is_some() {
            let range = [0.0, f64::from(MAX_RINGS)];
            let slide = widgets::Slide::even(label, range, widgets::Print::Decimals(0));
            if let Some((now, _)) = widgets::slide(ui, &slide, f64::from(*rings), held).moved {
                *rings = now.round() as u32;
            }
        }
        parts.into_iter().flatten().collect()
    }

    /// Draws a button that gives a command.
    pub fn button(&self, ui: &mut Ui, pressed: &mut Pressed, text: &str, command: Command) {
        let button = ui.button(text);
        self.give(button, pressed, command);
    }

    /// Draws a row of choices: text, whether the choice is on, and its command.
    pub fn choices<T: Into<String>>(
        &self,
        ui: &mut Ui,
        pressed: &mut Pressed,
        choices: impl IntoIterator<Item = (T, bool, Command)>,
    ) {
        ui.horizontal_wrapped(|ui| {
            for (text, on, command) in choices {
                let choice = ui.selectable_label(on, text.into());
                self.give(choice, pressed, command);
            }
        });
    }

    /// Draws the commands that the table of commands lists at `place`.
    fn listed(&self, ui: &mut Ui, pressed: &mut Pressed, place: WindowPlace) {
        for kind in CommandKind::listed(place) {
            let (on, command) = match kind.switch(self.bench.preferences()) {
                Some((on, command)) => (Some(on), command),
                None => match kind.plain() {
                    Some(command) => (None, command),
                    None => continue,
                },
            };
            let item = match on {
                Some(on) => ui.selectable_label(on, kind.label()),
                None => ui.button(kind.label()),
            };
            self.give(item, pressed, command);
        }
    }

    /// Gives the command of an item if it was clicked.
    pub fn give(&self, item: Response, pressed: &mut Pressed, command: Command) {
        let item = match (self.tip)(&command) {
            Some(tip) => item.on_hover_text(tip),
            None => item,
        };
        pressed.command(command, item.clicked());
    }
}

/// A shared panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Section {
    /// Joints, strokes, marks and sculpt layers.
    Outliner,
    /// Location, rotation and scale of the selected joint.
    Transform,
    /// The selected sculpt layer.
    Shape,
    /// Weights of the morph targets.
    Morphs,
    /// Bones of a bare mesh, the binding, colours of weights, and the deformers of joints.
    Rig,
    /// The cage.
    Cage,
    /// The deformation method and its settings.
    #[default]
    Deformer,
    /// Poses stored by name.
    Poses,
    /// How the figure is shown, and the options of the headset.
    Display,
    /// The keys of the motion as rows, and the range of playback.
    Keys,
    /// Animation clips of the file.
    Clips,
    /// The steps of the document's history.
    History,
}

impl Section {
    /// All shared panels, in order.
    pub const ALL: [Self; 12] = [
        Self::Deformer,
        Self::Shape,
        Self::Morphs,
        Self::Rig,
        Self::Cage,
        Self::Outliner,
        Self::Transform,
        Self::Keys,
        Self::Poses,
        Self::Clips,
        Self::Display,
        Self::History,
    ];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        match self {
            Self::Outliner => "Outliner",
            Self::Transform => "Transform",
            Self::Shape => "Shape",
            Self::Morphs => "Morphs",
            Self::Rig => "Rig",
            Self::Cage => "Cage",
            Self::Deformer => "Deformer",
            Self::Poses => "Poses",
            Self::Display => "Display",
            Self::Keys => "Keys",
            Self::Clips => "Clips",
            Self::History => "History",
        }
    }

    /// Returns the label, with the number of entries for lists.
    pub(super) fn title(self, bench: &Workbench) -> String {
        let label = self.label();
        let document = bench.session().document();
        match self {
            Self::Morphs => {
                let nodes = &bench.character().skeleton.nodes;
                format!("{label} ({})", nodes.iter().map(|n| n.weights.len()).sum::<usize>())
            }
            Self::Poses => format!("{label} ({})", document.poses().len()),
            Self::Clips => format!("{label} ({})", bench.character().skeleton.clips.len()),
            Self::History => {
                let (done, all) = bench.session().history();
                format!("{label} ({} of {})", done.saturating_sub(1), all.saturating_sub(1))
            }
            _ => label.to_owned(),
        }
    }

    /// Draws the panel.
    pub(super) fn show(
        self,
        ui: &mut Ui,
        shows: &Shows<'_>,
        memory: &mut PanelMemory,
        pressed: &mut Pressed,
    ) {
        match self {
            Self::Outliner => outliner::show(ui, shows, memory, pressed),
            Self::Transform => transform::show(ui, shows, memory, pressed),
            Self::Shape => shape::show(ui, shows, memory, pressed),
            Self::Morphs => morphs::show(ui, shows, memory, pressed),
            Self::Rig => rig::show(ui, shows, memory, pressed),
            Self::Cage => cage::show(ui, shows, pressed),
            Self::Deformer => deformer::show(ui, shows, memory, pressed),
            Self::Poses => poses::show(ui, shows, memory, pressed),
            Self::Display => display::show(ui, shows, memory, pressed),
            Self::Keys => keys::show(ui, shows.bench, memory, pressed),
            Self::Clips => {
                clips::show(ui, shows.bench, memory, pressed);
                clips::exported(ui, shows, pressed);
            }
            Self::History => history::show(ui, shows.bench, pressed),
        }
        if let Some(place) = self.place() {
            ui.horizontal_wrapped(|ui| shows.listed(ui, pressed, place));
        }
    }

    /// The panel's place in the table of commands, if the table may list commands there.
    fn place(self) -> Option<WindowPlace> {
        Some(match self {
            Self::Transform => WindowPlace::Transform,
            Self::Shape => WindowPlace::Shape,
            Self::Morphs => WindowPlace::Morphs,
            Self::Rig => WindowPlace::Rig,
            Self::Cage => WindowPlace::Cage,
            Self::Deformer => WindowPlace::Deformer,
            Self::Display => WindowPlace::Display,
            _ => return None,
        })
    }
}
