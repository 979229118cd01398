//! Figures of chapter 7: posing by strokes, and the filters that find silhouettes.

use super::super::easel::{Easel, Sitter};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::document::{DemoStroke, Edit, demo_strokes};
use crate::generate::Kind;
use crate::pose::{Stroke, StrokeLayer};
use crate::render::{BASELINE, Filter, Lines, OFFSET};
use crate::scene::Cell;

/// Width of strokes, pixels.
const WIDTH: f32 = 4.0;
/// Points with which a stroke is drawn.
const POINTS: usize = 40;

fn draw(stroke: &Stroke, color: [u8; 4], lines: &mut Lines) {
    let at = |k: usize| stroke.spline().position(k as f64 / (POINTS - 1) as f64).as_vec3();
    lines.stroke(&(0..POINTS).map(at).collect::<Vec<Vec3>>(), color, WIDTH);
}

/// Returns the demo strokes of a character in its current pose.
fn strokes(sitter: &Sitter) -> Vec<DemoStroke> {
    demo_strokes(sitter.model.skeleton(), &sitter.session.posed())
}

fn add(sitter: &mut Sitter, stroke: &DemoStroke, offset: &Stroke) -> Result<()> {
    let id = sitter.session.document().unused_stroke_id();
    let pose = sitter.session.posed();
    let layer =
        StrokeLayer::new(id, stroke.baseline.clone(), stroke.radius, (sitter.model.skeleton(), &[]), &pose)?;
    let layer = Box::new(layer.with_offset(offset.clone()));
    sitter.session.apply(Edit::AddStroke { index: None, layer })
}

/// Figures 29 and 31: a baseline along a chain of joints, its offset stroke, and the pose.
pub fn posing(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut rows = Vec::new();
    for (kind, yaw, number) in [(Kind::Human, 0.0, 0), (Kind::Chibi, 60.0, 1)] {
        let mut sitter = easel.sitter(kind, "springs", [yaw, 4.0], [400, 420])?;
        let all = strokes(&sitter);
        let none = || Error::input("the character has no chain of joints", "draw another character");
        let stroke = all.get(number).ok_or_else(none)?;
        let offset = &stroke.offsets[stroke.still].1;
        let shape = sitter.evaluate(None)?;
        let mut bounds = Aabb::of(shape.positions.iter().copied());
        let margin = bounds.size() * Vec3::new(0.1, 0.12, 0.1);
        bounds = Aabb { min: bounds.min - margin, max: bounds.max + margin };
        sitter.frame = Some(bounds);
        let mut lines = Lines::default();
        draw(&stroke.baseline, BASELINE, &mut lines);
        let mut row = vec![sitter.picture(&shape, &lines, "baseline")?];
        draw(offset, OFFSET, &mut lines);
        row.push(sitter.picture(&shape, &lines, "baseline and offset")?);
        add(&mut sitter, stroke, offset)?;
        let shape = sitter.evaluate(None)?;
        row.push(sitter.picture(&shape, &lines, "the pose")?);
        rows.push(row);
    }
    Ok(rows)
}

/// Figure 30: a whole pose of strokes, one after another.
pub fn pose_of_strokes(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut sitter = easel.sitter(Kind::Human, "springs", [20.0, 4.0], [300, 420])?;
    let shape = sitter.evaluate(None)?;
    let bounds = Aabb::of(shape.positions.iter().copied());
    let margin = bounds.size() * 0.1;
    sitter.frame = Some(Aabb { min: bounds.min - margin, max: bounds.max + margin });
    let mut lines = Lines::default();
    let mut row = vec![sitter.picture(&shape, &lines, "in bind")?];
    for (k, stroke) in strokes(&sitter).iter().enumerate() {
        let offset = &stroke.offsets[stroke.still].1;
        draw(&stroke.baseline, BASELINE, &mut lines);
        draw(offset, OFFSET, &mut lines);
        add(&mut sitter, stroke, offset)?;
        let shape = sitter.evaluate(None)?;
        row.push(sitter.picture(&shape, &lines, &format!("stroke {}", k + 1))?);
    }
    Ok(vec![row])
}

/// Figure 32: the silhouettes that each filter finds.
pub fn filters(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut sitter = easel.sitter(Kind::Human, "dqs", [40.0, 6.0], [380, 460])?;
    sitter.look_at(["Chest", "Head"], 0.34)?;
    let shape = sitter.evaluate(None)?;
    let mut row = vec![sitter.picture(&shape, &Lines::default(), "the mesh")?];
    for (filter, caption) in
        [(Filter::Position, "positions"), (Filter::Depth, "depths"), (Filter::Normal, "normals")]
    {
        let look = sitter.studio.look_mut();
        // At this scale, silhouettes are found in every pixel.
        (look.silhouettes, look.scale) = (Some(filter.options()), 0.5);
        row.push(sitter.picture(&shape, &Lines::default(), &format!("Laplacian of {caption}"))?);
    }
    Ok(vec![row])
}
