//! Samples a document at successive times without allocation; caches everything that does not depend on time.

use super::Document;
use crate::pose::Poser;
use crate::rig::{Pose, Skeleton};

/// A reusable sampler of a document's motion.
#[derive(Debug, Default)]
pub struct Sampler {
    /// Whether the caches match the document.
    ready: bool,
    /// Cached pose with strokes applied. It exists only if neither a clip nor a key of the cage acts below the strokes,
    /// because only then is the pose constant.
    still: Option<Pose>,
    /// Cached effect of each stroke, if something moves below the strokes.
    posers: Vec<Option<Poser>>,
    /// Scratch pose for blending a clip.
    below: Pose,
    pose: Pose,
}

impl Sampler {
    /// Discards the caches; call this after the document changes.
    pub fn forget(&mut self) {
        self.ready = false;
    }

    /// Returns the pose at a time in seconds, see [`Document::state`]. The document must be unchanged since the last
    /// call or [`Sampler::forget`]. Only the first call allocates.
    pub fn sample(&mut self, document: &Document, skeleton: &Skeleton, time: f64) -> &Pose {
        if !self.ready {
            self.prepare(document, skeleton);
        }
        let Self { still, posers, below, pose, .. } = self;
        match still {
            Some(still) => pose.copy_from(still),
            None => {
                pose.copy_from(document.base_pose());
                document.rest_into(skeleton, Some(time), &mut pose.rest);
                document.grips_into(&mut pose.grips);
                document.motion.clips.iter().for_each(|clip| clip.apply(skeleton, time, pose, below));
                for (layer, poser) in document.strokes.iter().zip(posers) {
                    layer.apply(skeleton, poser.as_mut(), pose);
                }
            }
        }
        for channel in &document.motion.channels {
            if let Some(value) = channel.target.of_pose_mut(pose) {
                channel.curve().evaluate(time, value);
            }
        }
        pose
    }

    /// Returns the last sampled pose.
    pub fn into_pose(self) -> Pose {
        self.pose
    }

    fn prepare(&mut self, document: &Document, skeleton: &Skeleton) {
        let plays = document.motion.clips.iter().any(|clip| clip.enabled) || document.cage_moves();
        self.still = (!plays).then(|| document.posed(skeleton));
        self.posers = if plays {
            document.strokes.iter().map(|layer| layer.poser(skeleton, &document.limits)).collect()
        } else {
            Vec::new()
        };
        self.ready = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{Channel as ClipChannel, Clip, Interpolation, Property};
    use crate::base::NodeId;
    use crate::base::Random;
    use crate::document::testing::{session, work};
    use crate::document::{ClipLayer, Context, Edit, KeyEdit};
    use crate::rig::tree;

    #[test]
    fn a_sampler_that_goes_on_gives_what_every_step_by_itself_gives() {
        let mut skeleton = tree().0;
        let ramp = ClipChannel {
            node: NodeId(2),
            property: Property::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 4.0],
            values: vec![0.0, 0.0, 0.0, 4.0, 0.5, 0.0],
        };
        skeleton.clips = vec![Clip { name: "ramp".into(), channels: vec![ramp] }].into();
        let mut s = session();
        work(&mut s, &mut Random::new(3), 150);
        let mut document = s.document().clone();
        assert!(document.strokes().iter().any(|l| l.enabled && l.offset.is_some()));
        let half = ClipLayer { weight: 0.5, ..ClipLayer::new(0, &skeleton) };
        let mut sampler = Sampler::default();
        for clips in [vec![], vec![half.clone()], vec![half.clone(), ClipLayer { offset: 1.0, ..half }]] {
            let context = Context { skeleton: &skeleton, triangles: None };
            Edit::Keys(KeyEdit::Clips(clips.clone())).apply(&mut document, &context).unwrap();
            sampler.forget();
            for time in [0.0, 1.7, 0.3, 2.9, 2.9] {
                let mut wanted = document.base_pose().clone();
                clips.iter().for_each(|c| c.apply(&skeleton, time, &mut wanted, &mut Pose::default()));
                wanted = document
                    .strokes()
                    .iter()
                    .fold(wanted, |pose, l| l.applied(&skeleton, document.limits(), &pose));
                for channel in document.motion().channels() {
                    if let Some(value) = channel.target.of_pose_mut(&mut wanted) {
                        channel.curve().evaluate(time, value);
                    }
                }
                assert_eq!(*sampler.sample(&document, &skeleton, time), wanted, "{time}");
                assert_eq!(document.state(&skeleton, Some(time)).pose, wanted);
            }
        }
    }
}
