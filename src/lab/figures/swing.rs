//! Dynamics: a character drops and stops, and its flesh stops later (thesis 4.2).

use super::easel::{Easel, Sitter};
use crate::asset::Property;
use crate::base::Result;
use crate::base::math::{Aabb, Vec3};
use crate::document::{DeformerSettings, Edit, KeyEdit, KeyValue, Target};
use crate::generate::Kind;
use crate::render::{BASELINE, Lines, OFFSET};
use crate::scene::{Cell, Evaluation};

/// Time at which the drop ends, seconds; `DEPTH` is the depth of the drop, metres.
const STOP: f64 = 0.25;
const DEPTH: f32 = 0.16;
/// Frames per second of the motion.
const RATE: f64 = 60.0;
/// Frames shown in the figure, with captions.
const SHOWN: [(usize, &str); 8] = [
    (0, "0 s, starts"),
    (9, "0.15 s, lags"),
    (15, "0.25 s, stops"),
    (20, "0.33 s"),
    (26, "0.43 s"),
    (32, "0.53 s"),
    (40, "0.67 s"),
    (120, "2 s, at rest"),
];

/// Draws a hop of a character with soft flesh. Lines show the path of the vertex that swings most, with and without
/// dynamics.
pub fn hop(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let times: Vec<f64> = (0..=SHOWN[SHOWN.len() - 1].0).map(|f| f as f64 / RATE).collect();
    let film = |easel: &mut Easel<'_>, hertz: f64| -> Result<(Sitter, Vec<Evaluation>)> {
        let parameters = [("dynamics", hertz), ("damping", 0.12)].map(|(n, v)| (n.to_owned(), v.into()));
        let settings = DeformerSettings { method: "springs".into(), parameters: parameters.into() };
        let mut sitter = easel.sitter_of(Kind::Chibi, settings, [118.0, 4.0], [300, 420])?;
        let node = sitter.node("Hips")?;
        let up = Vec3::from(sitter.model.rest().local[node.index()].translation);
        for (time, y) in [(0.0, 0.0), (STOP, -DEPTH), (2.0, -DEPTH)] {
            let value = (up + Vec3::Y * y).to_array().to_vec();
            let keys = vec![KeyValue { target: Target::node(node, Property::Translation), value }];
            sitter.session.apply(Edit::Keys(KeyEdit::Insert { time, keys }))?;
        }
        let shapes = sitter.film(&times)?;
        Ok((sitter, shapes))
    };
    let (_, still) = film(easel, 0.0)?;
    let (mut sitter, swung) = film(easel, 2.5)?;
    // All pictures use the same camera.
    sitter.frame = Some(Aabb::of(still.iter().chain(&swung).flat_map(|s| s.positions.iter().copied())));
    // The vertex that moves furthest from its path without dynamics.
    let apart = |v: usize| {
        let at = |(a, b): (&Evaluation, &Evaluation)| a.positions[v].distance(b.positions[v]);
        swung.iter().zip(&still).map(at).fold(0.0, f32::max)
    };
    let most = (0..swung[0].positions.len()).max_by(|a, b| apart(*a).total_cmp(&apart(*b))).unwrap_or(0);
    let path = |shapes: &[Evaluation]| -> Vec<Vec3> {
        // Each point of the path is shifted sideways in proportion to its time, so that vertical motion appears as a
        // curve.
        let aside = |(f, s): (usize, &Evaluation)| s.positions[most] + Vec3::Z * (0.002 * f as f32);
        shapes.iter().enumerate().map(aside).collect()
    };
    let (calm, soft) = (path(&still), path(&swung));
    let mut rows = vec![Vec::new(), Vec::new()];
    for (k, (frame, caption)) in SHOWN.into_iter().enumerate() {
        let mut lines = Lines::default();
        lines.polyline(&calm[..=frame], BASELINE, 3.0, 1.0);
        lines.polyline(&soft[..=frame], OFFSET, 3.0, 1.0);
        lines.dot(soft[frame], OFFSET, 9.0);
        rows[k / 4].push(sitter.picture(&swung[frame], &lines, caption)?);
    }
    Ok(rows)
}
