//! The outliner: the meshes, joints, strokes, marks and sculpt layers of the document.

use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, theme, widgets};
use crate::base::NodeId;
use crate::document::Edit;
use crate::pose::StrokeLayer;
use crate::surface::{Region, Sculpt};
use crate::workbench::{Command, Workbench};
use egui::{Key, Label, RichText, Sense, Ui, vec2};

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let filter = widgets::field(ui, &mut memory.filter, "Filter by name");
    ui.add(filter.desired_width(f32::INFINITY));
    let filter = memory.filter.to_lowercase();
    let wanted = |name: &str| filter.is_empty() || name.to_lowercase().contains(&filter);
    strokes(ui, bench, &wanted, pressed);
    marks(ui, bench, &wanted, pressed);
    sculpts(ui, shows, &wanted, memory, pressed);
    joints(ui, bench, &wanted, !filter.is_empty(), pressed);
    parts(ui, bench, &wanted, pressed);
}

/// Draws the parts of the display mesh with switches that hide them. Strokes reach the skin below hidden parts.
fn parts(ui: &mut Ui, bench: &Workbench, wanted: &dyn Fn(&str) -> bool, pressed: &mut Pressed) {
    let character = bench.character();
    let all = &character.display.parts;
    let hidden = bench.session().document().hidden();
    let mut listed = 0;
    for (index, part) in all.iter().enumerate() {
        let node = &character.skeleton.nodes[part.node.index()].name;
        let of = |p: &&crate::geom::Part| p.node == part.node;
        let material = character.display.part_names.get(index).filter(|m| !m.is_empty());
        let several = all.iter().filter(of).count() > 1;
        let name = if let Some(material) = material.filter(|_| several) {
            material.clone()
        } else if several {
            format!("{node}, part {}", 1 + all[..index].iter().filter(of).count())
        } else if node.is_empty() {
            format!("Part {}", index + 1)
        } else {
            node.clone()
        };
        if !wanted(&name) {
            continue;
        }
        heading(ui, listed, "Parts of the mesh");
        listed += 1;
        let place = hidden.binary_search(&(index as u32));
        let mut shown = place.is_err();
        ui.horizontal(|ui| {
            let tip = "Hide it, and draw on the skin below it";
            if ui.checkbox(&mut shown, name).on_hover_text(tip).changed() {
                let mut new = hidden.to_vec();
                match place {
                    Ok(at) => drop(new.remove(at)),
                    Err(at) => new.insert(at, index as u32),
                }
                pressed.edit(Edit::SetHidden(new), false);
            }
            ui.label(RichText::new(format!("{} triangles", part.triangles.len())).small().weak());
        });
    }
}

/// The number of vertices that a sculpt layer moves.
fn moved(sculpt: &Sculpt) -> usize {
    sculpt.region.kinematic.len() + sculpt.region.passive.len()
}

/// Draws the sculpt layers with sliders for width and softness. The slider for the amplitude is on the shape panel.
fn sculpts(
    ui: &mut Ui,
    shows: &Shows<'_>,
    wanted: &dyn Fn(&str) -> bool,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    let bench = shows.bench;
    let sculpts = bench.session().document().sculpts().iter().filter(|s| wanted(&s.name));
    for (index, sculpt) in sculpts.enumerate() {
        heading(ui, index, "Shapes");
        let color = egui::Color32::from_rgb(120, 200, 150);
        let change = |new: Sculpt| Edit::SetSculpt(Box::new(new));
        if let Some((_, name)) = memory.renaming.as_mut().filter(|(id, _)| *id == sculpt.id) {
            let name_field = widgets::field(ui, name, "").desired_width(f32::INFINITY);
            let answer = ui.add(name_field);
            if !answer.lost_focus() {
                answer.request_focus();
                continue;
            }
            let name = std::mem::take(name).trim().to_owned();
            memory.renaming = None;
            let kept = !ui.input(|i| i.key_pressed(Key::Escape));
            if kept && !name.is_empty() && name != sculpt.name {
                pressed.edit(change(Sculpt { name, ..sculpt.clone() }), false);
            }
        }
        let Entry { switch, remove, named } = entry(ui, color, &sculpt.name, Some(sculpt.enabled));
        if named {
            memory.renaming = Some((sculpt.id, sculpt.name.clone()));
        }
        if switch {
            pressed.edit(change(Sculpt { enabled: !sculpt.enabled, ..sculpt.clone() }), false);
        }
        if remove {
            pressed.edit(Edit::RemoveSculpt(sculpt.id), false);
        }
        let with = |region: Region| {
            let same = region.passive == sculpt.region.passive;
            let new = Sculpt { region, ..sculpt.clone() };
            if same { new } else { new.with_open_surroundings() }
        };
        let soft = Slide::even("soft", [0.0, 1.0], Print::Decimals(2));
        let softness = f64::from(sculpt.region.softness);
        if let Some((softness, continues)) = widgets::slide(ui, &soft, softness, &mut memory.held).moved
            && let Ok(region) = sculpt.region.softened(bench.character(), softness as f32)
        {
            pressed.edit(change(with(region)), continues);
        }
        ui.horizontal(|ui| {
            ui.label(RichText::new(format!("{} vertices", moved(sculpt))).small().weak());
            for (label, rings, tip) in [
                ("narrower", -1, "A ring of edges less follows"),
                ("wider", 1, "A ring of edges more follows"),
            ] {
                let grown = widgets::offer(ui, true, label, tip)
                    .then(|| sculpt.region.grown(bench.character(), rings));
                match grown {
                    Some(Ok(region)) => pressed.edit(change(with(region)), false),
                    Some(Err(error)) => pressed.tell = Some(error.to_string()),
                    None => {}
                }
            }
            let tip = "The same on the other side of the body";
            let other = widgets::offer(ui, bench.has_sides(), "other side", tip);
            pressed.command(Command::OtherSide(sculpt.id), other);
        });
    }
}

/// The user's actions on an entry.
#[derive(Default)]
struct Entry {
    switch: bool,
    remove: bool,
    /// Whether the name was double-clicked or, in the headset, pressed.
    named: bool,
}

/// Draws an entry with switch, name and remove button.
fn entry(ui: &mut Ui, color: egui::Color32, name: &str, on: Option<bool>) -> Entry {
    let mut answer = Entry::default();
    ui.horizontal(|ui| {
        let (rect, dot) = ui.allocate_exact_size(vec2(14.0, 18.0) * theme::scale(ui), Sense::click());
        let shape = egui::Stroke::new(1.5, color);
        match on {
            Some(false) => ui.painter().circle_stroke(rect.center(), 4.5 * theme::scale(ui), shape),
            _ => ui.painter().circle_filled(rect.center(), 4.5 * theme::scale(ui), color),
        };
        answer.switch = on.is_some() && dot.on_hover_text("Takes part or not").clicked();
        let label = ui.add(Label::new(name).sense(Sense::click()));
        answer.named = if theme::is_large(ui) { label.clicked() } else { label.double_clicked() };
        answer.remove = widgets::remove(ui, "Remove");
    });
    answer
}

/// Draws the heading of a list above the list's first entry. A list without entries that fit the filter has no heading.
fn heading(ui: &mut Ui, entry: usize, text: &str) {
    if entry == 0 {
        widgets::caption(ui, text);
    }
}

fn strokes(ui: &mut Ui, bench: &Workbench, wanted: &dyn Fn(&str) -> bool, pressed: &mut Pressed) {
    let layers = bench.session().document().strokes().iter().filter(|l| wanted(&l.name));
    for (index, layer) in layers.enumerate() {
        heading(ui, index, "Strokes");
        let text = match &layer.offset {
            Some(_) if layer.selection.len() == 1 => format!("{}, 1 joint", layer.name),
            Some(_) => format!("{}, {} joints", layer.name, layer.selection.len()),
            None => format!("{}, waits for its offset", layer.name),
        };
        let color = egui::Color32::from_rgb(255, 84, 96);
        let Entry { switch, remove, .. } = entry(ui, color, &text, Some(layer.enabled));
        if switch {
            let new = StrokeLayer { enabled: !layer.enabled, ..layer.clone() };
            pressed.edit(Edit::SetStroke(Box::new(new)), false);
        }
        if remove {
            pressed.edit(Edit::RemoveStroke(layer.id), false);
        }
    }
}

fn marks(ui: &mut Ui, bench: &Workbench, wanted: &dyn Fn(&str) -> bool, pressed: &mut Pressed) {
    let marks = bench.session().document().marks().iter().filter(|m| wanted(&m.name));
    for (index, mark) in marks.enumerate() {
        heading(ui, index, "Marks");
        let color = egui::Color32::from_rgb(255, 214, 64);
        if entry(ui, color, &mark.name, None).remove {
            pressed.edit(Edit::RemoveMark(mark.id), false);
        }
    }
}

fn joints(ui: &mut Ui, bench: &Workbench, wanted: &dyn Fn(&str) -> bool, flat: bool, pressed: &mut Pressed) {
    let skeleton = &bench.character().skeleton;
    let posable = bench.posable();
    let pins = bench.session().document().pins();
    let mut depth = vec![0_usize; skeleton.nodes.len()];
    let is_joint = |n: NodeId| posable.contains(&n);
    for &node in &skeleton.order {
        if let Some(parent) = skeleton.nodes[node.index()].parent {
            depth[node.index()] = depth[parent.index()] + usize::from(is_joint(parent));
        }
    }
    let shown: Vec<NodeId> =
        tree(bench).into_iter().filter(|n| wanted(&skeleton.nodes[n.index()].name)).collect();
    if shown.is_empty() && flat {
        return;
    }
    let of = if flat { format!("{} of ", shown.len()) } else { String::new() };
    widgets::caption(ui, &format!("Joints ({of}{})", posable.len()));
    let selected = bench.selected();
    widgets::list(ui, "joints", (230.0, false), shown.len(), |ui, range| {
        for &node in &shown[range] {
            let name = &skeleton.nodes[node.index()].name;
            let indent =
                if flat { 0.0 } else { 10.0 * theme::scale(ui) * depth[node.index()].min(12) as f32 };
            let pinned = pins.binary_search(&node).is_ok();
            let text = RichText::new(match bench.is_control(node) {
                _ if pinned => format!("{name}  (pinned)"),
                true => format!("{name}  (control)"),
                false => name.clone(),
            });
            let text = if pinned && selected != Some(node) { text.color(theme::GOOD) } else { text };
            if widgets::row(ui, indent, text, selected == Some(node)).clicked() {
                pressed.commands.push(Command::Select((selected != Some(node)).then_some(node)));
            }
        }
    });
}

/// Returns the posable nodes, each after its parent.
fn tree(bench: &Workbench) -> Vec<NodeId> {
    let skeleton = &bench.character().skeleton;
    let mut children = vec![Vec::new(); skeleton.nodes.len()];
    let mut open: Vec<NodeId> = Vec::new();
    for &node in skeleton.order.iter().rev() {
        match skeleton.nodes[node.index()].parent {
            Some(parent) => children[parent.index()].push(node),
            None => open.push(node),
        }
    }
    let mut out = Vec::new();
    while let Some(node) = open.pop() {
        if bench.posable().contains(&node) {
            out.push(node);
        }
        open.extend(&children[node.index()]);
    }
    out
}
