//! Typed indices, so that a node cannot be mistaken for a joint.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the vector that this id indexes.
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
    /// A node of the file's hierarchy, in file order.
    NodeId,
    /// A mesh of the file.
    MeshId,
    /// A skin of the file.
    SkinId,
    /// A material of the file.
    MaterialId,
    /// A texture of the file.
    TextureId,
    /// An image of the file.
    ImageId,
    /// A joint of the skeleton: a skinning transform, see [`crate::rig::Skeleton::joints`].
    JointId,
    /// A bone of the skeleton: a joint and one of its children or its tip.
    BoneId,
    /// A stroke layer of a document.
    StrokeId,
    /// A mark on the skin, in a document.
    MarkId,
    /// A sculpt layer in a document.
    SculptId,
}
