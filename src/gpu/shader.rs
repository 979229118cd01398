//! Shader stages as SPIR-V. A release build uses the SPIR-V embedded in the program. A debug build with feature
//! `shaderc` compiles a stage from `glsl/` if its sources have changed since the SPIR-V was committed.
//!
//! shaderc is an optional feature because this C++ library takes about 7 minutes to build on two cores. The SPIR-V is
//! therefore committed in `glsl/spv`, with a digest of each stage's sources. `tools/shaders` compiles `glsl/`.
//! `tools/test` recompiles all stages and compares the bytes, so an outdated SPIR-V file fails the tests.

use crate::base::{Error, Result};

/// A shader stage: its name under `glsl/` and its committed SPIR-V. Created by [`crate::spv!`].
#[derive(Clone, Copy, Debug)]
pub struct Spv {
    /// Path of the source below `glsl/`, e.g. `deform/lbs.comp`.
    pub name: &'static str,
    /// Content of the file `glsl/spv/{name}.spv`.
    pub bytes: &'static [u8],
}

/// Embeds `glsl/spv/NAME.spv` as a [`crate::gpu::Spv`]: `spv!("deform/lbs.comp")`.
#[macro_export]
macro_rules! spv {
    ($name:literal) => {
        $crate::gpu::Spv {
            name: $name,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/glsl/spv/", $name, ".spv")),
        }
    };
}

impl Spv {
    /// Returns the SPIR-V words: the embedded words or, if a debug build with the feature `shaderc` finds changed sources,
    /// newly compiled words.
    ///
    /// Fails if the stage does not compile or the SPIR-V is invalid.
    pub fn words(&self) -> Result<Vec<u32>> {
        #[cfg(all(feature = "shaderc", debug_assertions))]
        {
            use super::compile::{Compiler, digest, source_folder};
            let folder = source_folder();
            let now = format!("{} {}", digest(&folder, self.name)?, self.name);
            let embedded = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/glsl/spv/digests.txt"));
            if !embedded.lines().any(|line| line == now) {
                return Compiler::new(&folder)?.compile(self.name);
            }
        }
        words_of(self.name, self.bytes)
    }
}

/// Converts a file's bytes to SPIR-V words. Fails unless they are whole words that start with the magic number.
pub fn words_of(name: &str, bytes: &[u8]) -> Result<Vec<u32>> {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    if !bytes.len().is_multiple_of(4) || words.len() < 5 || words[0] != 0x0723_0203 {
        return Err(Error::gpu(
            format!("{name}.spv is no SPIR-V"),
            "compile the shaders again (cargo run --features shaderc --bin shaders)",
        ));
    }
    Ok(words)
}
