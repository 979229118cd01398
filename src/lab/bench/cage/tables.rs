//! Formats the times of cages as Markdown tables.

use super::super::measure::Sample;
use super::super::text::table;
use super::{CageRow, CageTimes, Compared};
use std::fmt::Write;

/// Formats milliseconds with three significant digits, and at least four decimals below 0.1 ms.
fn ms(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.9995 => format!("{v:.2}"),
        v if v >= 0.09995 => format!("{v:.3}"),
        v => format!("{v:.4}"),
    }
}

/// Formats the times as tables.
pub(in crate::lab::bench) fn text(times: &CageTimes) -> String {
    let sample = |s: Sample| format!("{} ({})", ms(s.median_ms), ms(s.min_ms));
    let ratio = |c: &Compared| format!("{:.1}", c.ratio);
    let mut out = String::new();
    let device = times.device.as_deref().unwrap_or("no Vulkan device");
    let _ = writeln!(
        out,
        "{device}; {} CPU threads. Milliseconds, median (minimum). x: time of a plain implementation on one thread, divided by Sinew's time.",
        times.cores
    );
    if let Some(load) = times.load.filter(|&l| l > 0.5) {
        let _ = writeln!(out, "The machine was busy (load {load:.1}): these times are too long.");
    }
    let each = |cells: &dyn Fn(&CageRow) -> Vec<String>| -> Vec<Vec<String>> {
        let row = |r: &CageRow| [vec![format!("{}, {}", r.mesh, r.cage)], cells(r)].concat();
        times.rows.iter().map(row).collect()
    };
    table(
        &mut out,
        "Preparation; the last column is the total",
        &[
            "mesh, cage vertices",
            "vertices",
            "joints",
            "coordinates",
            "x",
            "joint coordinates",
            "MaxVol",
            "total",
        ],
        &each(&|r| {
            let mut row = vec![r.vertices.to_string(), r.joints.to_string()];
            row.extend([sample(r.coordinates.time), ratio(&r.coordinates)]);
            row.extend([r.joint_coordinates, r.max_vol, r.preparation].map(sample));
            row
        }),
    );
    table(
        &mut out,
        "Updates on the CPU, one call",
        &[
            "mesh, cage vertices",
            "CageUp",
            "x",
            "CageRev: factor",
            "solve",
            "both",
            "x",
            "rest offsets of the skin",
            "x",
        ],
        &each(&|r| {
            vec![
                sample(r.cage_up.time),
                ratio(&r.cage_up),
                sample(r.reverse_factor),
                sample(r.reverse_solve),
                sample(r.reverse.time),
                ratio(&r.reverse),
                sample(r.skin_offsets.time),
                ratio(&r.skin_offsets),
            ]
        }),
    );
    if times.rows.iter().any(|r| r.frames.is_some()) {
        table(
            &mut out,
            "Whole frames of LBS on the device, in turn",
            &["mesh, cage vertices", "rest shape stays", "changes every frame", "change costs"],
            &each(&|r| {
                r.frames.map_or_else(Vec::new, |f| {
                    vec![sample(f.still), sample(f.moving), format!("{:+.1} %", f.share * 100.0)]
                })
            }),
        );
    }
    let published = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), ms);
    let lines: Vec<Vec<String>> = (times.known.iter())
        .map(|k| {
            let verdict = if k.met { "reached" } else { "MISSED" };
            let mut row = vec![format!("{}: {}", k.mesh, k.what), ms(k.measured_ms)];
            row.extend([published(k.paper_ms), published(k.authors_ms), ms(k.aim_ms), verdict.to_owned()]);
            row
        })
        .collect();
    table(
        &mut out,
        "Measured times beside table 1 of the paper, the authors' program and the aims. The tube stands beside the paper's snake of 120,066 vertices",
        &["what", "measured", "paper", "authors' program", "aim", ""],
        &lines,
    );
    out
}
