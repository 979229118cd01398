//! anim
