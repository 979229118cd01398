//! Numbers that Rust and GLSL share. Rust owns them; every shader sees them as macros of the same name.

macro_rules! shared {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        /// All of them, as they are handed to the shader compiler.
        pub const SHARED: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

shared! {
    /// Invocations per group of one-dimensional compute stages: `layout(local_size_x = GROUP_SIZE)`.
    GROUP_SIZE = 64;
    /// Marks an absent index.
    NONE = u32::MAX;
}
