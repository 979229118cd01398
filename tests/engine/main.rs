//! Tests without window and headset: files, commands, recovery, quality, real characters.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod animation;
mod bake;
mod command_line;
mod common;
mod every_file;
mod export;
mod fuzz;
mod journal_kill;
mod picking;
mod projects;
mod quality;
mod reopen;
mod shared_data_assets;
mod shared_data_bind;
mod shared_data_edit;
mod springs;
mod viewer;
