//! Onion skins and motion paths, drawn as lines over the image.
//!
//! An onion skin is the outline of the character at another time: edges between front and back faces, and open borders.
//! Earlier keys have warm colours, later keys cool colours. Each further key is more transparent. A motion path is the
//! trajectory of a joint, with a small dot per frame and a large dot per key.

use super::{Evaluator, Model, Shaper};
use crate::base::math::Vec3;
use crate::base::{NodeId, Result};
use crate::bind::Character;
use crate::document::Document;
use crate::render::{Lines, Segment, rgba};
use crate::rig::Skeleton;
use std::collections::HashMap;

/// Colour of earlier onion skins.
const BEFORE: [u8; 3] = [255, 128, 72];
/// Colour of later onion skins.
const AFTER: [u8; 3] = [72, 196, 160];
/// Colour of a motion path.
const ARC: [u8; 4] = [255, 214, 96, 255];
/// Colour of keys on a motion path.
const KEY: [u8; 4] = [255, 255, 255, 255];
/// Maximum number of frames of a motion path.
const MAX_FRAMES: usize = 2000;

/// Edge adjacency of a mesh, for finding outlines.
pub struct Outline {
    /// Per edge: two control vertices and the adjacent triangles; the second is `None` at a border.
    edges: Vec<([u32; 2], u32, Option<u32>)>,
    triangles: Vec<[u32; 3]>,
    /// One display vertex per control vertex.
    display: Vec<u32>,
}

impl Outline {
    /// Builds the adjacency of a character.
    pub fn new(character: &Character) -> Self {
        let control = &character.control;
        let mut sides: HashMap<[u32; 2], (u32, Option<u32>)> = HashMap::new();
        for (t, triangle) in control.triangles.iter().enumerate() {
            for i in 0..3 {
                let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
                let edge = sides.entry([a.min(b), a.max(b)]).or_insert((t as u32, None));
                if edge.0 != t as u32 {
                    edge.1 = Some(t as u32);
                }
            }
        }
        let mut edges: Vec<_> = sides.into_iter().map(|(e, (a, b))| (e, a, b)).collect();
        // Sort, because the order of a hash map would vary between runs.
        edges.sort_unstable();
        let mut display = vec![0; control.positions.len()];
        for (d, &c) in character.display.control_of.iter().enumerate().rev() {
            display[c as usize] = d as u32;
        }
        Self { edges, triangles: control.triangles.clone(), display }
    }

    /// Returns the outline segments seen from an eye. `positions` are per display vertex, world space.
    pub fn seen_from(&self, eye: Vec3, positions: &[Vec3]) -> Vec<[Vec3; 2]> {
        let at = |control: u32| positions[self.display[control as usize] as usize];
        let faces: Vec<bool> = self
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(at);
                (b - a).cross(c - a).dot(eye - a) > 0.0
            })
            .collect();
        let turns = |e: &&([u32; 2], u32, Option<u32>)| {
            e.2.is_none_or(|second| faces[e.1 as usize] != faces[second as usize])
        };
        self.edges.iter().filter(turns).map(|(e, ..)| e.map(at)).collect()
    }
}

/// Key times around `time`: up to `count` earlier times, then up to `count` later times. Both groups start with the
/// nearest time. The flag is true for later keys.
pub fn neighbours(document: &Document, time: f64, count: usize) -> Vec<(f64, bool)> {
    let columns = document.motion().key_times();
    let before = columns.iter().rev().filter(|t| **t < time - 1e-6).take(count).map(|t| (*t, false));
    let after = columns.iter().filter(|t| **t > time + 1e-6).take(count).map(|t| (*t, true));
    before.chain(after).collect()
}

/// Adds the onion skins of the keys around a time, seen from an eye.
///
/// # Errors
/// As [`Evaluator::evaluate`].
pub fn onion(
    model: &Model,
    document: &Document,
    evaluator: &mut Evaluator,
    (time, count): (f64, usize),
    eye: Vec3,
    lines: &mut Lines,
) -> Result<()> {
    let outline = Outline::new(&model.bound.character);
    let mut shaper = Shaper::new(model, document, evaluator);
    let (mut earlier, mut later) = (0, 0);
    for (at, after) in neighbours(document, time, count) {
        let shape = shaper.evaluate(&document.state(model.skeleton(), Some(at)))?;
        let rank = if after { &mut later } else { &mut earlier };
        let alpha = 230.0 * 0.6_f32.powi(*rank);
        *rank += 1;
        let [r, g, b] = if after { AFTER } else { BEFORE };
        let color = rgba([r, g, b, alpha as u8]);
        for [a, b] in outline.seen_from(eye, &shape.positions) {
            lines.segments.push(Segment {
                a,
                width_a: 2.0,
                b,
                width_b: 2.0,
                color_a: color,
                color_b: color,
                outline: 0.0,
                hidden: 0.25,
                joined: 0,
                limit: 0.0,
            });
        }
    }
    Ok(())
}

/// The path of a node through a motion.
#[derive(Clone, Debug, Default)]
pub struct MotionPath {
    /// Position at every frame, world space, metres.
    pub points: Vec<Vec3>,
    /// Whether a frame has a key.
    pub keyed: Vec<bool>,
}

impl MotionPath {
    /// Computes the whole path.
    pub fn new(skeleton: &Skeleton, document: &Document, node: NodeId) -> Self {
        let mut out = Self::default();
        out.extend(skeleton, document, node, MAX_FRAMES);
        out
    }

    /// Computes at most `count` further points. Returns true if the path is then complete.
    pub fn extend(&mut self, skeleton: &Skeleton, document: &Document, node: NodeId, count: usize) -> bool {
        let keys = document.motion().key_times();
        let half = 0.5 / f64::from(document.motion().rate());
        let times = document.frame_times(skeleton);
        let all = times.len().min(MAX_FRAMES);
        for time in times[..all].iter().skip(self.points.len()).take(count) {
            let world = document.state(skeleton, Some(*time)).pose.world(skeleton);
            let near = keys.partition_point(|k| *k < time - half);
            self.points.push(world[node.index()].translation.into());
            self.keyed.push(keys.get(near).is_some_and(|k| *k < time + half));
        }
        self.points.len() >= all
    }

    /// Adds the lines of the path.
    pub fn lines(&self, lines: &mut Lines) {
        lines.polyline(&self.points, ARC, 3.0, 1.0);
        for (at, key) in self.points.iter().zip(&self.keyed) {
            lines.dot(*at, if *key { KEY } else { ARC }, if *key { 11.0 } else { 6.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::bake::tests::capsule;

    #[test]
    fn a_capsules_outline_lies_on_its_silhouette() {
        let (session, model) = capsule();
        let outline = Outline::new(&model.bound.character);
        let positions = &model.bound.character.display.positions;
        let eye = Vec3::new(0.0, 0.9, 50.0);
        let seen = outline.seen_from(eye, positions);
        assert!(seen.len() > 20);
        // The eye is far away along z, so normals on the outline of a closed body have nearly no z component. Therefore
        // |x| is close to the radius.
        let along = seen.iter().filter(|[a, _]| (0.3..1.5).contains(&a.y));
        let widths: Vec<f32> = along.map(|[a, _]| a.x.abs()).collect();
        assert!(widths.len() > 8 && widths.iter().all(|w| *w > 0.1 && *w < 0.16), "{widths:?}");
        let times: Vec<(f64, bool)> = neighbours(session.document(), 1.0, 1);
        assert_eq!(times, [(0.0, false), (2.0, true)]);
        let path = MotionPath::new(model.skeleton(), session.document(), model.skeleton().joints[3].node);
        assert_eq!((path.points.len(), path.keyed.iter().filter(|k| **k).count()), (49, 3));
        assert!(path.points[0].distance(path.points[24]) > 0.2);
        let mut lines = Lines::default();
        path.lines(&mut lines);
        assert!(lines.segments.len() >= 48 + 49);
    }
}
