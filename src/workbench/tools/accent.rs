//! The silhouette tool (SilSketch, thesis 7.3): the user draws an accent stroke, the curve onto which a silhouette should
//! move. The search for the silhouette needs a rendered image, so the front end performs this search. While the user draws, the
//! front end interprets the stroke so far ([`AccentTool::stroke`]) and returns previews. In the end, the front end
//! interprets the finished stroke ([`Request::Accent`]) and returns a sculpt layer.

use super::{EditContext, Moment, PER_POINT, pen};
use crate::base::math::{Aabb, Mat3, Quat, Vec3};
use crate::deform::classic::Method;
use crate::render::{BASELINE, Lines, OFFSET, TEXEL, Tangents, View};
use crate::surface::Sculpt;
use crate::workbench::{AccentOutcome, AccentStart, AccentStroke, Haptic, Request, Rigid, Tracking};
use std::sync::Arc;

/// Maximum number of samples. A stroke that reaches this number ends.
const MOST: usize = 4096;
/// Maximum width and height of the image in which silhouettes are searched, pixels.
const LARGEST: f32 = 1400.0;
/// Maximum tangent of the angle between the view's axis and an edge of the image.
const WIDEST: f32 = 1.2;
/// Margin around the first point of a stroke, pixels of the image.
const MARGIN: f32 = 8.0;
/// Radius of the flesh around a bone, as a fraction of the character's size.
const FLESH: f32 = 0.1;

/// State of the silhouette tool.
#[derive(Default)]
pub struct AccentTool {
    /// The stroke in progress.
    drawn: Option<AccentStroke>,
    /// The start of the stroke whose previews are shown: the stroke in progress, or the last one until its sculpt layer
    /// arrives.
    shown: Option<Arc<AccentStart>>,
    /// The newest interpretation of the shown stroke.
    preview: Option<AccentOutcome>,
}

impl AccentTool {
    /// Whether a stroke is in progress.
    pub fn is_busy(&self) -> bool {
        self.drawn.is_some()
    }

    /// Cancels the current stroke.
    pub fn cancel(&mut self) {
        if self.drawn.take().is_some() {
            self.end_preview();
        }
    }

    /// The stroke in progress.
    pub fn stroke(&self) -> Option<&AccentStroke> {
        self.drawn.as_ref()
    }

    /// Shows the interpretation of a stroke that begins with `start`; `None` shows the skin without the stroke. Ignores
    /// all strokes but the current stroke and the last one.
    pub fn preview(&mut self, start: &Arc<AccentStart>, outcome: Option<AccentOutcome>) {
        if self.shown.as_ref().is_some_and(|own| Arc::ptr_eq(own, start)) {
            self.preview = outcome;
        }
    }

    /// Ends the preview, because the sculpt layer is in the document or the stroke has given none.
    pub fn end_preview(&mut self) {
        (self.shown, self.preview) = (None, None);
    }

    /// The sculpt layer of the preview.
    pub fn shaped(&self) -> Option<&Sculpt> {
        self.preview.as_ref().map(|p| &p.sculpt)
    }

    /// Runs one frame of the tool. Returns a request when a stroke ends. `head` is in world space; in a window
    /// (`windowed`), it is the camera.
    pub fn step(
        &mut self,
        context: &EditContext,
        moment: &mut Moment,
        (head, windowed): (&Rigid, bool),
    ) -> Option<Request> {
        let hand = moment.hand();
        let (tip, tracked) = (hand.tip.position, hand.tip_tracking == Tracking::Tracked);
        let (pressed, down, on_panel) = (hand.trigger.pressed, hand.trigger.down, hand.on_panel);
        if pressed && tracked && !on_panel {
            self.begin(context, moment, tip, (head, windowed));
        }
        let accent = self.drawn.as_mut()?;
        if down && tracked {
            pen::draw(&mut accent.stroke, moment, MOST);
        }
        if down && accent.stroke.len() < MOST {
            return None;
        }
        pen::end(&mut accent.stroke, moment, MOST);
        let request = self.drawn.take().filter(|s| s.stroke.len() > 1);
        if request.is_none() {
            self.end_preview();
        }
        moment.feel(moment.tool, if request.is_some() { Haptic::Selection } else { Haptic::Limit });
        request.map(|accent| Request::Accent(Box::new(accent)))
    }

    fn begin(&mut self, context: &EditContext, moment: &mut Moment, tip: Vec3, from: (&Rigid, bool)) {
        self.end_preview();
        self.drawn = None;
        let Some((view, size)) = view_of(context, tip, from, moment.scale) else {
            return moment.feel(moment.tool, Haptic::Limit);
        };
        let p = moment.preferences;
        let start = Arc::new(AccentStart {
            view,
            size,
            pose: context.pose.clone(),
            filter: p.silhouettes,
            depth: p.accent_depth,
            reach: moment.reach(context.body.edge),
            surroundings: p.surroundings.unwrap_or(Method::Lse),
        });
        self.shown = Some(start.clone());
        // A frame while drawing must not allocate.
        self.drawn = Some(AccentStroke { start, stroke: Vec::with_capacity(MOST) });
        moment.feel(moment.tool, Haptic::Contact);
    }

    /// Draws the current stroke and the piece of silhouette that it selects.
    pub fn lines(&self, out: &mut Lines) {
        if let (Some(accent), Some(preview)) = (&self.drawn, &self.preview) {
            out.polyline(&preview.chain, BASELINE, 4.0, 1.0);
            out.stroke(&accent.stroke, OFFSET, 3.0);
        } else if let Some(accent) = &self.drawn {
            out.stroke(&accent.stroke, OFFSET, 3.0);
        }
    }
}

/// Returns the view of the character from an eye, and the size of its image. A pixel has [`TEXEL`] points, as for the
/// silhouettes in the picture ([`crate::render::Look::silhouettes`]). The image shows the character, as far as it fits
/// around `tip`. In a headset, the view's axis runs through `tip`. `None` if `tip` is not in front of the eye.
fn view_of(
    context: &EditContext,
    tip: Vec3,
    (head, windowed): (&Rigid, bool),
    scale: f32,
) -> Option<(View, [u32; 2])> {
    let eye = head.position;
    let rotation = if windowed { head.orientation } else { toward(tip - eye)? };
    let back = rotation.conjugate();
    let seen = |p: Vec3| back * (p - eye);
    let distance = -seen(tip).z;
    if !(distance > 0.0 && rotation.is_finite()) {
        return None;
    }
    let pixel = TEXEL * if windowed { PER_POINT * scale / distance } else { View::POINT };
    let at = [0, 1].map(|axis| seen(tip)[axis] / distance);
    let half = (0.5 * LARGEST * pixel).min(WIDEST);
    let spheres = body(context);
    let extent = |axis: usize| {
        let mut range = [f32::INFINITY, f32::NEG_INFINITY];
        for &(centre, radius) in &spheres {
            let p = seen(centre);
            let [near, far] = [-p.z - radius, -p.z + radius];
            if near <= 0.0 {
                range = [f32::NEG_INFINITY, f32::INFINITY];
                break;
            }
            let [low, high] = [p[axis] - radius, p[axis] + radius];
            range = [range[0].min(low / near).min(low / far), range[1].max(high / near).max(high / far)];
        }
        let [low, high] = [range[0].max(at[axis] - half), range[1].min(at[axis] + half)];
        let [low, high] = [low.min(at[axis] - MARGIN * pixel), high.max(at[axis] + MARGIN * pixel)];
        let count = ((high - low) / pixel).ceil().clamp(1.0, LARGEST + 2.0 * MARGIN);
        ([low, low + count * pixel], count as u32)
    };
    let (([left, right], width), ([down, up], height)) = (extent(0), extent(1));
    let tangents = Tangents { left, right, up, down };
    Some((View::new(eye, rotation, tangents, 0.01 * distance), [width, height]))
}

/// Rotation of a view along a direction, with the upper edge of its image up; `None` without a direction.
fn toward(way: Vec3) -> Option<Quat> {
    let direction = way.try_normalize()?;
    let right = direction.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
    let up = right.cross(direction);
    Some(Quat::from_mat3(&Mat3::from_cols(right, up, -direction)).normalize())
}

/// Spheres that contain the posed character, nearly: its bones with flesh around them, and the corners of its bounding
/// box, moved with the bones.
fn body(context: &EditContext) -> Vec<(Vec3, f32)> {
    let bounds = Aabb::of(context.character.display.positions.iter().copied());
    let bones = &context.rig.bones;
    let rest = &context.character.skeleton.bones;
    let shift: Vec3 = bones.iter().zip(rest).map(|(a, b)| a.head + a.tail - b.head - b.tail).sum();
    let shift = shift / (2 * bones.len()).max(1) as f32;
    let corner = |i: u32| {
        let side = Vec3::from_array([0, 1, 2].map(|axis| (i >> axis & 1) as f32));
        (bounds.min + bounds.size() * side + shift, 0.0)
    };
    let radius = FLESH * bounds.diagonal();
    bones.iter().flat_map(|b| [(b.head, radius), (b.tail, radius)]).chain((0..8).map(corner)).collect()
}
