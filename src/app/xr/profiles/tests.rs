use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Returns the OpenXR registry (`xr.xml`) of the `openxr-sys` crate with which this program was built.
fn registry() -> Option<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let indices = std::fs::read_dir(home.join("registry/src")).ok()?;
    let crates = indices.flatten().filter_map(|index| std::fs::read_dir(index.path()).ok()).flatten();
    let mut found: Vec<PathBuf> = crates
        .flatten()
        .filter(|c| c.file_name().to_string_lossy().starts_with("openxr-sys-"))
        .map(|c| c.path().join("OpenXR-SDK/specification/registry/xr.xml"))
        .filter(|file| file.exists())
        .collect();
    found.sort();
    std::fs::read_to_string(found.pop()?).ok()
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_once(&format!("{name}=\""))?.1.split('"').next()
}

#[test]
fn every_path_is_in_the_registry_with_a_kind_that_converts() {
    let Some(xml) = registry() else {
        return crate::base::testing::skip("registry", "there is no registry of the openxr-sys crate");
    };
    // Maps a profile, a hand and a component to the value type of the component. Extensions of profiles are listed
    // elsewhere and are not used here.
    let mut known: BTreeMap<(String, usize, String), String> = BTreeMap::new();
    let mut profile = String::new();
    let section = xml.split("<interaction_profiles>").nth(1).unwrap().split("</interaction_profiles>").next();
    for line in section.unwrap().lines() {
        if line.contains("<interaction_profile ") {
            profile = attribute(line, "name").unwrap().to_owned();
        } else if line.contains("<component") && !line.contains("system=\"true\"") {
            let component = attribute(line, "subpath").unwrap().trim_start_matches('/');
            let kind = attribute(line, "type").unwrap();
            for (hand, path) in HANDS.iter().enumerate() {
                if attribute(line, "user_path").is_none_or(|p| p == *path) {
                    known.insert((profile.clone(), hand, component.to_owned()), kind.to_owned());
                }
            }
        }
    }
    assert!(known.len() > 500, "{} components: the reader is broken", known.len());
    let mut extensions: BTreeMap<&str, bool> = BTreeMap::new();
    for line in xml.lines().filter(|l| l.contains("<extension name=")) {
        let promoted = attribute(line, "promotedto") == Some("XR_VERSION_1_1");
        extensions.insert(attribute(line, "name").unwrap(), promoted);
    }
    for p in profiles() {
        match p.needs {
            Needs::Promoted(name) => assert_eq!(extensions.get(name), Some(&true), "{name}"),
            Needs::Extension(name) => assert!(extensions.contains_key(name), "{name}"),
            Needs::Core | Needs::Version11 => {}
        }
        for b in &p.bindings {
            for hand in (0..2).filter(|&h| b.on(h)) {
                let key = (p.path(), hand, b.component.to_owned());
                let kind = known.get(&key).unwrap_or_else(|| panic!("{key:?} is not in the registry"));
                let fits: &[&str] = match b.act.kind() {
                    Kind::Pose => &["XR_ACTION_TYPE_POSE_INPUT"],
                    Kind::Float | Kind::Bool => {
                        &["XR_ACTION_TYPE_FLOAT_INPUT", "XR_ACTION_TYPE_BOOLEAN_INPUT"]
                    }
                    Kind::Vector => &["XR_ACTION_TYPE_VECTOR2F_INPUT"],
                    Kind::Vibration => &["XR_ACTION_TYPE_VIBRATION_OUTPUT"],
                };
                assert!(fits.contains(&kind.as_str()), "{key:?}: {kind} for {:?}", b.act);
            }
        }
    }
}

#[test]
fn names_are_what_openxr_takes_and_each_is_used_once() {
    let valid =
        |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c));
    let (mut names, mut titles) = (BTreeSet::new(), BTreeSet::new());
    for (i, act) in Act::ALL.into_iter().enumerate() {
        assert_eq!(act as usize, i);
        assert!(valid(act.name()) && names.insert(act.name()) && titles.insert(act.title()), "{act:?}");
    }
    for p in profiles() {
        assert!(names.insert(p.name), "{} is listed twice", p.name);
        // A component must not be bound to two actions of the same hand.
        let mut components = BTreeSet::new();
        for b in &p.bindings {
            for hand in (0..2).filter(|&h| b.on(h)) {
                assert!(components.insert((hand, b.component)), "{}: {}", p.name, b.component);
            }
        }
    }
}

#[test]
fn versions_and_extensions_decide_what_is_usable() {
    let all = profiles();
    let usable = |version, extensions: &[&str]| -> Vec<&str> {
        let yes = all.iter().filter(|p| p.usable(version, |e| extensions.contains(&e)));
        yes.map(|p| p.name).collect()
    };
    let plain = usable((1, 0), &[]);
    assert_eq!(plain.len(), 5, "{plain:?}");
    assert!(usable((1, 0), &["XR_BD_controller_interaction"]).contains(&"bytedance/pico4_controller"));
    let later = usable((1, 1), &[]);
    assert!(later.contains(&"ml/ml2_controller") && later.contains(&"meta/touch_plus_controller"));
    assert!(!later.contains(&"logitech/mx_ink_stylus_logitech"));
}

#[test]
fn labels_follow_the_controller() {
    let all = profiles();
    let of = |name: &str, control, hand| all.iter().find(|p| p.name == name).unwrap().control(control, hand);
    assert_eq!(of("oculus/touch_controller", Control::Undo, 0), Some("X"));
    assert_eq!(of("oculus/touch_controller", Control::Undo, 1), Some("A"));
    assert_eq!(of("htc/vive_controller", Control::Redo, 1), Some("pad right"));
    assert_eq!(of("htc/vive_controller", Control::StickX, 1), None);
    assert_eq!(of("ext/hand_interaction_ext", Control::Menu, 0), Some("pinch, palm to the face"));
    assert_eq!(of("khr/simple_controller", Control::Grab, 0), None);
}
