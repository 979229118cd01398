use super::*;
use crate::base::math::Vec3;
use crate::bind::shapes::capsule;
use crate::surface::Reach;

/// The heights of the part: those of its vertices with at least half of their share, lowest and highest, metres.
fn heights(outline: &Outline, character: &Character) -> Option<[f32; 2]> {
    let display = &character.display;
    let of = outline.part.iter().flat_map(|t| display.triangles[*t as usize]);
    let inside = of.filter(|v| outline.shares[*v as usize] >= 0.5);
    let y = inside.map(|v| display.positions[v as usize].y);
    y.fold(None, |all: Option<[f32; 2]>, y| Some(all.map_or([y; 2], |[a, b]| [a.min(y), b.max(y)])))
}

fn check(outline: &Outline, character: &Character) {
    let display = &character.display;
    assert!(outline.part.is_sorted_by(|a, b| a < b), "{:?}", outline.part);
    let mut inside = vec![false; display.positions.len()];
    for (t, corners) in display.triangles.iter().enumerate() {
        let has = corners.iter().any(|v| outline.shares[*v as usize] >= 0.5);
        assert_eq!(has, outline.part.binary_search(&(t as u32)).is_ok(), "{t}");
        if has {
            corners.iter().for_each(|v| inside[*v as usize] = true);
        }
    }
    let beyond = outline.shares.iter().zip(&inside).filter(|(_, inside)| !**inside);
    assert!(beyond.into_iter().all(|(share, _)| *share == 0.0), "shares of an earlier part stay behind");
}

#[test]
fn a_joint_outlines_the_skin_that_it_moves_most() {
    let character = capsule(3, 24, 12, 0.15, 3.0);
    let joints = &character.skeleton.joints;
    let mut outline = Outline::new(&character);
    assert!(!outline.show(&character, None) && !outline.new, "nothing is outlined at first");
    // The joints lie at 0, 1, 2 and 3 m. Half of the weights change hands at a joint.
    for (joint, [low, high]) in [(1, [1.0, 2.0]), (0, [-0.15, 1.0]), (2, [2.0, 3.15]), (1, [1.0, 2.0])] {
        let what = Some(Outlined::Joint(joints[joint].node));
        assert!(outline.show(&character, what) && !outline.show(&character, what));
        check(&outline, &character);
        let [from, to] = heights(&outline, &character).unwrap();
        assert!((from - low).abs() < 0.14 && (to - high).abs() < 0.14, "{joint}: {from} to {to}");
    }
    assert!(outline.show(&character, None));
    assert!(outline.part.is_empty() && outline.shares.iter().all(|s| *s == 0.0));
}

#[test]
fn a_joint_without_skin_outlines_all_skin_below_it() {
    let mut character = capsule(3, 24, 12, 0.15, 3.0);
    // The middle joint gives its skin to its children.
    let mut influences = crate::asset::Influences::default();
    let control = &character.control;
    for v in 0..control.positions.len() {
        let y = control.positions[v].y;
        influences.push(vec![(if y < 1.0 { 0 } else { 2 }, 1.0)]);
    }
    character.control.influences = influences;
    let mut outline = Outline::new(&character);
    let nodes: Vec<NodeId> = character.skeleton.joints.iter().map(|j| j.node).collect();
    assert!(outline.show(&character, Some(Outlined::Joint(nodes[1]))));
    check(&outline, &character);
    let [from, to] = heights(&outline, &character).unwrap();
    assert!((0.99..1.14).contains(&from) && to > 3.1, "{from} to {to}");
    // The end of the chain moves no skin, and no node beyond the skeleton has any.
    let end = character.skeleton.joints.last().unwrap().node;
    for node in [end, NodeId::from(9999_usize)] {
        outline.show(&character, Some(Outlined::Joint(node)));
        check(&outline, &character);
        let has = character.control.influences.of(0).any(|(j, _)| nodes[usize::from(j)] == node);
        assert!(has || outline.part.is_empty() || node == end, "{node:?}");
    }
}

#[test]
fn a_layer_outlines_the_skin_that_it_moves() {
    let character = capsule(3, 24, 12, 0.15, 3.0);
    let near = |low: f32, high: f32| {
        let all = character.control.positions.iter().enumerate();
        let inside = all.filter(|(_, x): &(usize, &Vec3)| (low..high).contains(&x.y));
        inside.map(|(v, _)| v as u32).collect::<Vec<u32>>()
    };
    let mut region = Region {
        reach: Reach::Edges(2),
        kinematic: near(1.4, 1.6),
        passive: near(1.2, 1.4),
        ..Region::default()
    };
    let mut outline = Outline::new(&character);
    outline.show(&character, Some(Outlined::Joint(character.skeleton.joints[0].node)));
    let id = SculptId(3);
    for passive in [near(1.2, 1.4), near(1.0, 1.4)] {
        region.passive = passive;
        assert!(outline.show(&character, Some(Outlined::Layer(id, &region))));
        assert!(!outline.show(&character, Some(Outlined::Layer(id, &region.clone()))), "an equal region");
        check(&outline, &character);
        let [from, to] = heights(&outline, &character).unwrap();
        let y = |v: &u32| character.control.positions[*v as usize].y;
        let moved = || region.kinematic.iter().chain(&region.passive).map(y);
        assert_eq!((from, to), (moved().fold(9.0, f32::min), moved().fold(0.0, f32::max)));
    }
    // Vertices of another character are ignored.
    region.kinematic = vec![1 << 20];
    region.passive.clear();
    assert!(outline.show(&character, Some(Outlined::Layer(id, &region))));
    assert!(outline.part.is_empty());
}
