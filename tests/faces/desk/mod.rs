//! The window, from end to end: `sinew edit` on a real X server (Xvfb), moved by X's own test events, looked at by
//! screenshots, with Vulkan's validation layer switched on. Nothing in between knows that it is a test.

mod bed;
mod drop;
mod first;
mod flesh;
mod looking;
mod motion;
mod opening;
mod posing;
mod stage;
mod whole;
