//! Compiles GLSL to SPIR-V with shaderc, for shader development (feature `shaderc`).
//!
//! `glsl/**/*.{comp,vert,frag,geom}` become `glsl/spv/**/*.spv`. The path in `#include "lib/x.glsl"` is relative to
//! `glsl/`. Every stage sees the constants of [`super::constants`] as macros. The SPIR-V keeps debug names, which
//! reflection needs, but no source text and no line tables.

#[cfg(feature = "shaderc")]
use super::constants;
use crate::base::{Error, Result};
use std::path::{Path, PathBuf};

/// Returns the folder of the GLSL sources in the source tree from which this program was built.
pub fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl")
}

/// Returns the names of all shader stages under `folder`, e.g. `deform/lbs.comp`, sorted.
pub fn stages(folder: &Path) -> Result<Vec<String>> {
    files(folder, &["comp", "vert", "tesc", "tese", "frag", "geom"])
}

/// Returns the paths of all files with these extensions under `folder`, relative to it, `/`-separated and sorted.
pub fn files(folder: &Path, extensions: &[&str]) -> Result<Vec<String>> {
    fn walk(root: &Path, folder: &Path, extensions: &[&str], out: &mut Vec<String>) -> Result<()> {
        for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
            let path = entry.map_err(|e| Error::io(folder, e))?.path();
            if path.is_dir() {
                walk(root, &path, extensions, out)?;
            } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e))
                && let Ok(relative) = path.strip_prefix(root)
            {
                out.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
        Ok(())
    }
    let mut out = Vec::new();
    walk(folder, folder, extensions, &mut out)?;
    out.sort();
    Ok(out)
}

/// Returns the files that a stage may depend on: its source and every file that it could include.
#[cfg(feature = "shaderc")]
pub(super) fn sources(folder: &Path, name: &str) -> Result<Vec<String>> {
    let mut out = files(folder, &["glsl"])?;
    out.push(name.to_owned());
    Ok(out)
}

/// Returns the digest list of the committed SPIR-V: one line per stage with the digest of its sources and its name.
#[cfg(feature = "shaderc")]
pub fn digests(folder: &Path) -> Result<String> {
    let line = |name: &String| Ok(format!("{} {name}\n", digest(folder, name)?));
    stages(folder)?.iter().map(line).collect()
}

/// Returns the digest of a stage's inputs: its sources and the shared constants.
#[cfg(feature = "shaderc")]
pub(super) fn digest(folder: &Path, name: &str) -> Result<String> {
    let mut hash = blake3::Hasher::new();
    for (name, value) in constants::SHARED {
        hash.update(format!("{name}={value}\n").as_bytes());
    }
    for file in &sources(folder, name)? {
        let path = folder.join(file);
        let source = std::fs::read(&path).map_err(|e| Error::io(&path, e))?;
        hash.update(format!("{file} {}\n", source.len()).as_bytes()).update(&source);
    }
    Ok(hash.finalize().to_hex()[..32].to_owned())
}

/// A shaderc compiler with this project's options.
#[cfg(feature = "shaderc")]
pub struct Compiler {
    compiler: shaderc::Compiler,
    folder: PathBuf,
}

#[cfg(feature = "shaderc")]
impl Compiler {
    /// Creates a compiler for the stages under `folder`. Fails if shaderc cannot start.
    pub fn new(folder: &Path) -> Result<Self> {
        let compiler = shaderc::Compiler::new()
            .map_err(|e| Error::gpu(format!("shaderc cannot start: {e}"), "build without feature shaderc"))?;
        Ok(Self { compiler, folder: folder.to_owned() })
    }

    /// Compiles a stage, e.g. `deform/lbs.comp`, to SPIR-V. Errors contain shaderc's messages with file and line.
    pub fn compile(&self, name: &str) -> Result<Vec<u32>> {
        let path = self.folder.join(name);
        let source = std::fs::read_to_string(&path).map_err(|e| Error::io(&path, e))?;
        let kind = match path.extension().and_then(|e| e.to_str()) {
            Some("comp") => shaderc::ShaderKind::Compute,
            Some("vert") => shaderc::ShaderKind::Vertex,
            Some("tesc") => shaderc::ShaderKind::TessControl,
            Some("tese") => shaderc::ShaderKind::TessEvaluation,
            Some("frag") => shaderc::ShaderKind::Fragment,
            Some("geom") => shaderc::ShaderKind::Geometry,
            _ => {
                return Err(Error::input(
                    format!("{name} is no shader stage"),
                    "name a .comp, .vert, .tesc, .tese, .frag or .geom",
                ));
            }
        };
        let binary = self
            .compiler
            .compile_into_spirv(&source, kind, name, "main", Some(&self.options()?))
            .map_err(|e| Error::input(format!("{name} does not compile:\n{e}"), "mend the shader"))?;
        Ok(strip_sources(binary.as_binary()))
    }

    fn options(&self) -> Result<shaderc::CompileOptions<'_>> {
        let mut options = shaderc::CompileOptions::new().map_err(|e| {
            Error::gpu(format!("shaderc gives no options: {e}"), "build without feature shaderc")
        })?;
        options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_3 as u32);
        options.set_optimization_level(shaderc::OptimizationLevel::Performance);
        options.set_generate_debug_info();
        options.set_warnings_as_errors();
        for (name, value) in constants::SHARED {
            options.add_macro_definition(name, Some(&format!("{value}u")));
        }
        options.set_include_callback(|requested, _, from, _| {
            let path = self.folder.join(requested);
            let content = std::fs::read_to_string(&path)
                .map_err(|e| format!("{from}: cannot include {requested}: {e}"))?;
            Ok(shaderc::ResolvedInclude { resolved_name: requested.to_owned(), content })
        });
        Ok(options)
    }
}

/// Removes OpSourceContinued, OpSource, OpString, OpLine, OpNoLine and OpModuleProcessed, but keeps debug names.
#[cfg(feature = "shaderc")]
fn strip_sources(words: &[u32]) -> Vec<u32> {
    const SOURCES: [u32; 6] = [2, 3, 7, 8, 317, 330];
    let mut out = words[..5].to_vec();
    let mut at = 5;
    while at < words.len() {
        let count = ((words[at] >> 16) as usize).max(1);
        let end = (at + count).min(words.len());
        if !SOURCES.contains(&(words[at] & 0xffff)) {
            out.extend_from_slice(&words[at..end]);
        }
        at = end;
    }
    out
}
