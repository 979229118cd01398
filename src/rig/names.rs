//! Finds nodes by typed names, and suggests similar names in errors about unknown names.

use crate::base::{Error, NodeId, Result};
use crate::rig::Skeleton;

/// Maximum number of candidates that an error lists.
const LISTED: usize = 8;

/// Returns the node that a text refers to: by its name, by the end of its path (`Parent/Name`), or by its index in
/// the file (`#12`). The whole text is tried as a name first. Of several nodes with the same name, joints are
/// preferred.
///
/// # Errors
/// An error if no node matches, which lists the closest names, or if several nodes match, which lists unique
/// alternatives.
pub fn named_node(skeleton: &Skeleton, text: &str) -> Result<NodeId> {
    let text = text.trim();
    let mut found = match (skeleton.repeated.get(text), skeleton.find(text)) {
        (Some(same), _) => same.clone(),
        (None, Some(node)) => return Ok(node),
        (None, None) => {
            let index = text.strip_prefix('#').and_then(|i| i.parse::<usize>().ok());
            if let Some(index) = index.filter(|&i| i < skeleton.nodes.len()) {
                return Ok(NodeId::from(index));
            }
            let all = (0..skeleton.nodes.len()).map(NodeId::from);
            all.filter(|&n| text.contains('/') && ends_with(skeleton, n, text)).collect()
        }
    };
    let is_joint = |n: &NodeId| skeleton.nodes[n.index()].joint.is_some();
    if found.iter().any(is_joint) {
        found.retain(is_joint);
    }
    match found[..] {
        [] => Err(unknown_node(skeleton, text)),
        [node] => Ok(node),
        _ => {
            let name = |n: NodeId| given_name(skeleton, n);
            let candidate = |&n: &NodeId| match skeleton.nodes[n.index()].parent {
                Some(parent) => format!("{}/{} or '#{}'", name(parent), name(n), n.0),
                None => format!("'#{}'", n.0),
            };
            let mut list: Vec<String> = found.iter().take(LISTED).map(candidate).collect();
            if found.len() > LISTED {
                list.push(format!("one of {} more", found.len() - LISTED));
            }
            Err(Error::input(
                format!("{} nodes are named {text:?}", found.len()),
                format!("write {}", list.join(", ")),
            ))
        }
    }
}

/// Returns a node's name in the file, without the suffix of a repeated name.
fn given_name(skeleton: &Skeleton, node: NodeId) -> &str {
    let repeated = skeleton.repeated.iter().find(|(_, same)| same.contains(&node));
    repeated.map_or(skeleton.nodes[node.index()].name.as_str(), |(name, _)| name)
}

/// Returns whether a node's path from its root ends with `path`. Names may contain slashes.
fn ends_with(skeleton: &Skeleton, node: NodeId, path: &str) -> bool {
    let own = &skeleton.nodes[node.index()];
    [own.name.as_str(), given_name(skeleton, node)].into_iter().any(|name| {
        let Some(above) = path.strip_suffix(name) else { return false };
        let parent = || own.parent.zip(above.strip_suffix('/'));
        above.is_empty() || parent().is_some_and(|(parent, above)| ends_with(skeleton, parent, above))
    })
}

/// Returns the error for a name that no node has.
pub(super) fn unknown_node(skeleton: &Skeleton, name: &str) -> Error {
    let joints = skeleton.nodes.iter().filter(|n| n.joint.is_some()).map(|n| n.name.as_str());
    let close = closest(name, joints, 4);
    let remedy = if close.is_empty() {
        "the file has no joints".to_owned()
    } else {
        format!("the closest joint names are {}; `sinew inspect` lists all", close.join(", "))
    };
    Error::input(format!("there is no node {name:?}"), remedy)
}

/// Returns the known names nearest to `name`, by edit distance that ignores case.
fn closest(name: &str, known: impl Iterator<Item = impl AsRef<str>>, count: usize) -> Vec<String> {
    // Names come from files and the command line, so only the first 64 characters are compared.
    let fold = |s: &str| s.chars().flat_map(char::to_lowercase).take(64).collect::<Vec<char>>();
    let wanted = fold(name);
    let mut ranked: Vec<(usize, String)> =
        known.map(|n| (distance(&wanted, &fold(n.as_ref())), format!("{:?}", n.as_ref()))).collect();
    ranked.sort();
    ranked.into_iter().take(count).map(|(_, n)| n).collect()
}

/// Computes Levenshtein's edit distance, one row at a time.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_one_name_are_told_apart_by_path_and_index() {
        use crate::rig::testing::{moved, skeleton};
        let nodes =
            [("Body", None), ("Left", Some(0)), ("Hand", Some(1)), ("Right", Some(0)), ("Hand.001", Some(3))];
        let nodes = nodes.map(|(name, parent)| (name, parent, moved(0.0, 1.0, 0.0)));
        let (mut rig, _) = skeleton(&nodes);
        rig.repeated = [("Hand".to_owned(), vec![NodeId(2), NodeId(4)])].into();
        let error = named_node(&rig, "Hand").unwrap_err().to_string();
        assert!(error.contains("2 nodes are named \"Hand\""), "{error}");
        assert!(error.contains("Left/Hand or '#2', Right/Hand or '#4'"), "{error}");
        for (text, wanted) in [
            ("Left/Hand", 2),
            ("#2", 2),
            (" Right/Hand ", 4),
            ("Body/Right/Hand", 4),
            ("Hand.001", 4),
            ("Body", 0),
        ] {
            assert_eq!(named_node(&rig, text).unwrap(), NodeId(wanted), "{text}");
        }
        for text in ["#5", "Left/Right", "/Hand", "Elbow", ""] {
            assert!(named_node(&rig, text).unwrap_err().to_string().contains("there is no node"), "{text}");
        }
        // If a joint and a mesh node share a name, the joint is chosen.
        rig.nodes[4].joint = None;
        assert_eq!(named_node(&rig, "Hand").unwrap(), NodeId(2));
    }

    #[test]
    fn edit_distances() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!((d("kitten", "sitting"), d("", "abc"), d("same", "same")), (3, 3, 0));
        let names = ["LeftArm", "RightArm", "Spine"];
        assert_eq!(closest("leftarm2", names.iter(), 1), vec!["\"LeftArm\""]);
    }
}
