//! The curves of one keyed property: the values of its keys over time, with handles for the slopes.
//!
//! A drag changes values and slopes at once, as one undo step; times change on release, as in the dope sheet.

mod drag;
mod plot;
mod values;

use super::selection::has;
use super::sheet::{self, Header};
use super::span::{self, END};
use super::{Selection, SheetState, theme};
use crate::asset::Property;
use crate::base::{NodeId, Version};
use crate::document::{Channel, KeyCurves, Motion, Subject, Target};
use crate::ui::panels::{Pressed, widgets};
use crate::workbench::{Tool, Workbench};
use egui::{Align2, Color32, FontId, Rect, ScrollArea, Sense, Ui, UiBuilder, vec2};
use plot::View;
use std::collections::BTreeSet;
use values::{Unit, Values};

/// Height of the plot in the window and in the headset, logical pixels.
pub(in crate::ui) const HEIGHT: [f32; 2] = [220.0, 350.0];
/// Number of morph targets that show until the user chooses others.
const TARGETS: usize = 6;
/// Colours of the curves of morph targets, after those of the axes.
const MORE: [Color32; 3] = [theme::FAIR, Color32::from_rgb(190, 110, 220), Color32::from_rgb(70, 190, 190)];

/// The property whose curves show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    Location,
    #[default]
    Rotation,
    Scale,
    Morphs,
}

impl Shown {
    const ALL: [Self; 4] = [Self::Location, Self::Rotation, Self::Scale, Self::Morphs];

    fn label(self) -> &'static str {
        ["Location", "Rotation", "Scale", "Morphs"][self as usize]
    }

    fn property(self) -> Property {
        [Property::Translation, Property::Rotation, Property::Scale, Property::Weights][self as usize]
    }

    /// Returns the keyed property of a node or grip. The weights of morph targets may belong to another node, because a joint
    /// has none.
    fn target(self, owner: Option<&Subject>, motion: &Motion) -> Option<Target> {
        let property = self.property();
        let own = owner.and_then(|owner| match owner {
            Subject::Node(node) => Some(Target::node(*node, property)),
            Subject::Grip(grip) => Some(Target::Grip { grip: *grip, property }),
            _ => None,
        });
        let is_weights = |c: &&Channel| matches!(c.target, Target::Node { property: Property::Weights, .. });
        own.filter(|target| motion.channel(target).is_some()).or_else(|| {
            let first = motion.channels().iter().find(is_weights).filter(|_| self == Self::Morphs);
            first.map(|c| c.target.clone())
        })
    }
}

/// State of the curves between frames.
#[derive(Default)]
pub(in crate::ui) struct Curves {
    /// Whether the curves show instead of the rows.
    pub on: bool,
    /// Whether the headset shows the tools of the keys, too.
    pub tools: bool,
    shown: Shown,
    /// Whether a dragged handle leaves the other handle of its key alone.
    breaks: bool,
    /// The axes whose curves are hidden.
    hidden: BTreeSet<usize>,
    /// The node whose morph targets were chosen, and the targets.
    chosen: Option<(NodeId, BTreeSet<usize>)>,
    known: Option<Known>,
    press: Option<drag::Press>,
    values: Values,
}

/// The curves of a revision of the document.
struct Known {
    revision: Version,
    unit: Unit,
    curves: KeyCurves,
    /// The curves during a drag that moves keys by some seconds.
    moved: Option<(f64, KeyCurves)>,
    /// Indices of the curves that the list shows.
    listed: Vec<usize>,
    /// The sampled curves.
    view: View,
}

/// Returns the object whose curves show: with the grip tool the selected grip, otherwise the selected joint, or the node or
/// grip of the first selected row.
fn owner(bench: &Workbench, selection: &Selection) -> Option<Subject> {
    let grip = bench.selected_grip().filter(|_| bench.preferences().tool == Tool::Grip).map(Subject::Grip);
    let selected = grip.or(bench.selected().map(Subject::Node));
    selected.or_else(|| selection.owner().cloned())
}

/// Draws the choice between rows and curves.
pub(super) fn choices(ui: &mut Ui, state: &mut SheetState) {
    for (on, text, tip) in [
        (false, "Sheet", "Shows the keys of all objects as rows"),
        (true, "Curves", "Shows the values of the selected joint over time, with handles for the slopes"),
    ] {
        if widgets::choice(ui, state.curves.on == on, text, tip) {
            state.curves.on = on;
            state.press = None;
            state.curves.press = None;
        }
    }
}

/// Draws the choice of the property, and the tools of the curves.
pub(super) fn tools(ui: &mut Ui, bench: &Workbench, state: &mut SheetState) {
    let motion = bench.session().document().motion();
    if theme::is_large(ui) {
        let tip = "Shows the tools for keys, easing, playback and view";
        widgets::toggle(ui, &mut state.curves.tools, "Tools", tip);
        breaks(ui, &mut state.curves);
        values::tools(ui, &mut state.curves);
        ui.end_row();
    }
    let owner = owner(bench, &state.selection);
    for shown in Shown::ALL {
        let keyed = shown.target(owner.as_ref(), motion).is_some();
        let on = state.curves.shown == shown;
        let choice = egui::Button::selectable(on, shown.label());
        if ui.add_enabled(keyed || on, choice).clicked() {
            state.curves.shown = shown;
        }
    }
    if !theme::is_large(ui) {
        breaks(ui, &mut state.curves);
        values::tools(ui, &mut state.curves);
    }
}

fn breaks(ui: &mut Ui, state: &mut Curves) {
    let tip = "A dragged handle leaves the other handle of its key alone   Alt";
    widgets::toggle(ui, &mut state.breaks, "Break", tip);
}

/// Draws the curves below the ruler, and runs their input.
pub(in crate::ui) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    state: &mut SheetState,
    pressed: &mut Pressed,
    (header, height): (Header, f32),
) {
    let timeline = bench.timeline();
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let span = header.span;
    span::draw(ui, header.rect, &span, timeline);
    let scale = theme::scale(ui);
    let well = rect.with_min_x(span.left - END * scale);
    ui.painter().rect_filled(well, 4.0, ui.visuals().extreme_bg_color);
    state.over = ui.rect_contains_pointer(well);
    let owner = owner(bench, &state.selection);
    let Some(mut known) = state.curves.know(bench, owner.as_ref()) else {
        state.curves.press = None;
        state.curves.values = Values::default();
        sheet::navigate(ui, header.rect.union(well), header.rect.union(well), &span, state, timeline);
        let text = state.curves.missing(bench, owner.as_ref());
        let font = FontId::proportional(12.0 * scale);
        ui.painter().text(well.center(), Align2::CENTER_CENTER, text, font, ui.visuals().weak_text_color());
        return;
    };
    let list = rect.with_max_x(span.left - 2.0 * END * scale);
    list_curves(ui, list, bench, &mut state.curves, &known);
    let curves = state.curves.shown_curves(&known);
    let subject = known.curves.target().subject();
    let seconds = drag::seconds(state, &span, timeline);
    known.follow(seconds, state.selection.of_row(&subject));
    let room = plot::Room { rect: well, span, scale };
    let plot = known.plot(ui, room, &curves, state.curves.chosen_range(&known));
    state.curves.values.show(&known, plot.range);
    if !values::navigate(ui, &plot, &mut state.curves) {
        sheet::navigate(ui, header.rect.union(well), header.rect.union(well), &span, state, timeline);
    }
    drag::run(ui, &plot, &known, &curves, bench, state, pressed);
    let own = state.selection.of_row(&subject);
    let selected = |time: f64| match seconds {
        0.0 => has(own, time),
        by => own.iter().any(|t| (t + by - time).abs() < 1e-6),
    };
    plot::draw(ui, &plot, &known, &curves, timeline, selected);
    drag::draw(ui, &plot, state);
    state.curves.known = Some(known);
}

/// Draws the names of the curves, which show or hide the curves, with the values at the playhead.
fn list_curves(ui: &mut Ui, rect: Rect, bench: &Workbench, state: &mut Curves, known: &Known) {
    let target = known.curves.target();
    let mut now = Vec::new();
    known.curves.sample(&[bench.timeline().playhead.time], &mut now);
    let shown = state.shown_curves(known);
    let unit = known.unit;
    let nodes = &bench.character().skeleton.nodes;
    let targets = match target {
        Target::Node { node, .. } => nodes.get(node.index()).map_or(&[][..], |n| &n.targets),
        _ => &[],
    };
    let (row, gap) = (theme::row(ui), ui.spacing().item_spacing.y);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
    let ui = &mut inner;
    ui.set_clip_rect(rect.intersect(ui.clip_rect()));
    let rows = &bench.timeline().sheet.rows;
    let name = rows.iter().find(|r| r.subject == target.subject()).map_or("", |r| r.label.as_str());
    let (title, _) = ui.allocate_exact_size(vec2(rect.width(), 18.0 * theme::scale(ui)), Sense::hover());
    let font = FontId::proportional(12.0 * theme::scale(ui).min(2.0));
    let color = ui.visuals().text_color();
    ui.painter().text(title.left_center(), Align2::LEFT_CENTER, name, font.clone(), color);
    let area = ScrollArea::vertical().id_salt("curves").auto_shrink(false);
    area.show_rows(ui, row, known.listed.len(), |ui, range| {
        ui.spacing_mut().item_spacing.y = gap;
        for &curve in &known.listed[range] {
            let (rect, answer) = ui.allocate_exact_size(vec2(ui.available_width(), row), Sense::click());
            let on = shown.contains(&curve);
            let fill = ui.style().interact(&answer).bg_fill;
            if answer.hovered() {
                ui.painter().rect_filled(rect, 4.0, fill);
            }
            let mark = Rect::from_min_size(rect.min, vec2(0.3 * row, row)).shrink(0.08 * row);
            let ink = if on { color } else { ui.visuals().weak_text_color() };
            let tint = self::color(target, curve);
            ui.painter().rect_filled(mark, 2.0, tint.gamma_multiply(if on { 1.0 } else { 0.25 }));
            let number = unit.text(now.get(curve).copied().unwrap_or_default());
            let end = ui.painter().text(rect.right_center(), Align2::RIGHT_CENTER, number, font.clone(), ink);
            let label = match target {
                Target::Node { property: Property::Weights, .. } => {
                    targets.get(curve).map_or("?", |name| name.as_str())
                }
                _ => ["X", "Y", "Z"][curve.min(2)],
            };
            let room = rect.with_min_x(mark.max.x + 4.0).with_max_x(end.min.x - 4.0);
            let painter = ui.painter().with_clip_rect(room.intersect(ui.clip_rect()));
            painter.text(room.left_center(), Align2::LEFT_CENTER, label, font.clone(), ink);
            if answer.on_hover_text("Shows or hides the curve").clicked() {
                state.toggle(target, curve, &shown);
            }
        }
    });
}

/// Colour of a curve: red, green and blue for X, Y and Z.
fn color(target: &Target, curve: usize) -> Color32 {
    let all = theme::AXES.into_iter().chain(MORE);
    let count = if matches!(target, Target::Node { property: Property::Weights, .. }) { 6 } else { 3 };
    all.into_iter().nth(curve % count).unwrap_or(theme::FAIR)
}

impl Curves {
    /// Ends the drag under way without its result.
    pub(super) fn drop_drag(&mut self) -> Option<drag::Press> {
        self.press.take()
    }

    /// Returns the target whose curves show, and makes its property the shown one.
    fn target(&mut self, bench: &Workbench, owner: Option<&Subject>) -> Option<Target> {
        let motion = bench.session().document().motion();
        let wanted = std::iter::once(self.shown);
        let order = wanted.chain([Shown::Rotation, Shown::Location, Shown::Scale, Shown::Morphs]);
        let (shown, target) = order.filter_map(|s| Some((s, s.target(owner, motion)?))).next()?;
        // Without a selected joint, the weights of morph targets show only if the user asks for them.
        if owner.is_none() && self.shown != Shown::Morphs {
            return None;
        }
        self.shown = shown;
        Some(target)
    }

    /// Returns the curves of the document; `None` if there are none to show.
    fn know(&mut self, bench: &Workbench, owner: Option<&Subject>) -> Option<Known> {
        let target = self.target(bench, owner)?;
        let revision = bench.session().revision();
        let channel = bench.session().document().motion().channel(&target)?;
        // Most edits leave the channel as it is.
        let same = |k: &Known| k.revision == revision || k.curves.is_of(channel);
        let known = self.known.take().filter(|k| *k.curves.target() == target && same(k));
        if let Some(known) = known {
            return Some(Known { revision, ..known });
        }
        let curves = KeyCurves::new(channel);
        let keys = curves.times().len();
        let is_used = |curve: &usize| (0..keys).any(|key| curves.value(key, *curve) != 0.0);
        let weights = matches!(target, Target::Node { property: Property::Weights, .. });
        let listed: Vec<usize> = (0..curves.count()).filter(|c| !weights || is_used(c)).collect();
        if let (true, Target::Node { node, .. }) = (weights, &target)
            && self.chosen.as_ref().is_none_or(|c| c.0 != *node)
        {
            self.chosen = Some((*node, listed.iter().take(TARGETS).copied().collect()));
        }
        let unit = Unit::of(&target, bench);
        Some(Known { revision, unit, curves, moved: None, listed, view: View::default() })
    }

    /// Returns the indices of the curves that show.
    fn shown_curves(&self, known: &Known) -> Vec<usize> {
        let weights = matches!(known.curves.target(), Target::Node { property: Property::Weights, .. });
        let chosen = self.chosen.as_ref().map(|c| &c.1);
        let shows = |curve: &usize| match weights {
            true => chosen.is_some_and(|c| c.contains(curve)),
            false => !self.hidden.contains(curve),
        };
        known.listed.iter().copied().filter(shows).collect()
    }

    fn toggle(&mut self, target: &Target, curve: usize, shown: &[usize]) {
        let weights = matches!(target, Target::Node { property: Property::Weights, .. });
        let on = shown.contains(&curve);
        let Some((_, chosen)) = self.chosen.as_mut().filter(|_| weights) else {
            if on {
                self.hidden.insert(curve)
            } else {
                self.hidden.remove(&curve)
            };
            return;
        };
        if on {
            chosen.remove(&curve)
        } else {
            chosen.insert(curve)
        };
    }

    /// Says why no curves show.
    fn missing(&self, bench: &Workbench, owner: Option<&Subject>) -> String {
        if bench.timeline().sheet.rows.is_empty() {
            return "No keys yet: key a pose.".into();
        }
        let name = match owner {
            Some(Subject::Node(node)) => {
                bench.character().skeleton.nodes.get(node.index()).map(|n| n.name.as_str())
            }
            Some(_) => Some("The grip"),
            None => None,
        };
        name.map_or("Select a joint to see its curves.".into(), |name| format!("{name} has no keys."))
    }
}

impl Known {
    /// Moves keys at these times for a drag.
    fn follow(&mut self, seconds: f64, times: &[f64]) {
        if seconds == 0.0 {
            self.moved = None;
        } else if self.moved.as_ref().is_none_or(|m| m.0 != seconds) {
            self.moved = Some((seconds, self.curves.moved(times, seconds)));
        }
    }

    /// The curves to draw.
    fn drawn(&self) -> &KeyCurves {
        self.moved.as_ref().map_or(&self.curves, |m| &m.1)
    }
}
