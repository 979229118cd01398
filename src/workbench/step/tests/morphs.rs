//! Tests of the morph targets: weights of the displayed pose, undo steps, keys, and refused commands.

use super::*;
use crate::asset::Property;
use crate::document::Target;

const HEAD: usize = 3;
const NODE: NodeId = NodeId(HEAD as u32);

/// The biped, with three targets at the head.
fn morphed() -> Script {
    Script::new(&with_morphs(HEAD, ["smile", "blink", "jaw"].map(str::to_owned)))
}

fn morph(target: u32, weight: f32, continues: bool) -> Command {
    Command::Morph { node: NODE, target, weight, continues }
}

/// Drags a slider through weights, a frame each.
fn drag(s: &mut Script, target: u32, weights: &[f32]) {
    for (k, &weight) in weights.iter().enumerate() {
        s.bench.run_command(morph(target, weight, k > 0));
        assert_eq!(s.bench.notice(), None);
        s.step();
    }
}

fn weights(s: &Script) -> [f32; 3] {
    s.bench.pose().weights[HEAD].clone().try_into().unwrap()
}

fn steps(s: &Script) -> usize {
    s.bench.session().history().0
}

/// Number of keys of the head's morph weights.
fn keys(s: &Script) -> usize {
    let motion = s.bench.session().document().motion();
    motion.channel(&Target::node(NODE, Property::Weights)).map_or(0, |c| c.times.len())
}

#[test]
fn a_drag_changes_only_its_target_and_is_one_step() {
    let mut s = morphed();
    s.step();
    let (hash, before) = (s.hash(), steps(&s));
    drag(&mut s, 0, &[0.2, 0.5, 0.8]);
    assert_eq!((weights(&s), steps(&s)), ([0.8, 0.25, 0.0], before + 1));
    drag(&mut s, 0, &[0.7, 0.6]);
    drag(&mut s, 2, &[-0.5, 1.5]);
    assert_eq!((weights(&s), steps(&s)), ([0.6, 0.25, 1.5], before + 3));
    s.bench.run_command(Command::Undo);
    assert_eq!(weights(&s), [0.6, 0.25, 0.0]);
    // After an undo, a change that continues a drag is a step of its own.
    s.bench.run_command(morph(2, 0.4, true));
    assert_eq!((weights(&s), steps(&s)), ([0.6, 0.25, 0.4], before + 3));
    s.bench.run_command(Command::ResetMorphs(NODE));
    assert_eq!((weights(&s), steps(&s)), ([0.0, 0.25, 0.0], before + 4));
    s.bench.run_command(Command::ResetMorphs(NODE));
    s.bench.run_command(morph(1, 0.25, false));
    assert_eq!(steps(&s), before + 4, "no change is no step");
    (0..4).for_each(|_| s.bench.run_command(Command::Undo));
    assert_eq!(s.hash(), hash);
}

/// A hand that went on would commit the old weights at its release.
#[test]
fn a_slider_drops_the_body_that_a_hand_holds() {
    let mut s = morphed();
    s.at(0, s.joint(HAND));
    s.step();
    s.input.hands[0].grab = 1.0;
    for i in 0..10 {
        s.at(0, Vec3::new(0.75, 1.5 + 0.02 * i as f32, 0.0));
        s.step();
    }
    assert!(s.bench.is_busy());
    s.bench.run_command(morph(0, 0.5, false));
    s.step();
    s.input.hands[0].grab = 0.0;
    s.step();
    assert_eq!((s.bench.is_busy(), weights(&s)), (false, [0.5, 0.25, 0.0]));
}

#[test]
fn auto_key_keys_only_the_weights_and_playback_blends_them() {
    let mut s = morphed();
    s.step();
    s.bench.run_command(Command::Key);
    s.bench.run_command(Command::AutoKey(true));
    s.bench.run_command(Command::Scrub(1.0));
    let before = steps(&s);
    drag(&mut s, 0, &[0.3, 0.6, 0.8]);
    assert_eq!((steps(&s), keys(&s)), (before + 1, 2));
    let channels = s.bench.session().document().motion().channels();
    assert_eq!(channels.iter().filter(|c| c.times.len() == 2).count(), 1, "only the weights");
    s.bench.run_command(Command::Scrub(0.5));
    assert_eq!(weights(&s), [0.4, 0.25, 0.0]);
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!((keys(&s), weights(&s)), (1, [0.0, 0.25, 0.0]));
}

/// Keys the weight 0 at 0 s and 1 at 1 s, and shows the motion at 0.5 s.
fn half_way(s: &mut Script) {
    s.step();
    s.bench.run_command(Command::KeyMorphs(NODE));
    s.bench.run_command(Command::Scrub(1.0));
    s.bench.run_command(morph(0, 1.0, false));
    s.bench.run_command(Command::KeyMorphs(NODE));
    s.bench.run_command(morph(0, 0.1, false));
    s.step();
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    assert_eq!((weights(s), s.bench.shown_time()), ([0.5, 0.25, 0.0], Some(0.5)));
}

#[test]
fn a_change_of_the_motion_takes_its_pose_over_in_the_same_step() {
    for stroke in [false, true] {
        let mut s = morphed();
        if stroke {
            s.draw(RIGHT, &arm(0.0));
            s.draw(RIGHT, &arm(0.6));
            assert!(s.strokes()[0].offset.is_some());
        }
        half_way(&mut s);
        let (before, hash, hand) = (steps(&s), s.hash(), s.joint(HAND));
        drag(&mut s, 2, &[0.5, 0.75]);
        assert_eq!(s.bench.shown_time(), None);
        assert_eq!((weights(&s), steps(&s), keys(&s)), ([0.5, 0.25, 0.75], before + 1, 2));
        assert!(s.joint(HAND).distance(hand) < 1e-6);
        assert_eq!(s.bench.session().document().base_pose().weights[HEAD], [0.5, 0.25, 0.75]);
        s.bench.run_command(Command::Undo);
        assert_eq!(s.hash(), hash);
        // The pose is also taken over without a change of a target.
        s.bench.run_command(Command::Scrub(0.5));
        s.bench.take_pose();
        assert_eq!((weights(&s), s.bench.shown_time()), ([0.5, 0.25, 0.0], None));
        assert_eq!(s.strokes().first().map_or(0, |l| l.adjustments.len()), 0, "no joint has moved");
    }
}

#[test]
fn weights_show_over_and_under_strokes() {
    let mut s = morphed();
    drag(&mut s, 0, &[0.5]);
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.6));
    let hand = s.joint(HAND);
    assert!(hand.y > 1.6, "{hand}");
    drag(&mut s, 1, &[0.6, 1.0]);
    assert_eq!(weights(&s), [0.5, 1.0, 0.0]);
    assert_eq!(s.joint(HAND), hand);
}

#[test]
fn a_key_of_the_weights_is_marked_at_its_time() {
    let mut s = morphed();
    s.step();
    assert_eq!(s.bench.morph_key(NODE), None);
    s.bench.run_command(morph(0, 0.5, false));
    let before = steps(&s);
    s.bench.run_command(Command::KeyMorphs(NODE));
    s.step();
    assert_eq!((s.bench.morph_key(NODE), s.bench.shown_time()), (Some(true), None));
    assert_eq!((steps(&s), keys(&s)), (before + 1, 1));
    assert_eq!(s.bench.session().document().motion().channels().len(), 1);
    s.bench.run_command(Command::Scrub(1.0));
    assert_eq!((s.bench.morph_key(NODE), weights(&s)[0]), (Some(false), 0.5));
    s.bench.run_command(Command::KeyMorphs(NODE));
    assert_eq!((s.bench.morph_key(NODE), s.bench.shown_time()), (Some(true), Some(1.0)));
    s.bench.run_command(Command::DeleteKey);
    assert_eq!(s.bench.morph_key(NODE), Some(false));
    s.bench.run_command(Command::Undo);
    s.bench.run_command(Command::Scrub(1.0));
    assert_eq!(s.bench.morph_key(NODE), Some(true));
}

#[test]
fn what_cannot_be_done_is_refused_and_says_at_which_node() {
    let mut s = morphed();
    s.step();
    let name = s.bench.character().skeleton.nodes[HEAD].name.clone();
    let hips = s.bench.character().skeleton.nodes[HIPS].name.clone();
    let hash = s.hash();
    let of =
        |node: u32, target, weight| Command::Morph { node: NodeId(node), target, weight, continues: false };
    for (command, told) in [
        (morph(3, 0.5, false), format!("{name:?} has no morph target 3")),
        (morph(u32::MAX, 0.5, true), format!("{name:?} has no morph target")),
        (morph(0, f32::NAN, false), format!("morph target 0 of node {name:?} is not finite")),
        (morph(1, f32::INFINITY, false), format!("morph target 1 of node {name:?} is not finite")),
        (of(HIPS as u32, 0, 0.5), format!("{hips:?} has no morph targets")),
        (of(999, 0, 0.5), "there is no node 999".to_owned()),
        (Command::ResetMorphs(NodeId(HIPS as u32)), format!("{hips:?} has no morph targets")),
        (Command::KeyMorphs(NodeId(999)), "there is no node 999".to_owned()),
    ] {
        s.bench.run_command(command.clone());
        let notice = s.bench.notice().unwrap_or_default();
        assert!(notice.contains(&told), "{command:?}: {notice}");
        s.bench.forget_notice();
    }
    // The cage tool shows the rest pose, in which a change would not show.
    s.bench.context.rest_view = true;
    s.bench.run_command(morph(0, 0.5, false));
    assert!(s.bench.notice().is_some_and(|n| n.contains("rest pose") && n.contains(&name)));
    assert_eq!(s.hash(), hash);
}

#[test]
fn commands_survive_a_take_and_give_the_identical_document() {
    let (mut one, mut other) = (morphed(), morphed());
    let commands = [
        morph(0, 0.1, false),
        morph(0, 0.7, true),
        Command::KeyMorphs(NODE),
        Command::Scrub(1.0),
        morph(2, 0.3, false),
        Command::KeyMorphs(NODE),
        Command::ResetMorphs(NODE),
    ];
    for command in commands {
        let text = serde_json::to_string(&command).unwrap();
        one.bench.run_command(command);
        other.bench.run_command(serde_json::from_str(&text).unwrap());
        one.step();
        other.step();
    }
    assert_eq!(one.hash(), other.hash());
    assert_eq!(one.bench.session().history(), other.bench.session().history());
}
