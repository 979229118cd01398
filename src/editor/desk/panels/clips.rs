//! The file's own clips, played below strokes and keys: which, how much of them, how fast, from when on.

use super::{Memory, Pressed, widgets};
use crate::edit::{ClipLayer, Edit, KeyEdit};
use crate::editor::Workbench;
use crate::rig::Skeleton;
use egui::{DragValue, RichText, Slider, SliderClamping, Ui};

/// Times as fast, and as slow, that the slider goes.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.1..=4.0;

/// What became of a layer.
enum Change {
    /// It is another, as part of the step before or not.
    Set(bool),
    Remove,
}

pub(super) fn show(ui: &mut Ui, bench: &Workbench, memory: &mut Memory, pressed: &mut Pressed) {
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
    for (clip, of_file) in skeleton.clips.iter().enumerate() {
        ui.horizontal(|ui| {
            if ui.small_button("+").on_hover_text("Plays it, over those above").clicked() {
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
    pressed.edits.push((Edit::Keys(KeyEdit::Clips(layers)), continues));
}

fn clip_name<'a>(skeleton: &'a Skeleton, layer: &ClipLayer) -> &'a str {
    skeleton.clips.get(layer.clip).map_or("", |clip| &clip.name)
}

fn controls(ui: &mut Ui, name: &str, layer: &mut ClipLayer, memory: &mut Memory) -> Option<Change> {
    let mut change = None;
    ui.horizontal(|ui| {
        if ui.checkbox(&mut layer.enabled, name).on_hover_text("Plays or not").changed() {
            change = Some(Change::Set(false));
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.small_button("×").on_hover_text("Remove").clicked() {
                change = Some(Change::Remove);
            }
        });
    });
    let slider = Slider::new(&mut layer.weight, 0.0..=1.0).clamping(SliderClamping::Edits);
    let weight = ui.add(slider.custom_formatter(|v, _| format!("{:.0} %", v * 100.0)).text("weight"));
    let mut fast = layer.speed.abs();
    let slider = Slider::new(&mut fast, SPEEDS).logarithmic(true).clamping(SliderClamping::Edits);
    let speed = ui.add(slider.custom_formatter(|v, _| format!("{v:.2}")).text("times as fast"));
    if speed.changed() {
        layer.speed = fast.max(*SPEEDS.start()).copysign(layer.speed);
    }
    let mut start = None;
    ui.horizontal(|ui| {
        let drag = DragValue::new(&mut layer.offset).speed(0.02).suffix(" s").max_decimals(2);
        start = Some(ui.add(drag).on_hover_text("When it begins; drag, or click and type"));
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
    for answer in [Some(weight), Some(speed), start].into_iter().flatten() {
        if let Some(continues) = widgets::moved(&answer, &mut memory.held) {
            change = Some(Change::Set(continues));
        }
    }
    change
}
