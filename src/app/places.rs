//! Paths of new files.

use std::path::{Path, PathBuf};

/// Makes a path absolute, because a path from the command line may be a file name without a folder.
pub fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the path of a file with the same name in `folder`, if there is one.
pub fn in_folder(path: PathBuf, folder: Option<&Path>) -> PathBuf {
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Returns a path that is not `taken`. If `first` is set and `path` is free, returns `path`; otherwise returns a
/// numbered variant such as `hero-2`.
pub fn free(path: &Path, first: bool, taken: impl Fn(&Path) -> bool) -> PathBuf {
    if first && !taken(path) {
        return path.to_owned();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let endings = [".project.glb", ".posed.glb", ".glb", ".gltf", ".vrm"];
    let ending = endings.into_iter().find(|e| name.ends_with(e)).unwrap_or("");
    let stem = name.strip_suffix(ending).unwrap_or(&name);
    // Strip an existing number, so that `hero-2` is followed by `hero-3`.
    let counted = stem.rsplit_once('-').filter(|(_, n)| n.parse::<u32>().is_ok());
    let stem = counted.map_or(stem, |(stem, _)| stem);
    let ending = if ending == ".glb" { ".project.glb" } else { ending };
    let numbered = |n: u32| path.with_file_name(format!("{stem}-{n}{ending}"));
    (2..1000).map(numbered).find(|p| !taken(p)).unwrap_or_else(|| numbered(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_proposes_the_folder_of_the_last_written_file() {
        let path = PathBuf::from("/samples/human.posed.glb");
        assert_eq!(
            in_folder(path.clone(), Some(Path::new("/home/me"))),
            Path::new("/home/me/human.posed.glb")
        );
        assert_eq!(in_folder(path.clone(), None), path);
    }

    #[test]
    fn saving_under_a_new_name_overwrites_nothing() {
        let new = |name: &str, first: bool, taken: &[&str]| {
            let path = free(&Path::new("/home").join(name), first, |p| taken.iter().any(|t| p.ends_with(t)));
            path.file_name().unwrap().to_string_lossy().into_owned()
        };
        assert_eq!(new("hero.project.glb", true, &[]), "hero.project.glb");
        assert_eq!(new("hero.project.glb", true, &["hero.project.glb"]), "hero-2.project.glb");
        assert_eq!(new("hero.project.glb", false, &[]), "hero-2.project.glb");
        assert_eq!(new("hero-2.project.glb", false, &["hero-2.project.glb"]), "hero-3.project.glb");
        assert_eq!(new("hero.posed.glb", true, &["hero.posed.glb"]), "hero-2.posed.glb");
        assert_eq!(new("hero.gltf", false, &[]), "hero-2.gltf");
        assert_eq!(new("hero-2.vrm", false, &["hero-2.vrm"]), "hero-3.vrm");
        assert_eq!(new("hero.glb", false, &["hero-2.project.glb"]), "hero-3.project.glb");
    }
}
