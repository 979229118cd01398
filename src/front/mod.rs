//! front

pub mod bind;
pub mod inspect;
