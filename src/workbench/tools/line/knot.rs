//! The knots of strokes, which the user can drag.

use super::EditContext;
use crate::base::StrokeId;
use crate::base::math::Vec3;
use crate::document::StrokeLine;
use crate::pose::Stroke;

/// A knot of a stroke in the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knot {
    pub id: StrokeId,
    pub line: StrokeLine,
    pub index: usize,
}

fn stroke_of(context: &EditContext, knot: Knot) -> Option<&Stroke> {
    let layer = context.session.document().stroke(knot.id).ok()?;
    match knot.line {
        StrokeLine::Baseline => Some(&layer.baseline),
        StrokeLine::Offset => layer.offset.as_ref(),
    }
}

/// Returns the position of a knot, if it exists.
pub(super) fn knot_position(context: &EditContext, knot: Knot) -> Option<Vec3> {
    Some(stroke_of(context, knot)?.knots().get(knot.index)?.position.into())
}

/// Returns the knot nearest to the tip, at most `reach` away. Offset strokes come before baselines.
pub(super) fn nearest_knot(context: &EditContext, tip: Vec3, reach: f32) -> Option<Knot> {
    let mut best: Option<(f32, Knot)> = None;
    for layer in context.session.document().strokes() {
        let lines =
            [(StrokeLine::Offset, layer.offset.as_ref()), (StrokeLine::Baseline, Some(&layer.baseline))];
        for (line, stroke) in lines.into_iter().filter_map(|(l, s)| Some((l, s?))) {
            for (index, knot) in stroke.knots().iter().enumerate() {
                let distance = tip.distance(knot.position.into());
                if distance <= reach && best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, Knot { id: layer.id, line, index }));
                }
            }
        }
    }
    best.map(|b| b.1)
}
