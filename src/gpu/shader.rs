//! Shader stages: the SPIR-V embedded in the program, or, in a debug build with feature `shaderc`, SPIR-V
//! compiled from `glsl/` if the sources differ from those of the embedded SPIR-V.
//!
//! Compiling GLSL needs shaderc, a C++ library that builds for about 7 minutes on two cores before the
//! first line of Rust is compiled. The SPIR-V is therefore committed in `glsl/spv`, with a digest of each
//! stage's sources, and shaderc is an optional feature. `tools/shaders` compiles `glsl/`. `tools/test`
//! compiles all of it again and compares byte for byte, so a stale shader fails the tests.

use crate::base::{Error, Result};

/// A shader stage: its name under `glsl/` and its committed SPIR-V. Created by [`crate::spv!`].
#[derive(Clone, Copy, Debug)]
pub struct Spv {
    /// Name, e.g. `deform/lbs.comp`.
    pub name: &'static str,
    /// Content of the file `glsl/spv/{name}.spv`.
    pub bytes: &'static [u8],
}

/// Embeds `glsl/spv/NAME.spv`: `spv!("deform/lbs.comp")`.
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
    /// The SPIR-V words to use: the embedded ones, or newly compiled ones if hot reload is on and the
    /// sources have changed.
    ///
    /// Errors on a stage that does not compile, or on invalid SPIR-V.
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

    /// When the newest of the GLSL files was written; `None` if hot reload is off. Includes are not tracked one
    /// by one: a change of any file under `glsl/lib` or `glsl/types` counts for every stage.
    pub fn modified(&self) -> Option<std::time::SystemTime> {
        #[cfg(all(feature = "shaderc", debug_assertions))]
        {
            let folder = super::compile::source_folder();
            let all = super::compile::sources(&folder, self.name).unwrap_or_default();
            return all.iter().filter_map(|f| std::fs::metadata(folder.join(f)).ok()?.modified().ok()).max();
        }
        #[allow(unreachable_code, reason = "the other half of the cfg above")]
        None
    }
}

/// SPIR-V words from a file's bytes. Errors unless these are whole words that start with SPIR-V's magic number.
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
