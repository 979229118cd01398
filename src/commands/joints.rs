//! `sinew compare --bends --twists`: compares deformation methods at the joints of a character. It rotates one joint at
//! a time.

use super::compare::evaluator;
use super::tables::write_tables;
use crate::app::context::{Context, folder, write_png};
use crate::base::math::{Aabb, DQuat, DVec3, Vec3};
use crate::base::{NodeId, Result};
use crate::bind::BindOptions;
use crate::document::DeformerSettings;
use crate::geom::{CrossingsReport, DistortionReport, MeasureReport, Thickness, volume_under};
use crate::render::{Camera, Lines};
use crate::rig::{LimbJoint, PosedRig, Skeleton, limb_joints, turn_joint};
use crate::scene::{Angle, Cell, Evaluation, Evaluator, Model, Studio, Where, sheet};
use image::RgbaImage;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Size of a close-up, pixels.
const CLOSE_UP: [u32; 2] = [320, 320];
/// Radius of the measured region, as a fraction of the length of the shorter adjacent bone. The radius is never smaller
/// than the limb's thickness.
const REGION: f32 = 0.6;
/// Minimum skin weight. A joint deforms a vertex if the skin weights on each side of the joint sum to at least this
/// value.
const MIXED: f32 = 0.05;

/// Samples per bone for [`Flesh`].
const SAMPLES: usize = 8;
/// Two bones collide if their distance is below this fraction of the thickness of the flesh between them.
const COLLISION: f32 = 0.25;

/// A test rotation of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Rotation about the joint's bend axis, degrees.
    Bend(f32),
    /// Rotation about the joint's own bone, degrees.
    Twist(f32),
}

impl Motion {
    fn name(self) -> String {
        match self {
            Self::Bend(d) => format!("bend {d}"),
            Self::Twist(d) => format!("twist {d}"),
        }
    }

    fn turn(self, joint: &LimbJoint) -> DQuat {
        let (axis, degrees) = match self {
            Self::Bend(d) => (joint.axis, d),
            Self::Twist(d) => (joint.along, d),
        };
        DQuat::from_axis_angle(axis, f64::from(degrees).to_radians())
    }
}

/// Measurements of one method at one joint in one motion.
#[derive(Clone, Debug, serde::Serialize)]
pub struct JointLine {
    /// File name without the folder.
    pub file: String,
    /// Name of the joint's node.
    pub joint: String,
    /// Name of the motion, e.g. `bend 90`.
    pub motion: String,
    /// Method name.
    pub method: String,
    /// Posed volume of the joint's [`Region`] divided by its bind volume; `None` if the region encloses almost no
    /// volume.
    pub joint_volume_ratio: Option<f64>,
    /// Measurements of the whole character.
    #[serde(flatten)]
    pub measure: MeasureReport,
    /// Distortion of the whole character.
    #[serde(flatten)]
    pub distortion: DistortionReport,
    /// Whether the pose moves two bones into each other. If so, no method can avoid crossings.
    pub bones_collide: bool,
    /// Crossings of the whole character.
    #[serde(flatten)]
    pub crossings: CrossingsReport,
}

/// Thickness of the flesh around the bones.
struct Flesh {
    /// For each bone: the mean distance between skin and bone in [`SAMPLES`] equal parts of the bone's length. A part
    /// without skin has distance zero.
    radius: Vec<[f32; SAMPLES]>,
}

impl Flesh {
    fn new(model: &Model) -> Self {
        let attachments = &model.bound.attachments;
        let mut sums = vec![[(0.0, 0.0); SAMPLES]; model.skeleton().bones.len()];
        for ((bone, t), scale) in attachments.bone.iter().zip(&attachments.t).zip(&attachments.scale_vector) {
            let place = ((t * SAMPLES as f32) as usize).min(SAMPLES - 1);
            let (sum, count) = &mut sums[bone.index()][place];
            (*sum, *count) = (*sum + scale.length(), *count + 1.0);
        }
        let mean = |(sum, count): (f32, f32)| if count > 0.0 { sum / count } else { 0.0 };
        Self { radius: sums.into_iter().map(|s| s.map(mean)).collect() }
    }

    /// Returns whether two bones collide in the pose. The flesh between two points on bones is the sum of the flesh
    /// thickness at both points. The bones collide if the distance of two such points exceeds the flesh between them in
    /// the bind pose and is below [`COLLISION`] times that flesh in the pose.
    fn bones_collide(&self, skeleton: &Skeleton, rig: &PosedRig) -> bool {
        let mut places: Vec<(Vec3, Vec3, f32)> = Vec::new();
        for ((bone, posed), radius) in skeleton.bones.iter().zip(&rig.bones).zip(&self.radius) {
            for (k, radius) in radius.iter().enumerate().filter(|r| *r.1 > 0.0) {
                let t = (k as f32 + 0.5) / SAMPLES as f32;
                places.push((bone.head.lerp(bone.tail, t), posed.head.lerp(posed.tail, t), *radius));
            }
        }
        let collide = |a: &(Vec3, Vec3, f32), b: &(Vec3, Vec3, f32)| {
            let thickness = a.2 + b.2;
            a.0.distance(b.0) > thickness && a.1.distance(b.1) < COLLISION * thickness
        };
        places.iter().enumerate().any(|(i, a)| places[i + 1..].iter().any(|b| collide(a, b)))
    }
}

/// The part of the body that a joint deforms: vertices near the joint, or with skin weights on both of its sides.
///
/// The region's posed volume is its bind volume plus the change of the whole character's volume. Only this joint
/// rotates, so the change belongs to the region. The ratio therefore does not depend on how the region is cut and
/// closed, nor on the deformation that the file's own pose causes elsewhere.
pub struct Region {
    /// Control vertices near the joint.
    vertices: Vec<u32>,
    /// Bind volume between skin and bones, cubic metres.
    volume: f64,
}

impl Region {
    fn new(model: &Model, joint: &LimbJoint) -> Self {
        let (character, attachments) = (&model.bound.character, &model.bound.attachments);
        let (skeleton, control) = (&character.skeleton, &character.control);
        let Some(bind) = skeleton.nodes[joint.node.index()].joint else {
            return Self { vertices: Vec::new(), volume: 0.0 };
        };
        let at = Vec3::from(skeleton.joints[bind.index()].bind_from_joint.translation);
        let points: Vec<Vec3> =
            (0..control.positions.len()).map(|v| attachments.point(skeleton, v)).collect();
        let soft = || (0..control.positions.len()).filter(|&v| !control.rigid[v]);
        let within = |reach: f32| soft().filter(|&v| points[v].distance(at) <= reach).collect::<Vec<_>>();
        let reach = REGION * joint.reach as f32;
        let near = within(reach);
        let thickness = near.iter().map(|&v| attachments.scale_vector[v].length()).sum::<f32>()
            / near.len().max(1) as f32;
        let turns = turning_with(skeleton, joint.node);
        let mut inside = vec![false; control.positions.len()];
        within(reach.max(thickness)).into_iter().for_each(|v| inside[v] = true);
        for v in soft() {
            let of_joint = control.influences.of(v).filter(|(j, _)| turns[usize::from(*j)]).map(|e| e.1);
            inside[v] |= (MIXED..1.0 - MIXED).contains(&of_joint.sum());
        }
        let share = |t: &[u32; 3]| t.iter().filter(|&&v| inside[v as usize]).count() as f64 / 3.0;
        let skin = control.triangles.iter().filter(|t| !t.iter().any(|&v| control.rigid[v as usize]));
        let volume = volume_under(&control.positions, &points, skin.map(|t| (*t, share(t))));
        Self { vertices: near.into_iter().map(|v| v as u32).collect(), volume }
    }

    /// Returns the region's posed volume over its bind volume. `character` is the character's bind volume; `turned`
    /// and `before` are the character's volume ratios with and without the joint's rotation.
    fn volume_ratio(&self, character: f64, turned: Option<f64>, before: Option<f64>) -> Option<f64> {
        let solid = self.volume > 1e-4 * character;
        let change = turned.zip(before).filter(|_| solid).map(|(turned, before)| turned - before);
        change.map(|change| 1.0 + change * character / self.volume)
    }
}

/// Returns for each joint whether the joint belongs to the subtree of `node`.
fn turning_with(skeleton: &Skeleton, node: NodeId) -> Vec<bool> {
    let mut below = vec![false; skeleton.nodes.len()];
    for &n in &skeleton.order {
        let parent = skeleton.nodes[n.index()].parent;
        below[n.index()] = n == node || parent.is_some_and(|p| below[p.index()]);
    }
    skeleton.joints.iter().map(|j| below[j.node.index()]).collect()
}

/// Rotates every limb joint of every file by every motion, one joint at a time. Writes one sheet of close-ups per
/// file, `compare.md` and `compare.json`, and returns the table.
///
/// # Errors
/// Any error from loading, posing, evaluating or writing.
pub fn compare_joints(
    context: &mut Context,
    files: &[PathBuf],
    motions: &[Motion],
    methods: &[DeformerSettings],
    cpu: bool,
    out: &Path,
) -> Result<String> {
    folder(out)?;
    let mut lines = Vec::new();
    for path in files {
        let model = Model::load(path, &BindOptions::default())?;
        let side = context.side(cpu)?;
        let mut studio = Studio::new(&context.renderer()?, &model)?;
        let mut cells = Vec::new();
        let found = study(&side, &model, &every(&model, motions), methods, |joint, region, shapes| {
            cells.extend(close_ups(&mut studio, &model, region, joint, shapes)?);
            Ok(())
        })?;
        if found.is_empty() {
            let problem = "no joint lies between two bones of a limb; give a pose with --rotate";
            eprintln!("sinew: {}: {problem}", path.display());
            continue;
        }
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for (i, cell) in cells.into_iter().enumerate() {
            match rows.last_mut().filter(|_| i % (motions.len() * methods.len()) != 0) {
                Some(row) => row.push(cell),
                None => rows.push(vec![cell]),
            }
        }
        let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        write_png(&out.join(format!("{stem}_joints.png")), &sheet(&rows))?;
        lines.extend(found);
    }
    write_tables(out, &table(&lines), &lines)
}

/// Returns every limb joint of a character with every motion.
pub fn every(model: &Model, motions: &[Motion]) -> Vec<(LimbJoint, Motion)> {
    let joints = limb_joints(model.skeleton());
    joints.iter().flat_map(|joint| motions.iter().map(|motion| (*joint, *motion))).collect()
}

/// Rotates joints of a character, one at a time, and evaluates every method. Calls `each` once per rotation with the deformed
/// shapes.
///
/// # Errors
/// An error if a method cannot be bound or evaluated, or if `each` fails.
pub fn study(
    side: &Where,
    model: &Model,
    poses: &[(LimbJoint, Motion)],
    methods: &[DeformerSettings],
    mut each: impl FnMut(&LimbJoint, &Region, &[(JointLine, Evaluation)]) -> Result<()>,
) -> Result<Vec<JointLine>> {
    let skeleton = model.skeleton();
    let mut evaluators: Vec<Evaluator> =
        methods.iter().map(|m| evaluator(side, model, m)).collect::<Result<_>>()?;
    let file = model.asset.path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let (distortion, crossings, flesh) = (model.distortion(), model.crossings(), Flesh::new(model));
    let (rest, mut before) = (model.rest(), Vec::new());
    for evaluator in &mut evaluators {
        let shape = evaluator.evaluate(model, &rest)?;
        before.push(model.measure(&shape.control).volume_ratio);
    }
    let mut lines = Vec::new();
    let mut region: Option<(NodeId, Region)> = None;
    for (joint, motion) in poses {
        let known = region.take().filter(|r| r.0 == joint.node);
        let (_, region) = region.insert(known.unwrap_or_else(|| (joint.node, Region::new(model, joint))));
        let mut pose = model.rest();
        turn_joint(skeleton, &mut pose, joint.node, motion.turn(joint))?;
        let rig = PosedRig::new(skeleton, &pose);
        let bones_collide = flesh.bones_collide(skeleton, &rig);
        let mut shapes = Vec::new();
        for ((evaluator, method), before) in evaluators.iter_mut().zip(methods).zip(&before) {
            let shape = evaluator.evaluate(model, &pose)?;
            let measure = model.measure(&shape.control);
            let line = JointLine {
                file: file.clone(),
                joint: skeleton.nodes[joint.node.index()].name.clone(),
                motion: motion.name(),
                method: method.method.clone(),
                joint_volume_ratio: region.volume_ratio(model.volume(), measure.volume_ratio, *before),
                measure,
                distortion: distortion.report(&shape.control),
                bones_collide,
                crossings: crossings.report(&shape.control),
            };
            shapes.push((line, shape));
        }
        each(joint, region, &shapes)?;
        lines.extend(shapes.into_iter().map(|(line, _)| line));
    }
    Ok(lines)
}

/// How a close-up shows a joint.
pub struct CloseUp {
    bounds: Aabb,
    angle: Angle,
}

impl CloseUp {
    /// Renders a shape.
    ///
    /// # Errors
    /// As [`Studio::picture`].
    pub fn picture(&self, studio: &mut Studio, shape: &Evaluation) -> Result<RgbaImage> {
        studio.picture(shape, &self.bounds, self.angle, CLOSE_UP, &Lines::default())
    }
}

/// A camera shows a region if at least this fraction of the region's vertices is in sight.
const IN_SIGHT: f64 = 0.1;
/// Number of vertices, about, whose sight is tested.
const TESTED: usize = 64;
/// Sizes of the picture that are tried until the camera sees the joint, relative to the joint's surroundings.
const SIZES: [f32; 4] = [1.0, 2.0, 4.0, 8.0];

/// Returns the camera that shows a joint in all shapes. If something hides the joint, such as the shell of a robot, the camera
/// stands on the other side, or farther away.
pub fn close_up(
    model: &Model,
    region: &Region,
    joint: &LimbJoint,
    shapes: &[(JointLine, Evaluation)],
) -> CloseUp {
    let around = |s: &Evaluation| region.vertices.iter().map(|&v| s.control[v as usize]).collect::<Vec<_>>();
    // The bounds include the near ends of both bones. Otherwise the camera would stand inside the body if the limb is
    // thin.
    let reach = Vec3::splat(joint.reach as f32);
    let corners = [joint.at.as_vec3() - reach, joint.at.as_vec3() + reach];
    let bounds = Aabb::of(shapes.iter().flat_map(|(_, s)| around(s)).chain(corners));
    // The camera looks along the bend axis, from the character's front if both directions are possible.
    let mut axis = joint.axis;
    if axis.z < -0.3 || (axis.z.abs() <= 0.3 && joint.at.dot(axis) < 0.0) {
        axis = -axis;
    }
    let view = |axis: DVec3, size: f32| {
        let angle = Angle {
            yaw: axis.x.atan2(axis.z) as f32 + 0.3,
            pitch: (axis.y.clamp(-1.0, 1.0).asin() as f32).clamp(-1.2, 1.2),
        };
        let half = 0.5 * size * bounds.size();
        CloseUp { bounds: Aabb { min: bounds.center() - half, max: bounds.center() + half }, angle }
    };
    let mut views = SIZES.into_iter().flat_map(|size| [axis, -axis].map(|axis| view(axis, size)));
    let Some((_, first)) = shapes.first() else { return view(axis, 1.0) };
    let control: Vec<DVec3> = first.control.iter().map(|x| x.as_dvec3()).collect();
    let surface = Thickness::new(&control, &model.bound.character.control.triangles);
    let skip = 1e-3 * f64::from(bounds.diagonal());
    let sees = |view: &CloseUp| {
        let eye = Camera::framing(&view.bounds, 1.0, view.angle.yaw, view.angle.pitch).eye.as_dvec3();
        let tested = region.vertices.iter().step_by((region.vertices.len() / TESTED).max(1));
        let free = |x: DVec3| {
            let towards = (eye - x).normalize_or_zero();
            surface.below(x, -towards, skip).is_none_or(|hit| hit > eye.distance(x))
        };
        let seen = tested.clone().filter(|v| free(control[**v as usize])).count();
        seen as f64 >= IN_SIGHT * tested.count() as f64
    };
    views.find(sees).unwrap_or_else(|| view(axis, SIZES[SIZES.len() - 1]))
}

fn close_ups(
    studio: &mut Studio,
    model: &Model,
    region: &Region,
    joint: &LimbJoint,
    shapes: &[(JointLine, Evaluation)],
) -> Result<Vec<Cell>> {
    let view = close_up(model, region, joint, shapes);
    shapes
        .iter()
        .map(|(line, shape)| {
            let volume = line.joint_volume_ratio.map_or_else(String::new, |v| format!("volume {v:.3}"));
            let turned_over = format!("turned over {}", line.distortion.turned_over);
            Ok(Cell {
                picture: view.picture(studio, shape)?,
                caption: vec![
                    line.joint.clone(),
                    format!("{} {}", line.motion, line.method.to_uppercase()),
                    volume,
                    turned_over,
                ],
            })
        })
        .collect()
}

/// Formats a Markdown table with one row per joint and motion, and one column per measure and method.
fn table(lines: &[JointLine]) -> String {
    let mut methods: Vec<&str> = Vec::new();
    for line in lines {
        if !methods.contains(&line.method.as_str()) {
            methods.push(&line.method);
        }
    }
    let columns = ["volume", "folded", "stretch", "elongation", "energy", "turned over", "crossings"];
    let heads: Vec<String> =
        columns.iter().flat_map(|c| methods.iter().map(move |m| format!("{c} {m}"))).collect();
    let mut out = format!("| file | joint | motion | {} |\n", heads.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(heads.len() + 3));
    for group in lines.chunk_by(|a, b| (&a.file, &a.joint, &a.motion) == (&b.file, &b.joint, &b.motion)) {
        let mut row = vec![group[0].file.clone(), group[0].joint.clone(), group[0].motion.clone()];
        let volume = |l: &JointLine| l.joint_volume_ratio.map_or("-".to_owned(), |v| format!("{v:.3}"));
        row.extend(group.iter().map(volume));
        row.extend(group.iter().map(|l| l.measure.folded_edges.to_string()));
        row.extend(group.iter().map(|l| format!("{:.4}", l.measure.stretch_mean)));
        row.extend(group.iter().map(|l| format!("{:.3}", l.distortion.elongation)));
        row.extend(group.iter().map(|l| format!("{:.5}", l.distortion.energy)));
        row.extend(group.iter().map(|l| l.distortion.turned_over.to_string()));
        row.extend(group.iter().map(|l| l.crossings.crossings.to_string()));
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out
}
