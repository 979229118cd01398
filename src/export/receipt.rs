//! The export receipt: the distance between the written file, evaluated after reading it again, and the editor's
//! surface.

use super::evaluate::{Moment, evaluate};
use super::{Export, Key, Reduction, Shape, Surfaces, files};
use crate::asset::{Asset, Problem};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::bind::Character;
use crate::geom::Crossings;
use std::fmt;
use std::path::{Path, PathBuf};

/// Comparison of a written file with the editor's surface. Scene units count as metres.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Receipt {
    /// Path of the file.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether the `gltf` crate read the file. Otherwise Sinew's own loader read it, and a problem gives the reason.
    pub independent: bool,
    /// Number of morph targets added, over all meshes.
    pub targets: usize,
    /// Number of displacements stored, over all keys.
    pub morph_vertices: usize,
    /// Number of normal displacements stored, over all keys.
    pub morph_normals: usize,
    /// Number of vertices whose largest skin weight was raised. [`Export::steadied`] gives the reason.
    pub steadied: usize,
    /// Number of displacements that are approximate because bones scale the skin to zero there.
    pub singular: usize,
    /// Comparison per key with a surface.
    pub keys: Vec<KeyReceipt>,
    /// In compatible mode, the error that the limit of 4 influences per vertex causes.
    pub reduction: Option<Reduction>,
    /// Data that the file cannot represent.
    pub problems: Vec<Problem>,
}

/// The comparison at one key.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct KeyReceipt {
    /// Time of the key, seconds.
    pub time_s: f32,
    /// Largest distance of a vertex from the editor's surface, millimetres.
    pub largest_mm: f64,
    /// Mean distance over all display vertices, millimetres.
    pub mean_mm: f64,
    /// `largest_mm` relative to the surface's bounding box diagonal.
    pub largest_of_diagonal: f64,
    /// Largest deviation of a normal, degrees, over primitives whose normals are in the file.
    pub normal_largest_degrees: f64,
    /// Mean deviation of the normals, degrees.
    pub normal_mean_degrees: f64,
    /// Number of pairs of the surface's triangles that cross at this key, but neither cross nor touch in the bind
    /// shape.
    pub crossings: usize,
}

/// A character's skin, to count crossing triangles.
#[derive(Debug)]
pub(super) struct Skin {
    crossings: Crossings,
    control_of: Vec<u32>,
}

impl Skin {
    pub(super) fn new(character: &Character) -> Self {
        let control = &character.control;
        // The constructor needs a radius per vertex, but the count does not depend on it.
        let crossings = Crossings::new(control, &vec![1.0; control.positions.len()]);
        Self { crossings, control_of: character.display.control_of.clone() }
    }

    fn count(&self, shape: &Shape) -> usize {
        let mut control = vec![Vec3::ZERO; self.crossings.vertices()];
        self.control_of.iter().zip(shape.positions).for_each(|(&v, x)| control[v as usize] = *x);
        self.crossings.pairs(&control).len()
    }
}

impl Receipt {
    /// Returns the largest distance over all keys, millimetres.
    pub fn largest_mm(&self) -> f64 {
        self.keys.iter().map(|k| k.largest_mm).fold(0.0, f64::max)
    }

    /// Writes a summary of all keys in one line.
    fn sum_up(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(first), Some(last)) = (self.keys.first(), self.keys.last()) else { return Ok(()) };
        let worst = |of: fn(&KeyReceipt) -> f64| {
            self.keys.iter().max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or(first)
        };
        let mean =
            |of: fn(&KeyReceipt) -> f64| self.keys.iter().map(of).sum::<f64>() / self.keys.len() as f64;
        let (far, turned) = (worst(|k| k.largest_mm), worst(|k| k.normal_largest_degrees));
        let crossing = worst(|k| k.crossings as f64);
        writeln!(
            f,
            "  at {} times from {:.3} to {:.3} s: distance largest {:.5} mm ({:.1e} of the size) at {:.3} s, mean {:.5} mm; \
             normals largest {:.2}° at {:.3} s, mean {:.2}°; at most {} pairs of triangles cross, at {:.3} s",
            self.keys.len(),
            first.time_s,
            last.time_s,
            far.largest_mm,
            far.largest_of_diagonal,
            far.time_s,
            mean(|k| k.mean_mm),
            turned.normal_largest_degrees,
            turned.time_s,
            mean(|k| k.normal_mean_degrees),
            crossing.crossings,
            crossing.time_s
        )
    }
}

/// Maximum number of keys that are listed individually.
const LINES: usize = 8;

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} bytes, {} morph targets with {} displaced vertices and {} normals",
            self.path.display(),
            self.bytes,
            self.targets,
            self.morph_vertices,
            self.morph_normals
        )?;
        match &self.keys[..] {
            many if many.len() > LINES => self.sum_up(f)?,
            few => few.iter().try_for_each(|k| {
                writeln!(
                    f,
                    "  at {:.3} s: distance largest {:.5} mm ({:.1e} of the size), mean {:.5} mm; normals largest {:.2}°, mean {:.2}°; {} pairs of triangles cross",
                    k.time_s,
                    k.largest_mm,
                    k.largest_of_diagonal,
                    k.mean_mm,
                    k.normal_largest_degrees,
                    k.normal_mean_degrees,
                    k.crossings
                )
            })?,
        }
        if let Some(r) = &self.reduction {
            writeln!(
                f,
                "  4 influences: {} vertices lost some; bones alone are off by at most {:.3} mm, {:.3} mm on average",
                r.vertices, r.largest_mm, r.mean_mm
            )?;
        }
        self.problems.iter().try_for_each(|p| writeln!(f, "  {}: {}", p.at, p.text))
    }
}

impl Export {
    /// Compares the export with its keys and writes the file atomically.
    ///
    /// # Errors
    /// The errors of [`Self::measure`] and of writing; the file at `path` is then unchanged.
    pub fn write(&self, path: impl AsRef<Path>, keys: &[Key]) -> Result<Receipt> {
        let path = path.as_ref();
        let receipt = self.measure(path, keys, &keys)?;
        self.put(path)?;
        Ok(receipt)
    }

    /// Writes the file atomically, loads it again and verifies its content.
    ///
    /// # Errors
    /// The errors of writing and loading, and of [`Self::check`].
    pub fn put(&self, path: &Path) -> Result<()> {
        files::write_model(path, &self.glb)?;
        self.check(path, &Asset::load(path)?)
    }

    /// Returns the receipt before the file is written. `keys` may have any times within the export's animation, but
    /// `keys[0]` must be the first key of the export. `surfaces` is queried key by key.
    ///
    /// # Errors
    /// The errors of [`Self::receipt`] and [`Surfaces::at`].
    pub fn measure(&self, path: &Path, keys: &[Key], surfaces: &dyn Surfaces) -> Result<Receipt> {
        match super::reread::reread(&self.glb) {
            Ok(seen) => self.compare_all(path, &seen, None, keys, surfaces),
            Err(reason) => {
                let own = Asset::from_slice(&self.glb, path)?;
                self.compare_all(path, &own, Some(reason), keys, surfaces)
            }
        }
    }

    /// Verifies that a file, loaded again, has the written content.
    ///
    /// # Errors
    /// [`Error::Broken`] if the content differs; [`Error::Io`] if the file cannot be read.
    pub fn check(&self, path: &Path, written: &Asset) -> Result<()> {
        if files::holds(path, written, &self.glb)? {
            return Ok(());
        }
        let remedy = "check the disk and export again";
        Err(Error::broken(path, "file", "it does not hold what was written", remedy))
    }

    /// Compares the exported bytes, read by the `gltf` crate, with the keys. If the crate cannot read the file, for
    /// example because of compressed geometry, `written` is compared instead and a problem reports this. `written` is
    /// the file as read by Sinew's own loader. An animation of the keys is compared at each key's time, and the static
    /// pose with the first key.
    ///
    /// # Errors
    /// [`Error::Broken`] if the file and the keys' surfaces differ in the number of vertices.
    pub fn receipt(&self, written: &Asset, keys: &[Key]) -> Result<Receipt> {
        let again = super::reread::reread(&self.glb);
        let seen = again.as_ref().unwrap_or(written);
        self.compare_all(&written.path, seen, again.as_ref().err().cloned(), keys, &keys)
    }

    /// Builds the receipt from the re-read file `seen`; `reason` says why Sinew's own loader read it.
    fn compare_all(
        &self,
        path: &Path,
        seen: &Asset,
        reason: Option<String>,
        keys: &[Key],
        surfaces: &dyn Surfaces,
    ) -> Result<Receipt> {
        let mut problems = self.problems.clone();
        if let Some(reason) = &reason {
            problems.push(Problem {
                at: "receipt".into(),
                text: format!("measured by Sinew's own loader: {reason}"),
            });
        }
        let mut receipt = Receipt {
            path: path.to_owned(),
            bytes: self.glb.len() as u64,
            independent: reason.is_none(),
            targets: self.targets,
            morph_vertices: self.morph_vertices,
            morph_normals: self.morph_normals,
            steadied: self.steadied,
            singular: self.singular,
            keys: Vec::new(),
            reduction: self.reduction,
            problems,
        };
        for (i, key) in keys.iter().enumerate() {
            let Some(surface) = surfaces.at(i)? else { continue };
            let shape = &surface.shape();
            let mut entry = match self.clip {
                Some(clip) => {
                    let moment = Moment::Clip { clip, time_s: f64::from(key.time_s) };
                    compare(seen, path, moment, shape)?
                }
                None => compare(seen, path, Moment::Static, shape)?,
            };
            if i == 0 && self.clip.is_some() {
                entry = entry.worse(&compare(seen, path, Moment::Static, shape)?);
            }
            let crossings = self.skin.count(shape);
            receipt.keys.push(KeyReceipt { time_s: key.time_s, crossings, ..entry });
        }
        Ok(receipt)
    }
}

impl KeyReceipt {
    fn worse(self, other: &Self) -> Self {
        if other.largest_mm > self.largest_mm { *other } else { self }
    }
}

fn compare(written: &Asset, path: &Path, moment: Moment, shape: &Shape) -> Result<KeyReceipt> {
    let drawn = evaluate(written, moment);
    if drawn.len() != shape.positions.len() {
        return Err(Error::broken(
            path,
            "display vertices",
            format!("it shows {} vertices, the editor {}", drawn.len(), shape.positions.len()),
            "report this as a fault of the exporter",
        ));
    }
    let has_normal: Vec<bool> = shown_normals(written);
    let mut out = KeyReceipt::default();
    let (mut sum, mut turned, mut normals) = (0.0, 0.0, 0usize);
    for (i, vertex) in drawn.iter().enumerate() {
        let distance = vertex.position.distance(shape.positions[i].as_dvec3()) * 1000.0;
        // NaN counts as infinite.
        out.largest_mm = if distance.is_nan() { f64::INFINITY } else { out.largest_mm.max(distance) };
        sum += distance;
        let wanted = shape.normals[i].as_dvec3();
        if has_normal[i] && wanted.length_squared() > 0.25 && vertex.normal.length_squared() > 0.25 {
            let angle = vertex.normal.angle_between(wanted).to_degrees();
            out.normal_largest_degrees = out.normal_largest_degrees.max(angle);
            turned += angle;
            normals += 1;
        }
    }
    out.mean_mm = sum / drawn.len().max(1) as f64;
    out.normal_mean_degrees = turned / normals.max(1) as f64;
    let diagonal = f64::from(Aabb::of(shape.positions.iter().copied()).diagonal()) * 1000.0;
    out.largest_of_diagonal = if diagonal > 0.0 { out.largest_mm / diagonal } else { 0.0 };
    Ok(out)
}

/// Returns, for each drawn vertex, whether the file has a normal for it. Without normals in the file, viewers compute
/// flat normals from the positions.
fn shown_normals(asset: &Asset) -> Vec<bool> {
    let shown = crate::rig::in_scene(asset);
    let meshes = asset.nodes.iter().zip(shown).filter(|n| n.1).filter_map(|n| n.0.mesh);
    meshes
        .flat_map(|m| &asset.meshes[m.index()].primitives)
        .flat_map(|p| std::iter::repeat_n(p.normals_from_file, p.positions.len()))
        .collect()
}
