//! Figures of "Fast automatic skinning transformations" (paper 2), drawn anew on Sinew's own shapes: whole maps are given to
//! some handles (white), places to others (yellow), all else is found. Abstract handles are red.

use super::easel::Easel;
use super::{Figure, Set};
use crate::asset::Influences;
use crate::base::math::{Aabb, Affine3A, DAffine3, DQuat, DVec3, Vec3};
use crate::base::{JointId, Result};
use crate::bind::shapes::{Shape, asset_from_parts};
use crate::bind::{BindOptions, Character, HeatSite, heat_weights};
use crate::deform::fast::{Acceleration, Body, Constraint, Params, Solver, Target};
use crate::editor::{Angle, Cell, Evaluation, Model, Studio};
use crate::front::fast::shape;
use crate::generate::{self, Kind};
use crate::render::Lines;
use crate::rig::PosedRig;
use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Duration;

/// The set.
pub const SET: Set = Set {
    name: "fast",
    paper: "Fast automatic skinning transformations",
    figures: &[
        Figure { name: "fig9-bar", title: "Figure 9: a bar bent and twisted by its two ends", draw: bar },
        Figure {
            name: "fig11-figure",
            title: "Figure 11: a figure moved by places of its head, hands and feet alone",
            draw: figure,
        },
        Figure {
            name: "fig12-hound",
            title: "Figure 12: three skeletons that nothing connects",
            draw: skeletons,
        },
        Figure {
            name: "fig13-regions",
            title: "Figure 13: five regions given whole, without and with 15 abstract handles",
            draw: regions,
        },
        Figure { name: "fig15-cross", title: "Figure 15: a cross by the ends of its four arms", draw: cross },
    ],
};

/// Until nothing moves any more.
const ITERATIONS: u32 = 400;
const WHOLE: [u8; 4] = [255, 255, 255, 255];
const PLACE: [u8; 4] = [255, 206, 40, 255];
const ABSTRACT: [u8; 4] = [255, 70, 60, 255];

/// What is asked of a handle.
enum Wish {
    Map(DAffine3),
    Place(DVec3),
}

/// A shape with handles before a camera.
struct Sitter {
    model: Model,
    studio: Studio,
    angle: Angle,
    size: [u32; 2],
    /// Bound with the number of abstract handles that was asked for last.
    body: Option<(u32, Body)>,
}

impl Sitter {
    fn new(easel: &mut Easel<'_>, model: Model, [yaw, pitch]: [f32; 2], size: [u32; 2]) -> Result<Self> {
        let studio = easel.studio(&model)?;
        let angle = Angle { yaw: yaw.to_radians(), pitch: pitch.to_radians() };
        Ok(Self { model, studio, angle, size, body: None })
    }

    /// The shape that FAST finds with so many abstract handles.
    fn shot(&mut self, extra: u32, wishes: &[(usize, Wish)], frame: &Aabb, caption: &str) -> Result<Cell> {
        let body = match self.body.take().filter(|(of, _)| *of == extra) {
            Some((_, body)) => body,
            None => bound(&self.model, extra)?,
        };
        let mut lines = Lines::default();
        let drawn = solved(&self.model, &body, wishes, &mut lines)?;
        self.body = Some((extra, body));
        let picture = self.studio.picture(&drawn, frame, self.angle, self.size, &lines)?;
        Ok(Cell { picture, caption: caption.lines().map(str::to_owned).collect() })
    }
}

fn bound(model: &Model, extra: u32) -> Result<Body> {
    Body::bind(
        &model.bound.character,
        &Params { extra, clusters: if extra > 0 { CLUSTERS } else { 0 }, ..Params::default() },
    )
}

/// The shape of wishes for joints by index, with a dot for each; without any the shape in rest with all its handles.
fn solved(model: &Model, body: &Body, wishes: &[(usize, Wish)], lines: &mut Lines) -> Result<Evaluation> {
    let skeleton = model.skeleton();
    let rest = PosedRig::new(skeleton, &model.rest());
    if wishes.is_empty() {
        body.reduced.seeds().for_each(|x| lines.dot(x, ABSTRACT, 9.0));
        for joint in &body.joints {
            lines.dot(skeleton.joints[joint.index()].bind_from_joint.translation.into(), WHOLE, 11.0);
        }
        // Abstract handles are zero in rest.
        let mut maps: Vec<Affine3A> = body.posed(&rest).iter().map(|m| m.as_affine3a()).collect();
        maps.resize(body.reduced.handles, Affine3A::ZERO);
        return Ok(shape(model, body, &rest, &maps));
    }
    let (mut constraints, mut targets) = (Vec::new(), Vec::new());
    for (joint, wish) in wishes {
        let handle = body.handle(skeleton, JointId::from(*joint));
        let pivot = body.pivot(skeleton, handle);
        match wish {
            Wish::Map(map) => {
                constraints.push(Constraint::Full { handle });
                targets.push(Target::Map(*map));
                lines.dot(map.transform_point3(pivot.as_dvec3()).as_vec3(), WHOLE, 11.0);
            }
            Wish::Place(place) => {
                constraints.push(Constraint::on_handle(handle, pivot));
                targets.push(Target::Point(*place));
                lines.dot(place.as_vec3(), PLACE, 12.0);
            }
        }
    }
    let constrained = body.reduced.constrain(constraints)?;
    let mut solver = Solver::new(&body.reduced, &constrained);
    solver.set_targets(&body.reduced, &constrained, &targets);
    solver.solve(ITERATIONS, Acceleration::Anderson);
    Ok(shape(model, body, &rest, &solver.transforms(&body.reduced)))
}

/// A model of a mesh with joints where handles are.
fn model(
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    joints: &[(Vec3, Option<usize>)],
    weights: Influences,
) -> Result<Model> {
    let mut asset = asset_from_parts(positions, triangles, joints, weights);
    asset.materials.push(crate::asset::Material {
        base_color: [0.62, 0.70, 0.80, 1.0].into(),
        metallic: 0.0,
        roughness: 0.55,
        ..Default::default()
    });
    let parts = asset.meshes.iter_mut().flat_map(|m| &mut m.primitives);
    parts.for_each(|p| p.material = Some(0usize.into()));
    Model::bind(asset, &BindOptions::default(), Duration::ZERO)
}

/// A turn about an axis through a point, then a shift.
fn moved(axis: DVec3, degrees: f64, about: DVec3, by: DVec3) -> DAffine3 {
    DAffine3::from_translation(about + by)
        * DAffine3::from_quat(DQuat::from_axis_angle(axis, degrees.to_radians()))
        * DAffine3::from_translation(-about)
}

fn framing(low: Vec3, high: Vec3) -> Aabb {
    Aabb { min: low, max: high }
}

/// Height of a bar, and the share of the way to the next handle on which a handle has all the weight.
const BAR: (f32, f32) = (1.5, 0.1);
/// Rotation clusters: more than the usual two per handle, which would show as ripples on a bar's even sides.
const CLUSTERS: u32 = 160;

/// A bar with handles at even heights, the first and last of them at the ends; weights go evenly from one to the next.
fn bar_with(handles: usize, radius: f32) -> Result<Model> {
    let (length, flat) = BAR;
    let shape = Shape { bones: 1, rings: 96, segments: 72, radius, length, blend: 0.0 };
    let character: Character = shape.bar();
    let mesh = &character.control;
    let last = handles - 1;
    let at = |k: usize| Vec3::Y * (length * k as f32 / last as f32);
    let mut weights = Influences::default();
    for x in &mesh.positions {
        let t = x.y / length * last as f32;
        let k = (t.floor().max(0.0) as usize).min(last - 1);
        let upper = ((t - k as f32 - flat) / (1.0 - 2.0 * flat)).clamp(0.0, 1.0);
        let mut entries = vec![(k as u16, 1.0 - upper), (k as u16 + 1, upper)];
        entries.retain(|e| e.1 > 0.0);
        entries.sort_by(|a, b| b.1.total_cmp(&a.1));
        weights.push(entries);
    }
    let joints: Vec<_> = (0..handles).map(|k| (at(k), k.checked_sub(1))).collect();
    model(mesh.positions.clone(), mesh.triangles.clone(), &joints, weights)
}

/// Where a bar bent into a circle's arc has a height, as a map.
fn on_arc(y: f64, angle: f64) -> DAffine3 {
    let length = f64::from(BAR.0);
    let (radius, turned) = (length / angle, angle * y / length);
    let place = DVec3::new(radius * (1.0 - turned.cos()), radius * turned.sin(), 0.0);
    DAffine3::from_translation(place)
        * DAffine3::from_quat(DQuat::from_rotation_z(-turned))
        * DAffine3::from_translation(DVec3::Y * -y)
}

fn bar(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let length = f64::from(BAR.0);
    let mut sitter = Sitter::new(easel, bar_with(2, 0.14)?, [24.0, 14.0], [360, 480])?;
    let ends = |map| [(0, Wish::Map(DAffine3::IDENTITY)), (1, Wish::Map(map))];
    let bent = || ends(on_arc(length, PI * 0.72));
    let twisted = || ends(moved(DVec3::Y, 110.0, DVec3::ZERO, DVec3::ZERO));
    let upright = framing(Vec3::new(-0.3, -0.02, -0.3), Vec3::new(0.3, 1.52, 0.3));
    let aside = framing(Vec3::new(-0.3, -0.05, -0.3), Vec3::new(1.15, 1.05, 0.3));
    let mut rows = vec![Vec::new(), Vec::new()];
    for extra in [0, 15, 30] {
        let label = if extra == 0 { "skinned".to_owned() } else { format!("{extra} abstract ones") };
        rows[0].push(sitter.shot(extra, &twisted(), &upright, &format!("twisted by 110\n{label}"))?);
        rows[1].push(sitter.shot(extra, &bent(), &aside, &format!("bent by 130\n{label}"))?);
    }
    for (row, extra) in rows.iter_mut().zip([15, 30]) {
        row.insert(0, sitter.shot(extra, &[], &upright, &format!("two handles\n{extra} abstract ones"))?);
    }
    Ok(rows)
}

fn regions(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let length = f64::from(BAR.0);
    let mut sitter = Sitter::new(easel, bar_with(5, 0.08)?, [20.0, 14.0], [380, 440])?;
    let upright = framing(Vec3::new(-0.3, -0.02, -0.3), Vec3::new(0.3, 1.52, 0.3));
    let aside = framing(Vec3::new(-0.3, -0.2, -0.3), Vec3::new(1.1, 0.75, 0.3));
    let curled = || -> Vec<(usize, Wish)> {
        (0..5).map(|k| (k, Wish::Map(on_arc(length * k as f64 / 4.0, PI * 1.1)))).collect()
    };
    let wrung = || -> Vec<(usize, Wish)> {
        let turn = |k: usize| moved(DVec3::Y, 95.0 * k as f64, DVec3::ZERO, DVec3::ZERO);
        (0..5).map(|k| (k, Wish::Map(turn(k)))).collect()
    };
    let mut rows = vec![Vec::new(), Vec::new()];
    for (extra, label) in [(0, "skinned"), (15, "15 abstract handles")] {
        rows[0].push(sitter.shot(extra, &curled(), &aside, label)?);
        rows[1].push(sitter.shot(extra, &wrung(), &upright, label)?);
    }
    for row in &mut rows {
        row.insert(0, sitter.shot(15, &[], &upright, "five handles")?);
    }
    Ok(rows)
}

fn cross(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let asset = crate::asset::Asset::from_slice(&generate::glb(Kind::Plus)?, Kind::Plus.name())?;
    let character = Character::from_asset(&asset)?;
    let mesh = &character.control;
    let (center, half) = (0.5 * (mesh.aabb.min + mesh.aabb.max), 0.5 * mesh.aabb.size());
    let arms = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::NEG_X * half.x, Vec3::NEG_Y * half.y];
    let tips: Vec<Vec3> = arms.iter().map(|a| center + 0.92 * *a).collect();
    let sites: Vec<HeatSite> =
        (0..4).map(|k| HeatSite { owner: k as u16, head: center + 0.8 * arms[k], tail: tips[k] }).collect();
    let weights = heat_weights(&mesh.positions, &mesh.triangles, &sites)?;
    let joints: Vec<_> = tips.iter().map(|t| (*t, None)).collect();
    let made = model(mesh.positions.clone(), mesh.triangles.clone(), &joints, weights)?;
    let mut sitter = Sitter::new(easel, made, [28.0, 16.0], [420, 420])?;
    let wide = 1.12 * half.max_element() * Vec3::ONE;
    let frame = framing(center - wide, center + wide);
    let (at, reach) = (center.as_dvec3(), f64::from(half.x));
    let tip = |k: usize| tips[k].as_dvec3();
    let keep = |k: usize| (k, Wish::Map(DAffine3::IDENTITY));
    // Arms bent towards the eye and up, one twisted; then a bow.
    let bent = || {
        let side = |k: usize, s: f64| {
            let by = DVec3::new(-0.42 * s, 0.35, 0.45) * reach;
            (k, Wish::Map(moved(DVec3::new(0.35, -0.75 * s, 0.55 * s).normalize(), 80.0, tip(k), by)))
        };
        vec![side(0, 1.0), (1, Wish::Map(moved(DVec3::Y, 120.0, at, DVec3::ZERO))), side(2, -1.0), keep(3)]
    };
    let bow = || {
        let nod = moved(DVec3::X, 75.0, tip(1), DVec3::new(0.0, -0.45, 0.55) * reach);
        let turn = |k: usize, s: f64| (k, Wish::Map(moved(DVec3::X, 100.0 * s, at, DVec3::ZERO)));
        vec![turn(0, 1.0), (1, Wish::Map(nod)), turn(2, -1.0), keep(3)]
    };
    let mut rows = vec![
        vec![sitter.shot(15, &[], &frame, "four handles\n15 abstract ones")?],
        vec![sitter.shot(15, &[], &frame, "four handles\n15 abstract ones")?],
    ];
    for (extra, label) in [(0, "skinned"), (15, "15 abstract handles")] {
        rows[0].push(sitter.shot(extra, &bent(), &frame, label)?);
        rows[1].push(sitter.shot(extra, &bow(), &frame, label)?);
    }
    Ok(rows)
}

/// Joints of the hound's three skeletons with where each bone ends; no skeleton knows the others.
fn hound_bones() -> Vec<(Vec3, Option<usize>, Vec3)> {
    let v = Vec3::new;
    let mut out = vec![
        (v(0.0, 0.50, 0.54), None, v(0.0, 0.63, 0.66)),
        (v(0.0, 0.63, 0.66), Some(0), v(0.0, 0.61, 0.92)),
        (v(0.0, 0.36, 0.40), None, v(0.0, 0.36, 0.34)),
        (v(0.0, 0.35, -0.40), None, v(0.0, 0.35, -0.34)),
        (v(0.0, 0.41, -0.51), Some(3), v(0.0, 0.58, -0.74)),
    ];
    for (z, above) in [(0.40, 2), (-0.40, 3)] {
        for s in [1.0, -1.0] {
            out.push((v(0.085 * s, 0.28, z), Some(above), v(0.10 * s, 0.05, z + 0.01)));
        }
    }
    out
}

fn skeletons(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let (positions, triangles) = generate::hound(9000);
    let bones = hound_bones();
    let site =
        |(k, b): (usize, &(Vec3, Option<usize>, Vec3))| HeatSite { owner: k as u16, head: b.0, tail: b.2 };
    let sites: Vec<HeatSite> = bones.iter().enumerate().map(site).collect();
    let weights = heat_weights(&positions, &triangles, &sites)?;
    let joints: Vec<_> = bones.iter().map(|b| (b.0, b.1)).collect();
    let mut sitter =
        Sitter::new(easel, model(positions, triangles, &joints, weights)?, [62.0, 14.0], [560, 400])?;
    let frame = framing(Vec3::new(-0.25, 0.0, -0.75), Vec3::new(0.25, 0.75, 0.95));
    let high = framing(Vec3::new(-0.25, 0.0, -0.85), Vec3::new(0.25, 1.35, 0.6));
    // Whole skeletons moved as one: everything that hangs on their first joint goes along.
    let group = |map: DAffine3, members: &[usize]| -> Vec<(usize, Wish)> {
        members.iter().map(|&k| (k, Wish::Map(map))).collect()
    };
    let (head, fore, hind) = ([0, 1], [2, 5, 6], [3, 4, 7, 8]);
    let pose = |h: DAffine3, f: DAffine3, b: DAffine3| {
        [group(h, &head), group(f, &fore), group(b, &hind)].into_iter().flatten().collect::<Vec<_>>()
    };
    let at = |k: usize| bones[k].0.as_dvec3();
    let begging = || {
        let up = moved(DVec3::X, -48.0, at(3), DVec3::ZERO);
        let lifted = |p: DVec3| up.transform_point3(p) - p;
        pose(
            moved(DVec3::X, 8.0, at(0), lifted(at(0)) + DVec3::new(0.0, 0.0, 0.06)),
            moved(DVec3::X, -40.0, at(2), lifted(at(2))),
            DAffine3::IDENTITY,
        )
    };
    let curled = || {
        pose(
            moved(DVec3::Y, 70.0, at(0), DVec3::new(0.16, 0.0, -0.14)),
            moved(DVec3::Y, 38.0, at(2), DVec3::new(0.03, 0.0, -0.06)),
            moved(DVec3::Y, -50.0, at(3), DVec3::new(0.12, 0.0, 0.14)),
        )
    };
    let arched = || {
        pose(
            moved(DVec3::X, 30.0, at(0), DVec3::new(0.0, -0.14, -0.06)),
            moved(DVec3::X, FRAC_PI_2.to_degrees() * 0.2, at(2), DVec3::new(0.0, 0.0, -0.16)),
            moved(DVec3::X, -22.0, at(3), DVec3::new(0.0, 0.0, 0.20)),
        )
    };
    let mut rows = vec![vec![
        sitter.shot(12, &[], &frame, "three skeletons")?,
        sitter.shot(12, &begging(), &high, "lifted, 12 abstract handles")?,
    ]];
    for (name, wishes) in [("curled", curled()), ("arched", arched())] {
        rows.push(vec![
            sitter.shot(0, &wishes, &frame, &format!("{name}, skinned"))?,
            sitter.shot(12, &wishes, &frame, &format!("{name}, 12 abstract handles"))?,
        ]);
    }
    Ok(rows)
}

fn figure(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let asset = crate::asset::Asset::from_slice(&generate::glb(Kind::Human)?, Kind::Human.name())?;
    let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO)?;
    let skeleton = model.skeleton();
    let rest = PosedRig::new(skeleton, &model.rest());
    let ends = ["Head", "LeftHand", "RightHand", "LeftFoot", "RightFoot"].map(|name| {
        let node = skeleton.find(name).and_then(|n| Some((n, skeleton.nodes[n.index()].joint?)));
        node.map(|(n, j)| (j.index(), Vec3::from(rest.world[n.index()].translation).as_dvec3()))
    });
    let ends: Vec<(usize, DVec3)> = ends.into_iter().flatten().collect();
    let wishes = |by: [[f64; 3]; 5]| -> Vec<(usize, Wish)> {
        let wish =
            |(k, (joint, at)): (usize, &(usize, DVec3))| (*joint, Wish::Place(*at + DVec3::from(by[k])));
        ends.iter().enumerate().map(wish).collect()
    };
    let mut sitter = Sitter::new(easel, model, [24.0, 6.0], [360, 560])?;
    let frame = framing(Vec3::new(-0.5, 0.0, -0.3), Vec3::new(0.5, 1.8, 0.45));
    let poses = [
        (
            "reaching",
            [[0.05, -0.06, 0.10], [0.0, 0.45, 0.25], [0.10, -0.10, 0.0], [0.0; 3], [0.0, 0.06, -0.20]],
        ),
        (
            "kneeling",
            [
                [0.0, -0.42, 0.16],
                [-0.15, -0.20, 0.45],
                [0.15, -0.20, 0.45],
                [0.05, 0.0, 0.06],
                [-0.05, 0.0, -0.06],
            ],
        ),
        (
            "striding",
            [
                [0.0, -0.05, 0.06],
                [-0.2, -0.25, 0.35],
                [0.2, -0.25, -0.30],
                [0.0, 0.05, -0.35],
                [0.0, 0.0, 0.35],
            ],
        ),
    ];
    let mut row = vec![sitter.shot(0, &wishes([[0.0; 3]; 5]), &frame, "five places given")?];
    for (name, by) in poses {
        row.push(sitter.shot(0, &wishes(by), &frame, name)?);
    }
    Ok(vec![row])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abstract_handles_give_back_what_skinning_loses() {
        let model = bar_with(2, 0.14).unwrap();
        let volume = |extra: u32, map: DAffine3| {
            let wishes = [(0, Wish::Map(DAffine3::IDENTITY)), (1, Wish::Map(map))];
            let body = bound(&model, extra).unwrap();
            let shape = solved(&model, &body, &wishes, &mut Lines::default()).unwrap();
            let rig = PosedRig::new(model.skeleton(), &model.rest());
            model.measure(&rig, &shape.control).volume_ratio.unwrap()
        };
        let twist = moved(DVec3::Y, 110.0, DVec3::ZERO, DVec3::ZERO);
        let five = bar_with(5, 0.08).unwrap();
        let wrung = |extra: u32| {
            let turn = |k: usize| Wish::Map(moved(DVec3::Y, 95.0 * k as f64, DVec3::ZERO, DVec3::ZERO));
            let wishes: Vec<(usize, Wish)> = (0..5).map(|k| (k, turn(k))).collect();
            let body = bound(&five, extra).unwrap();
            let shape = solved(&five, &body, &wishes, &mut Lines::default()).unwrap();
            let rig = PosedRig::new(five.skeleton(), &five.rest());
            five.measure(&rig, &shape.control).volume_ratio.unwrap()
        };
        let [skinned, some] = [0, 15].map(wrung);
        assert!(skinned < 0.8 && some > skinned + 0.05, "{skinned} {some}");
        let [skinned, some, more] = [0, 15, 30].map(|extra| volume(extra, twist));
        assert!(skinned < 0.7 && some > 0.8 && more > 0.75, "{skinned} {some} {more}");
        let arc = on_arc(f64::from(BAR.0), PI * 0.72);
        let [skinned, some] = [0, 15].map(|extra| volume(extra, arc));
        assert!((some - 1.0).abs() < (skinned - 1.0).abs(), "{skinned} {some}");
    }
}
