//! A character in one pose, deformed by several methods and seen by one camera.

use super::super::easel::Easel;
use super::CUBES;
use super::cubes::{Cubed, on_skin, sums};
use crate::asset::Asset;
use crate::base::math::{Aabb, DQuat, DVec3, Vec3, Vec4};
use crate::base::{Error, NodeId, Result};
use crate::bind::weights::{FleshJoint, WeightMethod, flesh_joints};
use crate::bind::{BindOptions, Cache};
use crate::deform::surface::{self, Crease, Display};
use crate::deform::swing_twist::{Motions, Params};
use crate::document::DeformerSettings;
use crate::export::weigh_again;
use crate::generate::Kind;
use crate::render::Lines;
use crate::rig::{Axis, Pose, PosedRig, turn_joint};
use crate::scene::{Angle, Cell, Evaluation, Model, Studio, color_of_weight};
use std::time::Duration;

/// A way to deform the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deformer {
    /// Linear blend skinning with biharmonic weights.
    Linear,
    /// Dual quaternion skinning with biharmonic weights.
    Dual,
    /// Linear blend skinning with energy-minimising weights.
    LinearElastic,
    /// Dual quaternion skinning with energy-minimising weights.
    DualElastic,
    /// Swing-twist deformers with biharmonic weights.
    SwingTwistSmooth,
    /// The method `swing-twist`.
    SwingTwist,
    /// The minimum of the elastic energy.
    Solved,
}

impl Deformer {
    fn label(self) -> &'static str {
        match self {
            Self::Linear => "LBS, biharmonic weights",
            Self::Dual => "DQS, biharmonic weights",
            Self::LinearElastic => "LBS, elastic weights",
            Self::DualElastic => "DQS, elastic weights",
            Self::SwingTwistSmooth => "swing-twist, biharmonic weights",
            Self::SwingTwist => "swing-twist, elastic weights",
            Self::Solved => "elastic solution",
        }
    }
}

/// A rotation of a joint, degrees.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// About a world axis.
    About(Axis, f32),
    /// Of the bone towards the front; a negative angle rotates it towards the back.
    Forward(f32),
    /// About the bone.
    Twist(f32),
}

/// Direction of a camera, yaw and pitch in degrees, and the size of its picture in pixels.
pub(super) type View = ([f32; 2], [u32; 2]);

/// A deformed shape with its caption.
pub(super) type Captioned = (String, Evaluation);

/// A character in one pose.
pub(super) struct Stand {
    /// The character with biharmonic skin weights.
    pub smooth: Model,
    /// The character with energy-minimising skin weights.
    pub elastic: Model,
    /// The flesh of the character.
    pub cubed: Cubed,
    /// The renderer of the skin.
    pub studio: Studio,
    /// The camera.
    pub view: View,
    /// The bounds that pictures frame; `None` frames all shapes of a row.
    pub frame: Option<Aabb>,
    /// The pose.
    pub pose: Pose,
}

impl Stand {
    /// Computes both kinds of weights of a generated character in its rest pose.
    ///
    /// # Errors
    /// Any error of generating the character, computing weights or binding.
    pub fn new(easel: &mut Easel<'_>, kind: Kind, view: View) -> Result<Self> {
        let model = easel.model(kind)?;
        let smooth = weighed(&model.asset, WeightMethod::Biharmonic)?;
        let elastic = weighed(&model.asset, WeightMethod::Elastic)?;
        let cubed = Cubed::new(&elastic.bound.character, CUBES, false)?;
        Self::of(easel, [smooth, elastic], cubed, view)
    }

    /// Puts a character with its biharmonic and its energy-minimising weights before the camera, in its rest pose.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn of(
        easel: &mut Easel<'_>,
        [smooth, elastic]: [Model; 2],
        cubed: Cubed,
        view: View,
    ) -> Result<Self> {
        let (studio, pose) = (easel.studio(&elastic)?, elastic.rest());
        Ok(Self { smooth, elastic, cubed, studio, view, frame: None, pose })
    }

    /// Rotates joints of the rest pose, in this order.
    ///
    /// # Errors
    /// [`Error::Input`] if a joint does not exist.
    pub fn put(&mut self, turns: &[(&str, Turn)]) -> Result<()> {
        self.pose = self.elastic.rest();
        turns.iter().try_for_each(|(joint, turn)| self.turn(joint, *turn))
    }

    /// Rotates a joint. The directions of the rest pose move rigidly with the joint's parent.
    ///
    /// # Errors
    /// [`Error::Input`] if the joint does not exist.
    fn turn(&mut self, joint: &str, turn: Turn) -> Result<()> {
        let (joints, at) = found(&self.elastic, joint)?;
        let bone = joints[at].bone;
        let (axis, degrees) = match turn {
            Turn::About(axis, degrees) => (axis.unit(), degrees),
            Turn::Forward(degrees) => (bone.cross(DVec3::Z).try_normalize().unwrap_or(DVec3::X), degrees),
            Turn::Twist(degrees) => (bone, degrees),
        };
        let turn = DQuat::from_axis_angle(axis, f64::from(degrees).to_radians());
        let node = node(&self.elastic, joint)?;
        turn_joint(self.elastic.skeleton(), &mut self.pose, node, turn)
    }

    /// Frames a cube around the midpoint of two posed joints; `half` is half the cube's edge in metres.
    ///
    /// # Errors
    /// [`Error::Input`] if a joint does not exist.
    pub fn look_at(&mut self, joints: [&str; 2], half: f32) -> Result<()> {
        let rig = PosedRig::new(self.elastic.skeleton(), &self.pose);
        let [a, b] = [node(&self.elastic, joints[0])?, node(&self.elastic, joints[1])?];
        let at = |n: NodeId| Vec3::from(rig.world[n.index()].translation);
        let (center, half) = (0.5 * (at(a) + at(b)), Vec3::splat(half));
        self.frame = Some(Aabb { min: center - half, max: center + half });
        Ok(())
    }

    /// Deforms the skin in the pose. `nodes` are the posed nodes of the cubes.
    fn shape(&self, easel: &mut Easel<'_>, deformer: Deformer, nodes: &[DVec3]) -> Result<Evaluation> {
        let (model, method) = match deformer {
            Deformer::Linear => (&self.smooth, "lbs"),
            Deformer::Dual => (&self.smooth, "dqs"),
            Deformer::LinearElastic => (&self.elastic, "lbs"),
            Deformer::DualElastic => (&self.elastic, "dqs"),
            Deformer::SwingTwist | Deformer::Solved => (&self.elastic, "swing-twist"),
            Deformer::SwingTwistSmooth => {
                return Ok(drawn(&self.smooth, &self.pose, swing_twist_by(&self.smooth, &self.pose)));
            }
        };
        let mut settings = DeformerSettings::of(method);
        if method == "swing-twist" {
            settings.parameters.insert("cubes".to_owned(), CUBES.into());
        }
        let shape = easel.evaluator(model, &settings)?.evaluate(model, &self.pose)?;
        if deformer != Deformer::Solved {
            return Ok(shape);
        }
        let skin = on_skin(&self.cubed.flesh, &model.bound.character, nodes, &shape.control);
        Ok(drawn(model, &self.pose, skin))
    }

    /// Deforms the skin by several methods. The captions have the elastic energies over the smallest energy.
    ///
    /// # Errors
    /// Any error of binding or evaluating a method, or of the solve.
    pub fn cast(&self, easel: &mut Easel<'_>, deformers: &[Deformer]) -> Result<Vec<Captioned>> {
        let rig = PosedRig::new(self.elastic.skeleton(), &self.pose);
        let solved = self.cubed.nodes(Deformer::Solved, &rig)?;
        let least = self.cubed.energy(&solved)?.max(f64::MIN_POSITIVE);
        let mut out = Vec::new();
        for &deformer in deformers {
            let nodes = if deformer == Deformer::Solved {
                solved.clone()
            } else {
                self.cubed.nodes(deformer, &rig)?
            };
            let energy = self.cubed.energy(&nodes)? / least;
            let shape = self.shape(easel, deformer, &nodes)?;
            out.push((format!("{}\nenergy {energy:.2}", deformer.label()), shape));
        }
        Ok(out)
    }

    /// Renders shapes with one camera.
    ///
    /// # Errors
    /// Any error of [`Studio::picture`].
    pub fn pictures(&mut self, cast: &[Captioned]) -> Result<Vec<Cell>> {
        let every = || cast.iter().flat_map(|(_, shape)| shape.positions.iter().copied());
        let frame = self.frame.unwrap_or_else(|| Aabb::of(every()));
        cast.iter().map(|(text, shape)| picture(&mut self.studio, self.view, &frame, shape, text)).collect()
    }

    /// Returns the rest shape with a caption.
    pub fn rest(&self) -> Captioned {
        let shape = drawn(
            &self.elastic,
            &self.elastic.rest(),
            self.elastic.bound.character.control.positions.clone(),
        );
        ("rest pose".to_owned(), shape)
    }

    /// Renders the rest shape in the colours of one weight per control vertex.
    ///
    /// # Errors
    /// Any error of [`Studio::picture`].
    pub fn painted(&self, easel: &mut Easel<'_>, weights: &[f32], text: &str) -> Result<Cell> {
        let shape = self.rest().1;
        let frame = self.frame.unwrap_or_else(|| Aabb::of(shape.positions.iter().copied()));
        picture(&mut painted(easel, &self.elastic, weights)?, self.view, &frame, &shape, text)
    }
}

/// Renders a shape as a cell of a figure.
///
/// # Errors
/// Any error of [`Studio::picture`].
pub(super) fn picture(
    studio: &mut Studio,
    ([yaw, pitch], size): View,
    frame: &Aabb,
    shape: &Evaluation,
    text: &str,
) -> Result<Cell> {
    let angle = Angle { yaw: yaw.to_radians(), pitch: pitch.to_radians() };
    let picture = studio.picture(shape, frame, angle, size, &Lines::default())?;
    Ok(Cell { picture, caption: text.lines().map(str::to_owned).collect() })
}

/// Creates a renderer for a model in the colours of one weight per control vertex.
///
/// # Errors
/// If memory runs out.
pub(super) fn painted(easel: &mut Easel<'_>, model: &Model, weights: &[f32]) -> Result<Studio> {
    let linear = |byte: u8| (f32::from(byte) / 255.0).powf(2.2);
    let color = |w: &f32| Vec4::from_array(color_of_weight(*w).map(linear));
    easel.painted(model, &weights.iter().map(color).collect::<Vec<_>>())
}

/// Replaces the weights of a file by those of a method, and binds it.
///
/// # Errors
/// The errors of [`weigh_again`] and [`Model::bind`].
pub(super) fn weighed(asset: &Asset, method: WeightMethod) -> Result<Model> {
    let made = weigh_again(asset, method, Some(CUBES), Cache::platform().as_ref(), &|_| true)?;
    let made = made.ok_or_else(|| Error::input("the weights were cancelled", "compute them again"))?;
    Model::bind(made.asset, &BindOptions::default(), Duration::ZERO)
}

/// Returns the node of a joint.
fn node(model: &Model, joint: &str) -> Result<NodeId> {
    let none = || Error::input(format!("there is no joint {joint:?}"), "sinew inspect lists them");
    model.skeleton().find(joint).ok_or_else(none)
}

/// Returns the joints in the flesh of a model, and the index of the joint with this name.
///
/// # Errors
/// [`Error::Input`] if no joint in the flesh has this name.
pub(super) fn found(model: &Model, joint: &str) -> Result<(Vec<FleshJoint>, usize)> {
    let joints = flesh_joints(&model.bound.character);
    let own = model.skeleton().nodes[node(model, joint)?.index()].joint;
    let at = joints.iter().position(|j| Some(j.joint) == own);
    let none = || Error::input(format!("joint {joint:?} has no bone in the flesh"), "name another joint");
    at.map(|at| (joints, at)).ok_or_else(none)
}

/// Returns the vertices that swing-twist deformers give if the swing and the twist weight of a joint are both the sum
/// of the skin weights below the joint.
fn swing_twist_by(model: &Model, pose: &Pose) -> Vec<Vec3> {
    let joints = flesh_joints(&model.bound.character);
    let mut motions = Motions::new(&joints, model.skeleton(), &Params::DEFAULT);
    motions.update(&PosedRig::new(model.skeleton(), pose));
    let moved = |(x, weights): (&Vec3, Vec<f32>)| {
        let chain = motions.motions.iter().zip(weights).rev();
        chain.fold(*x, |x, (motion, weight)| motion.apply(x, weight, weight))
    };
    model
        .bound
        .character
        .control
        .positions
        .iter()
        .zip(sums(&model.bound.character, &joints))
        .map(moved)
        .collect()
}

/// Returns the surface to draw for posed control vertices.
pub(super) fn drawn(model: &Model, pose: &Pose, control: Vec<Vec3>) -> Evaluation {
    let rig = PosedRig::new(model.skeleton(), pose);
    let mut display = Display::default();
    surface::bind(&model.bound.character, Crease::Source).reference(&rig, &control, &[], &mut display);
    Evaluation { positions: display.positions, normals: display.normals, control, ..Evaluation::default() }
}
