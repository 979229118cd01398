//! Onion skins and motion paths, drawn as lines over the image.
//!
//! An onion skin is the outline of the character at another time: edges between front and back faces, and open borders.
//! Outlines at earlier keys are blue, those at later keys orange. The farther a key is from the displayed time, the
//! more transparent is its outline. A motion path is the trajectory of a joint, with a small dot per frame and a large
//! dot per key. Window and headset show onion skins as [`super::Ghosts`].

use super::{Evaluator, Model, Shaper};
use crate::asset::Property;
use crate::base::math::{Affine3A, Vec3};
use crate::base::{NodeId, Result};
use crate::bind::Character;
use crate::document::{Document, Sampler, Target};
use crate::render::{FUTURE, Lines, PAST, Segment, rgba};
use crate::rig::Skeleton;
use std::collections::HashMap;

/// Colour of a motion path.
const ARC: [u8; 4] = [255, 214, 96, 255];
/// Colour of keys on a motion path.
const KEY: [u8; 4] = [255, 255, 255, 255];
/// Colour of the key that a hand can take or holds.
const LIT: [u8; 4] = [72, 134, 243, 255];
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
/// nearest time. The flag of a time is true if the time is later than `time`.
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
        let [r, g, b] = if after { FUTURE } else { PAST };
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

/// A key on a motion path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathKey {
    /// Time of the key, seconds.
    pub time: f64,
    /// Position of the node at this time, world space, metres; `None` until it is computed.
    pub place: Option<Vec3>,
}

/// The path of a node through a motion.
#[derive(Debug, Default)]
pub struct MotionPath {
    /// Position at every frame, world space, metres.
    pub points: Vec<Vec3>,
    /// The keys of the node and of the nodes above it, in order of time.
    pub keys: Vec<PathKey>,
    frames: Vec<f64>,
    /// Number of points and keys that are up to date.
    done: usize,
    sampler: Sampler,
    world: Vec<Affine3A>,
}

/// Times of the keys that move a node, seconds, increasing: keys of the node and of the nodes above it.
pub fn path_keys(skeleton: &Skeleton, document: &Document, node: NodeId) -> Vec<f64> {
    let mut chain = vec![node];
    while let Some(above) = chain.last().and_then(|n| skeleton.nodes.get(n.index())?.parent) {
        chain.push(above);
    }
    let moves = |target: &Target| matches!(target, Target::Node { node, property } if *property != Property::Weights && chain.contains(node));
    let channels = document.motion().channels().iter().filter(|c| moves(&c.target));
    let mut times: Vec<f64> = channels.flat_map(|c| &c.times).copied().collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    times
}

impl MotionPath {
    /// Computes the whole path.
    pub fn new(skeleton: &Skeleton, document: &Document, node: NodeId) -> Self {
        let mut out = Self::default();
        out.start(skeleton, document, node);
        out.extend(skeleton, document, node, usize::MAX);
        out
    }

    /// Starts to compute the path of a node. Points and keys keep their old places until [`MotionPath::extend`] reaches
    /// them.
    pub fn start(&mut self, skeleton: &Skeleton, document: &Document, node: NodeId) {
        self.frames = document.frame_times();
        self.frames.truncate(MAX_FRAMES);
        self.points.truncate(self.frames.len());
        let old = std::mem::take(&mut self.keys);
        let place = |time: f64| old.iter().find(|k| k.time == time).and_then(|k| k.place);
        let times = path_keys(skeleton, document, node);
        self.keys = times.into_iter().map(|time| PathKey { time, place: place(time) }).collect();
        self.sampler.forget();
        self.done = 0;
    }

    /// Computes at most `count` further points and keys; the document must be that of [`MotionPath::start`]. Returns true
    /// if the path is then complete.
    pub fn extend(&mut self, skeleton: &Skeleton, document: &Document, node: NodeId, count: usize) -> bool {
        let all = self.frames.len() + self.keys.len();
        let until = self.done.saturating_add(count).min(all);
        while self.done < until {
            let at = self.done;
            self.done += 1;
            match self.frames.get(at).copied() {
                Some(time) => {
                    let place = self.sample(skeleton, document, node, time);
                    match self.points.get_mut(at) {
                        Some(point) => *point = place,
                        None => self.points.push(place),
                    }
                }
                None => {
                    let at = at - self.frames.len();
                    let place = self.sample(skeleton, document, node, self.keys[at].time);
                    self.keys[at].place = Some(place);
                }
            }
        }
        self.done >= all
    }

    /// Computes at most `count` of the points between two times again, beginning with point number `from` of these points,
    /// with wrap-around. `changed` says whether the document has changed since the last call. Returns the number of the
    /// next point.
    pub fn refresh(
        &mut self,
        skeleton: &Skeleton,
        (document, changed): (&Document, bool),
        node: NodeId,
        [start, end]: [f64; 2],
        (from, count): (usize, usize),
    ) -> usize {
        if changed {
            self.sampler.forget();
        }
        let first = self.frames.partition_point(|t| *t < start);
        let last = self.frames.partition_point(|t| *t <= end).min(self.points.len());
        let all = last.saturating_sub(first);
        for k in 0..count.min(all) {
            let at = first + (from + k) % all;
            self.points[at] = self.sample(skeleton, document, node, self.frames[at]);
        }
        (from + count.min(all)) % all.max(1)
    }

    fn sample(&mut self, skeleton: &Skeleton, document: &Document, node: NodeId, time: f64) -> Vec3 {
        self.sampler.sample(document, skeleton, time).world_into(skeleton, &mut self.world);
        self.world[node.index()].translation.into()
    }

    /// Adds the lines of the path. The key at the time `lit` is highlighted.
    pub fn lines(&self, lit: Option<f64>, lines: &mut Lines) {
        lines.polyline(&self.points, ARC, 3.0, 1.0);
        for at in &self.points {
            lines.dot(*at, ARC, 6.0);
        }
        for PathKey { time, place } in &self.keys {
            let Some(at) = place else { continue };
            let lit = lit == Some(*time);
            lines.dot(*at, if lit { LIT } else { KEY }, if lit { 17.0 } else { 11.0 });
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
        assert_eq!((path.points.len(), path.keys.len()), (49, 3));
        assert!(path.keys[1].place.unwrap().distance(path.points[24]) < 1e-6, "the key at 1 s");
        assert!(path.points[0].distance(path.points[24]) > 0.2);
        let mut lines = Lines::default();
        path.lines(None, &mut lines);
        assert_eq!(lines.segments.len(), 48 + 49 + 3);
    }
}
