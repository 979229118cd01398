//! Constants that Rust and GLSL share. Rust owns them; shaders see them as macros of the same name.

macro_rules! shared {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        /// All shared constants, as passed to the shader compiler.
        pub const SHARED: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

shared! {
    /// Invocations per group of one-dimensional compute stages: `layout(local_size_x = GROUP_SIZE)`.
    GROUP_SIZE = 64;
    /// Marks an absent index.
    NONE = u32::MAX;

    /// Spring iteration flag: takes over the forces that a finer level passes down.
    SPRING_TAKE = 1;
    /// Spring iteration flag: stores its forces for a coarser level.
    SPRING_KEEP = 2;
    /// Spring iteration flag: the stop test uses the largest force or move.
    SPRING_LARGEST = 4;
    /// Spring iteration flag: the stop test uses the force, not the move.
    SPRING_FORCE = 8;
    /// Spring iteration flag: the stop test uses the springs' work.
    SPRING_WORK = 16;
    /// Spring edit mode: sets the load of a posed vertex, not its stiffness.
    SPRING_EDIT_LOAD = 1;
    /// Spring edit mode: stiffness has been found again without the edits.
    SPRING_EDIT_FRESH = 2;
    /// Maximum subgroups per group: [`GROUP_SIZE`] over the smallest possible subgroup.
    SPRING_SUBGROUPS = 16;

    /// Material flag: fragments below the cutoff are discarded.
    MATERIAL_MASK = 1;
    /// Material flag: alpha blending.
    MATERIAL_BLEND = 2;
    /// Material flag: the base colour is shown without lighting.
    MATERIAL_UNLIT = 4;
    /// Material flag: has a base colour texture.
    MATERIAL_BASE_COLOR_TEXTURE = 8;
    /// Material flag: has a metallic-roughness texture.
    MATERIAL_METALLIC_ROUGHNESS_TEXTURE = 16;
    /// Material flag: has a normal map.
    MATERIAL_NORMAL_TEXTURE = 32;
    /// Material flag: has an emissive texture.
    MATERIAL_EMISSIVE_TEXTURE = 64;
    /// Material flag: the base colour texture uses the second texture coordinates.
    MATERIAL_BASE_COLOR_UV1 = 128;
    /// Material flag: the metallic-roughness texture uses the second texture coordinates.
    MATERIAL_METALLIC_ROUGHNESS_UV1 = 256;
    /// Material flag: the normal map uses the second texture coordinates.
    MATERIAL_NORMAL_UV1 = 512;
    /// Material flag: the emissive texture uses the second texture coordinates.
    MATERIAL_EMISSIVE_UV1 = 1024;

    /// Segment flag: continues the previous segment in the list.
    SEGMENT_JOINED_BEFORE = 1;
    /// Segment flag: the next segment in the list continues this one.
    SEGMENT_JOINED_AFTER = 2;

    /// Look flag: the key light casts shadows.
    LOOK_SHADOW = 1;
    /// Look flag: draws a floor.
    LOOK_FLOOR = 2;
    /// Look flag: draws the triangle edges.
    LOOK_WIRE = 4;

    /// Silhouette filter on normals.
    SILHOUETTE_NORMAL = 0;
    /// Silhouette filter on depth.
    SILHOUETTE_DEPTH = 1;
    /// Silhouette filter on positions.
    SILHOUETTE_POSITION = 2;
}
