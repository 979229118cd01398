//! Timing by gesture: the speed of an offset stroke sets the timing of its motion (docs/internals.md, *Strokes and
//! posing*).
//!
//! When the hand has drawn a fraction `u` of the stroke's length, the character has moved by the fraction `u` from the
//! pose without the stroke to the pose with it. Every joint follows its shortest arc. LINEAR interpolation between two
//! keys on such an arc stays on the arc. The keys are therefore the knots of a polyline that approximates `u` over
//! time. [`thin`] removes as many knots as the error bound allows.

mod recording;

use super::clip_layer::blend;
use super::{Document, Edit, KeyEdit, KeyValue, Target};
use crate::anim::thin;
use crate::base::{Error, Result, StrokeId};
use crate::pose::Stroke;
use crate::rig::{Pose, Skeleton};
pub use recording::{LONGEST_RECORDING, Recording};

/// Timing keys derived from a drawn stroke.
#[derive(Clone, Debug, PartialEq)]
pub struct Gesture {
    /// `(seconds since the stroke began, fraction of the motion)`, increasing.
    pub keys: Vec<(f64, f64)>,
    /// Maximum error of any joint due to the reduced number of keys, degrees.
    pub error_degrees: f64,
}

/// Converts a stroke's recorded times to timing keys. `angle` is the largest joint rotation of the motion, degrees.
/// No joint deviates by more than `tolerance` degrees at any recorded time.
///
/// # Errors
/// The stroke has no times, because it was not drawn by hand.
pub fn gesture(stroke: &Stroke, angle: f64, tolerance: f64) -> Result<Gesture> {
    let knots = stroke.knots();
    let start = knots.first().map_or(0.0, |k| k.time);
    let mut length = 0.0;
    let mut curve: Vec<(f64, f64)> = Vec::with_capacity(knots.len());
    for (i, knot) in knots.iter().enumerate() {
        if i > 0 {
            length += f64::from(knot.point().as_vec3().distance(knots[i - 1].point().as_vec3()));
        }
        curve.push((knot.time - start, length));
    }
    let lasts = curve.last().is_some_and(|c| c.0 > 0.0 && c.0.is_finite());
    if !lasts || length <= 0.0 || !curve.is_sorted_by(|a, b| a.0 <= b.0) {
        return Err(Error::input(
            "the offset stroke has no times that rise",
            "draw it by hand: its speed is the motion's",
        ));
    }
    curve.iter_mut().for_each(|c| c.1 /= length);
    curve.dedup_by(|b, a| (b.0 as f32) == (a.0 as f32));
    let within = tolerance.max(0.0) / angle.max(1e-9);
    let apart = |a: usize, b: usize, i: usize| {
        let ((t0, u0), (t1, u1)) = (curve[a], curve[b]);
        let line = u0 + (curve[i].0 - t0) * (u1 - u0) / (t1 - t0);
        (curve[i].1 - line).abs()
    };
    let (kept, worst) = thin(curve.len(), within, apart);
    let keys = curve.iter().zip(&kept).filter(|k| *k.1).map(|k| *k.0).collect();
    Ok(Gesture { keys, error_degrees: worst * angle })
}

impl Document {
    /// Returns the edit that keys the motion of a layer's offset stroke from the time `start` on, and the timing
    /// keys. `tolerance` is the maximum error in degrees.
    ///
    /// # Errors
    /// The layer has no offset stroke drawn by hand, or the stroke moves no joint.
    pub fn keying(
        &self,
        skeleton: &Skeleton,
        id: StrokeId,
        start: f64,
        tolerance: f64,
    ) -> Result<(Edit, Gesture)> {
        let index = self.stroke_index(id)?;
        let offset = self.strokes[index].offset.as_ref().ok_or_else(|| {
            Error::input(format!("stroke {} has no offset stroke", id.0 + 1), "draw one first")
        })?;
        let (below, above) = (self.posed_below(skeleton, index), self.posed(skeleton));
        let turned = |(a, b): (&crate::base::math::Trs, &crate::base::math::Trs)| {
            let (a, b) = (a.rotation(), b.rotation());
            f64::from(a.angle_between(if a.dot(b) < 0.0 { -b } else { b })).to_degrees()
        };
        let angle = below.local.iter().zip(&above.local).map(turned).fold(0.0, f64::max);
        let gesture = gesture(offset, angle, tolerance)?;
        let changed: Vec<Target> =
            Target::all_of_pose(&above).filter(|t| t.of_pose(&below) != t.of_pose(&above)).collect();
        if changed.is_empty() {
            return Err(Error::input("the offset stroke moves nothing", "draw it away from the baseline"));
        }
        let key = |&(time, share): &(f64, f64)| {
            let mut pose: Pose = above.clone();
            if share < 1.0 {
                blend(&below, &mut pose, share as f32);
            }
            let value = |target: &Target| {
                let value = target.of_pose(&pose)?.to_vec();
                Some(KeyValue { target: target.clone(), value })
            };
            let keys = changed.iter().filter_map(value).collect();
            Edit::Keys(KeyEdit::Insert { time: start + time, keys })
        };
        Ok((Edit::Group(gesture.keys.iter().map(key).collect()), gesture))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;
    use crate::document::testing::{asset, session};
    use crate::pose::{Sample, StrokeLayer};

    /// Returns a stroke of two seconds that starts slowly: the hand has drawn a fraction `t^2` at time `t`.
    fn slow_start(place: impl Fn(f32) -> Vec3) -> Stroke {
        let sample = |i: i32| {
            let t = i as f32 / 40.0;
            Sample::at(place(t * t), 5.0 + f64::from(t) * 2.0)
        };
        Stroke::from_knots((0..=40).map(sample).collect()).unwrap()
    }

    #[test]
    fn slow_hands_give_slow_keys_within_the_error() {
        let stroke = slow_start(|u| Vec3::X * u);
        for tolerance in [0.5, 2.0, 8.0] {
            let out = gesture(&stroke, 90.0, tolerance).unwrap();
            assert!(out.error_degrees <= tolerance && out.keys.len() < 30, "{out:?}");
            assert_eq!((out.keys[0], out.keys[out.keys.len() - 1].0), ((0.0, 0.0), 2.0));
            for i in 0..=40 {
                let t = f64::from(i) / 40.0;
                let after = out.keys.partition_point(|k| k.0 <= 2.0 * t).clamp(1, out.keys.len() - 1);
                let ((t0, u0), (t1, u1)) = (out.keys[after - 1], out.keys[after]);
                let u = u0 + (2.0 * t - t0) * (u1 - u0) / (t1 - t0);
                assert!((u - t * t).abs() * 90.0 <= tolerance + 1e-3, "{t}: {u}");
            }
        }
        let fine = gesture(&stroke, 90.0, 0.5).unwrap().keys.len();
        assert!(fine > gesture(&stroke, 90.0, 8.0).unwrap().keys.len());
        let still =
            Stroke::from_knots((0..4).map(|i| Sample::at(Vec3::X * i as f32, 1.0)).collect()).unwrap();
        assert!(gesture(&still, 90.0, 1.0).unwrap_err().to_string().contains("no times"));
    }

    #[test]
    fn a_raised_arm_is_keyed_as_it_was_drawn() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let rest = s.posed();
        let at = |n: &str| {
            let id = s.skeleton().find(n).unwrap();
            Vec3::from(rest.world(s.skeleton())[id.index()].translation)
        };
        let (shoulder, hand) = (at("arm.L"), at("hand.L"));
        let along = (0..12).map(|i| Sample::at(shoulder.lerp(hand, i as f32 / 11.0), 0.0)).collect();
        let baseline = Stroke::from_knots(along).unwrap();
        let length = shoulder.distance(hand);
        let offset = slow_start(|u| shoulder + Vec3::new(0.6, 0.8, 0.0) * (length * u));
        let id = s.document().unused_stroke_id();
        let layer =
            StrokeLayer::new(id, baseline, 0.05, (s.skeleton(), &[]), &rest).unwrap().with_offset(offset);
        s.apply(Edit::AddStroke { index: None, layer: Box::new(layer) }).unwrap();
        let (edit, out) = s.document().keying(s.skeleton(), id, 1.0, 2.0).unwrap();
        s.apply(edit).unwrap();
        assert_eq!(s.document().motion().key_times().len(), out.keys.len());
        let arm = s.skeleton().find("arm.L").unwrap().index();
        let raised = s.posed().local[arm].rotation();
        let whole = rest.local[arm].rotation().angle_between(raised);
        assert!(whole > 0.7, "{whole}");
        for t in [0.0, 0.3, 0.5, 0.8, 1.0] {
            let pose = s.document().state(s.skeleton(), Some(1.0 + 2.0 * t)).pose;
            let turned = rest.local[arm].rotation().angle_between(pose.local[arm].rotation());
            let wanted = f64::from(whole) * t * t;
            // The bound of 2.5 degrees covers the timing error and the error from the spatial reduction of knots.
            assert!((f64::from(turned) - wanted).abs().to_degrees() < 2.5, "{t}: {turned} {wanted}");
        }
        assert!(s.document().keying(s.skeleton(), StrokeId(9), 0.0, 1.0).is_err());
    }
}
