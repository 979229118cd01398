//! The CPU reference of the spring iterations, with the arithmetic of the shaders in `glsl/deform/springs`.

use super::bind::Binding;
use super::{Params, Torque};
use crate::base::math::{Quat, Vec3};
use crate::bind::Character;
use crate::deform::dqs::skin;
use crate::deform::rig_data::RigData;
use crate::rig::PosedRig;
use crate::shared_constants;
use std::f32::consts::PI;

/// Constants of a control vertex during the iterations of a frame.
#[derive(Clone, Copy, Debug)]
pub struct PosedVertex {
    /// Attachment point `a'` in world space, metres.
    pub attachment: Vec3,
    /// `Σ_j θ0 n0`, the sum of the torsion springs' rest rotations, rotated by `Q`, radians.
    pub rest_turn: Vec3,
    /// A constant force during the iterations, metres. The force holds the bind shape of edges without torsion,
    /// rotated by `Q`. On a coarse level, an additional term makes the equilibrium equal to the finer level's.
    pub load: Vec3,
    /// Bone direction rotated by `Q`, unit; zero for a bone without length.
    pub bone_direction: Vec3,
    /// Scale vector of the hold spring, `h = Q s_0`, world space, metres.
    pub hold: Vec3,
    /// Stiffness of the bone, hold and girth forces on this vertex, in this order.
    pub stiffness: [f32; 3],
    /// Reliability of the direction from the bone, 0..=1: a factor on all forces that use this direction.
    pub sense: f32,
    /// Stiffness of the pull to `a' + h`. The pull replaces forces with an unreliable direction from the bone.
    pub pull: f32,
    /// Step sizes across and along the scale vector, `min(dt, ω / K)`.
    pub steps: [f32; 2],
    /// Divisor that makes forces of different multigrid levels comparable: `deg/4 l²`, square metres.
    pub density: f32,
    /// Rotation `Q` from bind to world, blended by skin weight.
    pub rotation: Quat,
}

/// Upper bounds on a vertex's effective stiffness `K`. A step `ω / K` with `ω < 1` converges.
///
/// Torsion acts across the scale vector and length springs along it. The stiffness of a surface spring is at most
/// `k_s` in every direction. The bound per edge is therefore `k_s + k_t` across and `k_s + k_l` along. The bound
/// `2 k_s + k_l + k_t` for both directions would need twice as many iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub across: f32,
    pub along: f32,
}

shared_constants! {
    "types/springs.glsl" {
        /// An edge couples both its ends, so a graph's Laplacian has eigenvalues up to twice a vertex's degree. If
        /// every edge belongs to a triangle, the eigenvalues are at most 5/3 of the degree (3/2 for a single triangle,
        /// 5/3 with two edges on a boundary). The factor may therefore be 0.8.
        pub(super) const EDGE_BOUND: f32 = 0.8;
        /// Fraction of the bind distance to the attachment point. A vertex nearer than that has no direction from the
        /// point.
        pub(super) const FREE: f32 = 1e-3;
    }
}

impl Bounds {
    /// Computes the bounds from the stiffnesses of the bone, hold and girth forces and of the pull. `loose` counts
    /// the edges without torsion, which couple in all directions.
    pub fn new(params: &Params, degree: f32, loose: f32, stiffness: [f32; 3], pull: f32) -> Self {
        let [bone, hold, girth] = stiffness;
        Self {
            across: EDGE_BOUND * degree * (params.surface + params.torsion) + (bone + hold) + pull,
            along: EDGE_BOUND * (degree * (params.surface + params.length) + loose * params.torsion)
                + girth
                + pull,
        }
    }
}

/// Distance from the bone, in edge lengths, from which the scale vector's direction counts as fully reliable. At this
/// distance about a dozen vertices surround a limb.
pub(super) const RESOLVED: f32 = 2.0;

/// Returns the stiffness, relative to `k_t`, with which a difference fades over `reach` metres: `deg/4 (l/reach)²`.
/// The reach is at least the mesh's edge length `grain`.
pub(super) fn fading(mean_length: f32, grain: f32, degree: f32, reach: f32) -> f32 {
    let ratio = if grain > 0.0 { mean_length / reach.max(grain) } else { 0.0 };
    degree * 0.25 * ratio * ratio
}

/// Transforms the rest measures to a pose. A vertex's rotation `Q` is the mean of its joints' rotations, weighted by skin
/// weight. `a'` is the bind attachment point under dual quaternion skinning with the rotation `Q`. A part that follows one
/// joint therefore stays rigid, whichever bone it is attached to. No attachment point moves towards the axis of a joint's
/// rotation.
pub fn pose(binding: &Binding, params: &Params, character: &Character, rig: &PosedRig) -> Vec<PosedVertex> {
    let influences = &character.control.influences;
    let data = RigData::of(&character.skeleton, rig);
    let mut out = Vec::with_capacity(binding.vertices.len());
    for (i, v) in binding.vertices.iter().enumerate() {
        let rotation = blended_rotation(influences.of(i), &rig.rotation);
        let degree = binding.degree(i) as f32;
        let fade = |gain: f32, reach: f32, on: bool| {
            if on {
                gain * params.torsion * fading(v.mean_length, v.grain, degree, reach * v.radius)
            } else {
                0.0
            }
        };
        let free = v.radius > binding.on_bone;
        let stiffness = [
            fade(params.bone, params.bend_reach, free && v.bone_direction != Vec3::ZERO),
            fade(params.hold, params.hold_reach, free),
            fade(params.girth, params.girth_reach, free),
        ];
        // A vertex that is nearer to the bone than its edges are long may pass through the bone in one step. Where
        // few vertices surround a limb, their directions from the bone are unreliable.
        let blind = v.mean_length.max(RESOLVED * v.grain);
        let ratio = if free && blind > 0.0 { (v.radius / blind).min(1.0) } else { 0.0 };
        let sense = ratio * ratio;
        let pull = params.hold * params.torsion * degree * (1.0 - sense);
        let Bounds { across, along } = Bounds::new(params, degree, v.loose, stiffness, pull);
        // If the direction of the scale vector is unreliable, the larger bound applies to both directions.
        let bounds = if sense < 1.0 { [across.max(along); 2] } else { [across, along] };
        out.push(PosedVertex {
            attachment: skin(influences, i, &data, v.attachment),
            rest_turn: rotation * v.turn,
            load: rotation * v.shape * -params.torsion,
            bone_direction: rotation * v.bone_direction,
            hold: rotation * v.scale_vector,
            stiffness,
            sense,
            pull,
            steps: bounds.map(|bound| params.step(bound)),
            density: degree * 0.25 * v.mean_length * v.mean_length,
            rotation,
        });
    }
    out
}

/// Returns the normalised weighted sum of the joints' rotations, each on the hemisphere of the heaviest joint.
pub fn blended_rotation(influences: impl Iterator<Item = (u16, f32)>, rotations: &[Quat]) -> Quat {
    let mut pivot = None;
    let mut sum = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    for (joint, weight) in influences {
        let q = rotations[joint as usize];
        let pivot = *pivot.get_or_insert(q);
        sum += q * if pivot.dot(q) < 0.0 { -weight } else { weight };
    }
    if sum.length_squared() > 1e-12 { sum.normalize() } else { pivot.unwrap_or(Quat::IDENTITY) }
}

/// Returns the net force on vertex `i`, metres (stiffness has no unit).
pub fn force(binding: &Binding, params: &Params, posed: &[PosedVertex], x: &[Vec3], i: usize) -> Vec3 {
    let rest = &binding.vertices[i];
    let me = &posed[i];
    let s = x[i] - me.attachment;
    let s_length = s.length();
    let free = s_length > rest.radius * FREE && rest.radius > 0.0;
    let radial = if free { s / s_length } else { Vec3::ZERO };
    let mut surface = Vec3::ZERO;
    let mut length = 0.0;
    let mut turn = Vec3::ZERO;
    let mut shape = Vec3::ZERO;
    for edge in &binding.edges[binding.offset[i] as usize..binding.offset[i + 1] as usize] {
        let j = edge.neighbor as usize;
        let along = x[j] - x[i];
        let distance = along.length();
        if distance > 0.0 {
            surface += along * ((distance - edge.length) / distance);
        }
        let sj = x[j] - posed[j].attachment;
        let sj_length = sj.length();
        let rest_j = binding.vertices[j].radius;
        length += ((sj_length - s_length) - (rest_j - rest.radius)) * edge.coherence;
        turn += turn_between(s, s_length, sj, sj_length)
            * (edge.coherence * leverage(rest.radius, rest_j.min(sj_length)));
        shape += along * (1.0 - edge.coherence);
    }
    let mut total = surface * params.surface + shape * params.torsion + (me.hold - s) * me.pull + me.load;
    if free {
        // Arc length per radian. The thesis prints the inverse.
        let lever = match params.torque {
            Torque::Arc => s_length,
            Torque::Thesis => binding.unit() * binding.unit() / s_length,
        };
        let [bone, hold, girth] = me.stiffness;
        let mut turning = (turn - me.rest_turn).cross(radial) * params.torsion;
        turning += toward(s, me.bone_direction) * (bone * (angle(s, me.bone_direction) - rest.phi));
        turning += turn_between(s, s_length, me.hold, rest.radius).cross(radial) * hold;
        let stretching = length * params.length + girth * (rest.radius - s_length);
        total += (turning * lever + radial * stretching) * me.sense;
    }
    total
}

/// Returns the rotation from scale vector `s` to `sj` as a rotation vector `θ n`, radians. Its length falls to zero
/// from two radians to π, where the direction is undefined, so opposite sides of a bone do not attract each other.
///
/// With `q = tan(θ/2)`, the cross product over `|s||s_j| + s·s_j` is `q n`, and `θ/q` is a function of `q²` alone. A
/// polynomial fitted up to two radians (least squares, relative error 8e-6) avoids the square root.
pub fn turn_between(s: Vec3, length: f32, sj: Vec3, length_j: f32) -> Vec3 {
    let product = length * length_j;
    let dot = s.dot(sj);
    let sum = product + dot;
    if sum <= product * 1e-6 {
        return Vec3::ZERO;
    }
    let inverse = 1.0 / sum;
    let u = ((product - dot) * inverse).max(0.0);
    let ratio = if u < TURN_LIMIT { polynomial(u) } else { TURN_BEYOND / u };
    s.cross(sj) * (ratio * inverse)
}

/// `tan²(θ/2)` at `θ` = 2 radians.
const TURN_LIMIT: f32 = 2.425_518_8;
/// `2 tan(1)`. Beyond the limit, `θ/q` is this value over `q²`, which makes the function continuous.
const TURN_BEYOND: f32 = 3.114_815_5;

/// Evaluates `2 atan(q)/q` as a function of `u = q²`.
fn polynomial(u: f32) -> f32 {
    [0.010_206_034, -0.047_153_7, 0.128_139_3, -0.243_634_58, 0.389_905_63, -0.665_703, 1.999_984_7_f32]
        .iter()
        .fold(-0.000_957_923_94, |p, c| p * u + c)
}

/// Returns the weight of a neighbour in the torsion force: below 1 if the neighbour is nearer to the bone. Equal
/// moves rotate shorter scale vectors by larger angles, which a vertex far from the bone must not follow on its
/// longer arc.
pub fn leverage(radius: f32, neighbor: f32) -> f32 {
    if radius > 0.0 { (neighbor / radius).min(1.0) } else { 0.0 }
}

/// Returns the unit vector orthogonal to `s`, in the plane of `s` and `target`, towards `target`; zero if parallel.
pub(super) fn toward(s: Vec3, target: Vec3) -> Vec3 {
    s.cross(target).cross(s).normalize_or_zero()
}

/// Returns the displacement of vertex `i` in one Jacobi step, without momentum.
pub fn plain_step(
    binding: &Binding,
    params: &Params,
    me: &PosedVertex,
    i: usize,
    x: Vec3,
    force: Vec3,
) -> Vec3 {
    let radius = binding.vertices[i].radius;
    let s = x - me.attachment;
    let length = s.length();
    let free = length > radius * FREE && radius > 0.0;
    let radial = if free { s / length } else { Vec3::ZERO };
    let mut steps = me.steps;
    if free && params.torque == Torque::Thesis {
        let rate = binding.unit() / length;
        let longest = thesis_step(params, binding.degree(i) as f32, me, rate * rate);
        steps = [steps[0].min(longest), if me.sense < 1.0 { steps[1].min(longest) } else { steps[1] }];
    }
    let [across, along] = steps;
    force * across + radial * (force.dot(radial) * (along - across))
}

/// Returns the longest stable step across the scale vector with [`Torque::Thesis`]. `rate` is the stiffness of a torque
/// relative to [`Torque::Arc`]: the squared ratio of [`Binding::unit`] to the scale vector's length.
fn thesis_step(params: &Params, degree: f32, me: &PosedVertex, rate: f32) -> f32 {
    let [bone, hold, _] = me.stiffness;
    let turning = (EDGE_BOUND * degree * params.torsion + bone + hold) * (rate * me.sense);
    let bound = EDGE_BOUND * degree * params.surface + turning + me.pull;
    if bound > 0.0 { params.omega / bound } else { 0.0 }
}

/// Returns the next position of a vertex: a Jacobi step from `x`, extrapolated by the momentum's weight.
///
/// The vertex moves on an arc around the attachment point. The component across the scale vector rotates the vector,
/// and the component along it changes its length. A straight step would lengthen the scale vector a little every
/// time, without bound where no spring holds the length.
pub(super) fn advance(
    x: Vec3,
    previous: Vec3,
    attachment: Vec3,
    radius: f32,
    step: Vec3,
    weight: f32,
) -> Vec3 {
    let mut past = x - previous;
    // The momentum restarts at a vertex that reverses its direction.
    let momentum = if step.dot(past) < 0.0 { 0.0 } else { weight - 1.0 };
    let s = x - attachment;
    let length = s.length();
    if length <= radius * FREE || radius <= 0.0 {
        return x + step + (step + past) * momentum;
    }
    let radial = s / length;
    past += radial * (length - (previous - attachment).length() - past.dot(radial));
    let total = step + (step + past) * momentum;
    let along = total.dot(radial);
    let turned = s + total - radial * along;
    attachment + turned * ((length + along) / turned.length())
}

/// Returns the angle between two vectors, radians in 0..=π; zero if one of them is zero.
pub fn angle(a: Vec3, b: Vec3) -> f32 {
    atan2_positive(a.cross(b).length(), a.dot(b))
}

/// Returns `atan2(y, x)` for `y >= 0` by an odd polynomial (least-squares fit on 0..=1, error below 3e-7). The
/// polynomial gives equal bits on every device and is faster than the standard library's function.
pub fn atan2_positive(y: f32, x: f32) -> f32 {
    let ax = x.abs();
    let high = ax.max(y);
    if high <= 0.0 {
        return 0.0;
    }
    let q = ax.min(y) / high;
    let q2 = q * q;
    let mut p = 0.006_811_75_f32;
    for c in [-0.033_604_11, 0.079_623_59, -0.132_333_41, 0.198_078_17, -0.333_173_7, 0.999_996_1_f32] {
        p = p * q2 + c;
    }
    let mut r = p * q;
    if y > ax {
        r = std::f32::consts::FRAC_PI_2 - r;
    }
    if x < 0.0 { PI - r } else { r }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomial_arctangent_is_exact_to_float_rounding() {
        for k in 0..=2000 {
            let a = PI * k as f32 / 2000.0;
            let (y, x) = (a.sin().max(0.0), a.cos());
            assert!((atan2_positive(y, x) - y.atan2(x)).abs() < 1e-6, "at {a}");
        }
        assert_eq!(atan2_positive(0.0, 0.0), 0.0);
    }

    #[test]
    fn turns_are_rotation_vectors_up_to_two_radians_and_fade_to_none() {
        for k in 1..=300 {
            let theta = PI * k as f32 / 300.0;
            let turn = turn_between(Vec3::X * 0.3, 0.3, Vec3::new(theta.cos(), theta.sin(), 0.0) * 2.0, 2.0);
            if theta < 2.0 {
                assert!((turn - Vec3::Z * theta).length() < 3e-5 * theta.max(0.1), "{theta}: {turn}");
            } else {
                assert!(turn.length() < 2.001 && turn.z > -1e-6, "{theta}: {turn}");
            }
        }
        assert!(turn_between(Vec3::X, 1.0, -Vec3::X, 1.0).length() < 1e-6);
        assert_eq!(turn_between(Vec3::ZERO, 0.0, Vec3::X, 1.0), Vec3::ZERO);
    }
}
