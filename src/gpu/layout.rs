//! Structs that shaders and Rust share, declared once.

use super::reflect::{Reflection, StructLayout};
use crate::base::{Error, Result};
use bytemuck::Pod;

/// A field: its name, its offset in bytes, its size in bytes.
pub type FieldLayout = (&'static str, usize, usize);

/// Plain data in the layout that GLSL calls scalar. [`crate::shared_with_shaders!`] declares such structs.
pub trait Layout: Pod {
    /// The struct's name in GLSL; empty for what has no fields to name.
    const NAME: &'static str;
    /// All fields, in order.
    const FIELDS: &'static [FieldLayout];
}

impl Layout for () {
    const NAME: &'static str = "";
    const FIELDS: &'static [FieldLayout] = &[];
}

impl Layout for u32 {
    const NAME: &'static str = "";
    const FIELDS: &'static [FieldLayout] = &[];
}

impl Layout for f32 {
    const NAME: &'static str = "";
    const FIELDS: &'static [FieldLayout] = &[];
}

/// Declares structs that a shader reads or writes: `struct GpuHit as "Hit" { part: u32 }`, where GLSL has a struct or a
/// block `Hit`. Push constants are compared with the shader at every dispatch of a debug build, others by
/// [`Reflection::check`].
#[macro_export]
macro_rules! shared_with_shaders {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident as $glsl:literal {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty),* $(,)?
    })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type),*
        }

        impl $crate::gpu::Layout for $name {
            const NAME: &'static str = $glsl;
            const FIELDS: &'static [$crate::gpu::FieldLayout] =
                &[$((stringify!($field), std::mem::offset_of!(Self, $field), size_of::<$type>())),*];
        }
    )*};
}

impl Reflection {
    /// Checks that `T` has the layout of the GLSL struct or block of its name: every field's name, offset and size, in
    /// order, and the total size (without a run-time array at the end).
    ///
    /// # Errors
    /// Names the first difference.
    pub fn check<T: Layout>(&self) -> Result<()> {
        let wrong = |problem: String| {
            Error::gpu(
                format!("{}: {}: {problem}", self.name, T::NAME),
                "make the GLSL and the Rust struct agree (scalar layout)",
            )
        };
        let layout = self.layout(T::NAME).ok_or_else(|| wrong("no struct or block of that name".into()))?;
        differs::<T>(layout).map_or(Ok(()), |problem| Err(wrong(problem)))
    }
}

/// What differs first between the struct of Rust and that of GLSL.
pub(super) fn differs<T: Layout>(layout: &StructLayout) -> Option<String> {
    for (index, (field, &(rust, offset, size))) in layout.fields.iter().zip(T::FIELDS).enumerate() {
        if field.name != rust || field.offset as usize != offset || field.size as usize != size {
            return Some(format!(
                "field {index} is {} at {} ({} bytes) in GLSL, {rust} at {offset} ({size} bytes) in Rust",
                field.name, field.offset, field.size
            ));
        }
    }
    let same = layout.fields.len() == T::FIELDS.len() && layout.size as usize == size_of::<T>();
    (!same).then(|| {
        let (fields, bytes) = (layout.fields.len(), layout.size);
        let (ours, size) = (T::FIELDS.len(), size_of::<T>());
        format!("{fields} fields, {bytes} bytes in GLSL; {ours} fields, {size} bytes in Rust")
    })
}
