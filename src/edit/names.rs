//! Messages about unknown names, with the names that may have been meant.

use crate::base::Error;
use crate::rig::Skeleton;

/// The error for a name that is no node's.
pub(super) fn unknown_node(skeleton: &Skeleton, name: &str) -> Error {
    let joints = skeleton.nodes.iter().filter(|n| n.joint.is_some()).map(|n| n.name.as_str());
    let close = closest(name, joints, 4);
    let remedy = if close.is_empty() {
        "the file has no joints".to_owned()
    } else {
        format!("the closest joint names are {}", close.join(", "))
    };
    Error::input(format!("there is no node {name:?}"), remedy)
}

/// The known names nearest to one, by edit distance without regard to case.
fn closest(name: &str, known: impl Iterator<Item = impl AsRef<str>>, count: usize) -> Vec<String> {
    // Names come from files and the command line: long ones are compared by their beginning.
    let fold = |s: &str| s.chars().flat_map(char::to_lowercase).take(64).collect::<Vec<char>>();
    let wanted = fold(name);
    let mut ranked: Vec<(usize, String)> =
        known.map(|n| (distance(&wanted, &fold(n.as_ref())), format!("{:?}", n.as_ref()))).collect();
    ranked.sort();
    ranked.into_iter().take(count).map(|(_, n)| n).collect()
}

/// Levenshtein's edit distance, one row at a time.
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
    fn edit_distances() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!((d("kitten", "sitting"), d("", "abc"), d("same", "same")), (3, 3, 0));
        let names = ["LeftArm", "RightArm", "Spine"];
        assert_eq!(closest("leftarm2", names.iter(), 1), vec!["\"LeftArm\""]);
    }
}
