//! Provides the surfaces of an export's keys. The surfaces are either all in memory, or computed one at a time. In the
//! second case, memory does not grow with the length of the motion.

use super::{Key, Shape};
use crate::base::Result;
use crate::base::math::Vec3;
use std::borrow::Cow;

/// The surfaces of an export's keys. An export requests each surface several times, in any order.
pub trait Surfaces {
    /// Returns the surface at key number `key`; `None` exports the file's own skinning alone.
    ///
    /// # Errors
    /// Reading or evaluating the surface failed.
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>>;
}

/// A final surface, borrowed or owned, in world space, per display vertex.
#[derive(Clone, Debug)]
pub struct Surface<'a> {
    /// Positions, scene units.
    pub positions: Cow<'a, [Vec3]>,
    /// Normals, unit length.
    pub normals: Cow<'a, [Vec3]>,
}

impl Surface<'_> {
    /// Returns a borrowed view of the surface.
    pub fn shape(&self) -> Shape<'_> {
        Shape { positions: &self.positions, normals: &self.normals }
    }
}

/// Surfaces stored in the keys.
impl Surfaces for &[Key<'_>] {
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>> {
        let shape = self.get(key).and_then(|k| k.shape);
        Ok(shape
            .map(|s| Surface { positions: Cow::Borrowed(s.positions), normals: Cow::Borrowed(s.normals) }))
    }
}
