//! SilSketch's figures: the renderer finds a silhouette, and an accent stroke defines its new shape.

use super::easel::{Easel, Sitter};
use crate::base::Result;
use crate::base::math::{Aabb, Vec3};
use crate::deform::classic::{Energy, Lists, LseOptions, Method};
use crate::document::{Edit, Operation};
use crate::generate::Kind;
use crate::render::{BASELINE, Camera, Filter, Lines, OFFSET, View};
use crate::rig::PosedRig;
use crate::scene::{Cell, Classic, Evaluation, reshape};
use crate::surface::{Accent, Reach, silsketch};
use crate::workbench::{AccentOutcome, AccentSolver, AccentStart, AccentStroke};
use std::sync::Arc;

/// Colours of handles, passive vertices and anchors (thesis figure 5).
const HANDLES: [[u8; 4]; 3] = [[255, 220, 40, 255], [60, 220, 90, 255], [255, 70, 60, 255]];
/// Maximum rounds of ARAP.
const ROUNDS: u32 = 40;

/// Draws a nose in side view; an accent stroke makes it longer.
pub fn nose(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let (mut sitter, stroke) = nose_and_stroke(easel, "dqs")?;
    let shape = sitter.evaluate(None)?;
    sketch(&mut sitter, &shape, &stroke, 8)
}

/// Returns a head in side view, and an accent stroke beside its nose, pixels.
fn nose_and_stroke(easel: &mut Easel<'_>, method: &str) -> Result<(Sitter, Vec<[f32; 2]>)> {
    let mut sitter = easel.sitter(Kind::Human, method, [90.0, 0.0], [480, 480])?;
    let head =
        PosedRig::new(sitter.model.skeleton(), &sitter.session.posed()).world[sitter.node("Head")?.index()];
    let head = Vec3::from(head.translation);
    let (centre, half) = (head + Vec3::new(0.0, 0.06, 0.06), Vec3::splat(0.1));
    let bounds = Aabb { min: centre - half, max: centre + half };
    sitter.frame = Some(bounds);
    // Points of the stroke, from the brow to the upper lip. Both coordinates are relative to the head joint, metres:
    // up, then forward.
    let stroke =
        [[0.114, 0.098], [0.094, 0.114], [0.069, 0.136], [0.054, 0.139], [0.047, 0.124], [0.044, 0.094]];
    let (view, size) = (view(&sitter, &bounds), sitter.size);
    let pixel = |[up, front]: [f32; 2]| {
        let [u, v] = view.project(head + Vec3::new(0.0, up, front))?;
        Some([u * size[0] as f32, v * size[1] as f32])
    };
    let stroke = stroke.into_iter().filter_map(pixel).collect();
    Ok((sitter, stroke))
}

/// Draws a nose in side view while an accent stroke makes it longer, with the silhouettes that the tool shows.
pub fn live(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let renderer = easel.renderer()?;
    let (mut sitter, stroke) = nose_and_stroke(easel, "lbs")?;
    let bounds = sitter.frame.unwrap_or_default();
    let (view, size) = (view(&sitter, &bounds), sitter.size);
    let document = Arc::new(sitter.session.document().clone());
    let start = Arc::new(AccentStart {
        view,
        size,
        pose: sitter.session.posed(),
        filter: Filter::Normal,
        depth: false,
        reach: Reach::Edges(8),
        surroundings: Method::Lse,
    });
    // The stroke lies close to the camera, so that nothing occludes it.
    let stroke: Vec<Vec3> = dense(&stroke).iter().map(|p| near(&view, size, &bounds, p)).collect();
    let mut solver = AccentSolver::default();
    sitter.studio.look_mut().silhouettes = Some(Filter::Normal.options());
    let mut row = vec![sitter.shot(None, "silhouettes")?];
    for share in [0.45, 0.7, 1.0] {
        let stroke = stroke[..(stroke.len() as f32 * share) as usize].to_vec();
        let accent = AccentStroke { start: start.clone(), stroke };
        let AccentOutcome { sculpt, chain } = solver.solve(&renderer, &sitter.model, &document, &accent)?;
        sitter.session.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) })?;
        let mut lines = Lines::default();
        lines.polyline(&chain, BASELINE, 4.0, 1.0);
        lines.stroke(&accent.stroke, OFFSET, 3.0);
        let shape = sitter.evaluate(None)?;
        row.push(sitter.picture(&shape, &lines, &format!("{:.0} % of the stroke", share * 100.0))?);
        sitter.session.run(Operation::Undo)?;
    }
    Ok(vec![row])
}

/// Inserts points into a stroke.
fn dense(stroke: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let between = |p: &[[f32; 2]], s: f32| [0, 1].map(|k| p[0][k] + (p[1][k] - p[0][k]) * s);
    let fine =
        stroke.windows(2).flat_map(|p| (0..12).map(|k| between(p, k as f32 / 12.0)).collect::<Vec<_>>());
    fine.chain(stroke.last().copied()).collect()
}

/// Puts a position in the picture close to the camera.
fn near(view: &View, size: [u32; 2], bounds: &Aabb, p: &[f32; 2]) -> Vec3 {
    let ray = view.ray(p[0] / size[0] as f32, p[1] / size[1] as f32);
    view.eye + ray * (0.5 * bounds.center().distance(view.eye))
}

/// Draws a bar. An accent stroke makes one vertical edge of the bar bulge outwards.
pub fn prism(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut sitter = easel.sitter(Kind::Box, "dqs", [28.0, 6.0], [400, 560])?;
    let shape = sitter.evaluate(None)?;
    let bounds = Aabb::of(shape.positions.iter().copied());
    sitter.frame = Some(bounds);
    let view = view(&sitter, &bounds);
    // The vertical edge that is leftmost in the picture.
    let pixel = |x: f32, share: f32, z: f32| {
        let place = Vec3::new(x, bounds.min.y + share * bounds.size().y, z);
        view.project(place).map(|[u, v]| [u * sitter.size[0] as f32, v * sitter.size[1] as f32])
    };
    let sides = [bounds.min.x, bounds.max.x].into_iter().flat_map(|x| [(x, bounds.min.z), (x, bounds.max.z)]);
    let left = |(x, z): &(f32, f32)| pixel(*x, 0.5, *z).map_or(f32::INFINITY, |p| p[0]);
    let edge = sides.min_by(|a, b| left(a).total_cmp(&left(b))).unwrap_or_default();
    let along = (0..=24).filter_map(|k| {
        let share = k as f32 / 24.0;
        let [x, y] = pixel(edge.0, 0.25 + 0.5 * share, edge.1)?;
        Some([x - 70.0 * (std::f32::consts::PI * share).sin(), y])
    });
    let stroke: Vec<[f32; 2]> = along.collect();
    sketch(&mut sitter, &shape, &stroke, 6)
}

fn view(sitter: &Sitter, bounds: &Aabb) -> View {
    let aspect = sitter.size[0] as f32 / sitter.size[1] as f32;
    Camera::framing(bounds, aspect, sitter.angle.yaw, sitter.angle.pitch).view(aspect)
}

/// Renders a row of four pictures: silhouettes and stroke, the moved region, the results of LSE and of ARAP.
fn sketch(
    sitter: &mut Sitter,
    shape: &Evaluation,
    stroke: &[[f32; 2]],
    reach: u32,
) -> Result<Vec<Vec<Cell>>> {
    let bounds = sitter.frame.unwrap_or_else(|| Aabb::of(shape.positions.iter().copied()));
    let (view, size) = (view(sitter, &bounds), sitter.size);
    let points = sitter.studio.silhouettes(shape, &view, size, &Filter::Normal.options())?;
    let accent = Accent { stroke, view: &view, size, depths: None, reach: Reach::Edges(reach) };
    let sketch = silsketch(&sitter.model.bound.character, &shape.control, &points, &accent)?;
    let mut lines = Lines::default();
    points.iter().for_each(|p| lines.dot(p.position.into(), BASELINE, 2.0));
    // The stroke lies close to the camera, so that nothing occludes it.
    let over: Vec<Vec3> = stroke.iter().map(|p| near(&view, size, &bounds, p)).collect();
    lines.stroke(&over, OFFSET, 4.0);
    let mut row = vec![sitter.picture(shape, &lines, "silhouettes, stroke")?];
    let region = &sketch.region;
    let mut lines = Lines::default();
    for (list, color) in [&region.passive, &region.fixed, &region.kinematic].into_iter().zip([1, 2, 0]) {
        list.iter().for_each(|&v| lines.dot(shape.control[v as usize], HANDLES[color], 6.0));
    }
    row.push(sitter.picture(shape, &lines, "the region that it moves")?);
    let lists = Lists { kinematic: &region.kinematic, passive: &region.passive, fixed: &region.fixed };
    let pose = sitter.session.posed();
    for (tool, caption) in [
        (Classic::Lse(LseOptions::default()), "LSE"),
        (Classic::Arap(Energy::SpokesAndRims, ROUNDS), "ARAP, spokes and rims"),
    ] {
        let new = reshape(&sitter.model, (&pose, shape), (&lists, &sketch.to), tool)?;
        row.push(sitter.picture(&new.shape, &Lines::default(), caption)?);
    }
    Ok(vec![row])
}
