//! front

pub mod inspect;
