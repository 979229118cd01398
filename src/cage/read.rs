//! Reads and writes cages: Wavefront .obj files, and meshes of .glb, .gltf and .vrm files.
//!
//! A cage read from an .obj file keeps the file's order of vertices and faces. Messages count lines from 1.

use super::CageMesh;
use super::check::{MOST_OUTSIDE, Surface, oriented};
use crate::asset::{Asset, Node};
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, NodeId, Result};
use crate::bind::Character;
use crate::geom::weld;
use rayon::prelude::*;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// Largest size of an .obj file, bytes. A cage of 4,096 vertices needs less than 1 MB.
const MOST_BYTES: u64 = 64 << 20;
/// Largest number of corners of a face.
const MOST_CORNERS: usize = 4096;
/// A cage fits the skin only if its diagonal is at most this multiple of the skin's diagonal.
const LOOSE: f64 = 10.0;
/// Unit factors of [`fitted`]. The smallest one that encloses the skin wins.
const UNITS: [f64; 7] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// Reads a cage from a file: .obj, or .glb, .gltf and .vrm. `node` names the cage's node in a glTF file; see
/// [`read_glb`]. Positions are in the file's unit and space. The cage is not checked.
///
/// # Errors
/// [`Error::Unsupported`] for another file extension, otherwise the errors of [`read_obj`] or [`read_glb`].
pub fn read(path: &Path, node: Option<&str>) -> Result<CageMesh> {
    if path.is_dir() {
        return Err(Error::unsupported(path, "a folder as a cage".to_owned(), "name an .obj or .glb file"));
    }
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "obj" => read_obj(path),
        "glb" | "gltf" | "vrm" => read_glb(path, node),
        _ => Err(Error::unsupported(path, format!("a cage as .{ending}"), "export the cage as .obj or .glb")),
    }
}

/// Reads a cage from an .obj file. Reads `v` and `f`; all objects and groups of the file become one cage. Faces with
/// more than four corners are divided into a fan of triangles. Other statements are ignored. The cage is not checked.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Broken`] with the line number if the file is larger than 64 MB,
/// a number is missing, invalid or not finite, an index is out of range, or the file has no vertices or faces.
pub fn read_obj(path: &Path) -> Result<CageMesh> {
    let file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    if bytes.len() as u64 > MOST_BYTES {
        let remedy = "export the cage alone; a cage has 8 to a few hundred vertices";
        return Err(Error::broken(path, "file", "the file is larger than 64 MB", remedy));
    }
    parse(&bytes, path)
}

/// Parses the text of an .obj file. `path` appears in messages only.
fn parse(bytes: &[u8], path: &Path) -> Result<CageMesh> {
    let mut out = CageMesh::default();
    // Line and indices of each face. An index may refer to a later vertex, so the range is checked at the end.
    let mut faces: Vec<(usize, Vec<i64>)> = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    // A backslash at the end of a line continues the line; a pending line begins at `start`.
    let (mut pending, mut start) = (String::new(), 1);
    for (number, line) in (1..).zip(text.lines()) {
        if pending.is_empty() {
            start = number;
        }
        if let Some(head) = line.trim_end().strip_suffix('\\') {
            pending.push_str(head);
            pending.push(' ');
            continue;
        }
        pending.push_str(line);
        let statement = pending.split('#').next().unwrap_or("");
        let mut words = statement.split_whitespace();
        let broken = |problem: String| {
            Error::broken(path, format!("line {start}"), problem, "export the cage again as .obj")
        };
        match words.next() {
            Some("v") => out.positions.push(position(&mut words).map_err(broken)?),
            Some("f") => {
                let count = out.positions.len() as i64;
                let corners: Result<Vec<i64>, String> = words.map(|word| corner(word, count)).collect();
                let corners = corners.map_err(broken)?;
                if !(3..=MOST_CORNERS).contains(&corners.len()) {
                    return Err(broken(format!("the face has {} corners", corners.len())));
                }
                faces.push((start, corners));
            }
            _ => {}
        }
        pending.clear();
    }
    for (line, face) in faces {
        let count = out.positions.len();
        let index = |&v: &i64| {
            u32::try_from(v).ok().filter(|v| (*v as usize) < count).ok_or_else(|| {
                let problem =
                    format!("the face names vertex {}, but the file has {count}", v.saturating_add(1));
                Error::broken(path, format!("line {line}"), problem, "export the cage again as .obj")
            })
        };
        let face = face.iter().map(index).collect::<Result<Vec<u32>>>()?;
        if face.len() <= 4 {
            out.faces.push(face);
        } else {
            out.faces.extend((2..face.len()).map(|k| vec![face[0], face[k - 1], face[k]]));
        }
    }
    if out.positions.is_empty() || out.faces.is_empty() {
        let problem = if out.positions.is_empty() { "there are no vertices" } else { "there are no faces" };
        return Err(Error::broken(
            path,
            "file",
            problem,
            "choose an .obj file that contains the cage's mesh",
        ));
    }
    Ok(out)
}

/// Reads the first three numbers of a vertex. Weights and colours may follow.
fn position<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<DVec3, String> {
    let mut number = || {
        let word = words.next().ok_or("the vertex has fewer than three coordinates")?;
        let value: f64 = word.parse().map_err(|_| format!("{:?} is not a number", shortened(word)))?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(format!("{:?} is not a finite number", shortened(word)))
        }
    };
    Ok(DVec3::new(number()?, number()?, number()?))
}

/// Reads a corner (`a`, `a/b`, `a//c` or `a/b/c`) as the vertex's index, counted from 0. Negative numbers count back
/// from the last one of the `count` vertices so far.
fn corner(word: &str, count: i64) -> Result<i64, String> {
    let first = word.split('/').next().unwrap_or("");
    let number: i64 =
        first.parse().map_err(|_| format!("{:?} is not the number of a vertex", shortened(word)))?;
    match number {
        1.. => Ok(number - 1),
        0 => Err("the face names vertex 0, but vertices are counted from 1".to_owned()),
        _ if number >= -count => Ok(count + number),
        _ => Err(format!("the face names vertex {number}, but only {count} vertices precede it")),
    }
}

/// Shortens a word for a message.
fn shortened(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Reads a cage from a .glb, .gltf or .vrm file: the mesh of the node with the name `node`. Without a name, reads the
/// file's only mesh, or else the mesh of the only node whose name contains "cage". See [`from_asset`].
///
/// # Errors
/// The errors of [`Asset::load`] and [`from_asset`]; [`Error::Broken`] with a list of the nodes if no name is given and
/// the choice is not clear.
pub fn read_glb(path: &Path, node: Option<&str>) -> Result<CageMesh> {
    let asset = Asset::load(path)?;
    if let Some(node) = node {
        return from_asset(&asset, node);
    }
    let drawn: Vec<usize> = (0..asset.nodes.len()).filter(|n| asset.nodes[*n].mesh.is_some()).collect();
    let named = |n: &&usize| asset.nodes[**n].name.to_lowercase().contains("cage");
    let cages: Vec<usize> = drawn.iter().filter(named).copied().collect();
    match (&drawn[..], &cages[..]) {
        ([only], _) | (_, [only]) => of_node(&asset, *only),
        _ => {
            let problem = if cages.is_empty() {
                "no node's name contains \"cage\""
            } else {
                "the names of several nodes contain \"cage\""
            };
            Err(Error::broken(path, "nodes", problem, format!("name the cage's node: {}", listed(&asset))))
        }
    }
}

/// Takes a cage from a loaded file: the mesh of the node with the name `node`, in the bind space of
/// [`Character::from_asset`], metres. Bind space is world space in the rest pose if the rest pose is the bind pose.
/// Vertices are welded by position, because glTF splits them at normals. Triangles that become degenerate are dropped.
///
/// # Errors
/// [`Error::Broken`] if there is no such node with triangles in the default scene, with a list of the nodes; the errors
/// of [`Character::from_asset`].
pub fn from_asset(asset: &Asset, node: &str) -> Result<CageMesh> {
    let is = |n: &Node| n.name == node && n.mesh.is_some();
    let Some(found) = asset.nodes.iter().position(is) else {
        let remedy = format!("choose one of the nodes: {}", listed(asset));
        return Err(Error::broken(
            &asset.path,
            format!("node {node:?}"),
            "there is no such node with a mesh",
            remedy,
        ));
    };
    of_node(asset, found)
}

/// Takes a cage from the node with an index.
fn of_node(asset: &Asset, node: usize) -> Result<CageMesh> {
    let display = Character::from_asset(asset)?.display;
    let parts = display.parts.iter().filter(|part| part.node == NodeId::from(node));
    let (mut positions, mut triangles): (Vec<Vec3>, Vec<[u32; 3]>) = (Vec::new(), Vec::new());
    for part in parts {
        let (first, shift) = (part.vertices.start, positions.len() as u32);
        positions
            .extend_from_slice(&display.positions[part.vertices.start as usize..part.vertices.end as usize]);
        let of = &display.triangles[part.triangles.start as usize..part.triangles.end as usize];
        triangles.extend(of.iter().map(|t| t.map(|v| v - first + shift)));
    }
    let welded = weld(&positions, |_, _| true);
    let proper = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    let triangles: Vec<[u32; 3]> =
        triangles.iter().map(|t| t.map(|v| welded.welded_of[v as usize])).filter(proper).collect();
    if triangles.is_empty() {
        let name = format!("node {:?}", asset.nodes[node].name);
        let problem = "the node has no triangles in the default scene";
        let remedy = format!("choose one of the nodes: {}", listed(asset));
        return Err(Error::broken(&asset.path, name, problem, remedy));
    }
    // Vertices without triangles are dropped.
    let mut index = vec![u32::MAX; welded.first.len()];
    triangles.iter().flatten().for_each(|v| index[*v as usize] = 0);
    let mut out = CageMesh::default();
    for (index, first) in index.iter_mut().zip(&welded.first).filter(|(index, _)| **index == 0) {
        *index = out.positions.len() as u32;
        out.positions.push(positions[*first as usize].as_dvec3());
    }
    out.faces = triangles.iter().map(|t| t.map(|v| index[v as usize]).to_vec()).collect();
    Ok(out)
}

/// Lists the names of the nodes with meshes, at most 20.
fn listed(asset: &Asset) -> String {
    let names: Vec<String> =
        asset.nodes.iter().filter(|n| n.mesh.is_some()).map(|n| format!("{:?}", n.name)).collect();
    match names.len() {
        0 => "the file has no meshes".to_owned(),
        1..=20 => names.join(", "),
        count => format!("{} and {} more", names[..20].join(", "), count - 20),
    }
}

/// Writes a cage as the text of an .obj file, with the given positions (one per vertex, metres) instead of the mesh's
/// own. Numbers are exact: [`read_obj`] returns the same bits, vertices and faces.
///
/// # Panics
/// Unless there is one position per vertex.
pub fn obj_text(mesh: &CageMesh, positions: &[DVec3]) -> String {
    assert_eq!(positions.len(), mesh.positions.len(), "one position per vertex of the cage");
    let mut out = format!("# Sinew cage: {} vertices, {} faces, metres\n", positions.len(), mesh.faces.len());
    // Rust prints the shortest decimal number that reads as the same f64. Writing to a string cannot fail.
    for x in positions {
        let _ = writeln!(out, "v {:?} {:?} {:?}", x.x, x.y, x.z);
    }
    for face in &mesh.faces {
        out.push('f');
        face.iter().for_each(|v| {
            let _ = write!(out, " {}", u64::from(*v) + 1);
        });
        out.push('\n');
    }
    out
}

/// Finds the unit of a cage. If the cage does not fit the skin, but fits after scaling about the origin by a power of
/// ten (0.001 to 1000), returns the scaled cage and the factor. A cage fits if it encloses at least 95 % of the skin
/// vertices and its diagonal is at most ten times theirs. Returns `None` if the cage fits already, fits with no factor,
/// or is not valid. Positions are in bind space, metres.
pub fn fitted(mesh: &CageMesh, skin: &[Vec3]) -> Option<(CageMesh, f64)> {
    let count = mesh.positions.len() as u32;
    let valid =
        mesh.faces.iter().flatten().all(|v| *v < count) && mesh.positions.iter().all(|x| x.is_finite());
    if !valid || skin.is_empty() || mesh.faces.is_empty() {
        return None;
    }
    let size = |points: &mut dyn Iterator<Item = DVec3>| {
        let grow = |b: (DVec3, DVec3), x: DVec3| (b.0.min(x), b.1.max(x));
        let (low, high) = points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), grow);
        low.distance(high)
    };
    let of_skin = size(&mut skin.iter().map(|x| x.as_dvec3()));
    let of_cage = size(&mut mesh.positions.iter().copied());
    let (turned, _) = oriented(mesh);
    let surface = Surface::new(&turned);
    let fits = |factor: f64| {
        // Scaling the skin by the inverse factor avoids building the surface again.
        let outside = |x: &&Vec3| {
            let x = x.as_dvec3() / factor;
            surface.winding(x) <= 0 && !surface.is_on(x)
        };
        of_cage * factor <= LOOSE * of_skin
            && skin.par_iter().filter(outside).count() as f64 <= MOST_OUTSIDE * skin.len() as f64
    };
    let factor = if fits(1.0) { None } else { UNITS.into_iter().find(|f| *f != 1.0 && fits(*f)) }?;
    let positions = mesh.positions.iter().map(|x| *x * factor).collect();
    Some((CageMesh { positions, faces: mesh.faces.clone() }, factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cage::check::check;
    use crate::cage::testing::{ball, cube, shared};

    fn parsed(text: &str) -> Result<CageMesh> {
        parse(text.as_bytes(), Path::new("cage.obj"))
    }

    fn refused(text: &str) -> String {
        let text = parsed(text).unwrap_err().to_string();
        println!("{text}");
        assert!(text.starts_with("cage.obj: ") && text.contains("; "), "{text}");
        text
    }

    #[test]
    fn all_forms_of_corners_and_lines_are_read() {
        let text = "# a cage\r\no one\r\nv 0 0 0 1\r\nv 1 0 0 0.5 0.5 0.5\r\n\tv 1e0 1.0 -0\r\nv 0 1 0 # end\r\nvn 0 0 1\n\
                    vt 0 0\nusemtl none\ng two\nf 1 2/1 3//1 # a face\nf 1/1/1 3/1/1 \\\r\n4\nf -4 -3 -2 -1\nl 1 2\n\
                    v 0 0 1\nf 1 2 3 4 5";
        let mesh = parsed(text).unwrap();
        assert_eq!(mesh.positions.len(), 5);
        assert_eq!(mesh.positions[2], DVec3::new(1.0, 1.0, 0.0));
        let fan = [vec![0, 1, 2], vec![0, 2, 3], vec![0, 3, 4]];
        let faces = [vec![vec![0, 1, 2], vec![0, 2, 3], vec![0, 1, 2, 3]], fan.to_vec()].concat();
        assert_eq!(mesh.faces, faces);
    }

    #[test]
    fn damaged_files_name_the_line() {
        assert!(refused("").contains("no vertices"));
        assert!(refused("v 0 0 0\n").contains("no faces"));
        assert!(refused("v 0 0 0\nv 1 x 0\n").contains("line 2: \"x\" is not a number"));
        assert!(refused("v 0 0 NaN\n").contains("line 1: \"NaN\" is not a finite number"));
        assert!(refused("v 0 0 1e999\n").contains("line 1"));
        assert!(refused("\n\nv 0 0\n").contains("line 3: the vertex has fewer"));
        let v = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
        assert!(refused(&format!("{v}f 1 2 4\n")).contains("line 4: the face names vertex 4"));
        assert!(refused(&format!("{v}f 1 2 -4\n")).contains("line 4: the face names vertex -4"));
        assert!(refused(&format!("{v}f 0 1 2\n")).contains("line 4: the face names vertex 0"));
        assert!(refused(&format!("{v}f 1 2\n")).contains("line 4: the face has 2 corners"));
        assert!(refused(&format!("{v}f 1 2 a\n")).contains("line 4"));
        assert!(refused(&format!("{v}f 1 2 99999999999\n")).contains("line 4"));
        assert!(refused(&format!("{v}f 1 2 9223372036854775807\n")).contains("line 4"));
        assert!(refused(&format!("{v}f 1 2 -9223372036854775808\n")).contains("line 4"));
        assert!(refused(&format!("{v}f 1 2 99999999999999999999\n")).contains("line 4"));
        assert!(parse(&[0xff, 0xfe, 0, 0x80, b'v', b' ', 0xff], Path::new("cage.obj")).is_err());
        assert!(refused(&format!("v {}\n", "9".repeat(10_000))).len() < 300);
    }

    #[test]
    fn files_are_chosen_by_their_ending() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Cage.OBJ");
        let mesh = cube(-1.0, 1.0);
        std::fs::write(&path, obj_text(&mesh, &mesh.positions)).unwrap();
        assert_eq!(read(&path, None).unwrap(), mesh);
        let other = read(&folder.path().join("cage.fbx"), None).unwrap_err().to_string();
        assert!(other.contains("cage.fbx") && other.contains(".obj or .glb"), "{other}");
        assert!(read(&folder.path().join("none.obj"), None).is_err());
        assert!(read(folder.path(), None).is_err());
        std::fs::write(folder.path().join("broken.glb"), "no").unwrap();
        assert!(read(&folder.path().join("broken.glb"), None).is_err());
        let large = std::fs::File::create(folder.path().join("large.obj")).unwrap();
        large.set_len(MOST_BYTES + 1).unwrap();
        assert!(read(&folder.path().join("large.obj"), None).unwrap_err().to_string().contains("64 MB"));
    }

    #[test]
    fn text_reads_as_the_same_bits() {
        let mesh = ball(5, 7);
        let moved: Vec<DVec3> = (0..mesh.positions.len())
            .map(|v| {
                let k = v as f64;
                DVec3::new((k * 0.7).sin() / 3.0, 1e-300 * k.exp(), -1e17 * (k * 0.1).cos())
            })
            .collect();
        let back = parsed(&obj_text(&mesh, &moved)).unwrap();
        assert_eq!(back.faces, mesh.faces);
        let bits = |x: &[DVec3]| x.iter().flat_map(|x| x.to_array().map(f64::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(&back.positions), bits(&moved));
    }

    #[test]
    fn a_cage_in_another_unit_is_fitted() {
        let skin: Vec<Vec3> = ball(9, 9).positions.iter().map(|x| (*x * 0.9).as_vec3() + 0.3).collect();
        let cage = |scale: f64| {
            let mut mesh = cube(-1.2, 1.4);
            mesh.positions.iter_mut().for_each(|x| *x *= scale);
            mesh
        };
        assert!(fitted(&cage(1.0), &skin).is_none());
        for factor in [0.001, 0.01, 0.1, 10.0, 100.0, 1000.0] {
            let (mesh, found) = fitted(&cage(1.0 / factor), &skin).unwrap();
            assert_eq!(found, factor);
            assert!(check(&mesh, &skin).is_ok());
        }
        assert!(fitted(&cage(1e-5), &skin).is_none());
        // A cage that is inside out fits like a correct one.
        let mut turned = cage(0.01);
        turned.faces.iter_mut().for_each(|face| face.reverse());
        assert_eq!(fitted(&turned, &skin).unwrap().1, 100.0);
        let mut elsewhere = cage(1.0);
        elsewhere.positions.iter_mut().for_each(|x| *x += 100.0);
        assert!(fitted(&elsewhere, &skin).is_none());
        assert!(fitted(&CageMesh::default(), &skin).is_none() && fitted(&cage(1.0), &[]).is_none());
    }

    #[test]
    fn nodes_of_gltf_files_become_cages() {
        let Some(path) = shared("khronos/BoxAnimated/glTF-Binary/BoxAnimated.glb") else { return };
        let asset = Asset::load(&path).unwrap();
        let name = &asset.nodes.iter().find(|n| n.mesh.is_some()).unwrap().name;
        let several = read_glb(&path, None).unwrap_err().to_string();
        assert!(several.contains(name.as_str()) && several.contains("name the cage's node"), "{several}");
        let mesh = from_asset(&asset, name).unwrap();
        println!("{name}: {} vertices, {} faces", mesh.positions.len(), mesh.faces.len());
        // Flat normals split the vertices of a box.
        let split: usize = {
            let node = asset.nodes.iter().find(|n| n.name == *name).unwrap();
            asset.meshes[node.mesh.unwrap().index()].primitives.iter().map(|p| p.positions.len()).sum()
        };
        assert!(mesh.positions.len() < split, "{split}");
        assert_eq!(read_glb(&path, Some(name)).unwrap(), mesh);
        let missing = from_asset(&asset, "nothing").unwrap_err().to_string();
        assert!(missing.contains("\"nothing\"") && missing.contains(name.as_str()), "{missing}");
    }
}
