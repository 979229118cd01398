//! Edits of the limits of joints.

use super::contents::validate_limits;
use super::{Document, Edit};
use crate::base::{Error, Result};
use crate::rig::{Limits, Skeleton};

/// Applies an edit of limits and returns its inverse.
pub(super) fn apply(edit: &Edit, document: &mut Document, skeleton: &Skeleton) -> Result<Edit> {
    Ok(match edit {
        Edit::SetLimits(limits) => {
            validate_limits(limits, skeleton)?;
            Edit::SetLimits(std::mem::replace(&mut document.limits, limits.clone()))
        }
        Edit::SetLimit { node, limit } => {
            let one: Limits = limit.iter().map(|limit| (*node, **limit)).collect();
            validate_limits(&one, skeleton)?;
            let old = match limit {
                Some(limit) => document.limits.insert(*node, **limit),
                None => document.limits.remove(node),
            };
            Edit::SetLimit { node: *node, limit: old.map(Box::new) }
        }
        _ => return Err(Error::input("this edit is not about limits", "report it as a bug")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::DQuat;
    use crate::base::{NodeId, Random};
    use crate::document::testing::{asset, session, work};
    use crate::document::{Operation, Session};
    use crate::rig::{Limit, tree};
    use std::sync::Arc;

    fn limit(bend: f32) -> Limit {
        Limit { swing: [bend, 0.0, 0.0, 0.0], ..Limit::open(DQuat::IDENTITY) }
    }

    #[test]
    fn limits_are_undone_and_replayed_and_leave_no_trace_when_forgotten() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let empty = s.document().hash();
        let plain = serde_json::to_string(s.document()).unwrap();
        assert!(!plain.contains("limits"));
        let set = |node: u32, bend: Option<f32>| Edit::SetLimit {
            node: NodeId(node),
            limit: bend.map(|b| Box::new(limit(b))),
        };
        let mut hashes = vec![empty.clone()];
        let all: Limits = [(NodeId(2), limit(0.5)), (NodeId(5), limit(1.5))].into();
        for edit in [set(5, Some(1.0)), set(5, Some(2.0)), Edit::SetLimits(all), set(2, None)] {
            s.apply(edit).unwrap();
            hashes.push(s.document().hash());
        }
        hashes.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1]));
        assert_eq!(s.document().limits().keys().copied().collect::<Vec<_>>(), [NodeId(5)]);
        let json = serde_json::to_value(s.document()).unwrap();
        let back = Document::from_json(json, s.skeleton()).unwrap();
        assert_eq!((back.hash(), &back), (s.document().hash(), s.document()));
        for hash in hashes.iter().rev().skip(1) {
            s.run(Operation::Undo).unwrap();
            assert_eq!(s.document().hash(), *hash);
        }
        assert_eq!(serde_json::to_string(s.document()).unwrap(), plain);
        s.run(Operation::Jump(5)).unwrap();
        let text = serde_json::to_string(&s.recording()).unwrap();
        let skeleton = Arc::new(tree().0);
        let load = Box::new(move |_: &_| Ok(skeleton.clone()));
        let again = Session::replay(&serde_json::from_str::<Vec<_>>(&text).unwrap(), load).unwrap();
        assert_eq!(again.document().hash(), hashes[4]);
        // A drag of a number is one edit.
        s.run(Operation::Do(set(3, Some(0.1)))).unwrap();
        s.run(Operation::Continue(set(3, Some(0.2)))).unwrap();
        assert_eq!(s.recording().len(), 6);
    }

    #[test]
    fn wrong_limits_are_refused() {
        let mut s = session();
        work(&mut s, &mut Random::new(2), 5);
        let before = s.document().clone();
        for (node, bend) in [(NodeId(900), 1.0), (NodeId(1), f32::NAN), (NodeId(1), 7.0)] {
            let limit = Some(Box::new(limit(bend)));
            assert!(s.apply(Edit::SetLimit { node, limit }).is_err());
            assert!(s.apply(Edit::SetLimits([(node, self::limit(bend))].into())).is_err());
        }
        assert_eq!(*s.document(), before);
    }
}
