//! Structs that shaders and Rust share; each struct is declared once, in Rust.

use super::reflect::{Reflection, StructLayout};
use crate::base::{Error, Result};
use bytemuck::Pod;

/// A field: its name, its offset in bytes, and its size in bytes.
pub type FieldLayout = (&'static str, usize, usize);

/// Plain data in GLSL's scalar block layout. [`crate::shared_with_shaders!`] declares such structs.
pub trait Layout: Pod {
    /// The struct's name in GLSL; empty for a plain number, which has no fields.
    const NAME: &'static str;
    /// All fields, in order of declaration.
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

/// Declares structs that a shader reads or writes: `struct GpuHit as "Hit" { part: u32 }` for a GLSL struct or block
/// `Hit`. Debug builds check push constants at every dispatch; [`Reflection::check`] checks other structs.
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

/// Declares constants that a file below `glsl/` declares, too, with the same names: `"types/segment.glsl" { const JOINED:
/// u32 = 1; }`. A test compares the values. A module can use this macro once.
#[macro_export]
macro_rules! shared_constants {
    ($($file:literal { $($(#[$meta:meta])* $vis:vis const $name:ident: $type:ty = $value:expr;)+ })+) => {
        $($($(#[$meta])* $vis const $name: $type = $value;)+)+

        #[cfg(test)]
        #[test]
        fn constants_equal_those_of_the_shaders() {
            $($crate::gpu::testing::assert_constants($file, &[$((stringify!($name), $name as f32)),+]);)+
        }
    };
}

impl Reflection {
    /// Checks that `T` has the layout of the GLSL struct or block of the same name. Compares the name, offset and size
    /// of every field, in order. Also compares the total size, without a run-time array at the end.
    ///
    /// # Errors
    /// The error describes the first difference.
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

/// Describes the first difference between the Rust struct and the GLSL struct; `None` if their layouts are equal.
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
