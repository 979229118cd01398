//! How a stroke on the skin follows the hand.

use super::{DETOUR, SkinTool, between, point_of};
use crate::scene::SurfaceSample;
use crate::surface::SurfacePoint;
use crate::workbench::Pen;
use crate::workbench::tools::{EditContext, pen};

impl SkinTool {
    /// Continues the stroke to a sample. Returns whether the stroke has changed. `scale` is world metres per room metre.
    pub(super) fn follow(
        &mut self,
        context: &EditContext,
        sample: &SurfaceSample,
        pen: Pen,
        scale: f32,
    ) -> bool {
        let (mut point, mut position) = (point_of(sample), sample.position);
        let distance = self.last.distance(position);
        let longest = |distance: f32| DETOUR * distance + 3.0 * context.body.edge;
        match (pen, self.points.last(), self.measured.first()) {
            (Pen::Straight, Some(_), Some(&(first, start))) => {
                // Without a path from the start, the stroke keeps its last end.
                let way = between(context, &first, &point, longest(start.distance(position)));
                let Some(way) = way else { return false };
                self.points.truncate(1);
                self.measured.truncate(1);
                self.points.extend(way);
            }
            (Pen::Free | Pen::Straight, Some(last), _) => {
                match between(context, last, &point, longest(distance)) {
                    Some(way) => self.points.extend(way),
                    None => point.lifted = true,
                }
            }
            (Pen::Steady, Some(last), _) => {
                let part = pen::pulled_on_skin(distance, scale);
                if part <= 0.0 {
                    return false;
                }
                match between(context, last, &point, longest(distance)) {
                    Some(way) => {
                        let Some((count, end)) = part_of(context, (last, &way, &point), part) else {
                            return false;
                        };
                        self.points.extend(&way[..count]);
                        (point, position) = (end, self.last.lerp(position, part));
                    }
                    None => point.lifted = true,
                }
            }
            (_, None, _) => {}
        }
        self.points.push(point);
        self.measured.push((point, position));
        self.last = position;
        true
    }
}

/// Returns the point at a fraction of a path over the skin, and the number of points of `way` before it.
fn part_of(
    context: &EditContext,
    (from, way, to): (&SurfacePoint, &[SurfacePoint], &SurfacePoint),
    fraction: f32,
) -> Option<(usize, SurfacePoint)> {
    let place = |p: &SurfacePoint| (p.triangle, p.barycentrics);
    let places: Vec<_> = way.iter().map(place).collect();
    let ends = (&place(from), &places[..], &place(to));
    let (count, (triangle, barycentrics)) =
        context.body.walk.along(ends, &context.character.control.positions, fraction)?;
    // The points of the way are spaced evenly in time.
    let pieces = way.len() as f32 + 1.0;
    let fraction = fraction.clamp(count as f32 / pieces, (count as f32 + 1.0) / pieces);
    let pressure = from.pressure + (to.pressure - from.pressure) * fraction;
    let time = from.time + (to.time - from.time) * f64::from(fraction);
    Some((count, SurfacePoint { triangle, barycentrics, pressure, time, lifted: false }))
}
