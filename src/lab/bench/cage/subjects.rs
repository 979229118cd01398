//! The characters and cages of the benchmark.

use super::super::{ONCE, Source};
use super::NAMES;
use crate::asset::Influences;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Progress, Result};
use crate::bind::shapes::Shape;
use crate::bind::{BindOptions, Character, bind_attachments};
use crate::cage::{CageMesh, make_cage, read};
use crate::deform::Bound;
use crate::generate;
use crate::generate::Kind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The authors' arm in the shared data.
const ARM: &str = "cages/supercages_arm";

/// A character with a cage.
pub(super) struct Subject {
    /// Name for the tables.
    pub name: String,
    /// The character, ready for deformers.
    pub bound: Bound,
    /// The cage.
    pub cage: CageMesh,
}

/// Returns the folder of the authors' arm, which may not exist. The shared data is `SINEW_DATA`, or the folder beside the
/// working folder.
pub(super) fn arm_folder() -> PathBuf {
    let data = std::env::var_os("SINEW_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    data.join(ARM)
}

/// Generates a character and makes a cage of about `vertices` vertices.
///
/// # Errors
/// Any error from generating, binding or making the cage.
pub(super) fn generated(kind: Kind, vertices: usize) -> Result<Subject> {
    let (model, _) = Source::Memory(kind.name().to_owned(), generate::glb(kind)?).prepare(&ONCE)?;
    let control = &model.bound.character.control;
    let cage = make_cage(&control.positions, &control.triangles, vertices, None, &Progress::default())?;
    Ok(Subject { name: kind.name().to_owned(), bound: model.bound, cage })
}

/// Builds a capsule, and around it a prism with `sides` sides and `rows` rows of faces.
///
/// # Errors
/// If the capsule cannot be bound.
pub(super) fn tube(shape: &Shape, [sides, rows]: [usize; 2]) -> Result<Subject> {
    let (radius, length) = (f64::from(shape.radius), f64::from(shape.length));
    let (low, high) = (-1.5 * radius, length + 1.5 * radius);
    let mut cage = CageMesh::default();
    for row in 0..=rows {
        let y = low + (high - low) * row as f64 / rows as f64;
        for k in 0..sides {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / sides as f64).sin_cos();
            cage.positions.push(1.7 * radius * DVec3::new(cos, 0.0, sin) + DVec3::Y * y);
        }
    }
    let at = |row: usize, k: usize| (row * sides + k % sides) as u32;
    let (bottom, top) = (at(rows + 1, 0), at(rows + 1, 1));
    cage.positions.extend([DVec3::Y * low, DVec3::Y * high]);
    for k in 0..sides {
        let side = |row: usize| vec![at(row, k), at(row + 1, k), at(row + 1, k + 1), at(row, k + 1)];
        cage.faces.extend((0..rows).map(side));
        cage.faces.push(vec![bottom, at(0, k), at(0, k + 1)]);
        cage.faces.push(vec![top, at(rows, k + 1), at(rows, k)]);
    }
    bound(NAMES[0], shape.capsule(), cage)
}

fn bound(name: &str, character: Character, cage: CageMesh) -> Result<Subject> {
    let (attachments, _) = bind_attachments(&character, &BindOptions::default())?;
    let bound = Bound::new(Arc::new(character), Arc::new(attachments));
    Ok(Subject { name: name.to_owned(), bound, cage })
}

/// Reads the authors' arm.
///
/// # Errors
/// If a file is missing or broken.
pub(super) fn arm(folder: &Path) -> Result<Subject> {
    let text = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|e| Error::io(&path, e))
    };
    let broken =
        || Error::input(format!("{}: an unexpected line", folder.display()), "restore the shared data");
    let number = |word: Option<&&str>| word.and_then(|w| w.parse::<f32>().ok()).ok_or_else(broken);
    let place = |words: &[&str]| -> Result<Vec3> {
        Ok(Vec3::new(number(words.first())?, number(words.get(1))?, number(words.get(2))?))
    };
    let (mut positions, mut triangles, mut joints) = (Vec::new(), Vec::new(), Vec::new());
    for line in text("arm.obj")?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.split_first() {
            Some((&"v", rest)) => positions.push(place(rest)?),
            Some((&"f", rest)) => {
                let index =
                    |word: &&str| word.split('/').next().and_then(|w| w.parse::<u32>().ok()?.checked_sub(1));
                let corners: Option<Vec<u32>> = rest.iter().map(index).collect();
                triangles.push(corners.and_then(|c| <[u32; 3]>::try_from(c).ok()).ok_or_else(broken)?);
            }
            _ => {}
        }
    }
    for line in text("arm.skt")?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"j") && words.len() == 7 {
            joints.push((place(&words[4..])?, words[3].parse::<usize>().ok()));
        }
    }
    let mut lists: Vec<Vec<(u16, f32)>> = vec![Vec::new(); positions.len()];
    for line in text("arm.skw")?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [joint, vertex, weight] = words[..] {
            let joint = joint.parse().map_err(|_| broken())?;
            let list = vertex.parse().ok().and_then(|v: usize| lists.get_mut(v)).ok_or_else(broken)?;
            list.push((joint, number(Some(&weight))?));
        }
    }
    let mut influences = Influences::default();
    for mut list in lists {
        list.retain(|e| e.1 > 0.0);
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        let sum: f32 = list.iter().map(|e| e.1).sum();
        influences.push(list.into_iter().map(|(j, w)| (j, w / sum)));
    }
    let character = Character::from_parts(positions, triangles, &joints, influences)?;
    bound(NAMES[1], character, read(&folder.join("arm_cage.obj"), None)?)
}
