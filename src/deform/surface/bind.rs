//! Finds the faces that contribute to the normal of each display vertex.

use super::normal_frame::SourceNormal;
use crate::base::math::Vec3;
use crate::bind::Character;
use crate::geom::DisplayMesh;
use std::collections::HashMap;
use std::sync::Arc;

/// Rule that decides across which edges normals are continuous.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Crease {
    /// Like the source's normals: display vertices of one control vertex share their faces if their bind normals
    /// agree. Texture seams stay smooth, and hard edges stay hard. Source normals are preserved. If the file has no
    /// normals, faces whose normals differ by less than 60° share normals.
    #[default]
    Source,
    /// Normals are continuous across edges whose faces' normals differ by less than this angle, radians. At 0 the
    /// surface is as faceted as the split of display vertices allows; at π it is smooth. Source normals are ignored.
    Angle(f32),
}

/// The display stage bound to a character.
#[derive(Clone, Debug)]
pub struct Surface {
    pub(super) character: Arc<Character>,
    /// First index and number of entries in `faces`, per display vertex.
    pub range: Vec<[u32; 2]>,
    /// Indices of display triangles. Vertices with equal normals share their list.
    pub faces: Vec<u32>,
    /// Source normal per display vertex.
    pub source: Vec<SourceNormal>,
}

/// Cosine of 1°: bind normals that differ less are equal, since exporters quantise normals.
const SAME: f32 = 0.999_847_7;
/// Crease angle at vertices of the source without a usable normal: 60°.
const DEFAULT_CREASE: f32 = std::f32::consts::FRAC_PI_3;
/// Cosine of 1e-3 rad: smaller deviations of the source normals are not stored.
const KEPT: f32 = 1.0 - 5e-7;

/// Finds the faces that contribute to each normal.
pub fn bind(character: &Arc<Character>, crease: Crease) -> Surface {
    let display = &character.display;
    let crosses: Vec<Vec3> = display.triangles.iter().map(|t| face_cross(&display.positions, *t)).collect();
    let corners = Corners::new(character);
    let vertices = display.positions.len();
    let mut out = Surface {
        character: character.clone(),
        range: vec![[0, 0]; vertices],
        faces: Vec::new(),
        source: vec![SourceNormal::COMPUTED; vertices],
    };
    let trusted = trusted(display, crease);
    let mut list = Vec::new();
    for control in 0..character.control.positions.len() {
        let around = corners.of(control);
        let mut ranges: Vec<[u32; 2]> = Vec::new();
        for &(_, vertex) in around {
            if out.range[vertex as usize][1] > 0 {
                continue;
            }
            list.clear();
            let by_source = trusted[vertex as usize];
            list.extend(faces_of(display, around, vertex, by_source, crease, &crosses));
            let same = |r: &&[u32; 2]| out.faces[r[0] as usize..(r[0] + r[1]) as usize] == list[..];
            let range = ranges.iter().find(same).copied().unwrap_or_else(|| {
                let range = [out.faces.len() as u32, list.len() as u32];
                out.faces.extend_from_slice(&list);
                range
            });
            ranges.push(range);
            out.range[vertex as usize] = range;
            if by_source {
                out.source[vertex as usize] = deviation(display, vertex, &list, &crosses, &corners, control);
            }
        }
    }
    out
}

/// Returns for each display vertex whether its source normal is used.
fn trusted(display: &DisplayMesh, crease: Crease) -> Vec<bool> {
    let mut out: Vec<bool> = display.normals.iter().map(|&n| crease == Crease::Source && usable(n)).collect();
    for part in display.parts.iter().filter(|p| p.computed_normals) {
        out[part.vertices.start as usize..part.vertices.end as usize].fill(false);
    }
    out
}

/// Returns the unit normal times twice the area.
pub(super) fn face_cross(positions: &[Vec3], triangle: [u32; 3]) -> Vec3 {
    let [a, b, c] = triangle.map(|v| positions[v as usize]);
    (b - a).cross(c - a)
}

fn usable(normal: Vec3) -> bool {
    normal.is_finite() && (normal.length_squared() - 1.0).abs() < 0.1
}

/// Returns the faces around the control vertex that contribute to a display vertex's normal.
fn faces_of<'a>(
    display: &'a DisplayMesh,
    around: &'a [(u32, u32)],
    vertex: u32,
    by_source: bool,
    crease: Crease,
    crosses: &'a [Vec3],
) -> impl Iterator<Item = u32> + 'a {
    let own = around.iter().filter(|(_, v)| *v == vertex);
    let mean = own.map(|&(f, _)| crosses[f as usize]).sum::<Vec3>().normalize_or_zero();
    let limit = match crease {
        Crease::Source => DEFAULT_CREASE.cos(),
        // At an angle of π, even opposite faces share normals.
        Crease::Angle(angle) if angle >= std::f32::consts::PI => -2.0,
        Crease::Angle(angle) => angle.max(0.0).cos(),
    };
    let unit = display.normals[vertex as usize].normalize_or_zero();
    around.iter().filter_map(move |&(face, other)| {
        let joins = other == vertex
            || if by_source {
                display.normals[other as usize].normalize_or_zero().dot(unit) > SAME
            } else {
                crosses[face as usize].normalize_or_zero().dot(mean) > limit
            };
        joins.then_some(face)
    })
}

/// Returns for each display vertex whether it lies on a hard edge or on an unwelded seam: another vertex at its bind
/// position has a normal of its own. Normals follow [`Crease::Source`].
pub fn hard_edges(display: &DisplayMesh) -> Vec<bool> {
    let crosses: Vec<Vec3> = display.triangles.iter().map(|t| face_cross(&display.positions, *t)).collect();
    let trusted = trusted(display, Crease::Source);
    // Adding zero makes a negative zero positive.
    let place = |v: u32| display.positions[v as usize].to_array().map(|x| (x + 0.0).to_bits());
    let mut around: HashMap<[u32; 3], Vec<(u32, u32)>> = HashMap::new();
    for (face, triangle) in display.triangles.iter().enumerate() {
        triangle.iter().for_each(|&v| around.entry(place(v)).or_default().push((face as u32, v)));
    }
    let mut out = vec![false; display.positions.len()];
    for around in around.values() {
        let control = |v: u32| display.control_of.get(v as usize);
        let shared = |&(_, v): &(u32, u32)| {
            let faces = faces_of(display, around, v, trusted[v as usize], Crease::Source, &crosses);
            control(v) == control(around[0].1) && faces.count() == around.len()
        };
        if !around.iter().all(shared) {
            around.iter().for_each(|&(_, v)| out[v as usize] = true);
        }
    }
    out
}

/// Returns the source normal of a vertex relative to the computed normal.
fn deviation(
    display: &DisplayMesh,
    vertex: u32,
    faces: &[u32],
    crosses: &[Vec3],
    corners: &Corners,
    control: usize,
) -> SourceNormal {
    let source = display.normals[vertex as usize];
    let computed = faces.iter().map(|&f| crosses[f as usize]).sum::<Vec3>().normalize_or_zero();
    if computed == Vec3::ZERO || source.normalize().dot(computed) > KEPT {
        return SourceNormal::COMPUTED;
    }
    let origin = display.positions[vertex as usize];
    let mut best: Option<(f32, Vec3, u32)> = None;
    for &(face, corner) in corners.of(control).iter().filter(|(f, _)| faces.contains(f)) {
        for &other in display.triangles[face as usize].iter().filter(|&&v| v != corner) {
            let edge = display.positions[other as usize] - origin;
            let length = edge.reject_from_normalized(computed).length();
            if best.is_none_or(|(longest, ..)| length > longest) {
                best = Some((length, edge, other));
            }
        }
    }
    best.map_or(SourceNormal::COMPUTED, |(_, edge, toward)| {
        SourceNormal::encode(source.normalize(), computed, edge, toward)
    })
}

/// The pairs `(face, display vertex)` around each control vertex, in CSR form.
struct Corners {
    offset: Vec<u32>,
    entries: Vec<(u32, u32)>,
}

impl Corners {
    fn new(character: &Character) -> Self {
        let (display, control) = (&character.display, &character.control);
        let mut offset = vec![0u32; control.positions.len() + 1];
        let control_of = |v: u32| display.control_of[v as usize] as usize;
        for &vertex in display.triangles.iter().flatten() {
            offset[control_of(vertex) + 1] += 1;
        }
        for i in 1..offset.len() {
            offset[i] += offset[i - 1];
        }
        let mut next = offset.clone();
        let mut entries = vec![(0, 0); display.triangles.len() * 3];
        for (face, triangle) in display.triangles.iter().enumerate() {
            for &vertex in triangle {
                let slot = &mut next[control_of(vertex)];
                entries[*slot as usize] = (face as u32, vertex);
                *slot += 1;
            }
        }
        Self { offset, entries }
    }

    fn of(&self, control: usize) -> &[(u32, u32)] {
        &self.entries[self.offset[control] as usize..self.offset[control + 1] as usize]
    }
}
