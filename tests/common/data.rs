//! Where the shared data lies: see [`sinew::base::testing`].

pub use sinew::base::testing::shared;
