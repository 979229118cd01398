//! Settings of the document's deformer that commands change.

use crate::deform::swing_twist::Deformer;
use crate::document::Edit;
use crate::scene::method;
use crate::workbench::{CommandKind, Workbench};

impl Workbench {
    /// Sets a number of the dynamics settings.
    pub(super) fn set_of_dynamics(
        &mut self,
        name: &str,
        value: f32,
        [least, most]: [f64; 2],
        kind: CommandKind,
    ) {
        if self.recipe().dynamics().is_none() {
            self.context.notice =
                Some("this method has no flesh that swings: choose volume or springs".into());
            return self.limit();
        }
        let value = if value.is_finite() { f64::from(value).clamp(least, most) } else { least };
        // Rounds to two decimals, so that files show short numbers.
        self.set_of_deformer(name, ((value * 100.0).round() / 100.0).into(), kind);
    }

    /// Sets a setting of the deformer. Consecutive changes by a slider form a single undo step.
    pub(super) fn set_of_deformer(&mut self, name: &str, value: serde_json::Value, kind: CommandKind) {
        let mut settings = self.context.session.document().deformer().clone();
        settings.method = method(&settings.method).to_owned();
        if settings.parameters.get(name) == Some(&value) {
            return;
        }
        settings.parameters.insert(name.to_owned(), value);
        let continues = self.sliding == Some((None, kind, self.context.session.history()));
        self.apply(Edit::SetDeformer(settings), continues);
        self.sliding = Some((None, kind, self.context.session.history()));
    }

    /// Sets the deformer of the selected joint.
    pub(super) fn set_joint_deformer(&mut self, deformer: Deformer) {
        let joint = self.selected().and_then(|n| self.context.character.skeleton.nodes[n.index()].joint);
        let (Some((params, _)), Some(joint)) = (self.swing_twist(), joint) else {
            self.context.notice =
                Some("choose the method swing-twist and a joint: then the joint has a deformer".into());
            return self.limit();
        };
        let mut joints = params.joints.clone();
        if deformer == Deformer::default() {
            joints.remove(&joint);
        } else {
            joints.insert(joint, deformer);
        }
        self.end_slide();
        let value = serde_json::to_value(joints).unwrap_or_default();
        self.set_of_deformer("joints", value, CommandKind::JointDeformer);
    }
}
