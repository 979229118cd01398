//! Posed or animated export: node transforms store the pose, and morph targets store what skinning cannot reproduce.

use super::influences::{self, Table};
use super::locals::{Locals, write_nodes};
use super::morph::{Delta, Tolerance, solve};
use super::receipt::Skin;
use super::shared::{self, Shared};
use super::surfaces::{Surface, Surfaces};
use super::targets::NodeTargets;
use super::{Builder, Reduction, clips, fit, shading, targets, weights};
use crate::anim::clip_from_poses;
use crate::asset::{Asset, Clip, Problem, Property};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, NodeId, Result};
use crate::bind::Character;
use crate::rig::Pose;
use glam::DAffine3;
use std::collections::BTreeSet;
use std::sync::Arc;

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
    /// The surface to reproduce; with `None`, the export has only the skinning of the original file.
    pub shape: Option<Shape<'a>>,
}

/// Handling of the file's own animations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Clips {
    /// Written after Sinew's own animation
    #[default]
    Keep,
    /// Left out
    None,
}

/// Settings of a posed export.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of Sinew's own animation.
    pub clip_name: String,
    /// Whether the file's own animations are written too.
    pub clips: Clips,
    /// Whether to limit influences to 4 per vertex (JOINTS_0 and WEIGHTS_0), for viewers that read no more.
    pub compatible: bool,
    /// Position tolerance, relative to the bounding box diagonal of the first surface; 5e-6 is 0.01 mm for a person. A
    /// vertex gets no displacement if skinning alone brings it within the tolerance of its position on the editor's
    /// surface.
    pub tolerance: f32,
    /// Normal tolerance, degrees. A normal gets no displacement if skinning alone brings it within the tolerance. A
    /// primitive without displaced positions gets no normal displacements if at most one normal in a hundred exceeds
    /// the tolerance.
    pub normal_tolerance_degrees: f32,
    /// Animation of the nodes, written unchanged. At the keys' times, its values must equal the keys' poses. `None`
    /// uses LINEAR interpolation between keys.
    pub motion: Option<Clip>,
    /// Morph targets that all keys share.
    pub shared: Option<Shared>,
    /// Error budget per vertex, millimetres; all keys then share a few morph targets. `None` gives every key its own
    /// target.
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
            shared: None,
            budget_mm: None,
        }
    }
}

/// A finished posed export in memory.
#[derive(Clone, Debug)]
pub struct Export {
    /// The content of the .glb.
    pub glb: Vec<u8>,
    /// Index of Sinew's own animation, which is the first in the file and contains the keys. If the original file has
    /// animations, a single pose is an animation, too; otherwise viewers would play an animation of the file instead.
    /// `None` if a single pose needs no animation.
    pub clip: Option<usize>,
    /// Number of morph targets added, over all meshes.
    pub targets: usize,
    /// Number of displacements stored, over all keys.
    pub morph_vertices: usize,
    /// Number of normal displacements stored, over all keys.
    pub morph_normals: usize,
    /// Vertices whose largest skin weight was raised to 0.6. At some key the file's weights blend bones into a
    /// singular matrix (e.g. a twist of 180° at equal weights), which no displacement can correct.
    pub steadied: usize,
    /// Number of displacements that are still approximate, because the blended skinning matrix is nearly singular.
    pub singular: usize,
    /// In compatible mode, the error that the limit of 4 influences per vertex causes.
    pub reduction: Option<Reduction>,
    /// Data that the file cannot represent exactly.
    pub problems: Vec<Problem>,
    /// Counts crossing triangles for the receipt.
    pub(super) skin: Arc<Skin>,
}

impl Export {
    /// An empty export of a character.
    pub(super) fn new(character: &Character) -> Self {
        Self {
            glb: Vec::new(),
            clip: None,
            targets: 0,
            morph_vertices: 0,
            morph_normals: 0,
            steadied: 0,
            singular: 0,
            reduction: None,
            problems: Vec::new(),
            skin: Arc::new(Skin::new(character)),
        }
    }
}

/// Data shared by all steps of an export.
pub(super) struct Job<'a> {
    pub asset: &'a Asset,
    pub character: &'a Character,
    pub keys: &'a [Key<'a>],
    pub surfaces: &'a dyn Surfaces,
    pub options: &'a Options,
}

/// Exports a character at one or several keys.
///
/// The first key becomes the file's static pose. Several keys also become an animation. Node transforms (unless
/// [`Options::motion`] is given) and morph weights are interpolated linearly. A mesh that skinning alone does not
/// reproduce gets one morph target per key. If the file has animations, a single key becomes a constant animation too.
/// Sinew's animation is the first in the file, because viewers play the first; the file's own animations follow and
/// look unchanged. The file's own morph targets come first and keep their weights.
///
/// # Errors
/// [`Error::Input`] if there is no key, key times do not increase, or a pose or surface belongs to
/// another character; errors of [`Builder::of`].
pub fn posed(asset: &Asset, character: &Character, keys: &[Key], options: &Options) -> Result<Export> {
    streamed(asset, character, keys, &keys, options)
}

/// Exports like [`posed`], but queries `surfaces` key by key. With a budget, only one block of surfaces is in memory at
/// a time.
///
/// # Errors
/// The errors of [`posed`] and [`Surfaces::at`].
pub fn streamed(
    asset: &Asset,
    character: &Character,
    keys: &[Key],
    surfaces: &dyn Surfaces,
    options: &Options,
) -> Result<Export> {
    let job = Job { asset, character, keys, surfaces, options };
    let mut out = Export::new(character);
    let mut builder = build(&job, Builder::of(asset)?, &mut out)?;
    builder.prune();
    out.glb = builder.glb()?;
    Ok(out)
}

/// Edits the file in `builder`. It only appends to the binary chunk.
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

/// Vertices where the blended skinning matrix is nearly singular, so that skinning flattens the surface.
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

    /// Adds the singular vertices of one key.
    pub fn add(&mut self, deltas: &[Delta]) {
        for (vertices, delta) in self.vertices.iter_mut().zip(deltas) {
            vertices.extend(&delta.singular);
            self.displacements += delta.singular.len();
        }
    }
}

/// Computes the morph targets of every node, and the vertices where displacements are only approximate.
fn targets_of(
    job: &Job,
    locals: &Locals,
    table: &Table,
    written: &[bool],
) -> Result<(Vec<NodeTargets>, Flattened)> {
    let parts = &job.character.display.parts;
    let tolerance = job.tolerance()?;
    // The displacements of a surface, per part, besides those of the shared targets.
    let of_surface = |world: &[DAffine3], pose: &Pose, shape: &Shape, shared: Option<shared::Weighted>| {
        let part = |(i, p): (usize, &crate::geom::Part)| {
            let tolerance = Tolerance { writes_normals: written[i], ..tolerance };
            let shared = shared.map(|s| shared::at_key(i, p.vertices.len(), s));
            solve(job, p, table.of(p), world, pose, shape, shared.as_ref(), tolerance)
        };
        parts.iter().enumerate().map(part).collect::<Vec<_>>()
    };
    let shared = job.options.shared.as_ref();
    let shapes: Vec<Vec<Delta>> = (shared.iter().flat_map(|s| &s.shapes))
        .map(|s| of_surface(&locals.world_of(job, &s.pose), &s.pose, &s.shape(), None))
        .collect();
    // The displacements of one key, per part.
    let solved = |k: usize| -> Result<Vec<Delta>> {
        let Some(surface) = job.surface(k)? else { return Ok(vec![Delta::default(); parts.len()]) };
        let weighted = shared.map(|s| (&shapes[..], &s.weights[k][..]));
        Ok(of_surface(&locals.world(job, k), job.keys[k].pose, &surface.shape(), weighted))
    };
    let (sets, flattened) = fitted(job, locals, &solved)?;
    let within = tolerance.position / locals.stretch(job).max(1e-12);
    let sets = match shared {
        Some(shared) => shared::join(job, shared, shapes.clone(), sets, within),
        None => sets,
    };
    Ok((sets, flattened))
}

/// Computes the targets that the keys need, and the vertices where displacements are only approximate.
fn fitted(job: &Job, locals: &Locals, solved: &fit::Solved) -> Result<(Vec<NodeTargets>, Flattened)> {
    let parts = &job.character.display.parts;
    let each = || -> Result<(Vec<NodeTargets>, Flattened)> {
        let mut flattened = Flattened::new(parts.len());
        let deltas = (0..job.keys.len()).map(solved).collect::<Result<Vec<_>>>()?;
        deltas.iter().for_each(|key| flattened.add(key));
        Ok((targets::one_per_key(job, deltas), flattened))
    };
    let Some(budget) = job.options.budget_mm else { return each() };
    let mut flattened = Flattened::new(parts.len());
    let sets = fit::fit(job, solved, budget, locals.stretch(job), &mut flattened)?;
    // If the fit needs as many targets as there are keys, use one target per key instead, which is exact and not
    // larger.
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

    /// Returns the surface of a key; an error if its lengths do not fit the character.
    fn surface(&self, key: usize) -> Result<Option<Surface<'_>>> {
        let surface = self.surfaces.at(key)?;
        let vertices = self.character.display.positions.len();
        let fits = surface.as_ref().is_none_or(|s| {
            let all = || s.positions.iter().chain(s.normals.iter());
            s.positions.len() == vertices && s.normals.len() == vertices && all().all(|p| p.is_finite())
        });
        if fits { Ok(surface) } else { Err(unfit(&self.keys[key])) }
    }

    /// Returns the surface of the first key that has one.
    fn first_surface(&self) -> Result<Option<Surface<'_>>> {
        (0..self.keys.len()).find_map(|key| self.surface(key).transpose()).transpose()
    }

    /// Returns the tolerances in scene units, scaled by the size of the first surface.
    fn tolerance(&self) -> Result<Tolerance> {
        let first = self.first_surface()?;
        let diagonal = first.map_or(0.0, |s| Aabb::of(s.positions.iter().copied()).diagonal());
        Ok(Tolerance {
            position: f64::from(self.options.tolerance * diagonal),
            normal: f64::from(self.options.normal_tolerance_degrees).to_radians(),
            writes_normals: false,
        })
    }

    /// Returns whether the motion animates a node's transform. Such a node cannot keep a matrix.
    pub fn moves(&self, node: NodeId) -> bool {
        let channels = self.options.motion.iter().flat_map(|m| &m.channels);
        channels.into_iter().any(|c| c.node == node && c.property != Property::Weights)
    }

    /// Returns the nodes that draw display parts, each with its range of parts.
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
