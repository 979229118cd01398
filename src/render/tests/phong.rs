//! Tests of the curved drawing of triangles.

use super::*;
use crate::asset::Asset;
use crate::base::math::{Aabb, Vec3};
use crate::geom::{DisplayMesh, Part};
use crate::gpu::Device;
use crate::gpu::testing::{assert_silent, device};
use std::sync::Arc;

pub(super) fn mesh(positions: Vec<Vec3>, normals: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> DisplayMesh {
    // Vertices at one place belong to one control vertex.
    let control_of =
        positions.iter().map(|p| positions.iter().position(|o| o == p).unwrap() as u32).collect();
    let part = Part {
        node: 0.into(),
        mesh: 0.into(),
        primitive: 0,
        material: None,
        vertices: 0..positions.len() as u32,
        triangles: 0..triangles.len() as u32,
        computed_normals: false,
    };
    DisplayMesh { positions, normals, triangles, control_of, parts: vec![part], ..DisplayMesh::default() }
}

/// Returns a sphere of radius 0.3 with 8 `n²` triangles: an octahedron whose faces are divided.
fn ball(n: u32) -> DisplayMesh {
    let (mut normals, mut triangles) = (Vec::new(), Vec::new());
    for face in 0..8u32 {
        let sign = Vec3::from_array([0, 1, 2].map(|axis| if face >> axis & 1 == 0 { 1.0 } else { -1.0 }));
        let outward = sign.element_product() > 0.0;
        // Adding zero makes a negative zero positive.
        let corner = |i: u32, j: u32| {
            sign * Vec3::new(i as f32, j as f32, (n - i - j) as f32).normalize() + Vec3::ZERO
        };
        let mut add = |corners: [Vec3; 3]| {
            let first = normals.len() as u32;
            normals.extend(corners);
            triangles.push(if outward {
                [first, first + 1, first + 2]
            } else {
                [first, first + 2, first + 1]
            });
        };
        for i in 0..n {
            for j in 0..n - i {
                add([corner(i + 1, j), corner(i, j + 1), corner(i, j)]);
                if i + j + 1 < n {
                    add([corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]);
                }
            }
        }
    }
    mesh(normals.iter().map(|n| 0.3 * *n).collect(), normals, triangles)
}

/// Returns a cube whose faces have normals of their own.
fn cube() -> DisplayMesh {
    let (mut positions, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    for axis in 0..3 {
        for sign in [-1.0f32, 1.0] {
            let first = positions.len() as u32;
            for [u, v] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
                let (mut corner, mut normal) = ([0.0; 3], [0.0; 3]);
                (corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3]) = (sign, u * sign, v);
                normal[axis] = sign;
                positions.push(0.3 * Vec3::from_array(corner));
                normals.push(Vec3::from_array(normal));
            }
            triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    mesh(positions, normals, triangles)
}

/// Draws a mesh with flat or curved triangles.
fn draw(device: &Arc<Device>, display: &DisplayMesh, phong: bool, views: &[View]) -> Targets {
    let surface = SurfaceBuffers::from_slices(device, &display.positions, &display.normals).unwrap();
    let renderer = Renderer::new(device).unwrap();
    let scene = Scene::new(device, &Asset::default(), display, &surface).unwrap();
    let targets = Targets::new(device, [192, 192], views.len() as u32, 1).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let look = Look { phong, floor: false, ..Look::default() };
    let shot = Shot { views, look: &look, lines: &Lines::default(), hidden: None, ghosts: None };
    device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
    targets
}

fn depth(device: &Arc<Device>, targets: &Targets, layer: u32) -> Vec<f32> {
    device.read_image(&targets.depth, layer).unwrap()
}

/// Returns the views of two eyes that see the whole mesh.
fn eyes(display: &DisplayMesh) -> [View; 2] {
    let bounds = Aabb::of(display.positions.iter().copied());
    Camera::framing(&bounds, 1.0, 0.4, 0.3).stereo(1.0, 0.06)
}

#[test]
fn a_coarse_round_mesh_looks_round_and_closed() {
    let Some(device) = device() else { return };
    if !device.tessellates() {
        return crate::base::testing::skip("gpu", "this device has no tessellation shaders");
    }
    let (coarse, fine) = (ball(2), ball(24));
    let pair = eyes(&fine);
    let round = draw(&device, &fine, false, &pair);
    let [flat, curved] = [false, true].map(|phong| draw(&device, &coarse, phong, &pair));
    for layer in 0..2 {
        let [round, flat, curved] = [&round, &flat, &curved].map(|t| depth(&device, t, layer));
        let other = |a: &[f32]| a.iter().zip(&round).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
        assert!(3 * other(&curved) < other(&flat), "{} {}", other(&curved), other(&flat));
        // Rows of the silhouette have no holes, so adjacent triangles do not part.
        let mut runs = 0;
        for row in curved.chunks(192) {
            runs = runs.max(row.windows(2).filter(|w| w[0] == 0.0 && w[1] > 0.0).count());
        }
        assert_eq!(runs, 1);
        // What shows is the near side, at the depth of the round surface.
        let off = |a: &[f32]| -> f32 {
            let both = a.iter().zip(&round).filter(|(a, b)| **a > 0.0 && **b > 0.0);
            both.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f32::max)
        };
        assert!(off(&curved) < 0.6 * off(&flat), "{} {}", off(&curved), off(&flat));
    }
    // Two views by multiview are two single views.
    for (layer, view) in pair.iter().enumerate() {
        let single = draw(&device, &coarse, true, &[*view]);
        assert_eq!(depth(&device, &curved, layer as u32), depth(&device, &single, 0));
    }
    assert_silent(&device);
}

#[test]
fn hard_edges_stay_where_they_are() {
    let Some(device) = device() else { return };
    let cube = cube();
    assert!(crate::deform::surface::hard_edges(&cube).iter().all(|hard| *hard));
    assert!(!crate::deform::surface::hard_edges(&ball(2)).contains(&true));
    let [flat, curved] =
        [false, true].map(|phong| depth(&device, &draw(&device, &cube, phong, &eyes(&cube)[..1]), 0));
    let most = flat.iter().zip(&curved).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(most < 1e-5 && flat.iter().filter(|d| **d > 0.0).count() > 4000, "{most}");
    assert_silent(&device);
}
