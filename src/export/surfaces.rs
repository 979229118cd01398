//! Where the surfaces of an export's keys come from: from memory, or one after another, so that a long motion needs no more
//! memory than a short one.

use super::{Key, Shape};
use crate::base::Result;
use crate::base::math::Vec3;
use std::borrow::Cow;

/// The surfaces of an export's keys. An export asks for each several times, in any order.
pub trait Surfaces {
    /// The surface at a key, by its index; `None` if the file's own skinning is all that is wanted.
    ///
    /// # Errors
    /// Whatever reading or evaluating it finds wrong.
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>>;
}

/// A finished surface, borrowed or made for the occasion. World space, per display vertex.
#[derive(Clone, Debug)]
pub struct Surface<'a> {
    /// Scene units.
    pub positions: Cow<'a, [Vec3]>,
    /// Unit length.
    pub normals: Cow<'a, [Vec3]>,
}

impl Surface<'_> {
    /// As it is borrowed.
    pub fn shape(&self) -> Shape<'_> {
        Shape { positions: &self.positions, normals: &self.normals }
    }
}

/// What the keys themselves hold.
impl Surfaces for &[Key<'_>] {
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>> {
        let shape = self.get(key).and_then(|k| k.shape);
        Ok(shape
            .map(|s| Surface { positions: Cow::Borrowed(s.positions), normals: Cow::Borrowed(s.normals) }))
    }
}
