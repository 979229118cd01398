//! The offset strokes of the skin tool, and its drags of knots.

use super::{KNOT, Pulled, REACH, SkinTool, Touch, keep, point_of};
use crate::base::Error;
use crate::workbench::tools::offset::Offset;
use crate::workbench::tools::{EditContext, Moment};
use crate::workbench::{Haptic, Tracking};

impl SkinTool {
    /// Draws the offset stroke of the open mark.
    pub(super) fn draw_offset(&mut self, context: &mut EditContext, moment: &mut Moment) -> Vec<Pulled> {
        let hand = moment.hand();
        let tracked = hand.tip_tracking == Tracking::Tracked;
        // Samples of the skin during this stroke must not begin a mark after it.
        self.seen = hand.surface.map_or(self.seen, |s| s.time.max(self.seen));
        if hand.trigger.pressed && tracked && !hand.on_panel && self.offset.is_none() {
            let new = (moment.reach(context.body.edge), moment.preferences.surroundings);
            let Some(mark) = self.open else { return Vec::new() };
            self.offset = Offset::begin(context, mark, &self.shown, new);
            if self.offset.is_none() {
                self.open = None;
                context.refuse(&Error::input(
                    "this mark has no skin that can move",
                    "draw a mark on the skin, away from rigid parts",
                ));
                moment.feel(moment.tool, Haptic::Limit);
                return Vec::new();
            }
            moment.feel(moment.tool, Haptic::Contact);
        }
        let down = moment.hand().trigger.down;
        let Some(offset) = &mut self.offset else { return Vec::new() };
        if down {
            if tracked {
                offset.draw(moment);
            }
            return Vec::new();
        }
        let ended = self.offset.take().and_then(|offset| offset.end(moment));
        // A click is no stroke, so the mark still waits.
        let Some((layer, before)) = ended else { return Vec::new() };
        self.open = None;
        keep(context, moment, layer, before)
    }

    /// Drags a knot. Returns whether a knot is in the hand.
    pub(super) fn drag_knot(&mut self, context: &mut EditContext, moment: &mut Moment) -> bool {
        self.knots.update(context);
        let hand = moment.hand();
        let (tip, tracked) = (hand.tip.position, hand.tip_tracking == Tracking::Tracked);
        let Some(drag) = &mut self.drag else {
            let free = tracked && !self.drawing && !self.armed && !hand.on_panel;
            let reach = KNOT * moment.scale;
            let touch = Touch::of(context, moment, reach);
            let near = free.then(|| self.knots.nearest(context, &touch, reach)).flatten();
            let pressed = hand.trigger.pressed;
            if near.is_some() && near != self.hover {
                moment.feel(moment.tool, Haptic::Hover);
            }
            self.hover = near;
            self.drag =
                near.filter(|_| pressed).and_then(|knot| self.knots.drag(context, knot, moment.mirrors()));
            if self.drag.is_some() {
                moment.feel(moment.tool, Haptic::Selection);
            }
            return self.drag.is_some();
        };
        let time = moment.hands.time;
        if let Some(sample) = hand.surface.filter(|s| s.time > self.seen && s.time <= time) {
            self.seen = sample.time;
            let near = sample.position.distance(tip) <= REACH * moment.scale;
            if tracked && near && (sample.triangle as usize) < context.body.walk.len() {
                let point = point_of(&sample);
                drag.to(context, (point.triangle, point.barycentrics));
            }
        }
        if moment.hand().trigger.down {
            return true;
        }
        let ended = self.drag.take().map(|drag| drag.end(context));
        match ended {
            Some(Ok(Some(edit))) => {
                let done = context.apply(edit);
                moment.feel(moment.tool, if done { Haptic::Selection } else { Haptic::Limit });
            }
            Some(Err(error)) => {
                context.refuse(&error);
                moment.feel(moment.tool, Haptic::Limit);
            }
            _ => {}
        }
        true
    }
}
