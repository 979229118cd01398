//! Vertex attributes of a primitive, from accessors.

use super::accessor::{Accessor, Component};
use super::context::{Context, Item};
use crate::asset::limits;
use crate::base::Result;
use crate::base::math::{Vec2, Vec3, Vec4};

/// Attributes of a primitive or of a morph target: an object of accessor indices by semantic.
pub(super) struct Attributes<'c> {
    item: Item<'c>,
    /// Vertices; every attribute must have as many elements.
    vertices: Option<usize>,
}

impl<'c> Attributes<'c> {
    /// `vertices`: the count that each attribute must have, none for "as POSITION has".
    pub fn new(item: Item<'c>, vertices: Option<usize>) -> Self {
        Self { item, vertices }
    }

    /// Fixes the number of vertices.
    pub fn set_vertices(&mut self, vertices: usize) {
        self.vertices = Some(vertices);
    }

    /// The numbers `n` of all `PREFIX_n`, ascending.
    pub fn sets(&self, prefix: &str) -> Vec<u32> {
        let number = |key: &String| key.strip_prefix(prefix)?.strip_prefix('_')?.parse().ok();
        let mut sets: Vec<u32> = self.item.map.keys().filter_map(number).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Whether the semantic is there.
    pub fn has(&self, semantic: &str) -> bool {
        self.item.map.contains_key(semantic)
    }

    /// Opens an attribute with one of the given widths, none where it is absent.
    pub fn open(&self, semantic: &str, widths: &[usize]) -> Result<Option<Accessor<'c>>> {
        let ctx: &'c Context<'c> = self.item.ctx;
        let count = ctx.table("accessors", limits::ACCESSORS)?.len();
        let Some(index) = self.item.index(semantic, count, "accessor")? else { return Ok(None) };
        let accessor = Accessor::open(ctx, index)?;
        if !widths.contains(&accessor.width) {
            return Err(self.wrong(semantic, &format!("it has {} components", accessor.width)));
        }
        if accessor.component == Component::U32 {
            return Err(self.wrong(semantic, "32-bit integers are not allowed"));
        }
        if let Some(vertices) = self.vertices
            && accessor.count != vertices
        {
            return Err(self.wrong(semantic, &format!("{} elements for {vertices} vertices", accessor.count)));
        }
        Ok(Some(accessor))
    }

    /// A three-component attribute.
    pub fn vec3(&self, semantic: &str) -> Result<Option<Vec<Vec3>>> {
        let Some(accessor) = self.open(semantic, &[3])? else { return Ok(None) };
        let floats = accessor.floats()?;
        Ok(Some(floats.chunks_exact(3).map(Vec3::from_slice).collect()))
    }

    /// A two-component attribute; what is not finite becomes zero and is told.
    pub fn vec2(&self, semantic: &str) -> Result<Option<Vec<Vec2>>> {
        let Some(accessor) = self.open(semantic, &[2])? else { return Ok(None) };
        let mut out: Vec<Vec2> = accessor.floats()?.chunks_exact(2).map(Vec2::from_slice).collect();
        let wrong = mend_all(&mut out, |v| v.is_finite(), Vec2::ZERO);
        self.told(semantic, wrong, "not finite and became zero");
        Ok(Some(out))
    }

    /// Colours, three or four components; what is not finite becomes white and is told. Linear, clamped to
    /// non-negative values.
    pub fn color(&self, semantic: &str) -> Result<Option<Vec<Vec4>>> {
        let Some(accessor) = self.open(semantic, &[3, 4])? else { return Ok(None) };
        // Integer colours must be normalised; some exporters forget the flag.
        let floats = accessor.floats_as(true)?;
        let rgba = |c: &[f32]| Vec4::new(c[0], c[1], c[2], c.get(3).copied().unwrap_or(1.0)).max(Vec4::ZERO);
        let mut out: Vec<Vec4> = floats.chunks_exact(accessor.width).map(rgba).collect();
        let wrong = mend_all(&mut out, |v| v.is_finite(), Vec4::ONE);
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

/// Replaces what is not good and counts it.
pub(super) fn mend_all<T: Copy>(values: &mut [T], good: impl Fn(&T) -> bool, mended: T) -> usize {
    let mut count = 0;
    for value in values.iter_mut().filter(|v| !good(v)) {
        *value = mended;
        count += 1;
    }
    count
}
