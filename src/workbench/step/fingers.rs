//! The fingers of a tracked hand pose those of the character.

use super::Workbench;

impl Workbench {
    /// Runs [`crate::workbench::Command::Fingers`].
    pub(super) fn set_fingers(&mut self, on: bool) {
        if !on {
            return self.keep_fingers();
        }
        self.cancel();
        let free = &self.hands.hands[1 - self.tool_hand()];
        let refused = if self.windowed {
            "only a headset tracks fingers: put it on"
        } else if free.fingers.is_none() {
            "the headset does not see the fingers of your free hand: show them, or put the controller down"
        } else {
            self.borrow_pose();
            let hand = self.selected();
            if hand.is_some_and(|node| self.fingers.hold(&self.context, node, self.preferences.mirror)) {
                self.preferences.fingers = true;
                return;
            }
            self.give_pose_back();
            "no hand is selected: touch a joint of a hand with at least three fingers first"
        };
        self.context.notice = Some(refused.into());
        self.limit();
    }

    /// Ends following and keeps the pose.
    fn keep_fingers(&mut self) {
        self.preferences.fingers = false;
        if self.fingers.is_busy() {
            self.fingers.let_go(&mut self.context);
            self.document_changed();
        }
    }

    /// Ends following and restores the pose.
    pub(super) fn drop_fingers(&mut self) {
        self.preferences.fingers = false;
        self.fingers.cancel(&mut self.context);
    }

    /// Runs once a frame: the character's fingers follow the free hand while the headset sees its fingers.
    pub(super) fn follow_fingers(&mut self) {
        let free = 1 - self.tool_hand();
        if let Some(tracked) = self.hands.hands[free].fingers {
            self.fingers.follow(&mut self.context, &tracked);
        }
    }
}
