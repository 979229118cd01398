//! Characters for the export tests.

use sinew::asset::Asset;
use sinew::base::testing::shared;
use sinew::bind::shapes::Shape;
use std::path::PathBuf;

/// Exports a capsule of 1.8 m with four bones and returns the reloaded file.
pub fn generated() -> Asset {
    let shape = Shape { bones: 4, rings: 60, segments: 24, radius: 0.15, length: 1.8, blend: 0.5 };
    let glb = sinew::export::unedited(&shape.capsule_asset()).unwrap();
    Asset::from_slice(&glb, "capsule.glb").unwrap()
}

/// Returns all glTF files of the shared data up to a size in bytes, in a fixed order.
pub fn all_files(most_bytes: u64) -> Vec<PathBuf> {
    let (mut folders, mut out) = (shared("").into_iter().collect::<Vec<_>>(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "glb" || e == "gltf")
                && entry.metadata().is_ok_and(|m| m.len() <= most_bytes)
            {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Returns a file of the shared data; `None`, with a printed line, if it is absent.
pub fn load_data(name: &str) -> Option<Asset> {
    Some(Asset::load(&shared(name)?).unwrap())
}

/// Returns characters of the shared data. Unless `posable`, they include unusual files.
pub fn data_files(posable: bool) -> Vec<(PathBuf, Asset)> {
    let characters = [
        "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        "khronos/Fox/glTF-Binary/Fox.glb",
        "khronos/RiggedSimple/glTF-Embedded/RiggedSimple.gltf",
        "khronos/SimpleSkin/glTF/SimpleSkin.gltf",
        "khronos/AnimatedMorphCube/glTF-Binary/AnimatedMorphCube.glb",
        "khronos/MorphPrimitivesTest/glTF-Binary/MorphPrimitivesTest.glb",
        "khronos/SimpleMorph/glTF-Embedded/SimpleMorph.gltf",
        "khronos/BoxAnimated/glTF-Binary/BoxAnimated.glb",
        "characters/mannequiny.glb",
        "characters/robot.glb",
        "characters/webxr_hand_left.glb",
        "characters/kaykit/Knight.glb",
        "characters/quaternius/modular_men/Adventurer.glb",
        "characters/quaternius/cute_fish_pack/Puffer.glb",
        "characters/quaternius/Bunny.gltf",
        "derived/makehuman_male_8infl.glb",
        "derived/valid_Black_M_1_Casual_plain.glb",
        "characters/valid/Black_M_1_Casual.glb",
    ];
    let only_unedited =
        ["khronos/CesiumMan/glTF/CesiumMan.gltf", "khronos/AnimatedMorphCube/glTF/AnimatedMorphCube.gltf"];
    let names = characters.iter().chain(only_unedited.iter().filter(|_| !posable));
    names.filter_map(|name| load_data(name).map(|asset| (asset.path.clone(), asset))).collect()
}
