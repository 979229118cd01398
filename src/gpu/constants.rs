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

    /// Spring iteration flag: starts from the forces that a finer level wants.
    SPRING_TAKE = 1;
    /// Spring iteration flag: keeps the forces for a coarser level.
    SPRING_KEEP = 2;
    /// Spring iteration flag: the stop test asks for the largest force or move.
    SPRING_LARGEST = 4;
    /// Spring iteration flag: the force, not the move.
    SPRING_FORCE = 8;
    /// Spring iteration flag: the stop test asks for the springs' work.
    SPRING_WORK = 16;
    /// Spring edit mode: the load of a posed vertex, not its stiffness.
    SPRING_EDIT_LOAD = 1;
    /// Spring edit mode: stiffness has been found again without the edits.
    SPRING_EDIT_FRESH = 2;
    /// Subgroups per group at most: [`GROUP_SIZE`] over the smallest subgroup there is.
    SPRING_SUBGROUPS = 16;

    /// Material flag: fragments below the cutoff are left out.
    MATERIAL_MASK = 1;
    /// Material flag: blended.
    MATERIAL_BLEND = 2;
    /// Material flag: the base colour is shown as it is.
    MATERIAL_UNLIT = 4;
    /// Material flag: there is a base colour texture.
    MATERIAL_BASE_COLOR_TEXTURE = 8;
    /// Material flag: there is a metallic-roughness texture.
    MATERIAL_METALLIC_ROUGHNESS_TEXTURE = 16;
    /// Material flag: there is a normal map.
    MATERIAL_NORMAL_TEXTURE = 32;
    /// Material flag: there is an emissive texture.
    MATERIAL_EMISSIVE_TEXTURE = 64;
    /// Material flag: the base colour texture uses the second texture coordinates.
    MATERIAL_BASE_COLOR_UV1 = 128;
    /// Material flag: the metallic-roughness texture uses the second texture coordinates.
    MATERIAL_METALLIC_ROUGHNESS_UV1 = 256;
    /// Material flag: the normal map uses the second texture coordinates.
    MATERIAL_NORMAL_UV1 = 512;
    /// Material flag: the emissive texture uses the second texture coordinates.
    MATERIAL_EMISSIVE_UV1 = 1024;

    /// Segment flag: goes on from the one before it in the list.
    SEGMENT_JOINED_BEFORE = 1;
    /// Segment flag: the next in the list goes on from it.
    SEGMENT_JOINED_AFTER = 2;

    /// Look flag: the key light casts shadows.
    LOOK_SHADOW = 1;
    /// Look flag: there is a floor.
    LOOK_FLOOR = 2;
    /// Look flag: the triangles' edges are drawn.
    LOOK_WIRE = 4;

    /// Silhouette filter: over the normals.
    SILHOUETTE_NORMAL = 0;
    /// Silhouette filter: over the depth.
    SILHOUETTE_DEPTH = 1;
    /// Silhouette filter: over the positions.
    SILHOUETTE_POSITION = 2;
}
