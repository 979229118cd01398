//! Reads skin influences: merges all sets of a primitive, sums repeated joints, sorts and normalises.

use super::attributes::Attributes;
use super::item::Item;
use crate::asset::Influences;
use crate::base::Result;

/// Counts of repaired flaws, reported once per primitive.
#[derive(Default)]
struct Flaws {
    invalid: usize,
    unbound: usize,
    /// Number of vertices whose weights do not sum to one; `worst` is the sum that differs most from one.
    unnormalised: usize,
    worst: f32,
}

/// Reads `JOINTS_n` and `WEIGHTS_n` for every n. `joints` is the number of joints of the smallest skin that deforms
/// the mesh; `None` if no skin does.
///
/// # Errors
/// A joint with a positive weight is not in the skin, or an attribute is malformed.
pub(super) fn read(
    item: &Item,
    attributes: &Attributes,
    vertices: usize,
    joints: Option<usize>,
) -> Result<Influences> {
    let mut sets = Vec::new();
    for set in attributes.sets("JOINTS") {
        let joint = attributes.wholes(&format!("JOINTS_{set}"), 4)?;
        let weight = attributes.floats(&format!("WEIGHTS_{set}"), &[4], true)?;
        match (joint, weight) {
            (Some(joint), Some((_, weight))) => sets.push((joint, weight)),
            _ => item.mend(format!("JOINTS_{set} without WEIGHTS_{set} was ignored")),
        }
    }
    for set in attributes.sets("WEIGHTS") {
        if !attributes.has(&format!("JOINTS_{set}")) {
            item.mend(format!("WEIGHTS_{set} without JOINTS_{set} was ignored"));
        }
    }
    let Some(joints) = joints else {
        if !sets.is_empty() {
            item.mend("it has joints and weights, but no node gives it a skin; they were ignored");
        }
        return Ok(Influences::default());
    };
    if sets.is_empty() {
        item.mend("a skin deforms it, but it has no joints and weights; it follows its node rigidly");
        return Ok(Influences::default());
    }

    item.ctx.spend(&item.at, (vertices * (4 + 24 * sets.len())) as u64)?;
    let mut out = Influences::default();
    let mut entries: Vec<(u16, f32)> = Vec::new();
    let mut flaws = Flaws { worst: 1.0, ..Flaws::default() };
    for vertex in 0..vertices {
        entries.clear();
        for (joint, weight) in &sets {
            for k in vertex * 4..vertex * 4 + 4 {
                if weight[k] > 0.0 && weight[k].is_finite() {
                    if joint[k] as usize >= joints {
                        return Err(item.broken(format!(
                            "vertex {vertex} is bound to joint {}, but its skin has {joints} joints",
                            joint[k]
                        )));
                    }
                    entries.push((joint[k] as u16, weight[k]));
                } else if weight[k] != 0.0 {
                    flaws.invalid += 1;
                }
            }
        }
        merge(&mut entries);
        normalise(&mut entries, &mut flaws);
        out.push(entries.iter().copied());
    }
    tell(item, &flaws);
    Ok(out)
}

/// Sums the weights of repeated joints.
fn merge(entries: &mut Vec<(u16, f32)>) {
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    entries.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
}

/// Sorts by descending weight and normalises the sum to one. A vertex without weights is bound to joint 0.
fn normalise(entries: &mut Vec<(u16, f32)>, flaws: &mut Flaws) {
    let sum: f64 = entries.iter().map(|entry| f64::from(entry.1)).sum();
    if sum <= 1e-12 || !sum.is_finite() {
        flaws.unbound += 1;
        entries.clear();
        entries.push((0, 1.0));
        return;
    }
    // The sum of 8-bit weights may differ from one by a few 1/255.
    if (sum - 1.0).abs() > 0.02 {
        flaws.unnormalised += 1;
        if (sum - 1.0).abs() > f64::from(flaws.worst - 1.0).abs() {
            flaws.worst = sum as f32;
        }
    }
    for entry in entries.iter_mut() {
        entry.1 = (f64::from(entry.1) / sum) as f32;
    }
    entries.retain(|entry| entry.1 > 0.0);
    entries.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
}

fn tell(item: &Item, flaws: &Flaws) {
    if flaws.invalid > 0 {
        item.mend(format!("{} weights are negative or not finite and were dropped", flaws.invalid));
    }
    if flaws.unbound > 0 {
        item.mend(format!(
            "{} vertices whose weights sum to 0 were bound to the skin's first joint; repaint or bind again",
            flaws.unbound
        ));
    }
    if flaws.unnormalised > 0 {
        item.mend(format!(
            "the weights of {} vertices do not sum to 1 (one sums to {}) and were normalised",
            flaws.unnormalised, flaws.worst
        ));
    }
}
