//! The panel of the file's animation clips, which play below strokes and keys: weight, speed and start of each clip.

use super::keys::round_up;
use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, widgets};
use crate::document::{ClipLayer, Edit, KeyEdit};
use crate::rig::Skeleton;
use crate::workbench::{Command, Workbench};
use egui::{RichText, Ui};

/// Smallest and largest playback speed of the slider, as a factor.
const SPEEDS: [f64; 2] = [0.1, 4.0];

/// Number of clips up to which the list needs no filter.
const FEW: usize = 8;

/// The error bounds of exports to choose from, as fractions of the diagonal of the character's bounding box; see
/// [`Command::ExportError`].
const ERRORS: [f64; 3] = [4e-5, 4e-4, 2e-3];

/// A change of a clip layer.
enum Change {
    /// Sets the layer's settings. If the value is true, the change joins the previous history step.
    Set(bool),
    Remove,
}

pub(super) fn show(ui: &mut Ui, bench: &Workbench, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let skeleton = &bench.character().skeleton;
    if skeleton.clips.is_empty() {
        ui.label(RichText::new("The file has none.").small().weak());
        return;
    }
    let mut layers = bench.session().document().motion().clips().to_vec();
    let mut change = None;
    for (number, layer) in layers.iter_mut().enumerate() {
        let of_layer = ui.push_id(number, |ui| controls(ui, clip_name(skeleton, layer), layer, memory));
        change = of_layer.inner.map(|c| (number, c)).or(change);
    }
    widgets::caption(ui, "Of the file");
    if skeleton.clips.len() > FEW {
        let filter = widgets::field(ui, &mut memory.clip_filter, "Filter by name");
        ui.add(filter.desired_width(f32::INFINITY));
    }
    let filter = memory.clip_filter.to_lowercase();
    let wanted = |name: &str| skeleton.clips.len() <= FEW || name.to_lowercase().contains(&filter);
    for (clip, of_file) in skeleton.clips.iter().enumerate().filter(|(_, c)| wanted(&c.name)) {
        ui.horizontal(|ui| {
            if widgets::offer(ui, true, "+", "Plays it, over those above") {
                layers.push(ClipLayer::new(clip, skeleton));
                change = Some((layers.len() - 1, Change::Set(false)));
            }
            ui.label(&of_file.name);
            ui.label(RichText::new(format!("{:.2} s", of_file.duration())).small().weak());
        });
    }
    let Some((number, change)) = change else { return };
    let continues = matches!(change, Change::Set(true));
    if let Change::Remove = change {
        layers.remove(number);
    }
    pressed.edit(Edit::Keys(KeyEdit::Clips(layers)), continues);
}

/// Draws the choice of the error bound of exports. A bound that the user chose for a character of another size stays a
/// choice.
pub(in crate::ui) fn exported(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    widgets::caption(ui, "Exported shapes");
    let now = shows.bench.preferences().export_error;
    let size = 1e3 * f64::from(shows.bench.bounds().diagonal()).max(1e-6);
    let mut choices: Vec<f64> = ERRORS.iter().map(|share| round_up(share * size)).chain(now).collect();
    choices.sort_by(f64::total_cmp);
    choices.dedup();
    let choices = std::iter::once(None).chain(choices.into_iter().map(Some));
    let text = |mm: Option<f64>| mm.map_or("Keys".to_owned(), |mm| format!("All frames, {mm} mm"));
    shows.choices(ui, pressed, choices.map(|mm| (text(mm), now == mm, Command::ExportError(mm))));
    let told = match now {
        None => "Each key has a shape; other programs blend them between the keys.",
        Some(_) => "All frames share a few shapes. No vertex is farther off than this.",
    };
    ui.label(RichText::new(told).small().weak());
}

fn clip_name<'a>(skeleton: &'a Skeleton, layer: &ClipLayer) -> &'a str {
    skeleton.clips.get(layer.clip).map_or("", |clip| &clip.name)
}

fn controls(ui: &mut Ui, name: &str, layer: &mut ClipLayer, memory: &mut PanelMemory) -> Option<Change> {
    let mut change = None;
    ui.horizontal(|ui| {
        if ui.checkbox(&mut layer.enabled, name).on_hover_text("Plays or not").changed() {
            change = Some(Change::Set(false));
        }
        if widgets::remove(ui, "Remove") {
            change = Some(Change::Remove);
        }
    });
    let mut slide = |ui: &mut Ui, slide: Slide<'_>, value: f64| {
        widgets::slide(ui, &slide, value, &mut memory.held).moved.map(|(value, continues)| {
            change = Some(Change::Set(continues));
            value
        })
    };
    if let Some(weight) =
        slide(ui, Slide::even("weight", [0.0, 1.0], Print::Percent), f64::from(layer.weight))
    {
        layer.weight = weight as f32;
    }
    let speed = Slide { label: "times as fast", range: SPEEDS, logarithmic: true, print: Print::Decimals(2) };
    if let Some(fast) = slide(ui, speed, layer.speed.abs()) {
        layer.speed = fast.max(SPEEDS[0]).copysign(layer.speed);
    }
    ui.horizontal(|ui| {
        let start = widgets::number(ui, Print::Unit(2, "s"), 0.02, layer.offset, &mut memory.held);
        start.answer.on_hover_text("When it begins; drag, or click and type");
        if let Some((offset, continues)) = start.moved {
            layer.offset = offset;
            change = Some(Change::Set(continues));
        }
        ui.label("start");
        if ui.checkbox(&mut layer.looped, "loop").changed() {
            change = Some(Change::Set(false));
        }
        let mut back = layer.speed < 0.0;
        if ui.checkbox(&mut back, "backwards").changed() {
            layer.speed = -layer.speed;
            change = Some(Change::Set(false));
        }
    });
    change
}

#[cfg(test)]
mod tests {
    use super::{ERRORS, round_up};

    #[test]
    fn bounds_of_exports_fit_the_size_of_the_character() {
        let bounds = |metres: f64| ERRORS.map(|share| round_up(share * metres * 1e3));
        assert_eq!(bounds(2.235), [0.1, 1.0, 5.0]);
        assert_eq!(bounds(0.04), [0.002, 0.02, 0.1]);
        assert_eq!(bounds(240.0), [10.0, 100.0, 500.0]);
    }
}
