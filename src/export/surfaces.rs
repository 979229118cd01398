//! Sources of the surfaces of an export's keys: from memory, or computed one at a time, so that a long
//! motion needs no more memory than a short one.

use super::{Key, Shape};
use crate::base::Result;
use crate::base::math::Vec3;
use std::borrow::Cow;

/// The surfaces of an export's keys. An export requests each several times, in any order.
pub trait Surfaces {
    /// The surface at a key, by its index; `None` if the file's own skinning suffices.
    ///
    /// # Errors
    /// Errors of reading or evaluating the surface.
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>>;
}

/// A finished surface, borrowed or owned. World space, per display vertex.
#[derive(Clone, Debug)]
pub struct Surface<'a> {
    /// Positions in scene units.
    pub positions: Cow<'a, [Vec3]>,
    /// Normals of unit length.
    pub normals: Cow<'a, [Vec3]>,
}

impl Surface<'_> {
    /// A borrowed view.
    pub fn shape(&self) -> Shape<'_> {
        Shape { positions: &self.positions, normals: &self.normals }
    }
}

/// The surfaces in the keys.
impl Surfaces for &[Key<'_>] {
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>> {
        let shape = self.get(key).and_then(|k| k.shape);
        Ok(shape
            .map(|s| Surface { positions: Cow::Borrowed(s.positions), normals: Cow::Borrowed(s.normals) }))
    }
}
