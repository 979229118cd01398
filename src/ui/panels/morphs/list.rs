//! The list of a character's morph targets: nodes, groups of names, and the rows that the panel shows.

use crate::base::NodeId;
use crate::bind::Character;
use crate::rig::{Pose, RigNode};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Smallest number of targets that form a group.
const GROUP: usize = 3;

/// A row of the list. The numbers are indices into [`List::nodes`], and into the groups or targets of that node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The name of a node.
    Node(usize),
    /// The name of a group.
    Group(usize, usize),
    /// A target.
    Target(usize, usize),
}

/// The targets of a character.
#[derive(Default)]
pub(super) struct List {
    /// The character to which the list belongs.
    character: Weak<Character>,
    /// The nodes that have targets.
    pub nodes: Vec<Listed>,
    /// The rows of the last call of [`List::find_rows`].
    pub rows: Vec<Row>,
}

/// A node with its targets.
pub(super) struct Listed {
    pub node: NodeId,
    pub name: String,
    /// Whether the list shows the targets.
    pub open: bool,
    pub targets: Vec<Named>,
    pub groups: Vec<Group>,
    /// Groups and single targets, in the order of the file.
    order: Vec<Entry>,
}

/// The name of a target.
pub(super) struct Named {
    pub name: String,
    lower: String,
    /// Start of the part that not all names of the node share, bytes.
    own: usize,
}

impl Named {
    /// The name without the words that all names of the node share.
    pub fn short(&self) -> &str {
        self.name.get(self.own..).unwrap_or(&self.name)
    }
}

/// Targets whose names share their first word.
pub(super) struct Group {
    /// The word and the number of targets.
    pub title: String,
    /// Whether the list shows the targets.
    pub open: bool,
    /// Indices of the targets.
    pub members: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Entry {
    Group(usize),
    Target(usize),
}

/// Which targets the list shows.
pub(super) struct Filter<'a> {
    /// Text in the names, in lower case; empty for all names.
    pub text: &'a str,
    /// Whether to hide the targets of weight 0.
    pub in_use: bool,
    /// A target that the list shows even if its weight is 0.
    pub held: Option<(NodeId, usize)>,
}

impl Filter<'_> {
    /// Whether the list is flat: without groups, and with all nodes open.
    pub fn is_flat(&self) -> bool {
        self.in_use || !self.text.is_empty()
    }
}

impl List {
    /// Lists the targets of a character, unless the list already belongs to it.
    pub fn know(&mut self, character: &Arc<Character>) {
        if std::ptr::eq(self.character.as_ptr(), Arc::as_ptr(character)) {
            return;
        }
        self.character = Arc::downgrade(character);
        let nodes = character.skeleton.nodes.iter().enumerate();
        let morphed = nodes.filter(|(_, n)| !n.weights.is_empty());
        self.nodes = morphed.map(|(i, n)| Listed::new(NodeId::from(i), n)).collect();
    }

    /// Finds the rows to show. Allocates only if there are more rows than ever before.
    pub fn find_rows(&mut self, pose: &Pose, filter: &Filter<'_>) {
        let Self { nodes, rows, .. } = self;
        rows.clear();
        for (n, node) in nodes.iter().enumerate() {
            rows.push(Row::Node(n));
            if filter.is_flat() {
                let fits = |t: &usize| {
                    let used = weight(pose, node.node, *t) != 0.0 || filter.held == Some((node.node, *t));
                    (used || !filter.in_use) && node.targets[*t].lower.contains(filter.text)
                };
                rows.extend((0..node.targets.len()).filter(fits).map(|t| Row::Target(n, t)));
                if rows.last() == Some(&Row::Node(n)) {
                    rows.pop();
                }
            } else if node.open {
                node.add_rows(n, rows);
            }
        }
    }
}

impl Listed {
    fn new(node: NodeId, known: &RigNode) -> Self {
        let name = |i: usize| known.targets.get(i).cloned().unwrap_or_else(|| format!("target {i}"));
        let names: Vec<String> = (0..known.weights.len()).map(name).collect();
        let own = shared(&names);
        let word =
            |name: &str| words(name).into_iter().find(|w| w.start >= own && !is_number(&name[w.clone()]));
        let firsts: Vec<Option<&str>> = names.iter().map(|n| Some(&n[word(n)?])).collect();
        let (mut groups, mut order) = (Vec::new(), Vec::new());
        let mut grouped = vec![false; names.len()];
        for (i, first) in firsts.iter().enumerate() {
            if grouped[i] {
                continue;
            }
            let like = |j: &usize| first.is_some() && firsts[*j] == *first;
            let members: Vec<usize> = (i..names.len()).filter(like).collect();
            if members.len() < GROUP {
                order.push(Entry::Target(i));
                continue;
            }
            members.iter().for_each(|&j| grouped[j] = true);
            order.push(Entry::Group(groups.len()));
            let title = format!("{} ({})", first.unwrap_or_default(), members.len());
            groups.push(Group { title, open: false, members });
        }
        let named = |name: String| Named { lower: name.to_lowercase(), own, name };
        let targets = names.into_iter().map(named).collect();
        Self { node, name: known.name.clone(), open: true, targets, groups, order }
    }

    fn add_rows(&self, n: usize, rows: &mut Vec<Row>) {
        for entry in &self.order {
            match *entry {
                Entry::Target(t) => rows.push(Row::Target(n, t)),
                Entry::Group(g) => {
                    rows.push(Row::Group(n, g));
                    if self.groups[g].open {
                        rows.extend(self.groups[g].members.iter().map(|&t| Row::Target(n, t)));
                    }
                }
            }
        }
    }
}

/// Weight of a target in a pose; 0 if the pose does not have it.
pub(super) fn weight(pose: &Pose, node: NodeId, target: usize) -> f32 {
    pose.weights.get(node.index()).and_then(|w| w.get(target)).copied().unwrap_or_default()
}

/// Splits a name into words: at separators, before capitals that follow small letters, and around numbers.
fn words(name: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut last: Option<char> = None;
    for (i, c) in name.char_indices() {
        let inside = c.is_alphanumeric();
        let begins = |l: char| (l.is_lowercase() && c.is_uppercase()) || l.is_numeric() != c.is_numeric();
        match out.last_mut() {
            _ if !inside => {}
            Some(word) if !last.is_none_or(begins) => word.end = i + c.len_utf8(),
            _ => out.push(i..i + c.len_utf8()),
        }
        last = inside.then_some(c);
    }
    out
}

fn is_number(word: &str) -> bool {
    word.chars().all(char::is_numeric)
}

/// Length of the words that all names share at their start, bytes. Each name keeps at least one word that is no number.
fn shared(names: &[String]) -> usize {
    let [first, others @ ..] = names else { return 0 };
    if others.is_empty() {
        return 0;
    }
    let alike = |n: usize, other: &String| {
        first.bytes().zip(other.bytes()).take(n).take_while(|(a, b)| a == b).count()
    };
    let most = others.iter().fold(first.len(), alike);
    let begins = |name: &String, at: usize| {
        let words = words(name);
        let named = words.iter().any(|w| w.start >= at && !is_number(&name[w.clone()]));
        named && words.iter().any(|w| w.start == at)
    };
    let starts = words(first).into_iter().map(|w| w.start).filter(|s| *s <= most);
    starts.filter(|s| names.iter().all(|n| begins(n, *s))).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> Vec<&str> {
        words(name).into_iter().map(|w| &name[w]).collect()
    }

    fn shared_of(names: &[&str]) -> usize {
        shared(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_name_has_words() {
        assert_eq!(parts("eyeBlinkLeft"), ["eye", "Blink", "Left"]);
        assert_eq!(parts("AK_01-browUP.L"), ["AK", "01", "brow", "UP", "L"]);
        assert_eq!(parts("Visème2b"), ["Visème", "2", "b"]);
        assert_eq!(parts("笑い"), ["笑い"]);
        assert!(parts("__").is_empty() && parts("").is_empty());
    }

    #[test]
    fn what_all_names_share_is_left_out_unless_only_a_number_would_remain() {
        assert_eq!(shared_of(&["head.smileLeft", "head.smileRight", "head.jaw"]), 5);
        assert_eq!(shared_of(&["AK_01_jaw", "AK_02_brow"]), 3);
        assert_eq!(shared_of(&["target 0", "target 1"]), 0);
        assert_eq!(shared_of(&["smile", "smileLeft"]), 0);
        assert_eq!(shared_of(&["é_a", "è_b"]), 0);
        assert_eq!((shared_of(&["alone_x"]), shared_of(&[])), (0, 0));
    }
}
