//! Formats the report about a file as text.

use super::report::{JointInfo, ProjectInfo, Report};
use std::fmt::Write;

/// Maximum number of printed lines of the joint tree; the JSON report contains all joints.
const TREE_LINES: usize = 60;
/// Maximum width of a line of the joint tree, characters.
const LINE: usize = 100;

pub(super) fn write(report: &Report) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(report.file.clone());
    if let Some(generator) = &report.generator {
        line(format!("  written by   {generator}"));
    }
    if let Some(copyright) = &report.copyright {
        line(format!("  copyright    {copyright}"));
    }
    line(format!("  glTF         {}", report.version.as_deref().unwrap_or("?")));
    line(format!(
        "  contents     {}, {}, {}, {}, {}, {}, {}, {}, {}",
        counted(report.scenes, "scene"),
        counted(report.nodes, "node"),
        counted(report.meshes.len(), "mesh"),
        counted(report.skins.len(), "skin"),
        counted(report.clips.len(), "clip"),
        counted(report.materials.len(), "material"),
        counted(report.textures, "texture"),
        counted(report.images.len(), "image"),
        counted(report.cameras, "camera"),
    ));
    line(format!("  buffers      {} bytes", report.buffer_bytes));
    if let Some([min, max]) = report.bounds {
        let size: [f32; 3] = std::array::from_fn(|i| max[i] - min[i]);
        let digits = digits(size.into_iter().fold(0.0, f32::max));
        let size = size.map(|metres| format!("{metres:.digits$}")).join(" x ");
        line(format!("  rest box     {size} m, from {} to {}", point(min, digits), point(max, digits)));
    }
    if !report.extensions_used.is_empty() {
        line(format!("  extensions   {}", extensions(report)));
    }
    out.push_str(&report.project.as_ref().map_or_else(String::new, project));
    out.push_str(&meshes(report));
    out.push_str(&skins(report));
    out.push_str(&clips(report));
    out.push_str(&images(report));
    out.push_str(&problems(report));
    out
}

fn project(project: &ProjectInfo) -> String {
    let seconds: Vec<String> = project.keys.iter().map(|s| format!("{s}")).collect();
    let list = |items: &[String]| if items.is_empty() { "-".to_owned() } else { items.join(", ") };
    let method = if project.method.is_empty() { "springs (default)" } else { &project.method };
    let body = format!(
        "  name         {}\n  strokes      {}\n  keys         {}\n  method       {method}\n  about        {}\n  document     {}\n",
        project.name,
        list(&project.strokes),
        list(&seconds),
        project.original,
        project.document
    );
    section("Project (what follows is what it shows)", &body)
}

fn counted(count: usize, what: &str) -> String {
    let plural = if what == "mesh" { "es" } else { "s" };
    format!("{count} {what}{}", if count == 1 { "" } else { plural })
}

fn point(p: [f32; 3], digits: usize) -> String {
    format!("({})", p.map(|v| format!("{v:.digits$}")).join(", "))
}

/// Returns the number of decimals with which a length in metres has at least three significant digits; at least 4.
fn digits(metres: f32) -> usize {
    let first = if metres > 0.0 { metres.log10().floor() } else { 0.0 };
    (2.0 - first).max(4.0) as usize
}

fn extensions(report: &Report) -> String {
    let required = |name: &String| if report.extensions_required.contains(name) { " (required)" } else { "" };
    let names: Vec<String> = report.extensions_used.iter().map(|n| format!("{n}{}", required(n))).collect();
    names.join(", ")
}

/// Formats a table with padded columns: the first left-aligned, the middle columns right-aligned, the last unpadded.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let wide = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).max(head[column].len())
    };
    let widths: Vec<usize> = (0..head.len()).map(wide).collect();
    let mut out = String::new();
    let head: Vec<String> = head.iter().map(|&h| h.to_owned()).collect();
    for row in std::iter::once(&head).chain(rows) {
        let mut text = format!("  {:<1$}", row[0], widths[0]);
        for column in 1..row.len() {
            let cell = &row[column];
            if column + 1 == row.len() {
                text.push_str(&format!("  {cell}"));
            } else {
                text.push_str(&format!("  {cell:>0$}", widths[column]));
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

fn section(title: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n{title}\n{body}") }
}

fn meshes(report: &Report) -> String {
    if report.meshes.is_empty() {
        return String::new();
    }
    let row = |m: &super::report::MeshInfo| {
        vec![
            m.name.clone(),
            m.primitives.to_string(),
            m.vertices.to_string(),
            m.triangles.to_string(),
            m.influences_max.to_string(),
            morphs(&m.morphs),
        ]
    };
    let rows: Vec<Vec<String>> = report.meshes.iter().map(row).collect();
    let head = ["name", "primitives", "vertices", "triangles", "influences", "morphs"];
    section("Meshes", &table(&head, &rows))
}

fn morphs(names: &[String]) -> String {
    const SHOWN: usize = 6;
    match names.len() {
        0 => "-".into(),
        n if n <= SHOWN => format!("{n}: {}", names.join(", ")),
        n => format!("{n}: {}, ...", names[..SHOWN].join(", ")),
    }
}

fn skins(report: &Report) -> String {
    if report.skins.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> =
        report.skins.iter().map(|s| vec![s.name.clone(), s.joints.to_string(), String::new()]).collect();
    let title = format!("Joints ({})", counted(report.joints.len(), "node"));
    section("Skins", &table(&["name", "joints", ""], &rows)) + &section(&title, &tree(&report.joints))
}

/// Formats the joint forest; a chain without branches stays on one line.
fn tree(joints: &[JointInfo]) -> String {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        match joint.parent {
            Some(parent) => children[parent].push(index),
            None => open.push((index, 0)),
        }
    }
    open.reverse();
    let (mut out, mut lines) = (String::new(), 0);
    while let Some((mut at, depth)) = open.pop() {
        if lines == TREE_LINES {
            out.push_str("  ... (all joints with --json)\n");
            break;
        }
        lines += 1;
        let mut text = format!("  {:1$}{2}", "", 2 * depth.min(20), joints[at].name);
        while let [only] = children[at][..] {
            if text.chars().count() + joints[only].name.chars().count() + 3 > LINE {
                break;
            }
            at = only;
            let _ = write!(text, " > {}", joints[at].name);
        }
        out.push_str(&text);
        out.push('\n');
        open.extend(children[at].iter().rev().map(|&child| (child, depth + 1)));
    }
    out
}

fn clips(report: &Report) -> String {
    if report.clips.is_empty() {
        return String::new();
    }
    let row = |c: &super::report::ClipInfo| {
        vec![
            c.name.clone(),
            format!("{:.3}", c.seconds),
            c.channels.to_string(),
            c.keys.to_string(),
            c.interpolations.join(", "),
        ]
    };
    let rows: Vec<Vec<String>> = report.clips.iter().map(row).collect();
    section("Clips", &table(&["name", "seconds", "channels", "keys", "interpolation"], &rows))
}

fn images(report: &Report) -> String {
    let mut out = String::new();
    if !report.materials.is_empty() {
        out.push_str(&section("Materials", &format!("  {}\n", report.materials.join(", "))));
    }
    if !report.images.is_empty() {
        let rows: Vec<Vec<String>> = report
            .images
            .iter()
            .map(|i| vec![i.name.clone(), format!("{} x {}", i.width, i.height), String::new()])
            .collect();
        out.push_str(&section("Images", &table(&["name", "pixels", ""], &rows)));
    }
    out
}

fn problems(report: &Report) -> String {
    if report.problems.is_empty() {
        return "\nNo problems found.\n".into();
    }
    let lines: String = report.problems.iter().map(|p| format!("  {}: {}\n", p.at, p.text)).collect();
    section(&format!("Problems ({})", report.problems.len()), &lines)
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn lengths_of_any_size_have_three_digits() {
        assert_eq!([200.0, 1.8, 0.013, 1.7e-5, 0.0].map(digits), [4, 4, 4, 7, 4]);
    }
}
