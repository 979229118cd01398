//! Formats the benchmark report as Markdown tables.

use super::deform::FIXED;
use super::desk::label;
use super::measure::Sample;
use super::report::{BenchReport, Converged, MeshReport};
use super::thesis::ThesisRow;
use super::vr::GROUPS;
use std::fmt::Write;

/// Formats milliseconds with three significant digits; with three decimals below 1 ms.
fn ms(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.9995 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// Formats a sample: the median, then the minimum in brackets.
pub(super) fn sample(s: Sample) -> String {
    format!("{} ({})", ms(s.median_ms), ms(s.min_ms))
}

/// Writes a Markdown table with padded columns; the first column is left-aligned, all other columns right-aligned.
pub(super) fn table(out: &mut String, title: &str, head: &[&str], rows: &[Vec<String>]) {
    let width = |c: usize| {
        rows.iter()
            .filter_map(|r| r.get(c))
            .map(|t| t.chars().count())
            .chain([head[c].chars().count(), 3])
            .max()
    };
    let widths: Vec<usize> = (0..head.len()).map(|c| width(c).unwrap_or(3)).collect();
    let line = |cells: Vec<String>| {
        let cells = cells.iter().zip(&widths).enumerate();
        let cells: Vec<String> =
            cells.map(|(c, (t, &w))| if c == 0 { format!("{t:<w$}") } else { format!("{t:>w$}") }).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let _ = write!(out, "\n{title}\n\n");
    out.push_str(&line(head.iter().map(|t| (*t).to_owned()).collect()));
    let rule = widths
        .iter()
        .enumerate()
        .map(|(c, &w)| if c == 0 { "-".repeat(w) } else { format!("{}:", "-".repeat(w - 1)) });
    out.push_str(&line(rule.collect()));
    for row in rows {
        out.push_str(&line(row.clone()));
    }
}

fn thesis_of<'a>(report: &'a BenchReport, mesh: &MeshReport) -> Option<&'a ThesisRow> {
    report.thesis.iter().find(|row| row.stands_for == mesh.name)
}

fn steps(c: &Converged) -> String {
    let [a, b] = c.iterations;
    if c.reached { format!("{a}, {b}") } else { format!("over {}", a.max(b)) }
}

pub(super) fn text(report: &BenchReport) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}; {}; {} CPU threads. Milliseconds, median (minimum); full-body poses of 0-60 degrees per joint.",
        report.device, report.driver, report.cores
    );
    let _ = writeln!(
        out,
        "Copy of {} MiB on the device: {:.1} GB/s, read and written.",
        report.copy.bytes >> 20,
        report.copy.gigabytes_per_second
    );
    if let Some(load) = report.load.filter(|&l| l > 0.5 && report.software) {
        let _ = writeln!(out, "The machine was busy (load {load:.1}): these times are too long.");
    }
    let each = |cells: &dyn Fn(&MeshReport) -> Vec<String>| -> Vec<Vec<String>> {
        report.meshes.iter().map(|m| [vec![m.name.clone()], cells(m)].concat()).collect()
    };
    table(
        &mut out,
        "From file to bound character (CPU)",
        &["mesh", "vertices", "triangles", "bones", "load", "weld", "bind"],
        &each(&|m| {
            let p = &m.preparation;
            let mut row = vec![m.vertices.to_string(), m.triangles.to_string(), m.bones.to_string()];
            row.extend([p.load, p.weld, p.bind].map(sample));
            row
        }),
    );
    table(
        &mut out,
        "Skinning, and one thread of the CPU skinning linearly for comparison",
        &[
            "mesh",
            "CPU LBS",
            "LBS",
            "DQS",
            "swing-twist",
            "normals",
            "LBS, whole frame",
            "DQS, whole frame",
            "swing-twist, whole frame",
            "/ LBS",
        ],
        &each(&|m| {
            let stages = [m.cpu_lbs, m.lbs.skinning, m.dqs.skinning, m.swing_twist.skinning, m.normals];
            let frames = [m.lbs.frame, m.dqs.frame, m.swing_twist.frame];
            let ratio = m.swing_twist.frame.median_ms / m.lbs.frame.median_ms;
            let cells = stages.into_iter().chain(frames).map(sample);
            cells.chain([format!("{ratio:.2}")]).collect()
        }),
    );
    table(
        &mut out,
        "Springs, plain, by iterations I; in the second row of each mesh the thesis's own figures on its GPU. Largest I: of a frame \
         (skinning, springs, normals) at 60 frames per second, measured; the thesis divides 10 ms by the time of one iteration",
        &["mesh", "1", "25", "50", "100", "largest I"],
        &thesis_rows(report),
    );
    table(
        &mut out,
        "Springs to convergence (an iteration moves nothing by 1e-4 of the thickness; plain steps are smaller, so they stop sooner); frames \
         include normals",
        &["mesh", "springs", "whole frame", "iterations", "/ CPU LBS"],
        &converged_rows(report),
    );
    table(
        &mut out,
        "Volume with its default settings, and with 3 cycles of contact; frames include normals; / springs: a frame of the springs to convergence",
        &["mesh", "solve", "whole frame", "/ springs", "/ LBS", "with contact", "whole frame", "/ springs"],
        &each(&|m| {
            let springs = m.converged.first().map_or(f64::NAN, |c| c.frame.median_ms);
            let frame = m.volume.frame.median_ms;
            let ratio = |of: f64| format!("{:.2}", frame / of);
            vec![
                sample(m.volume.skinning),
                sample(m.volume.frame),
                ratio(springs),
                ratio(m.lbs.frame.median_ms),
                sample(m.contact.skinning),
                sample(m.contact.frame),
                format!("{:.2}", m.contact.frame.median_ms / springs),
            ]
        }),
    );
    iterations(&mut out, report);
    table(
        &mut out,
        "Drawing of surface and backdrop, with one sample per pixel and with four; of a picked pixel and a brush",
        &["mesh", "1920 x 1080", "four", "2 x 1024 x 1024", "four", "Phong", "four", "pick", "brush 16 x 16"],
        &each(&|m| {
            let draw = m.draw;
            let pairs = [draw.window, draw.stereo, draw.phong];
            pairs.into_iter().flatten().chain([draw.pick, draw.probe]).map(sample).collect()
        }),
    );
    table(
        &mut out,
        "What silhouettes, ambient occlusion, the outline of the character and eight ghosts add to a picture of 1920 x 1080 and of two eyes of 1024 x 1024",
        &[
            "mesh",
            "silhouettes",
            "two eyes",
            "occlusion",
            "two eyes",
            "outline",
            "two eyes",
            "ghosts",
            "two eyes",
        ],
        &each(&|m| {
            let draw = m.draw;
            [draw.silhouettes, draw.occlusion, draw.outline, draw.ghosts]
                .into_iter()
                .flatten()
                .map(sample)
                .collect()
        }),
    );
    headset(&mut out, report);
    window(&mut out, report);
    growth(&mut out, report);
    if !report.fast.is_empty() {
        out.push('\n');
        out.push_str(&super::fast::text(&report.fast));
    }
    for t in &report.targets {
        let verdict = if t.met { "reached" } else { "MISSED" };
        let (target, measured) = (t.target_ms, ms(t.measured_ms));
        let _ = writeln!(out, "\nTarget {}, under {target} ms: {verdict} ({measured} ms).", t.what);
    }
    out
}

fn thesis_rows(report: &BenchReport) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for mesh in &report.meshes {
        let mut row = vec![mesh.name.clone()];
        row.extend(mesh.springs.iter().map(|s| sample(s.springs)));
        row.push(mesh.largest.to_string());
        rows.push(row);
        if let Some(thesis) = thesis_of(report, mesh) {
            let mut row = vec![format!("  thesis: {}", thesis.mesh)];
            row.extend(thesis.gpu_ms.map(|t| format!("{t:.2}")));
            row.push(thesis.largest.to_string());
            rows.push(row);
        }
    }
    debug_assert!(report.meshes.iter().all(|m| m.springs.len() == FIXED.len()));
    rows
}

fn converged_rows(report: &BenchReport) -> Vec<Vec<String>> {
    let rows = report.meshes.iter().flat_map(|m| m.converged.iter().map(move |c| (m, c)));
    rows.map(|(m, c)| {
        let ratio = c.frame.median_ms / m.cpu_lbs.median_ms;
        let name = format!("{}, {:?}", m.name, c.solver);
        vec![name, sample(c.springs), sample(c.frame), steps(c), format!("{ratio:.0}")]
    })
    .collect()
}

fn iterations(out: &mut String, report: &BenchReport) {
    let rows: Vec<Vec<String>> = (report.meshes.iter())
        .map(|m| {
            let i = &m.iteration;
            vec![
                m.name.clone(),
                ms(i.milliseconds),
                format!("{:.1}", i.ns_per_vertex),
                ms(i.skipped_ms),
                ms(i.prepare_and_finish_ms),
                format!("{:.2} ({:.2})", i.bytes_once as f64 / 1e6, i.bytes_gathered as f64 / 1e6),
                format!("{:.2}", i.gigabytes_per_second),
                format!("{:.0} %", i.share_of_copy * 100.0),
                ms(m.swing.median_ms),
            ]
        })
        .collect();
    table(
        out,
        "One spring iteration. MB: every element that it reads or writes once (neighbours each time they are read)",
        &[
            "mesh",
            "ms",
            "ns/vertex",
            "skipped, ms",
            "prepare + finish, ms",
            "MB",
            "GB/s",
            "of copy",
            "dynamics, ms",
        ],
        &rows,
    );
}

fn headset(out: &mut String, report: &BenchReport) {
    if report.vr.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = (report.vr.iter())
        .map(|f| {
            let mut row = vec![format!("{}, 2 x {} x {}", f.mesh, f.eye[0], f.eye[1])];
            row.extend(f.groups.iter().map(|(_, time)| sample(*time)));
            row.extend([f.device, f.cpu, f.editor, f.interval].map(sample));
            row
        })
        .collect();
    let mut head = vec!["mesh, eyes"];
    head.extend(GROUPS.map(|(group, _)| group));
    head.extend(["whole frame", "CPU loop", "editor", "frame to frame"]);
    table(
        out,
        "A headset's frame: 50 iterations, both eyes, two controllers' cameras, panels; a new pose in every frame",
        &head,
        &rows,
    );
}

fn window(out: &mut String, report: &BenchReport) {
    if report.desk.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = (report.desk.iter())
        .map(|f| {
            let [width, height] = f.window;
            let mut row = vec![format!("{}, {width} x {height}, {}", f.mesh, label(f.act))];
            row.extend([f.editor, f.cpu, f.device, f.interval].map(sample));
            row
        })
        .collect();
    table(
        out,
        "A window's frame: the view turned and moved, a stroke that poses",
        &["mesh, window, act", "editor, panels", "CPU", "device", "frame to frame"],
        &rows,
    );
}

fn growth(out: &mut String, report: &BenchReport) {
    if report.growth.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = (report.growth.iter())
        .map(|g| {
            let mut row = vec![g.vertices.to_string()];
            row.extend([g.load_ms, g.weld_ms, g.bind_ms].map(ms));
            row.push(format!("{:.0}", g.bind_ns_per_vertex));
            row.extend([ms(g.normals_ms), ms(g.iteration_ms), format!("{:.1}", g.iteration_ns_per_vertex)]);
            row
        })
        .collect();
    table(
        out,
        "Growth: tubes with four joints",
        &[
            "vertices",
            "load",
            "weld",
            "bind",
            "bind, ns/vertex",
            "normals",
            "iteration",
            "iteration, ns/vertex",
        ],
        &rows,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_numbers_keep_three_digits() {
        assert_eq!([0.01234, 1.234, 12.34, 123.4].map(ms), ["0.012", "1.23", "12.3", "123"]);
        let mut out = String::new();
        table(&mut out, "T", &["a", "long head"], &[vec!["abcd".into(), "1".into()]]);
        let lines: Vec<&str> = out.lines().skip(3).collect();
        assert_eq!(lines, ["| a    | long head |", "| ---- | --------: |", "| abcd |         1 |"]);
    }
}
