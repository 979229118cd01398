//! Picks return what a ray through the pixel meets. The test picks 1,000 random pixels of posed characters and casts rays
//! against all triangles on the CPU. Triangle and barycentric weights must agree. The test omits pixels whose ray passes an
//! edge at less than a twentieth of a pixel.

use sinew::base::testing::shared;

use sinew::base::Random;
use sinew::base::math::{Aabb, DVec3, Vec3};
use sinew::bind::BindOptions;
use sinew::deform::Recipe;
use sinew::gpu::testing::{assert_silent, device};
use sinew::query::Picker;
use sinew::render::{Camera, GBuffer, Renderer, Scene, SurfaceBuffers, View};
use sinew::rig::{parse_rotation, rotate_joint};
use sinew::scene::{Evaluator, Model, Where};
use std::path::{Path, PathBuf};

const SIZE: [u32; 2] = [300, 400];
/// Number of tested pixels per character; each shows the character.
const PIXELS: usize = 1000;
/// Edge length of the tiles that triangles are sorted into, pixels.
const TILE: u32 = 10;
/// Pixels nearer to an edge than this distance, pixels, may report either side.
const EDGE: f64 = 0.05;

/// A triangle projected to the picture.
struct Drawn {
    corners: [DVec3; 3],
    /// Distances of the pixel's centre from the three edges, pixels; negative outside the triangle.
    inside: [f64; 3],
    /// Heights of the triangle over these edges, pixels.
    heights: [f64; 3],
}

impl Drawn {
    fn new(corners: [Vec3; 3], p: [[f64; 2]; 3], pixel: [f64; 2]) -> Option<Self> {
        let cross = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        let area = cross(p[0], p[1], p[2]);
        if area == 0.0 {
            return None;
        }
        let edge = |k: usize| {
            let (a, b) = (p[(k + 1) % 3], p[(k + 2) % 3]);
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            (cross(a, b, pixel) * area.signum() / length, area.abs() / length)
        };
        let edges = [edge(0), edge(1), edge(2)];
        Some(Self {
            corners: corners.map(|c| c.as_dvec3()),
            inside: edges.map(|e| e.0),
            heights: edges.map(|e| e.1),
        })
    }

    /// Returns the distance of the pixel's centre from the nearest edge, pixels; negative outside the triangle.
    fn depth_inside(&self) -> f64 {
        self.inside.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// Projects points to pixels; `None` for points behind the eye.
fn places(view: &View, points: &[Vec3]) -> Vec<Option<[f64; 2]>> {
    let place = |x: &Vec3| {
        let clip = view.clip_from_world.as_dmat4() * x.as_dvec3().extend(1.0);
        let pixel = [
            (clip.x / clip.w * 0.5 + 0.5) * f64::from(SIZE[0]),
            (0.5 - clip.y / clip.w * 0.5) * f64::from(SIZE[1]),
        ];
        (clip.w > 0.0).then_some(pixel)
    };
    points.iter().map(place).collect()
}

/// Returns the distance along a ray to a triangle's plane and the barycentric weights there (Möller and Trumbore, 1997).
fn meet(eye: DVec3, ray: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
    let (ab, ac) = (b - a, c - a);
    let p = ray.cross(ac);
    let determinant = ab.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let from = eye - a;
    let v = from.dot(p) / determinant;
    let q = from.cross(ab);
    let w = ray.dot(q) / determinant;
    let t = ac.dot(q) / determinant;
    (t > 0.0).then_some((t, [1.0 - v - w, v, w]))
}

fn check(path: &Path, turns: &[&str]) {
    let Some(device) = device() else { return };
    let model = Model::load(path, &BindOptions::default()).unwrap();
    let mut pose = model.rest();
    for turn in turns {
        let (node, turns) = parse_rotation(model.skeleton(), turn).unwrap();
        rotate_joint(model.skeleton(), &mut pose, node, &turns).unwrap();
    }
    let recipe = Recipe::from_name("dqs").unwrap();
    let shape = Evaluator::new(&Where::Cpu, &model, &recipe).unwrap().evaluate(&model, &pose).unwrap();
    let display = &model.bound.character.display;
    let surface = SurfaceBuffers::from_slices(&device, &shape.positions, &shape.normals).unwrap();
    let scene = Scene::new(&device, &model.asset, display, &surface).unwrap();
    let renderer = Renderer::new(&device).unwrap();
    let gbuffer = GBuffer::new(&device, SIZE, 1).unwrap();
    let bound = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
    let bounds = Aabb::of(shape.positions.iter().copied());
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let view = Camera::framing(&bounds, aspect, 0.7, 0.2).view(aspect);
    let mut picker = Picker::new(&device, &scene, &gbuffer).unwrap();
    device.run(|frame| renderer.record_gbuffer(frame, &scene, &gbuffer, &bound, &[view])).unwrap();

    let culled: Vec<bool> = (display.parts.iter())
        .map(|p| !p.material.is_some_and(|m| model.asset.materials[m.index()].double_sided))
        .collect();
    let mut part_of = vec![0; display.triangles.len()];
    for (i, part) in display.parts.iter().enumerate() {
        part.triangles.clone().for_each(|t| part_of[t as usize] = i);
    }
    let corners = |t: usize| display.triangles[t].map(|v| shape.positions[v as usize]);
    let places = places(&view, &shape.positions);
    let place = |t: usize| -> Option<[[f64; 2]; 3]> {
        let [a, b, c] = display.triangles[t].map(|v| places[v as usize]);
        Some([a?, b?, c?])
    };
    // Sorts the triangles into the tiles that they may touch.
    let tiles = SIZE.map(|n| (n / TILE + 1) as usize);
    let mut in_tile: Vec<Vec<usize>> = vec![Vec::new(); tiles[0] * tiles[1]];
    for t in 0..display.triangles.len() {
        let Some(p) = place(t) else { continue };
        let span = |k: usize| {
            let tile = |x: f64| (x / f64::from(TILE)).clamp(0.0, tiles[k] as f64 - 1.0) as usize;
            let low = p.iter().fold(f64::INFINITY, |m, p| m.min(p[k])) - 1.0;
            let high = p.iter().fold(f64::NEG_INFINITY, |m, p| m.max(p[k])) + 1.0;
            tile(low)..=tile(high)
        };
        for (x, y) in span(1).flat_map(|y| span(0).map(move |x| (x, y))) {
            in_tile[y * tiles[0] + x].push(t);
        }
    }
    let (mut random, mut hits, mut edges, mut asked) = (Random::new(17), 0, 0, 0);
    while hits + edges < PIXELS {
        asked += 1;
        assert!(asked < 1000, "{}: the character is hardly in the picture", path.display());
        let mut sent = Vec::new();
        device
            .run(|frame| {
                frame.phase("pick");
                for _ in 0..16 {
                    let n = random.bits();
                    let pixel = [(n >> 32) as u32 % SIZE[0], n as u32 % SIZE[1]];
                    assert!(picker.record(frame, 0, pixel, pixel));
                    sent.push(pixel);
                }
                Ok(())
            })
            .unwrap();
        for pixel in sent {
            let (tag, hit) = picker.poll().unwrap().unwrap();
            assert_eq!(tag, pixel);
            let center = pixel.map(|p| f64::from(p) + 0.5);
            let [u, v] = [center[0] / f64::from(SIZE[0]), center[1] / f64::from(SIZE[1])];
            let ray =
                view.ray_corner.as_dvec3() + view.ray_right.as_dvec3() * u + view.ray_down.as_dvec3() * v;
            let eye = view.eye.as_dvec3();
            // Finds the nearest triangle, and whether an edge in front of it is too near to the ray.
            let mut nearest: Option<(f64, usize, [f64; 3])> = None;
            let mut near_edges: Vec<f64> = Vec::new();
            let [x, y] = pixel.map(|p| (p / TILE) as usize);
            for &t in &in_tile[y * tiles[0] + x] {
                let Some(p) = place(t) else { continue };
                let beside = |k: usize| {
                    p.iter().all(|p| p[k] < center[k] - 1.0) || p.iter().all(|p| p[k] > center[k] + 1.0)
                };
                if beside(0) || beside(1) {
                    continue;
                }
                let Some(drawn) = Drawn::new(corners(t), p, center) else { continue };
                let depth = drawn.depth_inside();
                if depth < -EDGE {
                    continue;
                }
                let [a, b, c] = drawn.corners;
                if culled[part_of[t]] && (b - a).cross(c - a).dot(ray) >= 0.0 {
                    continue;
                }
                let Some((distance, weights)) = meet(eye, ray, drawn.corners) else { continue };
                if depth < EDGE {
                    near_edges.push(distance);
                } else if nearest.is_none_or(|(d, ..)| distance < d) {
                    nearest = Some((distance, t, weights));
                }
            }
            let doubtful = near_edges.iter().any(|d| nearest.is_none_or(|(far, ..)| *d < far * (1.0 + 1e-4)));
            if doubtful {
                edges += 1;
                continue;
            }
            let what = format!("{} pixel {pixel:?}", path.display());
            let Some((_, triangle, weights)) = nearest else {
                assert_eq!(hit, None, "{what}: a pick where there is nothing");
                continue;
            };
            let hit = hit.unwrap_or_else(|| panic!("{what}: no pick on triangle {triangle}"));
            assert_eq!(hit.triangle as usize, triangle, "{what}: {hit:?}");
            assert_eq!(hit.part as usize, part_of[triangle], "{what}");
            let drawn = Drawn::new(corners(triangle), place(triangle).unwrap(), center).unwrap();
            for ((told, wanted), height) in hit.barycentrics.iter().zip(weights).zip(drawn.heights) {
                // Tolerates a sixteenth of a pixel and the rounding of positions.
                let most = 0.0625 / height + 2e-3;
                assert!((f64::from(*told) - wanted).abs() < most, "{what}: {hit:?} {weights:?}");
            }
            hits += 1;
        }
    }
    assert!(edges < PIXELS / 3, "{}: {edges} of {PIXELS} pixels lie on edges", path.display());
    assert_silent(&device);
}

#[test]
fn picks_on_a_generated_character_are_what_rays_meet() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/human.glb");
    check(&path, &["LeftLowerArm=y:-90", "Head=y:40,x:10"]);
}

#[test]
fn picks_on_characters_of_the_shared_data_are_what_rays_meet() {
    for (name, turns) in [
        ("khronos/CesiumMan/glTF-Binary/CesiumMan.glb", &["leg_joint_R_2=x:50"][..]),
        ("khronos/Fox/glTF-Binary/Fox.glb", &["b_Head_05=y:30"]),
    ] {
        if let Some(path) = shared(name) {
            check(&path, turns);
        }
    }
}
