//! Figures of chapters 3 and 4.1: attachment points, dividing planes, and the skinning that uses them.

use super::super::easel::{Easel, Sitter};
use crate::asset::Asset;
use crate::base::math::{Aabb, Vec3, Vec4};
use crate::base::{BoneId, JointId, Result};
use crate::bind::shapes::Shape;
use crate::bind::{BindOptions, Binding, Smoothing, dividing_square};
use crate::deform::cor::centers;
use crate::document::DeformerSettings;
use crate::generate::{self, Kind};
use crate::render::Lines;
use crate::rig::{Axis, PosedRig};
use crate::scene::{Cell, Evaluation, Model, color_of_index};
use std::sync::Arc;
use std::time::Duration;

const BONE: [u8; 4] = [20, 22, 28, 255];
const SKIN: [u8; 4] = [70, 120, 230, 255];
const SCALE: [u8; 4] = [70, 200, 90, 255];
const POINT: [u8; 4] = [235, 60, 50, 255];
/// Rounds of smoothing in the figures of chapter 3.
const ROUNDS: u32 = 6;

/// Binds a generated character by other rules than the default.
fn bound(kind: Kind, options: &BindOptions) -> Result<Arc<Model>> {
    let asset = Asset::from_slice(&generate::glb(kind)?, kind.name())?;
    Ok(Arc::new(Model::bind(asset, options, Duration::ZERO)?))
}

fn options(method: Binding, smooth: u32, smoothing: Smoothing) -> BindOptions {
    BindOptions { method, smooth, smoothing, ..BindOptions::default() }
}

/// Draws bones, and the scale vectors of some vertices from their posed attachment points to a shape.
pub(super) fn scale_vectors(sitter: &Sitter, shape: &Evaluation, vertices: &[u32], lines: &mut Lines) {
    let rig = PosedRig::new(sitter.model.skeleton(), &sitter.session.posed());
    let attachments = &sitter.model.bound.attachments;
    for &v in vertices {
        let bone = &rig.bones[attachments.bone[v as usize].index()];
        let from = bone.head.lerp(bone.tail, attachments.t[v as usize]);
        lines.polyline(&[from, shape.control[v as usize]], SCALE, 1.5, 0.0);
    }
    rig.bones.iter().for_each(|b| lines.polyline(&[b.head, b.tail], BONE, 3.0, 0.0));
    for &v in vertices {
        let bone = &rig.bones[attachments.bone[v as usize].index()];
        lines.dot(bone.head.lerp(bone.tail, attachments.t[v as usize]), POINT, 5.0);
    }
}

/// Returns the control vertices on the plane z = 0 of a capsule along +Y, in order around the outline.
fn outline(model: &Model) -> Vec<u32> {
    let positions = &model.bound.character.control.positions;
    let on = |v: &u32| positions[*v as usize].z.abs() < 1e-4;
    let mut right: Vec<u32> = (0..positions.len() as u32).filter(on).collect();
    right.sort_by(|a, b| positions[*a as usize].y.total_cmp(&positions[*b as usize].y));
    let left = right.iter().rev().copied().filter(|v| positions[*v as usize].x < -1e-4).collect::<Vec<_>>();
    right.retain(|v| positions[*v as usize].x > -1e-4);
    right.extend(left);
    right
}

/// Draws the section of a capsule along +Y by the plane z = 0: outline, scale vectors and bones, without the surface.
pub(super) fn section(sitter: &mut Sitter, shape: &Evaluation, caption: &str) -> Result<Cell> {
    let vertices = outline(&sitter.model);
    let mut lines = Lines::default();
    let mut round: Vec<Vec3> = vertices.iter().map(|v| shape.control[*v as usize]).collect();
    round.extend(round.first().copied());
    scale_vectors(sitter, shape, &vertices, &mut lines);
    lines.polyline(&round, SKIN, 3.0, 0.0);
    let frame = sitter.frame.unwrap_or_else(|| Aabb::of(round.iter().copied()));
    // All vertices at one point have no area: only the lines are visible.
    let mut nothing = shape.clone();
    nothing.positions.fill(frame.center() - Vec3::Z * 1e3);
    sitter.studio.look_mut().floor = false;
    sitter.frame = Some(frame);
    sitter.picture(&nothing, &lines, caption)
}

/// A capsule along +Y whose section by the plane z = 0 is drawn.
pub(super) fn capsule(
    easel: &mut Easel<'_>,
    bones: usize,
    settings: DeformerSettings,
    size: [u32; 2],
) -> Result<Sitter> {
    let shape = Shape { bones, rings: 32, segments: 24, radius: 0.16, length: 1.2, blend: 0.5 };
    let mut asset = shape.capsule_asset();
    super::super::grey(&mut asset);
    let model = Arc::new(Model::bind(asset, &BindOptions::default(), Duration::ZERO)?);
    easel.seated(&model, settings, [0.0, 0.0], size)
}

/// Figures 7 and 8: attachment points at the inner corners of a plus.
pub fn attachment(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let schemes = [
        (options(Binding::Direct, 0, Smoothing::Bounded), "closest point of any bone"),
        (
            options(Binding::Weights, 0, Smoothing::Bounded),
            "closest point of the bones\nof the largest weight",
        ),
        (options(Binding::Direct, ROUNDS, Smoothing::Plain), "6 rounds of plain smoothing\nand projection"),
        (options(Binding::Direct, ROUNDS, Smoothing::Bounded), "6 rounds of bounded\nsmoothing"),
    ];
    let mut rows = vec![Vec::new(), Vec::new()];
    for (options, caption) in schemes {
        let model = bound(Kind::Plus, &options)?;
        let mut sitter = easel.seated(&model, DeformerSettings::of("rigid"), [0.0, 0.0], [380, 380])?;
        let shape = sitter.evaluate(None)?;
        let front = shape.control.iter().map(|p| p.z).fold(f32::NEG_INFINITY, f32::max);
        // The vertices along the outline of the front.
        let at = |v: u32| shape.control[v as usize];
        let vertices: Vec<u32> =
            (0..shape.control.len() as u32).filter(|v| at(*v).z > front - 1e-4).collect();
        let sides = edge_of(&model, &vertices);
        let whole = Aabb::of(shape.control.iter().copied());
        let mut lines = Lines::default();
        scale_vectors(&sitter, &shape, &sides, &mut lines);
        let mut hidden = shape.clone();
        hidden.positions.fill(whole.center() - Vec3::Z * 1e3);
        sitter.studio.look_mut().floor = false;
        sitter.frame = Some(whole);
        rows[0].push(sitter.picture(&hidden, &lines, caption)?);
        let near = Vec3::splat(0.2 * whole.size().x);
        let center = whole.center();
        sitter.frame = Some(Aabb { min: center - near, max: center + near });
        rows[1].push(sitter.picture(&hidden, &lines, "close up")?);
    }
    Ok(rows)
}

/// Returns those of some vertices that have a neighbour outside of the set.
fn edge_of(model: &Model, vertices: &[u32]) -> Vec<u32> {
    let control = &model.bound.character.control;
    let mut inside = vec![false; control.positions.len()];
    vertices.iter().for_each(|v| inside[*v as usize] = true);
    let mut edge = vec![false; control.positions.len()];
    for triangle in &control.triangles {
        if triangle.iter().any(|v| !inside[*v as usize]) {
            triangle.iter().filter(|v| inside[**v as usize]).for_each(|v| edge[*v as usize] = true);
        }
    }
    vertices.iter().copied().filter(|v| edge[*v as usize]).collect()
}

/// The joints of the leg of figure 9, with the profile of their bones' longer scale vectors.
const LEG: [(&str, &str); 4] =
    [("LeftUpperLeg", "linear"), ("LeftLowerLeg", "even"), ("LeftFoot", "even"), ("LeftToes", "even")];

/// Figure 9: a leg bound by projection and by dividing planes, and both with longer scale vectors.
pub fn leg(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut rows = vec![Vec::new(), Vec::new(), Vec::new()];
    for (method, caption) in [(Binding::Direct, "projection"), (Binding::Planar, "dividing planes")] {
        let model = bound(Kind::Chibi, &options(method, 0, Smoothing::Bounded))?;
        let mut sitter = easel.seated(&model, DeformerSettings::of("irs"), [78.0, 4.0], [420, 420])?;
        sitter.look_at(["LeftUpperLeg", "LeftFoot"], 0.2)?;
        let shape = sitter.evaluate(None)?;
        let joints: Vec<JointId> = LEG
            .into_iter()
            .map(|(name, _)| {
                Ok(model.skeleton().nodes[sitter.node(name)?.index()].joint.unwrap_or(JointId(0)))
            })
            .collect::<Result<_>>()?;
        let bones = &model.skeleton().bones;
        let of_leg =
            |v: &u32| joints.contains(&bones[model.bound.attachments.bone[*v as usize].index()].parent);
        let leg: Vec<u32> = (0..shape.control.len() as u32).filter(of_leg).collect();
        let mut lines = Lines::default();
        scale_vectors(&sitter, &shape, &leg, &mut lines);
        rows[0].push(sitter.picture(&shape, &lines, caption)?);
        for (bone, profile) in LEG {
            sitter.shape(&format!("bone={bone} profile={profile} amount=0.45"))?;
        }
        rows[1].push(sitter.shot(None, &format!("{caption},\nscale vectors 45 % longer"))?);
        sitter.look_at(["LeftFoot", "LeftFoot"], 0.1)?;
        sitter.studio.look_mut().wire = true;
        rows[2].push(sitter.shot(None, "close up")?);
    }
    Ok(rows)
}

/// Colours every vertex by the bone to which it is attached.
fn by_bone(model: &Model) -> Vec<Vec4> {
    let color = |bone: &BoneId| {
        let [r, g, b, _] = color_of_index(bone.index()).map(|c| (f32::from(c) / 255.0).powf(2.2));
        Vec4::new(r, g, b, 1.0)
    };
    model.bound.attachments.bone.iter().map(color).collect()
}

/// Figure 10: the dividing planes of pelvis and chest, and the regions that they cut.
pub fn dividers(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = bound(Kind::Human, &options(Binding::Planar, 0, Smoothing::Bounded))?;
    let mut row = Vec::new();
    for (joint, caption) in [("Hips", "pelvis"), ("Chest", "chest")] {
        let mut sitter = easel.seated(&model, DeformerSettings::of("rigid"), [18.0, 4.0], [460, 460])?;
        sitter.studio = easel.painted(&model, &by_bone(&model))?;
        let shape = sitter.evaluate(None)?;
        let node = sitter.node(joint)?;
        let skeleton = model.skeleton();
        let mut lines = Lines::default();
        if let Some(joint) = skeleton.nodes[node.index()].joint {
            let meets = |b: &usize| {
                let bone = &skeleton.bones[*b];
                bone.parent == joint || bone.child == Some(joint)
            };
            let there: Vec<usize> = (0..skeleton.bones.len()).filter(meets).collect();
            for (i, &a) in there.iter().enumerate() {
                for &b in &there[i + 1..] {
                    let turn = BindOptions::turn([0.0; 3]);
                    let Some([p, q, r, s]) = dividing_square(skeleton, joint, [a, b].map(BoneId::from), turn)
                    else {
                        continue;
                    };
                    lines.polyline(&[p, q, r, s, p], color_of_index(a), 3.0, 1.0);
                }
            }
        }
        sitter.look_at([joint, joint], 0.3)?;
        row.push(sitter.picture(&shape, &lines, caption)?);
    }
    Ok(vec![row])
}

/// Figure 11: the optimized centres of rotation, and the joint of the largest weight as colour.
pub fn centres(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = easel.model(Kind::Human)?;
    let mut sitter = easel.seated(&model, DeformerSettings::of("cor"), [25.0, 4.0], [460, 560])?;
    let control = &model.bound.character.control;
    let largest = |v: usize| {
        let of = control.influences.of(v);
        of.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(joint, _)| usize::from(joint))
    };
    let color = |v: usize| {
        let [r, g, b, _] = color_of_index(largest(v)).map(|c| (f32::from(c) / 255.0).powf(2.2));
        Vec4::new(r, g, b, 1.0)
    };
    let colors: Vec<Vec4> = (0..control.positions.len()).map(color).collect();
    sitter.studio = easel.painted(&model, &colors)?;
    sitter.look_at(["Spine2", "Hips"], 0.5)?;
    let shape = sitter.evaluate(None)?;
    let surface = sitter.picture(&shape, &Lines::default(), "joint of the largest weight")?;
    let mut lines = Lines::default();
    for (v, center) in centers(control).into_iter().enumerate().step_by(2) {
        lines.dot(center, color_of_index(largest(v)), 4.0);
    }
    let mut hidden = shape.clone();
    hidden.positions.fill(Vec3::splat(-1e3));
    sitter.studio.look_mut().floor = false;
    Ok(vec![vec![surface, sitter.picture(&hidden, &lines, "centres of rotation")?]])
}

/// Figure 12: section of a cylinder in bind, after a rigid deformation, and after IRS.
pub fn section_of_irs(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut row = Vec::new();
    for (method, degrees, caption) in
        [("rigid", 0.0, "a  bind"), ("rigid", 70.0, "b  rigid"), ("irs", 70.0, "c  IRS")]
    {
        let mut sitter = capsule(easel, 2, DeformerSettings::of(method), [360, 460])?;
        sitter.turn("joint 1", Axis::Z, degrees)?;
        sitter.frame = Some(Aabb { min: Vec3::new(-0.75, -0.2, -0.1), max: Vec3::new(0.25, 1.3, 0.1) });
        let shape = sitter.evaluate(None)?;
        row.push(section(&mut sitter, &shape, caption)?);
    }
    Ok(vec![row])
}

/// Figure 13: a bend by IRS without and with the correction of the distance to the skeleton.
pub fn length_correction(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut row = Vec::new();
    for (correct, caption) in [(false, "lengths unchanged"), (true, "lengths corrected")] {
        let parameters = [("length_correction".to_owned(), correct.into())].into();
        let settings = DeformerSettings { method: "irs".into(), parameters };
        let mut sitter = capsule(easel, 2, settings, [360, 460])?;
        sitter.turn("joint 1", Axis::Z, 100.0)?;
        sitter.frame = Some(Aabb { min: Vec3::new(-0.8, -0.2, -0.2), max: Vec3::new(0.3, 0.95, 0.2) });
        row.push(sitter.shot(None, caption)?);
    }
    Ok(vec![row])
}

/// Figure 14: IRS with longer bones, with squashed bones, and with longer scale vectors.
pub fn irs_deformations(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    use crate::base::math::Trs;
    use crate::document::Edit;
    let mut row = Vec::new();
    for (longer, amount, caption) in
        [(1.0, 0.0, "bind"), (1.45, 0.0, "longer legs"), (0.6, 0.0, "squashed"), (1.0, 0.5, "thicker limbs")]
    {
        let mut sitter = easel.sitter(Kind::Chibi, "irs", [20.0, 4.0], [300, 480])?;
        let mut pose = sitter.model.rest();
        let stretched = ["LeftLowerLeg", "RightLowerLeg", "LeftFoot", "RightFoot", "Chest"];
        for joint in &stretched[..if longer > 1.0 { 4 } else { 5 }] {
            let local: &mut Trs = &mut pose.local[sitter.node(joint)?.index()];
            local.translation = local.translation.map(|x| x * longer);
        }
        sitter.session.apply(Edit::SetPose(pose))?;
        if amount > 0.0 {
            for side in ["Left", "Right"] {
                for bone in ["UpperArm", "LowerArm", "UpperLeg", "LowerLeg"] {
                    sitter.shape(&format!("bone={side}{bone} profile=parabola amount={amount}"))?;
                }
            }
        }
        row.push(sitter.shot(None, caption)?);
    }
    Ok(vec![row])
}

/// Figure 15: a hip bound by dividing planes under IRS, beside linear blend skinning.
pub fn hip(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut row = Vec::new();
    for (method, caption) in [("irs", "planes and IRS"), ("lbs", "linear blend skinning")] {
        let model = bound(Kind::Human, &options(Binding::Planar, 0, Smoothing::Bounded))?;
        let mut sitter = easel.seated(&model, DeformerSettings::of(method), [40.0, 6.0], [420, 460])?;
        sitter.turn("LeftUpperLeg", Axis::X, -80.0)?;
        sitter.turn("LeftUpperLeg", Axis::Z, 25.0)?;
        sitter.look_at(["Hips", "LeftUpperLeg"], 0.28)?;
        row.push(sitter.shot(None, caption)?);
    }
    Ok(vec![row])
}

/// Figure 16: a bend of 90 degrees by IRS, and by as-rigid-as-possible scale vectors.
pub fn arap(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    use crate::deform::classic::Lists;
    use crate::scene::{Classic, reshape};
    let frame = Aabb { min: Vec3::new(-0.85, -0.2, -0.2), max: Vec3::new(0.3, 1.0, 0.2) };
    let mut row = Vec::new();
    let mut sitter = capsule(easel, 2, DeformerSettings::of("irs"), [360, 420])?;
    sitter.turn("joint 1", Axis::Z, 90.0)?;
    sitter.frame = Some(frame);
    row.push(sitter.shot(None, "IRS")?);
    let mut sitter = capsule(easel, 2, DeformerSettings::of("rigid"), [360, 420])?;
    sitter.turn("joint 1", Axis::Z, 90.0)?;
    sitter.frame = Some(frame);
    let shape = sitter.evaluate(None)?;
    row.push(sitter.picture(&shape, &Lines::default(), "rigid")?);
    // Both ends are held where rigid skinning puts them.
    let bind = &sitter.model.bound.character.control.positions;
    let of = |low: f32, high: f32| -> Vec<u32> {
        (0..bind.len() as u32).filter(|v| (low..high).contains(&bind[*v as usize].y)).collect()
    };
    let (fixed, passive, kinematic) = (of(-1.0, 0.05), of(0.05, 1.15), of(1.15, 2.0));
    let lists = Lists { kinematic: &kinematic, passive: &passive, fixed: &fixed };
    let to: Vec<Vec3> = kinematic.iter().map(|v| shape.control[*v as usize]).collect();
    let pose = sitter.session.posed();
    let new = reshape(&sitter.model, (&pose, &shape), (&lists, &to), Classic::ArapScale)?;
    row.push(sitter.picture(&new.shape, &Lines::default(), "scale vectors as rigid\nas possible")?);
    Ok(vec![row])
}
