//! Figures of "Fast automatic skinning transformations" (Jacobson et al. 2012), redrawn with Sinew's own shapes. White
//! handles have a fixed transform, yellow handles a fixed position, green handles are free, and red handles are
//! abstract. Regions are blue.

mod bars;
mod energies;
mod flat;
mod held;
mod limbs;
mod points;
mod sheet;
mod unreduced;

use super::easel::Easel;
use super::{Figure, Set};
use crate::asset::Influences;
use crate::base::math::{Aabb, Affine3A, DAffine3, DQuat, DVec3, Vec3};
use crate::base::{JointId, Result};
use crate::bind::BindOptions;
use crate::bind::shapes::asset_from_parts;
use crate::commands::fast::shape;
use crate::deform::fast::{Acceleration, Body, Constraint, Params, Solver, Target};
use crate::render::Lines;
use crate::rig::PosedRig;
use crate::scene::{Angle, Cell, Evaluation, Model, Studio};
use std::time::Duration;

/// The set of the FAST paper's figures.
pub const SET: Set = Set {
    name: "fast",
    paper: "Fast automatic skinning transformations",
    figures: &[
        Figure {
            name: "fig3-elephant",
            title: "Figure 3: an elephant moved by 7 points, by pseudo-edges and by FAST",
            draw: points::elephant,
        },
        Figure {
            name: "fig4-clusters",
            title: "Figure 4: a flat shape with various numbers of rotation clusters",
            draw: flat::clusters,
        },
        Figure {
            name: "fig6-singularity",
            title: "Figure 6: a bend without and with reduction, and its rotations by hue",
            draw: flat::singularity,
        },
        Figure {
            name: "fig7-cigar",
            title: "Figure 7: a cigar stretched by two points, unreduced and by FAST",
            draw: flat::stretched,
        },
        Figure {
            name: "fig8-bumps",
            title: "Figure 8: a bumpy sheet by ARAP with spokes, with spokes and rims, and by FAST",
            draw: energies::bumps,
        },
        Figure {
            name: "fig9-bar",
            title: "Figure 9: a bar bent and twisted by its two ends",
            draw: bars::bar,
        },
        Figure {
            name: "fig10-energies",
            title: "Figure 10: the energy of a shell and of a solid",
            draw: energies::shells,
        },
        Figure {
            name: "fig11-figure",
            title: "Figure 11: a figure moved by places of its head, hands and feet alone",
            draw: limbs::figure,
        },
        Figure {
            name: "fig12-hound",
            title: "Figure 12: three skeletons that nothing connects",
            draw: limbs::skeletons,
        },
        Figure {
            name: "fig13-regions",
            title: "Figure 13: five regions given whole, without and with 15 abstract handles",
            draw: bars::regions,
        },
        Figure {
            name: "fig14-bubbles",
            title: "Figure 14: 17 balls that nothing connects, moved by places of 5 points",
            draw: points::bubbles,
        },
        Figure {
            name: "fig15-cross",
            title: "Figure 15: a cross by the ends of its four arms",
            draw: limbs::cross,
        },
    ],
};

/// Maximum solver iterations; enough to converge.
const ITERATIONS: u32 = 400;
const WHOLE: [u8; 4] = [255, 255, 255, 255];
const PLACE: [u8; 4] = [255, 206, 40, 255];
const FREE: [u8; 4] = [80, 220, 90, 255];
const REGION: [u8; 4] = [70, 130, 255, 255];
const ABSTRACT: [u8; 4] = [255, 70, 60, 255];

/// The constraint on one handle.
enum Wish {
    Map(DAffine3),
    Place(DVec3),
}

/// A shape with handles, its renderer and its camera.
struct Sitter {
    model: Model,
    studio: Studio,
    angle: Angle,
    size: [u32; 2],
    /// The reduced model, preceded by the number of abstract handles for which it was bound. `None` before the first
    /// picture.
    body: Option<(u32, Body)>,
}

impl Sitter {
    fn new(easel: &mut Easel<'_>, model: Model, [yaw, pitch]: [f32; 2], size: [u32; 2]) -> Result<Self> {
        let studio = easel.studio(&model)?;
        let angle = Angle { yaw: yaw.to_radians(), pitch: pitch.to_radians() };
        Ok(Self { model, studio, angle, size, body: None })
    }

    /// Renders the shape that FAST finds with `extra` abstract handles.
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
        &Params { extra, clusters: if extra > 0 { bars::CLUSTERS } else { 0 }, ..Params::default() },
    )
}

/// Solves for the shape under constraints on joints, and draws a dot per handle. Without constraints, the result is the
/// rest shape.
fn solved(model: &Model, body: &Body, wishes: &[(usize, Wish)], lines: &mut Lines) -> Result<Evaluation> {
    let skeleton = model.skeleton();
    let rest = PosedRig::new(skeleton, &model.rest());
    if wishes.is_empty() {
        body.reduced.seeds().for_each(|x| lines.dot(x, ABSTRACT, 9.0));
        for joint in &body.joints {
            lines.dot(skeleton.joints[joint.index()].bind_from_joint.translation.into(), WHOLE, 11.0);
        }
        // The transforms of abstract handles are zero in the rest pose.
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

/// Builds a model from a mesh, with a joint per handle.
fn model(
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    joints: &[(Vec3, Option<usize>)],
    weights: Influences,
) -> Result<Model> {
    let mut asset = asset_from_parts(positions, triangles, joints, weights);
    super::grey(&mut asset);
    Model::bind(asset, &BindOptions::default(), Duration::ZERO)
}

/// Returns a rotation about an axis through the point `about`, followed by the translation `by`.
fn moved(axis: DVec3, degrees: f64, about: DVec3, by: DVec3) -> DAffine3 {
    DAffine3::from_translation(about + by)
        * DAffine3::from_quat(DQuat::from_axis_angle(axis, degrees.to_radians()))
        * DAffine3::from_translation(-about)
}

fn framing(low: Vec3, high: Vec3) -> Aabb {
    Aabb { min: low, max: high }
}
