//! Places the joints of a stroke that the user draws as bones: the background job of the bone tool.

use super::Model;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};
use crate::pose::joints_of_line;
use serde::{Deserialize, Serialize};

/// Two joints are at one place if they are nearer than this fraction of the depth of the body there.
const REACH: f64 = 0.7;

/// A stroke that the bone tool drew.
#[derive(Clone, Debug, PartialEq)]
pub struct BoneSketch {
    /// Hand positions, world space, metres.
    pub stroke: Vec<Vec3>,
    /// Position of the camera, world space, metres, if the stroke was drawn in a window: only the direction from the
    /// camera to the stroke is then known, and each point lies in the middle of the body in this direction.
    pub eye: Option<Vec3>,
    /// Number of bones; 0 places a joint at each corner of the stroke.
    pub bones: usize,
    /// Whether to draw on both sides of the body.
    pub mirror: bool,
    /// Smallest distance within which the first joint joins an existing joint, metres.
    pub reach: f32,
}

/// Joints of a new chain of bones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnBones {
    /// Joints in the middle of the body, world space, metres; at least two.
    pub joints: Vec<Vec3>,
    /// Distance within which the first joint joins an existing joint, and joints join the plane of symmetry, metres.
    pub reach: f32,
    /// Whether the user asked for both sides.
    pub mirror: bool,
    /// Plane of symmetry of the body: a point and the unit normal. `None` if one side was asked for, or the body has no
    /// symmetry.
    pub plane: Option<[Vec3; 2]>,
}

impl BoneSketch {
    /// Centres the stroke in the body and places the joints. The first call for a character takes up to seconds, later
    /// calls take milliseconds.
    ///
    /// # Errors
    /// If the stroke has no length, or the character has no triangles or is not where the stroke is.
    pub fn joints(&self, model: &Model) -> Result<DrawnBones> {
        let Some(interior) = model.interior() else {
            return Err(Error::input("the file has no mesh to draw bones in", "open a file with triangles"));
        };
        let points: Vec<DVec3> = match self.eye {
            Some(eye) => {
                let eye = eye.as_dvec3();
                self.stroke.iter().filter_map(|p| interior.along(eye, p.as_dvec3() - eye)).collect()
            }
            None => self.stroke.iter().map(|p| p.as_dvec3()).collect(),
        };
        let near = |x: &DVec3| interior.depth(*x).is_some();
        if !points.iter().any(near) {
            return Err(Error::input(
                "no bone was drawn: the stroke is not in the body",
                "draw inside the mesh",
            ));
        }
        let joints = interior.centred(&points).and_then(|line| joints_of_line(&line, self.bones));
        let Some(joints) = joints else {
            return Err(Error::input("no bone was drawn: the stroke has no length", "draw a longer stroke"));
        };
        let depth = interior.depth(joints[0].as_dvec3()).unwrap_or(0.0);
        let plane = self.mirror.then(|| interior.symmetry()).flatten();
        Ok(DrawnBones {
            reach: self.reach.max((REACH * depth) as f32),
            mirror: self.mirror,
            plane: plane.map(|p| p.map(|x| x.as_vec3())),
            joints,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;
    use crate::bind::BindOptions;
    use crate::bind::shapes::Shape;

    fn model() -> Model {
        let shape = Shape { bones: 3, rings: 48, segments: 12, radius: 0.15, length: 3.0, blend: 0.3 };
        let glb = crate::export::unedited(&shape.capsule_asset()).unwrap();
        Model::bind(Asset::from_slice(&glb, "tube.glb").unwrap(), &BindOptions::default(), Default::default())
            .unwrap()
    }

    #[test]
    fn strokes_of_hand_and_mouse_end_in_the_middle_of_the_body() {
        let model = model();
        let beside = |x: f32, z: f32| (0..30).map(|i| Vec3::new(x, 0.2 + 0.09 * i as f32, z)).collect();
        let hand = BoneSketch { stroke: beside(0.1, 0.05), eye: None, bones: 3, mirror: true, reach: 0.01 };
        let mouse = BoneSketch {
            stroke: beside(0.0, 0.7),
            eye: Some(Vec3::new(0.0, 1.5, 4.0)),
            bones: 0,
            ..hand.clone()
        };
        for (sketch, count) in [(&hand, 4), (&mouse, 2)] {
            let drawn = sketch.joints(&model).unwrap();
            assert_eq!(drawn.joints.len(), count);
            assert!(drawn.joints.iter().all(|j| j.x.hypot(j.z) < 0.03), "{:?}", drawn.joints);
            assert!(drawn.reach > 0.05 && drawn.plane.unwrap()[1] == Vec3::X, "{drawn:?}");
        }
        let refused = |sketch: BoneSketch| sketch.joints(&model).unwrap_err().to_string();
        assert!(refused(BoneSketch { stroke: beside(2.0, 0.0), ..hand.clone() }).contains("not in the body"));
        assert!(refused(BoneSketch { stroke: beside(9.0, 0.0), ..mouse }).contains("not in the body"));
        assert!(refused(BoneSketch { stroke: vec![Vec3::Y; 9], ..hand }).contains("no length"));
    }
}
