//! The CPU reference of the display positions and normals.

use super::bind::{Surface, face_cross};
use super::normal_frame::SourceNormal;
use crate::base::math::Vec3;
use crate::deform::lbs;
use crate::rig::PosedRig;
use rayon::prelude::*;

/// The drawn surface in world space.
#[derive(Clone, Debug, Default)]
pub struct Display {
    /// Position per display vertex, metres.
    pub positions: Vec<Vec3>,
    /// Normal per display vertex, unit length.
    pub normals: Vec<Vec3>,
    faces: Vec<Vec3>,
}

impl Surface {
    /// Computes positions and normals of the display vertices from posed control vertices. `morph` is either empty or
    /// the displacement of every display vertex in bind space, metres.
    pub fn reference(&self, rig: &PosedRig, control: &[Vec3], morph: &[Vec3], out: &mut Display) {
        let character = &self.character;
        let display = &character.display;
        out.positions.resize(display.positions.len(), Vec3::ZERO);
        out.positions.par_iter_mut().enumerate().for_each(|(d, out)| {
            let c = display.control_of[d] as usize;
            *out = control[c];
            if let Some(&delta) = morph.get(d)
                && delta != Vec3::ZERO
            {
                *out += lbs::linear_parts(&character.control.influences, c, rig) * delta;
            }
        });
        let positions = &out.positions;
        out.faces.resize(display.triangles.len(), Vec3::ZERO);
        out.faces
            .par_iter_mut()
            .zip(&display.triangles)
            .for_each(|(out, &t)| *out = face_cross(positions, t));
        let faces = &out.faces;
        out.normals.resize(display.positions.len(), Vec3::Y);
        out.normals.par_iter_mut().enumerate().for_each(|(d, out)| *out = self.normal(d, positions, faces));
    }

    fn normal(&self, vertex: usize, positions: &[Vec3], crosses: &[Vec3]) -> Vec3 {
        let [offset, count] = self.range[vertex].map(|v| v as usize);
        let sum: Vec3 = self.faces[offset..offset + count].iter().map(|&f| crosses[f as usize]).sum();
        let Some(normal) = sum.try_normalize() else {
            // If a vertex has no faces, or if their normals cancel out, it falls back to the bind normal.
            return self.character.display.normals[vertex].normalize_or(Vec3::Y);
        };
        let source = &self.source[vertex];
        if source.toward == SourceNormal::NONE {
            return normal;
        }
        source.decode(normal, positions[source.toward as usize] - positions[vertex])
    }
}
