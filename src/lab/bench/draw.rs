//! Measures drawing for a window and a headset, with and without antialiasing, silhouettes, ambient occlusion, the outline of
//! the selection, the ghosts of an onion skin, and the G-buffers of queries.

use super::measure::{Effort, Sample, repeat};
use super::report::DrawTimes;
use crate::base::Result;
use crate::base::math::Aabb;
use crate::deform::Graph;
use crate::render::{
    Camera, Filter, GBuffer, GHOSTS, GhostShape, Lines, Look, PROBE_SIZE, Probe, Renderer, Scene, Shot,
    ShownGhosts, SurfaceBuffers, Targets, View,
};
use crate::scene::Model;

/// Size of the window's picture, pixels.
const WINDOW: [u32; 2] = [1920, 1080];
/// Size of one eye's picture, pixels.
const EYE: [u32; 2] = [1024, 1024];
/// Yaw of the two cameras between which runs alternate, radians.
const YAW: [f32; 2] = [0.5, -0.7];
/// Distance between the eyes, metres.
const EYES: f32 = 0.063;
/// Vertical field of view of a brush's camera, radians.
const BRUSH: f32 = 0.2;

/// Measures the drawing of the surface that `graph` computed last; `bounds` encloses this surface.
pub(super) fn measure(
    renderer: &Renderer,
    model: &Model,
    graph: &Graph,
    bounds: Aabb,
    effort: &Effort,
) -> Result<DrawTimes> {
    let device = renderer.device();
    let surface = SurfaceBuffers { positions: graph.positions().clone(), normals: graph.normals().clone() };
    let mut scene = Scene::new(device, &model.asset, &model.bound.character.display, &surface)?;
    scene.bounds = bounds;
    let display = &model.bound.character.display;
    scene.prepare_outline(device, display)?;
    let (all, shares) =
        ((0..display.triangles.len() as u32).collect::<Vec<_>>(), vec![1.0; display.positions.len()]);
    device.run(|frame| {
        scene.outline(frame, display, &all, &shares);
        Ok(())
    })?;
    let camera = |aspect: f32, yaw: f32| Camera::framing(&bounds, aspect, yaw, 0.1);
    let lines = Lines::default();
    let picture = |size: [u32; 2], views: &[Vec<View>; 2], phong: bool| -> Result<[Sample; 2]> {
        let look = Look { phong, ..Look::default() };
        let with = |samples: u32| -> Result<Sample> {
            let targets = Targets::new(device, size, views[0].len() as u32, samples)?;
            let mut bound = renderer.bind(&scene, &targets)?;
            let runs = repeat(device, effort, |i, frame| {
                let shot = Shot { views: &views[i], look: &look, lines: &lines, hidden: None, ghosts: None };
                renderer.record(frame, &scene, &targets, &mut bound, &shot)
            })?;
            Ok(runs.phases(&["picture"]))
        };
        Ok([with(1)?, with(device.samples(4))?])
    };
    let aspect = WINDOW[0] as f32 / WINDOW[1] as f32;
    let seen = YAW.map(|yaw| vec![camera(aspect, yaw).view(aspect)]);
    let window = picture(WINDOW, &seen, false)?;
    let both = YAW.map(|yaw| camera(1.0, yaw).stereo(1.0, EYES).to_vec());
    let (stereo, phong) = (picture(EYE, &both, false)?, picture(EYE, &both, true)?);
    let coarse =
        |look: Look, phase: &'static str, size: [u32; 2], views: &[Vec<View>; 2]| -> Result<Sample> {
            let targets = Targets::new(device, size, views[0].len() as u32, 1)?;
            let scale = if views[0].len() == 2 { views[0][0].eye_scale(size) } else { 1.0 };
            let look = Look { scale, ..look };
            let mut bound = renderer.bind(&scene, &targets)?;
            let runs = repeat(device, effort, |i, frame| {
                let shot = Shot { views: &views[i], look: &look, lines: &lines, hidden: None, ghosts: None };
                renderer.record(frame, &scene, &targets, &mut bound, &shot)
            })?;
            Ok(runs.phases(&["G-buffer", phase]))
        };
    let both_sizes = |look: Look, phase: &'static str| -> Result<[Sample; 2]> {
        Ok([coarse(look, phase, WINDOW, &seen)?, coarse(look, phase, EYE, &both)?])
    };
    let silhouetted = Look { silhouettes: Some(Filter::Normal.options()), ..Look::default() };
    let silhouettes = both_sizes(silhouetted, "silhouettes")?;
    let occlusion = both_sizes(Look { occlusion: true, ..Look::default() }, "ambient occlusion")?;
    let outline = both_sizes(Look { outline: true, ..Look::default() }, "outline")?;
    // The largest number of ghosts; each has the present shape, which costs as much as another shape of the same size.
    let shapes: Vec<GhostShape> =
        (0..2 * GHOSTS).map(|_| renderer.ghost_shape(display.positions.len())).collect::<Result<_>>()?;
    device.run(|frame| {
        let bytes = (display.positions.len() * size_of::<[f32; 4]>()) as u64;
        shapes.iter().for_each(|shape| frame.copy(&surface.positions, &shape.positions, bytes));
        Ok(())
    })?;
    let ghosts = |size: [u32; 2], views: &[Vec<View>; 2]| -> Result<Sample> {
        let targets = Targets::new(device, size, views[0].len() as u32, 1)?;
        let masks = renderer.ghost_masks(&targets)?;
        let side = |side: usize| std::array::from_fn(|rank| Some((&shapes[side * GHOSTS + rank], 1.0)));
        let ghosts = Some(ShownGhosts { masks: &masks, shapes: [side(0), side(1)] });
        let mut bound = renderer.bind(&scene, &targets)?;
        let look = Look::default();
        let runs = repeat(device, effort, |i, frame| {
            let shot = Shot { views: &views[i], look: &look, lines: &lines, hidden: None, ghosts };
            renderer.record(frame, &scene, &targets, &mut bound, &shot)
        })?;
        Ok(runs.phases(&["ghosts"]))
    };
    let ghosts = [ghosts(WINDOW, &seen)?, ghosts(EYE, &both)?];
    let gbuffer = GBuffer::new(device, [1, 1], 1)?;
    let bound = renderer.bind_gbuffer(&scene, &gbuffer)?;
    let pixel = [0, 1].map(|i| seen[i][0].of_pixel(WINDOW.map(|n| n / 2), WINDOW));
    let runs = repeat(device, effort, |i, frame| {
        renderer.record_gbuffer(frame, &scene, &gbuffer, &bound, &pixel[i..=i])
    })?;
    let pick = runs.phases(&["G-buffer"]);
    let probe = Probe::new(device, &scene, [PROBE_SIZE; 2], 1)?;
    let brush = YAW.map(|yaw| Camera { fov_y: BRUSH, ..camera(1.0, yaw) }.view(1.0));
    let runs = repeat(device, effort, |i, frame| probe.record(frame, &brush[i..=i]))?;
    Ok(DrawTimes {
        window,
        stereo,
        phong,
        silhouettes,
        occlusion,
        outline,
        ghosts,
        pick,
        probe: runs.phases(&["probe"]),
    })
}
