use super::reach::reach;
use super::*;
use crate::app::xr::profiles::{Act, Profile};

#[test]
fn everything_is_in_reach_on_every_profile() {
    let reaches = examine(&profiles());
    let missing: Vec<String> = reaches.iter().flat_map(|r| &r.missing).map(|m| format!("{m:?}")).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(reaches.len() >= 20);
    // A single simple controller has two buttons: every command except showing the palette needs the palette.
    let simple = reaches.iter().find(|r| r.profile == "khr/simple_controller").unwrap();
    assert_eq!(simple.by_palette_with_one.len(), CommandKind::ALL.len() - 1);
    let touch = reaches.iter().find(|r| r.profile == "oculus/touch_controller").unwrap();
    assert!(!touch.by_palette_with_one.contains(&CommandKind::Undo));
}

fn without(name: &str, gone: impl Fn(&Profile, usize) -> bool) -> Vec<Missing> {
    let mut profile = profiles().into_iter().find(|p| p.name == name).unwrap();
    let keep: Vec<bool> = (0..profile.bindings.len()).map(|i| !gone(&profile, i)).collect();
    let mut keep = keep.into_iter();
    profile.bindings.retain(|_| keep.next().unwrap());
    examine(&[profile]).remove(0).missing
}

#[test]
fn a_binding_taken_away_is_found() {
    let act = |name, act| without(name, |p, i| p.bindings[i].act == act);
    // Without a menu button, the commands that only the palette offers are unreachable.
    let missing = act("valve/index_controller", Act::Menu);
    assert!(missing.iter().any(|m| m.what == "Save" && m.why.contains("palette")), "{missing:?}");
    assert!(missing.iter().all(|m| m.what != "Undo"), "it has a button of its own");
    // Without the stick click, the right controller alone has no menu control, because the menu button is on the left
    // controller.
    let right_alone =
        without("oculus/touch_controller", |p, i| p.bindings[i].component.contains("thumbstick/"));
    assert!(!right_alone.is_empty());
    assert!(right_alone.iter().all(|m| m.case == "the right controller alone"), "{right_alone:?}");
    // Without a trigger no hand can draw, and without an aim pose no hand can point.
    for gone in [Act::Draw, Act::Aim] {
        let missing = act("khr/simple_controller", gone);
        assert!(missing.iter().any(|m| m.what == "Stroke") && missing.iter().any(|m| m.what == "Undo"));
    }
    assert!(act("khr/simple_controller", Act::Grip).iter().any(|m| m.what == "Grab"));
    // A command with a second route stays reachable.
    for spare in [Act::Undo, Act::Redo, Act::Stick, Act::Grab, Act::Haptic] {
        assert_eq!(act("oculus/touch_controller", spare), []);
    }
}

#[test]
fn every_binding_that_the_palette_hangs_on_is_needed_somewhere() {
    for profile in profiles() {
        for needed in [Act::Draw, Act::Aim, Act::Grip, Act::Menu] {
            if needed == Act::Menu && profile.palm_menu {
                continue;
            }
            let missing = without(profile.name, |p, i| p.bindings[i].act == needed);
            assert!(!missing.is_empty(), "{} without {needed:?}", profile.name);
        }
    }
    let mut hands = profiles().into_iter().find(|p| p.palm_menu).unwrap();
    hands.palm_menu = false;
    assert!(!examine(&[hands])[0].missing.is_empty());
}

#[test]
fn the_tool_hands_own_button_comes_first() {
    let all = profiles();
    let index = all.iter().find(|p| p.name == "valve/index_controller").unwrap();
    for case in Case::ALL {
        let how = reach(index, &case, CommandKind::Undo);
        assert_eq!(how, Ok(How::Control(Control::Undo, case.tool_hand)));
    }
}

#[test]
fn the_report_names_what_is_wrong() {
    let mut broken = profiles();
    broken.truncate(1);
    broken[0].bindings.retain(|b| b.act != Act::Menu);
    let reaches = examine(&broken);
    let missing = reaches.iter().map(|r| r.missing.len()).sum();
    let report = Report { profiles: reaches, missing, runtime: RuntimeReport::default() };
    let text = text(&report);
    assert!(text.contains("OUT OF REACH") && text.contains("no control shows the palette"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["missing"].as_u64().unwrap() > 50 && json["profiles"][0]["missing"][0]["why"].is_string());
}
