//! Writes the output of a step.

use super::travel::jump_lines;
use crate::render::{Tangents, View};
use crate::workbench::tools::{Moment, binding, limits, show};
use crate::workbench::{Output, Tool, Tracking, Workbench};

/// Tangent of half the field of view of a hand's probe camera. Narrow, because only the centre of the image is used.
const PROBE: f32 = 0.02;
/// Near plane of the probe camera, room metres.
const NEAR: f32 = 0.002;

impl Workbench {
    pub(super) fn write_output(&mut self) -> &Output {
        let tool = self.tool_hand();
        let world_from_room = *self.navigation.world_from_room();
        let arc = self.jump_arc();
        let out = &mut self.output;
        out.world_from_room = world_from_room;
        out.lines.clear();
        out.world_from_floor = *self.navigation.world_from_floor();
        self.landmarks.lines(&out.world_from_floor, &mut out.lines);
        show::body(&self.context, self.preferences.wire, &mut out.lines);
        if let Some(attachments) = self.attachments.as_ref().filter(|_| self.preferences.binding) {
            binding::lines(&self.context, attachments, self.touched, &mut out.lines);
            binding::planes(&self.context, self.touched, &mut out.lines);
        }
        if self.preferences.tool == Tool::Joint || self.preferences.limit_cone {
            limits::cone(&self.context, self.touched, &mut out.lines);
        }
        if self.preferences.crossings {
            self.crossings.lines(self.context.pose_version, &mut out.lines);
        }
        let at_marks = Some(self.preferences.marks).filter(|_| self.preferences.tool == Tool::Skin);
        self.skin.lines(&self.context, at_marks, &mut out.lines);
        self.line.document_lines(&self.context, &mut out.lines);
        if self.preferences.tool == Tool::Line || self.line.is_busy() {
            self.line.lines(&self.context, &mut out.lines);
        }
        self.accent.lines(&mut out.lines);
        self.bone.lines(&self.context, &mut out.lines);
        let records = self.recording.is_some();
        // In a window, only the grab tool can grab. In a headset, a squeeze grabs with any tool.
        if !self.windowed || self.preferences.tool == Tool::Grab || self.grab.is_busy() {
            self.grab.lines(&self.context, records, &mut out.lines);
        }
        if let Some(arc) = arc {
            jump_lines(&arc, world_from_room.scale, &mut out.lines);
        }
        let moment = Moment {
            hands: &self.hands,
            tool,
            scale: world_from_room.scale,
            windowed: self.windowed,
            preferences: &self.preferences,
            pen: self.preferences.pen,
            rules: self.navigation.rules(),
            haptics: &mut out.haptics,
        };
        if !self.windowed {
            show::hands(&moment, &mut out.lines);
            show::pointer(&moment, &mut out.lines);
        }
        if self.preferences.tool == Tool::Grip {
            self.grip.lines(&self.context, records, &mut out.lines);
        }
        if self.preferences.tool == Tool::Cage {
            self.cage.lines(&self.context, &moment, records, &mut out.lines);
        }
        show::brush(&moment, world_from_room.point(self.head.position), &mut out.lines);
        let head = world_from_room.rigid(&self.head);
        self.measure.lines(&self.context, &moment, (&head, self.windowed), &mut out.lines);
        // The marked joints are on top of the bones and dots of the tools.
        self.limits.lines(&self.context, &mut out.lines);
        out.probes = std::array::from_fn(|h| {
            let wanted = match self.preferences.tool {
                Tool::Line => false,
                Tool::Grab => true,
                Tool::Skin | Tool::Measure | Tool::Grip => h == tool,
                Tool::Joint | Tool::Silhouette | Tool::Bone | Tool::Cage => false,
            };
            let hand = &self.hands.hands[h];
            (wanted && !self.windowed && hand.tip_tracking > Tracking::Lost).then(|| {
                let tangents = Tangents { left: -PROBE, right: PROBE, up: PROBE, down: -PROBE };
                View::new(hand.aim.position, hand.aim.orientation, tangents, NEAR * world_from_room.scale)
            })
        });
        out.requests.clear();
        out.requests.append(&mut self.requests);
        self.draw_path();
        &self.output
    }
}
