//! The silhouette tool (SilSketch, thesis 7.3): the user draws the curve onto which a silhouette should move. The
//! search for the silhouette needs a rendered image, so the front end carries it out ([`Request::Sketch`]) and returns
//! a sculpt layer.

use super::{EditContext, Moment};
use crate::base::math::{Quat, Vec3};
use crate::deform::classic::Method;
use crate::render::{Lines, OFFSET, Tangents, View};
use crate::workbench::{Haptic, Request, Sketch, Tracking};

/// Minimum distance between samples, room metres.
const STILL: f32 = 0.002;
/// Size of the rendered view, as a multiple of the stroke's extent.
const AROUND: f32 = 2.0;
/// Range of the tangent of half the field of view.
const ANGLES: [f32; 2] = [0.05, 1.5];
/// Maximum number of samples. A stroke that reaches this number ends.
const MOST: usize = 4096;

/// State of the silhouette tool.
#[derive(Default)]
pub struct AccentTool {
    points: Vec<Vec3>,
    drawing: bool,
}

impl AccentTool {
    /// Whether a stroke is in progress.
    pub fn is_busy(&self) -> bool {
        self.drawing
    }

    /// Cancels the current stroke.
    pub fn cancel(&mut self) {
        self.drawing = false;
        self.points.clear();
    }

    /// Runs one frame of the tool. Returns a request when a stroke ends. `eye` is in world space.
    pub fn step(&mut self, context: &EditContext, moment: &mut Moment, eye: Vec3) -> Option<Request> {
        let hand = moment.hand();
        let (tip, tracked) = (hand.tip.position, hand.tip_tracking == Tracking::Tracked);
        let (pressed, down, on_panel) = (hand.trigger.pressed, hand.trigger.down, hand.on_panel);
        if pressed && tracked && !on_panel {
            self.points.clear();
            self.drawing = true;
            moment.feel(moment.tool, Haptic::Contact);
        }
        if !self.drawing {
            return None;
        }
        let apart = self.points.last().is_none_or(|p| p.distance(tip) >= STILL * moment.scale);
        if down && tracked && apart {
            self.points.push(tip);
        }
        if down && self.points.len() < MOST {
            return None;
        }
        self.drawing = false;
        let stroke = std::mem::take(&mut self.points);
        let reach = moment.reach(context.body.edge);
        let sketch = (stroke.len() > 1).then(|| view_of(&stroke, eye)).flatten();
        let pose = context.pose.clone();
        let surroundings = moment.preferences.surroundings.unwrap_or(Method::Lse);
        let request =
            sketch.map(|view| Request::Sketch(Box::new(Sketch { stroke, view, pose, reach, surroundings })));
        moment.feel(moment.tool, if request.is_some() { Haptic::Selection } else { Haptic::Limit });
        request
    }

    /// Draws the current stroke.
    pub fn lines(&self, out: &mut Lines) {
        out.stroke(&self.points, OFFSET, 3.0);
    }
}

/// View from an eye towards a stroke; `None` if the stroke is at the eye.
fn view_of(stroke: &[Vec3], eye: Vec3) -> Option<View> {
    let ahead = stroke.iter().sum::<Vec3>() / stroke.len() as f32 - eye;
    let (direction, distance) = (ahead.normalize_or_zero(), ahead.length());
    let right = direction.cross(Vec3::Y);
    let right = if right.length() > 1e-3 { right.normalize() } else { Vec3::X };
    let up = right.cross(direction);
    let rotation = Quat::from_mat3(&crate::base::math::Mat3::from_cols(right, up, -direction)).normalize();
    let off = |p: &Vec3| {
        let to = *p - eye;
        let depth = to.dot(direction);
        if depth > 0.0 { (to - direction * depth).length() / depth } else { f32::INFINITY }
    };
    let half = (AROUND * stroke.iter().map(off).fold(0.0, f32::max)).clamp(ANGLES[0], ANGLES[1]);
    let tangents = Tangents { left: -half, right: half, up: half, down: -half };
    (direction != Vec3::ZERO && rotation.is_finite())
        .then(|| View::new(eye, rotation, tangents, 0.01 * distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eye_sees_all_of_a_stroke_from_anywhere() {
        let stroke = [Vec3::new(0.1, 1.0, 0.2), Vec3::new(0.3, 1.4, 0.1), Vec3::new(0.2, 1.8, 0.0)];
        for eye in [Vec3::new(0.0, 1.2, 4.0), Vec3::new(0.2, 9.0, 0.1), Vec3::new(-0.5, -2.0, 0.2)] {
            let view = view_of(&stroke, eye).unwrap();
            for p in &stroke {
                let [u, v] = view.project(*p).unwrap();
                assert!((0.1..0.9).contains(&u) && (0.1..0.9).contains(&v), "{u} {v} from {eye}");
            }
        }
        assert!(view_of(&stroke[..1], stroke[0]).is_none());
    }
}
