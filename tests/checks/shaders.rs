//! The shaders without a GPU: every stage has its SPIR-V and reflects, none is orphaned; with feature `shaderc`,
//! the committed SPIR-V is what the sources compile to.

use sinew::gpu::compile::{files, source_folder, stages};
use sinew::gpu::{Reflection, words_of};

#[test]
fn every_stage_has_its_spirv_and_reflects() {
    let folder = source_folder();
    let names = stages(&folder).unwrap();
    assert!(!names.is_empty());
    for name in &names {
        let path = folder.join("spv").join(format!("{name}.spv"));
        let bytes =
            std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}; compile the shaders", path.display()));
        let reflection = Reflection::new(name, &words_of(name, &bytes).unwrap()).unwrap();
        for binding in &reflection.bindings {
            assert!(!binding.name.is_empty(), "{name}: {binding:?}");
        }
        // Limits that every Vulkan device guarantees.
        assert!(
            reflection.push.is_none_or(|p| p.size <= 128),
            "{name}: more than 128 bytes of push constants"
        );
        assert!(reflection.local_size.iter().product::<u32>() <= 1024, "{name}");
    }
}

#[test]
fn no_spirv_is_orphaned() {
    let folder = source_folder();
    let names = stages(&folder).unwrap();
    for file in files(&folder.join("spv"), &["spv"]).unwrap() {
        assert!(names.iter().any(|n| file == format!("{n}.spv")), "glsl/spv/{file} has no source");
    }
}

/// Returns all Rust sources below a folder as one text.
fn sources(folder: &std::path::Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let texts = entries.map(|path| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(e) if e == "rs" => std::fs::read_to_string(&path).unwrap(),
        _ => String::new(),
    });
    texts.collect()
}

/// Returns the stages that no source embeds.
fn unused<'a>(names: &'a [String], sources: &str) -> Vec<&'a String> {
    names.iter().filter(|name| !sources.contains(&format!("spv!(\"{name}\")"))).collect()
}

#[test]
fn every_stage_has_a_user() {
    let mut names = stages(&source_folder()).unwrap();
    let sources = sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert_eq!(unused(&names, &sources), Vec::<&String>::new(), "stages that nothing uses: remove them");
    names.push("deform/forgotten.comp".into());
    assert_eq!(unused(&names, &sources), ["deform/forgotten.comp"]);
}

#[cfg(feature = "shaderc")]
#[test]
fn the_committed_spirv_is_what_the_sources_compile_to() {
    let folder = source_folder();
    let compiler = sinew::gpu::compile::Compiler::new(&folder).unwrap();
    for name in stages(&folder).unwrap() {
        let fresh: Vec<u8> = compiler.compile(&name).unwrap().iter().flat_map(|w| w.to_le_bytes()).collect();
        let committed = std::fs::read(folder.join("spv").join(format!("{name}.spv"))).unwrap();
        assert!(fresh == committed, "{name}: run `cargo run --features shaderc --bin shaders`");
    }
    let digests = std::fs::read_to_string(folder.join("spv/digests.txt")).unwrap();
    assert!(digests == sinew::gpu::compile::digests(&folder).unwrap(), "run tools/shaders");
}
