//! Typed indices, so that the compiler rejects the index of a node where a joint is expected.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the position in the vector that this id indexes.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(index: usize) -> Self {
                Self(index as u32)
            }
        }
    )*};
}

ids! {
    /// A node of the glTF file's hierarchy, in file order.
    NodeId,
    /// A mesh of the glTF file.
    MeshId,
    /// A skin of the glTF file.
    SkinId,
    /// A material of the glTF file.
    MaterialId,
    /// A texture of the glTF file.
    TextureId,
    /// An image of the glTF file.
    ImageId,
    /// A joint of the skeleton, with a skinning transform; see [`crate::rig::Skeleton::joints`].
    JointId,
    /// A bone of the skeleton: the segment from a joint to one of its children or to its tip.
    BoneId,
    /// A stroke layer of a document.
    StrokeId,
    /// A mark on the skin, in a document.
    MarkId,
    /// A sculpt layer in a document.
    SculptId,
    /// A drawn chain of bones in a document.
    ChainId,
    /// A grip on the skin, in a document.
    GripId,
    /// A firm or soft region of the skin, in a document.
    FirmId,
}
