//! `sinew bind`: how well a file's skin is attached to its bones.

use crate::base::{Error, Result};
use crate::bind::{BindOptions, BindReport, Binding, Character, bind_attachments};
use crate::export::project;
use crate::geom::mean_edge_span;
use std::fmt::Write;
use std::path::Path;

/// The report as JSON writes it.
#[derive(serde::Serialize)]
struct Json<'a> {
    file: String,
    joints: usize,
    display_vertices: usize,
    triangles: usize,
    /// Mean `|i - j|` over the edges of the control mesh.
    mean_edge_span: f64,
    #[serde(flatten)]
    report: &'a BindReport,
    bones: Vec<BoneLine>,
}

#[derive(serde::Serialize)]
struct BoneLine {
    /// Name of the joint's node.
    from: String,
    /// Name of the child's node; none for a tip or a prop.
    to: Option<String>,
    /// Metres, in bind.
    length: f32,
    vertices: u32,
}

/// Loads a file, binds it and describes the binding, for people or (with `json`) for programs.
///
/// # Errors
/// Where the file cannot be loaded ([`project::open`]), made a character ([`Character::from_asset`]) or bound
/// ([`bind_attachments`]).
pub fn bind_report(path: &Path, options: &BindOptions, json: bool) -> Result<String> {
    let character = Character::from_asset(&project::open(path)?.0)?;
    let (_, report) = bind_attachments(&character, options)?;
    let bones = bone_lines(&character, &report);
    if !json {
        return Ok(text(path, &character, &report, &bones));
    }
    let document = Json {
        file: path.display().to_string(),
        joints: character.skeleton.joints.len(),
        display_vertices: character.display.positions.len(),
        triangles: character.display.triangles.len(),
        mean_edge_span: mean_edge_span(&character.control.adjacency),
        report: &report,
        bones,
    };
    serde_json::to_string_pretty(&document).map_err(|error| {
        Error::input(format!("the report cannot be written as JSON: {error}"), "bind the file without --json")
    })
}

fn bone_lines(character: &Character, report: &BindReport) -> Vec<BoneLine> {
    let skeleton = &character.skeleton;
    let name = |j: crate::base::JointId| skeleton.nodes[skeleton.joints[j.index()].node.index()].name.clone();
    let line = |(bone, &vertices): (&crate::rig::Bone, &u32)| BoneLine {
        from: name(bone.parent),
        to: bone.child.map(name),
        length: bone.head.distance(bone.tail),
        vertices,
    };
    skeleton.bones.iter().zip(&report.vertices_per_bone).map(line).collect()
}

fn text(path: &Path, character: &Character, report: &BindReport, bones: &[BoneLine]) -> String {
    let mut out = String::new();
    let method = match report.method {
        Binding::Direct => "direct",
        Binding::Weights => "weights",
        Binding::Planar => "planar",
    };
    // Writing to a string cannot fail.
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line(format!("{}: {method} binding, {} rounds of smoothing", path.display(), report.smooth));
    line(format!(
        "{} display vertices -> {} control vertices ({} of props), {} joints, {} bones",
        character.display.positions.len(),
        report.vertices,
        report.rigid_vertices,
        character.skeleton.joints.len(),
        bones.len()
    ));
    line(format!("|s|  mean {:.4} m, largest {:.4} m", report.mean_length, report.max_length));
    line(format!(
        "gap  largest {:.2} -> {:.2}, mean {:.3} -> {:.3} (before -> after smoothing)",
        report.before.max, report.after.max, report.before.mean, report.after.mean
    ));
    for bone in bones {
        let to = bone.to.as_deref().unwrap_or("(tip)");
        line(format!("{:>8} vertices  {:.4} m  {} -> {to}", bone.vertices, bone.length, bone.from));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::capsule;

    #[test]
    fn every_bone_has_its_line() {
        let character = capsule(3, 12, 8, 0.1, 1.0);
        let (_, report) = bind_attachments(&character, &BindOptions::default()).unwrap();
        let bones = bone_lines(&character, &report);
        assert_eq!(
            bones.iter().map(|b| b.vertices as usize).sum::<usize>(),
            character.control.positions.len()
        );
        let text = text(Path::new("a.glb"), &character, &report, &bones);
        assert!(text.contains("a.glb: weights binding, 6 rounds"), "{text}");
        assert!(text.contains("joint 0 -> joint 1") && text.contains("joint 2 -> (tip)"), "{text}");
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let e = bind_report(Path::new("no such file.glb"), &BindOptions::default(), true).unwrap_err();
        assert!(e.to_string().contains("no such file.glb"));
    }
}
