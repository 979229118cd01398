//! Shapes with limbs: figures 11, 12 and 15 of the FAST paper.

use super::{Sitter, Wish, framing, model, moved};
use crate::base::Result;
use crate::base::math::{DAffine3, DVec3, Vec3};
use crate::bind::{BindOptions, Character, HeatSite, heat_weights};
use crate::generate;
use crate::generate::Kind;
use crate::lab::figures::easel::Easel;
use crate::rig::PosedRig;
use crate::scene::{Cell, Model};
use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

pub(super) fn cross(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
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
    // `bent` bends the side arms towards the camera and twists the top arm; `bow` tilts the top arm forward.
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

/// Returns the bones of the hound's three skeletons; each entry is the bone's head, the index of its parent, and its
/// tail. The skeletons are not connected.
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

pub(super) fn skeletons(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
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
    // Each skeleton moves rigidly: all its joints get the same transform.
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

pub(super) fn figure(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
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
