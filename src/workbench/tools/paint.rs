//! Paints the share of dual quaternion skinning (DQS) of the method `blend` with the brush. Vertices near a stroke on
//! the skin take the share that the user has chosen. Towards the edge of the brush, this effect fades.

use super::EditContext;
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::deform::Geometric;
use crate::deform::blend::Painted;
use crate::document::Edit;
use crate::scene::recipe;
use crate::surface::SurfacePoint;

/// Returns the edit that gives the document's method `blend` these factors.
///
/// # Errors
/// The method of the document is another one.
pub fn with_painted(context: &EditContext, painted: &Painted) -> Result<Edit> {
    let mut settings = context.session.document().deformer().clone();
    if settings.method != "blend" {
        return Err(Error::input(
            "only the method blend has a share of DQS",
            "choose it in the deformer panel",
        ));
    }
    let value = serde_json::to_value(painted).unwrap_or_default();
    settings.parameters.insert("painted".to_owned(), value);
    Ok(Edit::SetDeformer(settings))
}

/// Returns the edit that paints `share` along a stroke. `radius` is the brush radius, metres. With `mirror`, the other
/// side of the character is painted, too. Distances are those of the bind pose, so the pose does not matter.
///
/// # Errors
/// The method of the document is not `blend`.
pub fn paint(
    context: &EditContext,
    points: &[SurfacePoint],
    radius: f32,
    share: f32,
    mirror: bool,
) -> Result<Edit> {
    let character = &context.character;
    let positions = &character.control.positions;
    let own: Vec<Vec3> = points.iter().filter_map(|p| context.body.bind_position(character, p)).collect();
    let reflected = context
        .body
        .mirror
        .as_ref()
        .filter(|_| mirror)
        .map(|m| own.iter().map(|x| m.reflect_bind(x.as_dvec3()).as_vec3()).collect::<Vec<_>>());
    let strokes: Vec<(Aabb, Vec<Vec3>)> = std::iter::once(own)
        .chain(reflected)
        .map(|stroke| (Aabb::of(stroke.iter().copied()), stroke))
        .collect();
    let hidden = hidden(context);
    let (factor, before) = match recipe(context.session.document().deformer())?.geometric {
        Geometric::Blend { factor, painted } => (factor, painted),
        _ => (0.0, Painted::NONE),
    };
    let painted = (0..positions.len()).map(|v| {
        let old = before.get(v).unwrap_or(factor);
        let x = positions[v];
        if hidden.get(v).is_some_and(|h| *h) {
            return old;
        }
        let near = |(bounds, stroke): &(Aabb, Vec<Vec3>)| {
            let outside = (bounds.min - x).max(x - bounds.max).max(Vec3::ZERO).length();
            if outside > radius {
                return f32::INFINITY;
            }
            let single = stroke.first().map_or(f32::INFINITY, |a| a.distance(x));
            let pieces = stroke.windows(2);
            pieces.map(|p| crate::base::math::distance_to_segment(x, p[0], p[1])).fold(single, f32::min)
        };
        let distance = strokes.iter().map(near).fold(f32::INFINITY, f32::min);
        let u = (1.0 - distance / radius.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        // The inner half of the brush paints fully.
        let u = (2.0 * u).min(1.0);
        old + (share - old) * u * u * (3.0 - 2.0 * u)
    });
    with_painted(context, &Painted::new(painted))
}

/// Returns, for each control vertex, whether it belongs to hidden parts only; empty if no part is hidden.
pub(super) fn hidden(context: &EditContext) -> Vec<bool> {
    let parts = context.session.document().hidden();
    if parts.is_empty() {
        return Vec::new();
    }
    let display = &context.character.display;
    let mut out = vec![true; context.character.control.positions.len()];
    for (index, part) in display.parts.iter().enumerate() {
        if parts.binary_search(&(index as u32)).is_err() {
            let vertices = part.vertices.start as usize..part.vertices.end as usize;
            display.control_of[vertices].iter().for_each(|&v| out[v as usize] = false);
        }
    }
    out
}
