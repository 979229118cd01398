//! The effect of sculpt layers on the springs of all levels (thesis 5.2, equation 22).
//!
//! A sculpt layer exerts the force `k (target - x)` with `target = a' + Q (s + D)`. This force equals
//! `k Q D + k (h - s')` with `h = Q s`: a constant load plus a pull to `a' + h`, which the springs already have. An
//! iteration with sculpt layers therefore costs no more than without. A sculpted vertex loses a fraction of its
//! forces towards the rest shape (bone, hold, girth and pull); otherwise they would pull the surface back where the
//! layer is weak.
//!
//! On a coarser level, a vertex gets the mean of the surrounding stiffness densities, like forces
//! ([`super::schedule`]).

use super::bind::Binding;
use super::cpu::PosedVertex;
use super::levels::Levels;
use crate::base::math::Vec3;
use crate::deform::sculpt::Field;
use crate::shared_with_shaders;

shared_with_shaders! {
    /// The effect of the sculpt layers on a vertex.
    #[derive(Debug, Default, PartialEq)]
    pub struct SpringEdit as "SpringEdit" {
        /// Stiffness times offset, in bind space orientation, metres.
        pub load: [f32; 3],
        /// Stiffness `k` of the sculpt layers.
        pub stiffness: f32,
        /// Fraction of the rest-shape forces that is removed, 0..=1.
        pub give: f32,
        /// Index of the vertex.
        pub vertex: u32,
        /// Padding, zero.
        pub unused: [u32; 2],
    }
}

/// The sculpted vertices of a level.
#[derive(Clone, Debug, Default)]
pub struct LevelEdits {
    /// One entry per sculpted vertex, in ascending order of vertices.
    pub edits: Vec<SpringEdit>,
    /// Factor on the stiffness. On the mesh: a quarter of the number of neighbours. On a coarser level: the vertex's
    /// density over the total density of its children.
    scale: Vec<f32>,
    /// CSR offsets into `children`: per entry, the finer level's sculpted vertices with their fractions of the total
    /// density.
    offset: Vec<u32>,
    children: Vec<(u32, f32)>,
}

/// Returns `deg/4 l²`, see [`PosedVertex::density`].
fn density(binding: &Binding, v: usize) -> f32 {
    binding.degree(v) as f32 * 0.25 * binding.vertices[v].mean_length * binding.vertices[v].mean_length
}

/// Finds the sculpted vertices of all levels, initially with all layers off.
pub fn bind(levels: &Levels, field: &Field) -> Vec<LevelEdits> {
    let edit = |vertex: u32| SpringEdit { vertex, ..SpringEdit::default() };
    let fine = LevelEdits {
        edits: field.vertices.iter().map(|&v| edit(v)).collect(),
        scale: field.vertices.iter().map(|&v| levels.fine.degree(v as usize) as f32 * 0.25).collect(),
        ..LevelEdits::default()
    };
    let mut out = vec![fine];
    for (k, level) in levels.coarse.iter().enumerate() {
        let finer = if k == 0 { &levels.fine } else { &levels.coarse[k - 1].binding };
        let below = &out[k].edits;
        let mut new = LevelEdits { offset: vec![0], ..LevelEdits::default() };
        for c in 0..level.mesh.seeds.len() {
            let children =
                &level.children[level.child_offset[c] as usize..level.child_offset[c + 1] as usize];
            let slot = |v: &u32| {
                below
                    .binary_search_by_key(v, |e| e.vertex)
                    .ok()
                    .map(|s| (s as u32, density(finer, *v as usize)))
            };
            let before = new.children.len();
            new.children.extend(children.iter().filter_map(slot));
            let all: f32 = children.iter().map(|&v| density(finer, v as usize)).sum();
            if new.children.len() > before && all > 0.0 {
                new.children[before..].iter_mut().for_each(|child| child.1 /= all);
                new.edits.push(edit(c as u32));
                new.scale.push(density(&level.binding, c) / all);
                new.offset.push(new.children.len() as u32);
            } else {
                new.children.truncate(before);
            }
        }
        out.push(new);
    }
    out
}

/// Whether any sculpt layer is on.
pub fn on(levels: &[LevelEdits]) -> bool {
    levels.first().is_some_and(|fine| fine.edits.iter().any(|e| e.stiffness > 0.0))
}

/// Sets the loads and stiffnesses from the current state of the field.
pub fn set(levels: &mut [LevelEdits], field: &Field) {
    if let Some(fine) = levels.first_mut() {
        for ((edit, scale), offset) in fine.edits.iter_mut().zip(&fine.scale).zip(&field.offsets) {
            edit.stiffness = offset.stiffness * scale;
            edit.load = (offset.offset * edit.stiffness).into();
            edit.give = offset.give;
        }
    }
    for k in 1..levels.len() {
        let (finer, coarser) = levels.split_at_mut(k);
        let (finer, coarser) = (&finer[k - 1].edits, &mut coarser[0]);
        for (c, edit) in coarser.edits.iter_mut().enumerate() {
            let children = &coarser.children[coarser.offset[c] as usize..coarser.offset[c + 1] as usize];
            let (mut load, mut stiffness, mut give) = (Vec3::ZERO, 0.0, 0.0);
            for &(slot, share) in children {
                let child = &finer[slot as usize];
                load += Vec3::from(child.load);
                stiffness += child.stiffness;
                give += child.give * share;
            }
            edit.load = (load * coarser.scale[c]).into();
            edit.stiffness = stiffness * coarser.scale[c];
            edit.give = give.min(1.0);
        }
    }
}

/// Adds a level's loads and stiffnesses to its posed vertices.
pub fn apply(edits: &[SpringEdit], omega: f32, posed: &mut [PosedVertex]) {
    for edit in edits {
        let me = &mut posed[edit.vertex as usize];
        let kept = 1.0 - edit.give;
        me.load += me.rotation * Vec3::from(edit.load);
        me.stiffness = me.stiffness.map(|k| k * kept);
        me.pull = me.pull * kept + edit.stiffness;
        // Limits the step so that it stays stable with the added stiffness.
        let shorter = |step: f32| match step > 0.0 && edit.stiffness > 0.0 {
            true => 1.0 / (1.0 / step + edit.stiffness / omega),
            false => step,
        };
        me.steps = me.steps.map(shorter);
    }
}
