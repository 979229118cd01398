//! A posed or animated export: node transforms carry the pose, morph targets what bones cannot give.

use super::influences::{self, Table};
use super::locals::{Locals, write_nodes};
use super::morph::{Delta, Tolerance, solve};
use super::{Builder, Reduction, clips, fit, shading, targets};
use crate::anim::clip_from_poses;
use crate::asset::{Asset, Clip, Problem, Property};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, NodeId, Result};
use crate::bind::Character;
use crate::rig::Pose;

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
    /// Seconds, not negative; of no meaning where there is only one key.
    pub time_s: f32,
    /// The node transforms and the weights of the file's own morph targets.
    pub pose: &'a Pose,
    /// The surface to reproduce; none where the file's own skinning is all that is wanted.
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

/// How a posed export is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of Sinew's own animation.
    pub clip_name: String,
    /// Whether the file's own animations are written too.
    pub clips: Clips,
    /// At most 4 influences per vertex (JOINTS_0 and WEIGHTS_0), for viewers that read no more.
    pub compatible: bool,
    /// Vertices that bones bring closer than this to the editor's shape get no displacement; relative to the
    /// diagonal of the first shape's box. 5e-6 is 0.01 mm for a person.
    pub tolerance: f32,
    /// Normals that bones bring closer than this stay, degrees; so do all of a primitive that is not displaced where one in
    /// a hundred or fewer is further off.
    pub normal_tolerance_degrees: f32,
    /// How nodes move between keys, written as it is; its values at the keys' times must be the keys' own. None for
    /// LINEAR motion from key to key.
    pub motion: Option<Clip>,
    /// Few targets that all keys share in place of one for each, none of whose vertices is off by more, millimetres.
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

/// A finished posed export, not yet written.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The .glb.
    pub glb: Vec<u8>,
    /// Index of Sinew's own animation, the file's first: it holds the keys, or one pose so that viewers show that and none
    /// of the file's animations. None where one pose stands alone.
    pub clip: Option<usize>,
    /// Morph targets added, over all meshes.
    pub targets: usize,
    /// Displacements stored, over all keys.
    pub morph_vertices: usize,
    /// Changes of normals stored, over all keys.
    pub morph_normals: usize,
    /// Vertices whose heaviest weight was raised to 0.6, because at some key the file's weights blend bones into a
    /// matrix that flattens the skin (a twist of 180° at equal weights), which no displacement could mend.
    pub steadied: usize,
    /// Displacements that are still approximate because the blended skinning matrix is near singular.
    pub singular: usize,
    /// In compatible mode, what 4 influences cost.
    pub reduction: Option<Reduction>,
    /// What the file cannot carry exactly.
    pub problems: Vec<Problem>,
}

/// Everything the steps of an export share.
pub(super) struct Job<'a> {
    pub asset: &'a Asset,
    pub character: &'a Character,
    pub keys: &'a [Key<'a>],
    pub options: &'a Options,
}

/// Exports a character at one or several keys.
///
/// The first key is the file's static pose. Several keys also become an animation, LINEAR in node transforms (or
/// [`Options::motion`]) and in morph weights, one target per key and mesh that needs one; where the file has animations, so
/// does one key, as one that holds still. That animation is the file's first, which viewers play. Targets of the file come
/// first and keep their weights. The file's own animations come after it and show what they showed.
///
/// # Errors
/// [`Error::Input`] where there is no key, key times do not rise, or a pose or shape belongs to another character;
/// errors of [`Builder::of`].
pub fn posed(asset: &Asset, character: &Character, keys: &[Key], options: &Options) -> Result<Export> {
    let job = Job { asset, character, keys, options };
    let mut out = Export::default();
    let mut builder = build(&job, Builder::of(asset)?, &mut out)?;
    builder.prune();
    out.glb = builder.glb()?;
    Ok(out)
}

/// Edits the file in `builder`; only ever appends to its binary chunk.
pub(super) fn build(job: &Job, mut builder: Builder, out: &mut Export) -> Result<Builder> {
    let (keys, options) = (job.keys, job.options);
    job.check()?;
    clips::prepare(job, &mut builder);
    let mut table = Table::new(job, out);
    let locals = Locals::new(job, &mut out.problems);
    write_nodes(job, &locals, &mut builder);
    builder.drop_false_skeletons(job.asset);

    if let Some(reduction) = &mut out.reduction {
        for key in 0..keys.len() {
            influences::measure(job, &table, &locals.world(job, key), reduction);
        }
        influences::finish(reduction, keys.len());
    }
    let written = match job.keys.iter().find_map(|k| k.shape) {
        Some(shape) => shading::write(job, &mut builder, &shape, &mut out.problems),
        None => vec![false; job.character.display.parts.len()],
    };
    let mut deltas = solve_all(job, &locals, &table, &written);
    for (i, part) in job.character.display.parts.iter().enumerate() {
        let mut flattened: Vec<u32> = deltas.iter().flat_map(|key| &key[i].singular).copied().collect();
        flattened.sort_unstable();
        flattened.dedup();
        if !flattened.is_empty() {
            out.steadied += table.steady(part, &flattened);
        }
    }
    if out.steadied > 0 {
        deltas = solve_all(job, &locals, &table, &written);
    }
    table.write(job, &mut builder);
    out.singular = deltas.iter().flatten().map(|d| d.singular.len()).sum();
    let sets = match options.budget_mm {
        Some(budget) => fit::fit(job, &deltas, budget, locals.stretch(job)),
        None => targets::one_per_key(job, &deltas),
    };
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

/// `[key][part]`.
fn solve_all(job: &Job, locals: &Locals, table: &Table, written: &[bool]) -> Vec<Vec<Delta>> {
    let diagonal = job
        .keys
        .iter()
        .find_map(|k| k.shape)
        .map_or(0.0, |s| Aabb::of(s.positions.iter().copied()).diagonal());
    let tolerance = Tolerance {
        position: f64::from(job.options.tolerance * diagonal),
        normal: f64::from(job.options.normal_tolerance_degrees).to_radians(),
        writes_normals: false,
    };
    let mut all = Vec::with_capacity(job.keys.len());
    for (k, key) in job.keys.iter().enumerate() {
        let world = locals.world(job, k);
        let part = |(part, &writes_normals): (&crate::geom::Part, &bool)| {
            let Some(shape) = key.shape else { return Delta::default() };
            let tolerance = Tolerance { writes_normals, ..tolerance };
            solve(job, part, table.of(part), &world, key.pose, &shape, tolerance)
        };
        all.push(job.character.display.parts.iter().zip(written).map(part).collect());
    }
    all
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
        let vertices = self.character.display.positions.len();
        for key in self.keys {
            let weights = |n: usize| key.pose.weights.get(n).map_or(0, Vec::len);
            let pose_fits = key.pose.local.len() == self.asset.nodes.len()
                && self.asset.nodes.iter().enumerate().all(|(n, node)| weights(n) == node.weights.len());
            let shape_fits =
                key.shape.is_none_or(|s| s.positions.len() == vertices && s.normals.len() == vertices);
            let finite = key.shape.is_none_or(|s| s.positions.iter().chain(s.normals).all(|p| p.is_finite()))
                && key.pose.local.iter().all(|l| l.affine().is_finite());
            if !(pose_fits && shape_fits && finite)
                || self.character.skeleton.nodes.len() != self.asset.nodes.len()
            {
                return Err(Error::input(
                    format!("the key at {} s does not fit this character or is not finite", key.time_s),
                    "give a pose with one transform per node and a shape with one vertex per display vertex",
                ));
            }
        }
        Ok(())
    }

    /// Whether the motion moves a node's transform: it cannot keep a matrix then.
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
