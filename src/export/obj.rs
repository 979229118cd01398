//! Wavefront OBJ export: the deformed display mesh in world space.

use super::write_atomically;
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::bind::Character;
use std::fmt::Write;
use std::path::Path;

/// Writes display vertices (world space, scene units) and triangles as OBJ, one group per part.
///
/// Vertices are in display order, which is the file's node and primitive order. Texture coordinates are the character's
/// first set, with v pointing up, as OBJ requires. `normals` are written if given.
///
/// # Errors
/// [`Error::Input`] if a slice is not as long as the display mesh; [`Error::Io`] if writing fails.
pub fn obj(
    path: impl AsRef<Path>,
    character: &Character,
    positions: &[Vec3],
    normals: Option<&[Vec3]>,
) -> Result<()> {
    write_atomically(path, obj_text(character, positions, normals)?.as_bytes())
}

fn obj_text(character: &Character, positions: &[Vec3], normals: Option<&[Vec3]>) -> Result<String> {
    let display = &character.display;
    let count = display.positions.len();
    if positions.len() != count || normals.is_some_and(|n| n.len() != count) {
        return Err(Error::input(
            format!("{} positions were given for {count} display vertices", positions.len()),
            "give one position and, if any, one normal per display vertex",
        ));
    }
    let mut out = String::with_capacity(count * 90);
    out.push_str("# Sinew: display vertices, world space, right-handed, +Y up\n");
    // Writing to a String cannot fail.
    for p in positions {
        let _ = writeln!(out, "v {} {} {}", p.x, p.y, p.z);
    }
    let uvs = display.uvs.len() == count;
    if uvs {
        for uv in &display.uvs {
            let _ = writeln!(out, "vt {} {}", uv.x, 1.0 - uv.y);
        }
    }
    for n in normals.unwrap_or_default() {
        let _ = writeln!(out, "vn {} {} {}", n.x, n.y, n.z);
    }
    for part in &display.parts {
        let node = &character.skeleton.nodes[part.node.index()].name;
        let _ = writeln!(out, "g {}_{}", node.replace(char::is_whitespace, "_"), part.primitive);
        for triangle in &display.triangles[part.triangles.start as usize..part.triangles.end as usize] {
            out.push('f');
            for v in triangle.map(|v| v + 1) {
                let _ = match (uvs, normals.is_some()) {
                    (true, true) => write!(out, " {v}/{v}/{v}"),
                    (true, false) => write!(out, " {v}/{v}"),
                    (false, true) => write!(out, " {v}//{v}"),
                    (false, false) => write!(out, " {v}"),
                };
            }
            out.push('\n');
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Trs;
    use crate::base::{MeshId, NodeId};
    use crate::geom::{DisplayMesh, Part};
    use crate::rig::{RigNode, Skeleton};

    #[test]
    fn vertices_in_order_and_a_group_per_part() {
        let node = RigNode {
            name: "left arm".into(),
            parent: None,
            rest: Trs::IDENTITY,
            remainder: None,
            weights: Vec::new(),
            targets: Vec::new(),
            joint: None,
        };
        let part = |vertices: std::ops::Range<u32>, triangle, primitive| Part {
            node: NodeId(0),
            mesh: MeshId(0),
            primitive,
            material: None,
            vertices,
            triangles: triangle..triangle + 1,
            computed_normals: false,
        };
        let character = Character {
            skeleton: Skeleton { nodes: vec![node], order: vec![NodeId(0)], ..Default::default() },
            display: DisplayMesh {
                positions: vec![Vec3::ZERO; 6],
                triangles: vec![[0, 1, 2], [3, 4, 5]],
                parts: vec![part(0..3, 0, 0), part(3..6, 1, 1)],
                ..Default::default()
            },
            ..Default::default()
        };
        let positions: Vec<_> = (0..6).map(|i| Vec3::new(i as f32, 0.5, -1.0)).collect();
        let text = obj_text(&character, &positions, None).unwrap();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines[0], "v 0 0.5 -1");
        assert_eq!(&lines[6..], ["g left_arm_0", "f 1 2 3", "g left_arm_1", "f 4 5 6"]);
        let with_normals = obj_text(&character, &positions, Some(&[Vec3::Y; 6])).unwrap();
        assert!(with_normals.contains("f 4//4 5//5 6//6"));
        assert!(obj_text(&character, &positions[1..], None).is_err());
    }
}
