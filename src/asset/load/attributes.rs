//! Reads the vertex attributes of a primitive from accessors.

use super::accessor::{Accessor, Component};
use super::context::{Context, in_range};
use super::draco::Draco;
use super::item::Item;
use crate::asset::limits;
use crate::base::Result;
use crate::base::math::{Vec2, Vec3, Vec4};

/// Attributes of a primitive or morph target: a JSON object that maps semantics to accessor indices.
pub(super) struct Attributes<'c> {
    item: Item<'c>,
    /// Number of vertices, the required number of elements of every attribute.
    vertices: Option<usize>,
    /// Draco bitstream that replaces the accessors' data for some attributes.
    draco: Option<&'c Draco<'c>>,
}

impl<'c> Attributes<'c> {
    /// Creates the reader. `vertices` is the required number of elements; `None` if POSITION determines it later.
    pub fn new(item: Item<'c>, vertices: Option<usize>) -> Self {
        Self { item, vertices, draco: None }
    }

    /// Creates the reader for a Draco-compressed primitive.
    pub fn compressed(item: Item<'c>, draco: &'c Draco<'c>) -> Self {
        Self { item, vertices: Some(draco.vertices()), draco: Some(draco) }
    }

    /// Sets the number of vertices, once POSITION was read.
    pub fn set_vertices(&mut self, vertices: usize) {
        self.vertices = Some(vertices);
    }

    /// Returns the numbers `n` of all semantics `PREFIX_n`, ascending.
    pub fn sets(&self, prefix: &str) -> Vec<u32> {
        let number = |key: &String| key.strip_prefix(prefix)?.strip_prefix('_')?.parse().ok();
        let mut sets: Vec<u32> = self.item.map.keys().filter_map(number).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Returns whether the semantic is present.
    pub fn has(&self, semantic: &str) -> bool {
        self.item.map.contains_key(semantic)
    }

    /// Returns component count and values of an attribute; `None` if absent. Integers are normalised if the accessor
    /// or `fractions` requires it.
    ///
    /// # Errors
    /// The component count is not in `widths`, the element count is not the vertex count, or the data is malformed.
    pub fn floats(
        &self,
        semantic: &str,
        widths: &[usize],
        fractions: bool,
    ) -> Result<Option<(usize, Vec<f32>)>> {
        let Some(accessor) = self.open(semantic)? else { return Ok(None) };
        let fractions = fractions || accessor.normalized;
        let (width, floats) = match self.draco.map(|d| d.values(semantic)).transpose()?.flatten() {
            Some((width, mut floats)) => {
                if fractions && accessor.component != Component::F32 {
                    let scale = accessor.component.scale();
                    floats.iter_mut().for_each(|v| *v = (*v * scale).max(-1.0));
                }
                (width, floats)
            }
            None => {
                self.check_count(semantic, accessor.count)?;
                (accessor.width, accessor.floats_as(fractions)?)
            }
        };
        self.check_width(semantic, width, widths)?;
        Ok(Some((width, floats)))
    }

    /// Returns the values of an unsigned integer attribute with `width` components; `None` if absent.
    ///
    /// # Errors
    /// The errors of [`Self::floats`]; or the attribute does not hold unsigned bytes or shorts.
    pub fn wholes(&self, semantic: &str, width: usize) -> Result<Option<Vec<u32>>> {
        let Some(accessor) = self.open(semantic)? else { return Ok(None) };
        if !matches!(accessor.component, Component::U8 | Component::U16) {
            return Err(self.wrong(semantic, "it must hold unsigned bytes or shorts"));
        }
        let (have, values) = match self.draco.map(|d| d.values(semantic)).transpose()?.flatten() {
            // Casts saturate. The caller checks joint indices against the skin.
            Some((width, floats)) => (width, floats.iter().map(|v| *v as u32).collect()),
            None => {
                self.check_count(semantic, accessor.count)?;
                (accessor.width, accessor.wholes()?)
            }
        };
        self.check_width(semantic, have, &[width])?;
        Ok(Some(values))
    }

    fn open(&self, semantic: &str) -> Result<Option<Accessor<'c>>> {
        let ctx: &'c Context<'c> = self.item.ctx;
        let count = ctx.table("accessors", limits::ACCESSORS)?.len();
        let Some(index) = self.item.index(semantic, count, "accessor")? else { return Ok(None) };
        let accessor = Accessor::open(ctx, index)?;
        if accessor.component == Component::U32 {
            return Err(self.wrong(semantic, "32-bit integers are not allowed"));
        }
        Ok(Some(accessor))
    }

    fn check_width(&self, semantic: &str, width: usize, widths: &[usize]) -> Result<()> {
        if widths.contains(&width) {
            Ok(())
        } else {
            Err(self.wrong(semantic, &format!("it has {width} components")))
        }
    }

    fn check_count(&self, semantic: &str, count: usize) -> Result<()> {
        match self.vertices {
            Some(vertices) if vertices != count => {
                Err(self.wrong(semantic, &format!("{count} elements for {vertices} vertices")))
            }
            _ => Ok(()),
        }
    }

    /// Reads an attribute with three components.
    pub fn vec3(&self, semantic: &str) -> Result<Option<Vec<Vec3>>> {
        let Some((_, floats)) = self.floats(semantic, &[3], false)? else { return Ok(None) };
        Ok(Some(floats.chunks_exact(3).map(Vec3::from_slice).collect()))
    }

    /// Reads an attribute with two components. Values that are not finite become zero and are reported.
    pub fn vec2(&self, semantic: &str) -> Result<Option<Vec<Vec2>>> {
        let Some((_, floats)) = self.floats(semantic, &[2], false)? else { return Ok(None) };
        let mut out: Vec<Vec2> = floats.chunks_exact(2).map(Vec2::from_slice).collect();
        let wrong = mend_all(&mut out, |v| in_range(&v.to_array()), Vec2::ZERO);
        self.told(semantic, wrong, "not finite and became zero");
        Ok(Some(out))
    }

    /// Reads linear colours with three or four components, clamped to non-negative values. Values that are not finite
    /// become white and are reported.
    pub fn color(&self, semantic: &str) -> Result<Option<Vec<Vec4>>> {
        // glTF defines integer colours as normalised, but some exporters omit the flag.
        let Some((width, floats)) = self.floats(semantic, &[3, 4], true)? else { return Ok(None) };
        let rgba = |c: &[f32]| Vec4::new(c[0], c[1], c[2], c.get(3).copied().unwrap_or(1.0));
        let mut out: Vec<Vec4> = floats.chunks_exact(width).map(rgba).collect();
        let wrong = mend_all(&mut out, |v| v.is_finite(), Vec4::ONE);
        out.iter_mut().for_each(|v| *v = v.max(Vec4::ZERO));
        self.told(semantic, wrong, "not finite and became white");
        Ok(Some(out))
    }

    fn told(&self, semantic: &str, wrong: usize, how: &str) {
        if wrong > 0 {
            self.item.mend(format!("{semantic}: {wrong} values were {how}"));
        }
    }

    fn wrong(&self, semantic: &str, problem: &str) -> crate::base::Error {
        self.item.broken(format!("{semantic}: {problem}"))
    }
}

/// Replaces invalid values and returns the number of replacements.
pub(super) fn mend_all<T: Copy>(values: &mut [T], good: impl Fn(&T) -> bool, mended: T) -> usize {
    let mut count = 0;
    for value in values.iter_mut().filter(|v| !good(v)) {
        *value = mended;
        count += 1;
    }
    count
}
