//! A posed or animated export: node transforms carry the pose, morph targets what bones cannot express.

use super::influences::{self, Table};
use super::locals::{Locals, write_nodes};
use super::morph::{Delta, Tolerance, solve};
use super::surfaces::{Surface, Surfaces};
use super::targets::NodeTargets;
use super::{Builder, Reduction, clips, fit, shading, targets, weights};
use crate::anim::clip_from_poses;
use crate::asset::{Asset, Clip, Problem, Property};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, NodeId, Result};
use crate::bind::Character;
use crate::rig::Pose;
use std::collections::BTreeSet;

/// The editor's final surface at one key.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// World position per display vertex, scene units.
    pub positions: &'a [Vec3],
    /// World normal per display vertex, unit length.
    pub normals: &'a [Vec3],
}

/// One key of an export.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// Time in seconds, not negative; ignored if there is only one key.
    pub time_s: f32,
    /// The node transforms and the weights of the file's own morph targets.
    pub pose: &'a Pose,
    /// The surface to reproduce; `None` if the file's own skinning is all that is wanted.
    pub shape: Option<Shape<'a>>,
}

/// What becomes of the file's own animations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Clips {
    /// They come after Sinew's own
    #[default]
    Keep,
    /// They are left out
    None,
}

/// Settings of a posed export.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of Sinew's own animation.
    pub clip_name: String,
    /// Whether the file's own animations are written too.
    pub clips: Clips,
    /// Limits influences to 4 per vertex (JOINTS_0 and WEIGHTS_0), for viewers that read no more.
    pub compatible: bool,
    /// Vertices that bones bring closer than this to the editor's surface get no displacement; relative to
    /// the diagonal of the first surface's box. 5e-6 is 0.01 mm for a person.
    pub tolerance: f32,
    /// Normals that bones bring closer than this get no displacement, degrees; nor do those of a primitive
    /// without displaced positions if at most one in a hundred is further off.
    pub normal_tolerance_degrees: f32,
    /// Motion of the nodes between keys, written unchanged; its values at the keys' times must equal the
    /// keys'. `None` for LINEAR motion from key to key.
    pub motion: Option<Clip>,
    /// Uses a few targets shared by all keys instead of one per key, with at most this error per vertex, millimetres.
    pub budget_mm: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clip_name: "Sinew".into(),
            clips: Clips::Keep,
            compatible: false,
            tolerance: 5e-6,
            normal_tolerance_degrees: 0.5,
            motion: None,
            budget_mm: None,
        }
    }
}

/// A finished posed export, not yet written to disk.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The content of the .glb.
    pub glb: Vec<u8>,
    /// Index of Sinew's own animation, the file's first. It holds the keys; or one pose, so that viewers
    /// show that pose and not one of the file's animations. `None` if a single pose needs no animation.
    pub clip: Option<usize>,
    /// Number of morph targets added, over all meshes.
    pub targets: usize,
    /// Number of displacements stored, over all keys.
    pub morph_vertices: usize,
    /// Number of normal displacements stored, over all keys.
    pub morph_normals: usize,
    /// Vertices whose heaviest weight was raised to 0.6, because at some key the file's weights blend bones into a
    /// matrix that flattens the skin (a twist of 180° at equal weights), which no displacement can correct.
    pub steadied: usize,
    /// Number of displacements that are still approximate because the blended skinning matrix is near singular.
    pub singular: usize,
    /// In compatible mode, the error of the limit of 4 influences.
    pub reduction: Option<Reduction>,
    /// Data that the file cannot represent exactly.
    pub problems: Vec<Problem>,
}

/// The data that all steps of an export share.
pub(super) struct Job<'a> {
    pub asset: &'a Asset,
    pub character: &'a Character,
    pub keys: &'a [Key<'a>],
    pub surfaces: &'a dyn Surfaces,
    pub options: &'a Options,
}

/// Exports a character at one or several keys.
///
/// The first key becomes the file's static pose. Several keys also become an animation, LINEAR in node
/// transforms (or [`Options::motion`]) and in morph weights, with one target per key and mesh that needs
/// one. If the file has animations, a single key becomes an animation too, which holds still. That
/// animation is the file's first, which viewers play. Targets of the file come first and keep their
/// weights. The file's own animations come after it and show what they showed.
///
/// # Errors
/// [`Error::Input`] if there is no key, key times do not increase, or a pose or surface belongs to
/// another character; errors of [`Builder::of`].
pub fn posed(asset: &Asset, character: &Character, keys: &[Key], options: &Options) -> Result<Export> {
    streamed(asset, character, keys, &keys, options)
}

/// As [`posed`], with surfaces that need not all be in memory: with a budget, at most a block of them is.
///
/// # Errors
/// As [`posed`] and [`Surfaces::at`].
pub fn streamed(
    asset: &Asset,
    character: &Character,
    keys: &[Key],
    surfaces: &dyn Surfaces,
    options: &Options,
) -> Result<Export> {
    let job = Job { asset, character, keys, surfaces, options };
    let mut out = Export::default();
    let mut builder = build(&job, Builder::of(asset)?, &mut out)?;
    builder.prune();
    out.glb = builder.glb()?;
    Ok(out)
}

/// Edits the file in `builder`; only appends to its binary chunk.
pub(super) fn build(job: &Job, mut builder: Builder, out: &mut Export) -> Result<Builder> {
    let (keys, options) = (job.keys, job.options);
    job.check()?;
    clips::prepare(job, &mut builder);
    let mut table = Table::new(job);
    let locals = Locals::new(job, &mut out.problems);
    write_nodes(job, &locals, &mut builder);
    builder.drop_false_skeletons(job.asset);
    out.problems.extend(weights::beyond(job));

    let cost = influences::cost(job, |key| locals.world(job, key));
    if options.compatible {
        out.reduction = Some(cost);
    } else {
        out.problems.extend(influences::warning(job, &cost));
    }
    let written = match job.first_surface()? {
        Some(surface) => shading::write(job, &mut builder, &surface.shape(), &mut out.problems),
        None => vec![false; job.character.display.parts.len()],
    };
    let (mut sets, mut flattened) = targets_of(job, &locals, &table, &written)?;
    for (part, vertices) in job.character.display.parts.iter().zip(&flattened.vertices) {
        if !vertices.is_empty() {
            out.steadied += table.steady(part, &vertices.iter().copied().collect::<Vec<_>>());
        }
    }
    if out.steadied > 0 {
        (sets, flattened) = targets_of(job, &locals, &table, &written)?;
    }
    table.write(job, &mut builder);
    out.singular = flattened.displacements;
    let stored = sets.iter().flat_map(|s| s.deltas.iter().flatten());
    out.morph_vertices = stored.clone().map(|d| d.positions.len()).sum();
    out.morph_normals = stored.clone().map(|d| d.normals.len()).sum();
    let alone: usize = stored.filter(|d| d.positions.is_empty()).map(|d| d.normals.len()).sum();
    let morphs = targets::add(job, &mut builder, sets);
    out.targets = morphs.iter().map(|m| m.count).sum();
    clips::keep_existing(job, &mut builder, &morphs);
    let mut channels = if let Some(clip) = &options.motion {
        targets::of_motion(job, clip, &morphs)
    } else if keys.len() > 1 {
        let poses: Vec<_> = keys.iter().map(|k| (k.time_s, k.pose.clone())).collect();
        let clip = clip_from_poses(&options.clip_name, &poses, &job.character.skeleton)?;
        targets::of_keys(job, &builder, &clip, &morphs)
    } else {
        Vec::new()
    };
    clips::hold(job, &builder, &morphs, &mut channels);
    let name = options.motion.as_ref().map_or(&options.clip_name, |m| &m.name);
    out.clip = clips::write_first(&mut builder, name, &channels, &mut out.problems);
    if alone > 0 {
        out.problems.push(Problem {
            at: "normals".into(),
            text: format!(
                "viewers turn the file's with the bones, which is off the surface's; morph targets turn {alone} of them back"
            ),
        });
    }
    if out.steadied > 0 {
        out.problems.push(Problem {
            at: "skin weights".into(),
            text: format!(
                "{} vertices, which a key's bones flatten (twists near 180°), follow their first bone a little more",
                out.steadied
            ),
        });
    }
    if out.singular > 0 {
        out.problems.push(Problem {
            at: "morph targets".into(),
            text: format!(
                "{} displacements lie where bones scale the skin to nothing and are approximate",
                out.singular
            ),
        });
    }
    Ok(builder)
}

/// Vertices where bones flatten the skin.
#[derive(Default)]
pub(super) struct Flattened {
    /// Vertices per display part.
    pub vertices: Vec<BTreeSet<u32>>,
    /// Number of displacements, over all keys.
    pub displacements: usize,
}

impl Flattened {
    fn new(parts: usize) -> Self {
        Self { vertices: vec![BTreeSet::new(); parts], displacements: 0 }
    }

    /// Adds those of one key.
    pub fn add(&mut self, deltas: &[Delta]) {
        for (vertices, delta) in self.vertices.iter_mut().zip(deltas) {
            vertices.extend(&delta.singular);
            self.displacements += delta.singular.len();
        }
    }
}

/// The targets of every node, and the vertices where they are approximate.
fn targets_of(
    job: &Job,
    locals: &Locals,
    table: &Table,
    written: &[bool],
) -> Result<(Vec<NodeTargets>, Flattened)> {
    let parts = &job.character.display.parts;
    let tolerance = job.tolerance()?;
    // A key's displacements, per part.
    let solved = |k: usize| -> Result<Vec<Delta>> {
        let Some(surface) = job.surface(k)? else { return Ok(vec![Delta::default(); parts.len()]) };
        let (world, pose, shape) = (locals.world(job, k), job.keys[k].pose, surface.shape());
        let part = |(p, &writes_normals): (&crate::geom::Part, &bool)| {
            let tolerance = Tolerance { writes_normals, ..tolerance };
            solve(job, p, table.of(p), &world, pose, &shape, tolerance)
        };
        Ok(parts.iter().zip(written).map(part).collect())
    };
    let each = || -> Result<(Vec<NodeTargets>, Flattened)> {
        let mut flattened = Flattened::new(parts.len());
        let deltas = (0..job.keys.len()).map(&solved).collect::<Result<Vec<_>>>()?;
        deltas.iter().for_each(|key| flattened.add(key));
        Ok((targets::one_per_key(job, deltas), flattened))
    };
    let Some(budget) = job.options.budget_mm else { return each() };
    let mut flattened = Flattened::new(parts.len());
    let sets = fit::fit(job, &solved, budget, locals.stretch(job), &mut flattened)?;
    // As many targets as keys: one for each key is exact.
    if !sets.is_empty() && sets.iter().all(|s| s.names.len() >= job.keys.len()) {
        return each();
    }
    Ok((sets, flattened))
}

impl Job<'_> {
    fn check(&self) -> Result<()> {
        let rising = self.keys.windows(2).all(|w| w[0].time_s < w[1].time_s);
        if self.keys.is_empty()
            || !rising
            || self.keys.iter().any(|k| !k.time_s.is_finite() || k.time_s < 0.0)
        {
            return Err(Error::input(
                "the keys of an export do not have finite, not negative, strictly rising times",
                "give at least one key, and each key a later time than the one before",
            ));
        }
        for key in self.keys {
            let weights = |n: usize| key.pose.weights.get(n).map_or(0, Vec::len);
            let pose_fits = key.pose.local.len() == self.asset.nodes.len()
                && self.asset.nodes.iter().enumerate().all(|(n, node)| weights(n) == node.weights.len());
            let finite = key.pose.local.iter().all(|l| l.affine().is_finite());
            if !(pose_fits && finite) || self.character.skeleton.nodes.len() != self.asset.nodes.len() {
                return Err(unfit(key));
            }
        }
        Ok(())
    }

    /// The surface of a key; an error if its lengths do not fit the character.
    fn surface(&self, key: usize) -> Result<Option<Surface<'_>>> {
        let surface = self.surfaces.at(key)?;
        let vertices = self.character.display.positions.len();
        let fits = surface.as_ref().is_none_or(|s| {
            let all = || s.positions.iter().chain(s.normals.iter());
            s.positions.len() == vertices && s.normals.len() == vertices && all().all(|p| p.is_finite())
        });
        if fits { Ok(surface) } else { Err(unfit(&self.keys[key])) }
    }

    /// The surface of the first key that has one.
    fn first_surface(&self) -> Result<Option<Surface<'_>>> {
        (0..self.keys.len()).find_map(|key| self.surface(key).transpose()).transpose()
    }

    /// The tolerances in scene units, from the size of the first surface.
    fn tolerance(&self) -> Result<Tolerance> {
        let first = self.first_surface()?;
        let diagonal = first.map_or(0.0, |s| Aabb::of(s.positions.iter().copied()).diagonal());
        Ok(Tolerance {
            position: f64::from(self.options.tolerance * diagonal),
            normal: f64::from(self.options.normal_tolerance_degrees).to_radians(),
            writes_normals: false,
        })
    }

    /// Whether the motion moves a node's transform; the node then cannot keep a matrix.
    pub fn moves(&self, node: NodeId) -> bool {
        let channels = self.options.motion.iter().flat_map(|m| &m.channels);
        channels.into_iter().any(|c| c.node == node && c.property != Property::Weights)
    }

    /// The nodes that draw display parts, with the range of their parts.
    pub fn drawn(&self) -> Vec<(NodeId, std::ops::Range<usize>)> {
        let mut out: Vec<(NodeId, std::ops::Range<usize>)> = Vec::new();
        for (i, part) in self.character.display.parts.iter().enumerate() {
            match out.last_mut() {
                Some((node, range)) if *node == part.node => range.end = i + 1,
                _ => out.push((part.node, i..i + 1)),
            }
        }
        out
    }
}

fn unfit(key: &Key) -> Error {
    Error::input(
        format!("the key at {} s does not fit this character or is not finite", key.time_s),
        "give a pose with one transform per node and a shape with one vertex per display vertex",
    )
}
