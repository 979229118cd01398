//! Measurements on the skin or at a joint, and their readings in a pose. Lengths are in metres, as in glTF.

use super::Evaluation;
use crate::base::NodeId;
use crate::base::math::Vec3;
use crate::bind::Character;
use crate::geom::{Place, position, shortest_way, through};
use crate::rig::{PosedRig, Skeleton};

/// A measurement; a [`Place`] is a point on the display mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum Measurement {
    /// Distance between two places, both straight and along the skin.
    Distance([Place; 2]),
    /// Thickness from a place through the body, against the skin's normal.
    Thickness(Place),
    /// Angle between the bones that meet at a joint.
    Angle(NodeId),
}

/// Reading of a distance or a thickness. (To compute an angle, the pose suffices.)
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Both ends; `None` if the ray through the body hits nothing.
    pub ends: Option<[Place; 2]>,
    /// World positions of both ends.
    pub at: [Vec3; 2],
    /// Shortest path along the skin, including both ends; empty if the ends are not connected.
    pub way: Vec<Place>,
    /// World positions of the path.
    pub points: Vec<Vec3>,
    /// Length of the path, metres.
    pub along: f32,
}

impl Reading {
    /// Straight distance between the ends, metres.
    pub fn straight(&self) -> Option<f32> {
        self.ends.map(|_| self.at[0].distance(self.at[1]))
    }

    fn between(a: Option<(Place, Vec3)>, b: Option<(Place, Vec3)>) -> Self {
        let Some(((a, p), (b, q))) = a.zip(b) else { return Self::default() };
        Self { ends: Some([a, b]), at: [p, q], ..Self::default() }
    }
}

impl Measurement {
    /// Reads the measurement from an evaluated shape. A path on a large mesh takes about a second.
    pub fn read(&self, character: &Character, shape: &Evaluation) -> Reading {
        let display = &character.display;
        let positions = &shape.positions;
        let at = |place: &Place| position(&display.triangles, positions, place).map(|p| (*place, p));
        match self {
            Self::Distance([a, b]) => {
                // Weld the display mesh, because material seams do not interrupt the skin.
                let welded: Vec<[u32; 3]> =
                    display.triangles.iter().map(|t| t.map(|v| display.control_of[v as usize])).collect();
                let mut skin = vec![Vec3::ZERO; character.control.positions.len()];
                display.control_of.iter().zip(positions).for_each(|(c, p)| skin[*c as usize] = *p);
                let way = shortest_way(&welded, &skin, a, b).unwrap_or_default();
                let points: Vec<Vec3> = way.iter().filter_map(|p| position(&welded, &skin, p)).collect();
                let along = points.windows(2).map(|p| p[0].distance(p[1])).sum();
                Reading { way, points, along, ..Reading::between(at(a), at(b)) }
            }
            Self::Thickness(a) => {
                let normal = position(&display.triangles, &shape.normals, a).unwrap_or(Vec3::Y);
                let there = through(&display.triangles, positions, a, -normal.normalize_or(Vec3::Y));
                Reading::between(at(a), there.and_then(|(b, _)| at(&b)))
            }
            Self::Angle(_) => Reading::default(),
        }
    }
}

/// The two bones that meet at a joint: the incoming bone and the longest outgoing bone. The points are the start of the
/// incoming bone, the joint and the end of the outgoing bone, in world space. `None` if either bone is missing.
pub fn bend(skeleton: &Skeleton, rig: &PosedRig, node: NodeId) -> Option<[Vec3; 3]> {
    let is = |joint: crate::base::JointId| skeleton.joints[joint.index()].node == node;
    let bones = || skeleton.bones.iter().zip(&rig.bones);
    let (_, before) = bones().find(|(b, _)| b.child.is_some_and(is))?;
    let length = |p: &crate::rig::BonePose| p.head.distance(p.tail);
    let own = bones().filter(|(b, _)| is(b.parent)).map(|(_, p)| p);
    let after = own.max_by(|a, b| length(a).total_cmp(&length(b)))?;
    (length(before) > 0.0 && length(after) > 0.0).then_some([before.head, after.head, after.tail])
}

/// Angle at the middle point `b` between the directions to `a` and `c`, degrees; 180 if the three points lie on a line
/// in this order.
pub fn angle([a, b, c]: [Vec3; 3]) -> f32 {
    (a - b).angle_between(c - b).to_degrees()
}

/// Formats a length with three significant digits.
pub fn text_of(metres: f32) -> String {
    let digits = (2.0 - metres.max(1e-6).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{metres:.digits$} m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_three_digits() {
        let texts = [0.4321, 1.234, 12.34, 0.01234, 0.0, 1234.0].map(text_of);
        assert_eq!(texts, ["0.432 m", "1.23 m", "12.3 m", "0.0123 m", "0.000000 m", "1234 m"]);
    }

    #[test]
    fn a_capsule_is_as_thick_as_it_is_and_half_a_turn_along_its_skin_is_half_its_girth() {
        let shape = crate::bind::shapes::Shape {
            bones: 2,
            rings: 40,
            segments: 64,
            radius: 0.2,
            length: 1.0,
            blend: 0.5,
        };
        let character = Character::from_asset(&shape.capsule_asset()).unwrap();
        let display = &character.display;
        let evaluation = Evaluation {
            positions: display.positions.clone(),
            normals: display.normals.clone(),
            ..Evaluation::default()
        };
        let near = |goal: Vec3| {
            let middle = |t: &[u32; 3]| t.iter().map(|v| display.positions[*v as usize]).sum::<Vec3>() / 3.0;
            let away = |t: &[u32; 3]| middle(t).distance(goal);
            let all = display.triangles.iter().enumerate();
            let best = all.min_by(|a, b| away(a.1).total_cmp(&away(b.1))).unwrap();
            (best.0 as u32, [1.0 / 3.0; 3])
        };
        let (front, back) = (near(Vec3::new(0.0, 0.5, 0.2)), near(Vec3::new(0.0, 0.5, -0.2)));
        let reading = Measurement::Distance([front, back]).read(&character, &evaluation);
        assert!((reading.straight().unwrap() - 0.4).abs() < 5e-3, "{:?}", reading.straight());
        let half = std::f32::consts::PI * 0.2;
        assert!((reading.along / half - 1.0).abs() < 0.01, "{} for {half}", reading.along);
        let reading = Measurement::Thickness(front).read(&character, &evaluation);
        assert!((reading.straight().unwrap() - 0.4).abs() < 5e-3, "{:?}", reading.straight());
    }

    #[test]
    fn a_straight_limb_is_half_a_turn() {
        assert!((angle([Vec3::ZERO, Vec3::Y, Vec3::Y * 3.0]) - 180.0).abs() < 0.1);
        assert!((angle([Vec3::ZERO, Vec3::Y, Vec3::new(2.0, 1.0, 0.0)]) - 90.0).abs() < 1e-3);
    }
}
