//! Constants that Rust and GLSL share. Rust defines them; shaders see them as macros of the same name.

macro_rules! shared {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        /// All shared constants, as passed to the shader compiler.
        pub const SHARED: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

shared! {
    /// Invocations per workgroup of one-dimensional compute stages: `layout(local_size_x = GROUP_SIZE)`.
    GROUP_SIZE = 64;
    /// Index value that means "no element".
    NONE = u32::MAX;

    /// Spring iteration flag: changes the loads of this level's vertices so that their forces equal the restricted
    /// forces of the finer level.
    SPRING_TAKE = 1;
    /// Spring iteration flag: stores the forces of this level's vertices, from which the coarser level computes its
    /// load.
    SPRING_KEEP = 2;
    /// Spring iteration flag: the convergence test uses the largest force or displacement of a vertex.
    SPRING_LARGEST = 4;
    /// Spring iteration flag: the convergence test uses forces instead of displacements.
    SPRING_FORCE = 8;
    /// Spring iteration flag: the convergence test uses the work of the springs.
    SPRING_WORK = 16;
    /// Spring edit flag: adds the edit's load to the load of the posed vertex and leaves the vertex's stiffness
    /// unchanged.
    SPRING_EDIT_LOAD = 1;
    /// Spring edit flag: the stiffness without edits was recomputed, so the stored copy must be replaced.
    SPRING_EDIT_FRESH = 2;
    /// Maximum number of subgroups per workgroup: [`GROUP_SIZE`] divided by the smallest possible subgroup size.
    SPRING_SUBGROUPS = 16;

    /// Material flag: fragments with alpha below the cutoff are discarded.
    MATERIAL_MASK = 1;
    /// Material flag: the material is alpha-blended.
    MATERIAL_BLEND = 2;
    /// Material flag: the base colour is shown without lighting.
    MATERIAL_UNLIT = 4;
    /// Material flag: the material has a base colour texture.
    MATERIAL_BASE_COLOR_TEXTURE = 8;
    /// Material flag: the material has a metallic-roughness texture.
    MATERIAL_METALLIC_ROUGHNESS_TEXTURE = 16;
    /// Material flag: the material has a normal map.
    MATERIAL_NORMAL_TEXTURE = 32;
    /// Material flag: the material has an emissive texture.
    MATERIAL_EMISSIVE_TEXTURE = 64;
    /// Material flag: the base colour texture uses the second set of texture coordinates.
    MATERIAL_BASE_COLOR_UV1 = 128;
    /// Material flag: the metallic-roughness texture uses the second set of texture coordinates.
    MATERIAL_METALLIC_ROUGHNESS_UV1 = 256;
    /// Material flag: the normal map uses the second set of texture coordinates.
    MATERIAL_NORMAL_UV1 = 512;
    /// Material flag: the emissive texture uses the second set of texture coordinates.
    MATERIAL_EMISSIVE_UV1 = 1024;

    /// Line segment flag: the segment continues the previous segment of the list.
    SEGMENT_JOINED_BEFORE = 1;
    /// Line segment flag: the next segment of the list continues this segment.
    SEGMENT_JOINED_AFTER = 2;

    /// Look flag: the key light casts shadows.
    LOOK_SHADOW = 1;
    /// Look flag: a floor is drawn.
    LOOK_FLOOR = 2;
    /// Look flag: the triangle edges are drawn.
    LOOK_WIRE = 4;

    /// Look flag: the surface is shaded as clay, without its materials.
    LOOK_CLAY = 8;
    /// Look flag: the surface receives less ambient light where other parts of it are near.
    LOOK_OCCLUSION = 16;
    /// Look flag: the backdrop is transparent.
    LOOK_CLEAR = 32;

    /// Columns and rows of cells into which a panel in the world is divided.
    QUAD_CELLS = 16;

    /// Silhouette detection by normals.
    SILHOUETTE_NORMAL = 0;
    /// Silhouette detection by depth.
    SILHOUETTE_DEPTH = 1;
    /// Silhouette detection by positions.
    SILHOUETTE_POSITION = 2;
}
