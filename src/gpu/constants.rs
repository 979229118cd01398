//! Constants of all compute stages. Rust defines them; shaders see them as macros of the same name. Other constants that
//! Rust and GLSL share belong to the module that uses them ([`crate::shared_constants!`]).

macro_rules! shared {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        /// All constants of this module, as passed to the shader compiler.
        pub const SHARED: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

shared! {
    /// Invocations per workgroup of one-dimensional compute stages: `layout(local_size_x = GROUP_SIZE)`.
    GROUP_SIZE = 64;
    /// Index value that means "no element".
    NONE = u32::MAX;
}
