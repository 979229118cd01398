//! Compiles the shaders in `glsl/` to SPIR-V in `glsl/spv/`; with `--check`, only compares the bytes.

use anyhow::{Context, Result, bail};
use sinew::gpu::compile::{Compiler, digests, files, source_folder, stages};

/// File with the digests of the shader sources from which the SPIR-V was compiled.
const DIGESTS: &str = "digests.txt";

fn main() -> Result<()> {
    let check = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => bail!("unknown argument {other}; the only one is --check"),
    };
    let folder = source_folder();
    let spv = folder.join("spv");
    std::fs::create_dir_all(&spv)?;
    let compiler = Compiler::new(&folder)?;
    let (mut stale, mut failed) = (Vec::new(), 0);
    let names = stages(&folder)?;
    for name in &names {
        let words = match compiler.compile(name) {
            Ok(words) => words,
            Err(error) => {
                eprintln!("{error}");
                failed += 1;
                continue;
            }
        };
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let target = spv.join(format!("{name}.spv"));
        if std::fs::read(&target).is_ok_and(|old| old == bytes) {
            continue;
        }
        stale.push(name.clone());
        if !check {
            let parent = target.parent().context("no parent folder")?;
            std::fs::create_dir_all(parent)?;
            std::fs::write(&target, bytes).with_context(|| target.display().to_string())?;
            println!("compiled {name}");
        }
    }
    for orphan in files(&spv, &["spv"])? {
        if !names.iter().any(|name| orphan.strip_suffix(".spv") == Some(name)) {
            stale.push(orphan.clone());
            if !check {
                std::fs::remove_file(spv.join(&orphan))?;
                println!("removed {orphan}");
            }
        }
    }
    let digests = digests(&folder)?;
    if std::fs::read_to_string(spv.join(DIGESTS)).ok().as_ref() != Some(&digests) && failed == 0 {
        stale.push(DIGESTS.to_owned());
        if !check {
            std::fs::write(spv.join(DIGESTS), digests)?;
        }
    }
    if failed > 0 {
        bail!("{failed} of {} stages do not compile", names.len());
    }
    if check && !stale.is_empty() {
        bail!("stale SPIR-V: {}; run `cargo run --features shaderc --bin shaders`", stale.join(", "));
    }
    println!("{} stages up to date", names.len());
    Ok(())
}
