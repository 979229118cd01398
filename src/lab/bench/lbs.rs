//! Linear blend skinning on one CPU thread: a baseline that makes results of different machines comparable.

use super::measure::{Effort, Sample};
use crate::base::math::{Mat3A, Vec3, Vec3A};
use crate::geom::ControlMesh;
use crate::rig::PosedRig;
use std::time::Instant;

/// Skins the control vertices with all influences, in 32-bit floats, positions only.
pub(super) fn skin(control: &ControlMesh, rig: &PosedRig, out: &mut [Vec3]) {
    for (i, (x, out)) in control.positions.iter().zip(out).enumerate() {
        let (mut linear, mut offset) = (Mat3A::ZERO, Vec3A::ZERO);
        for (joint, weight) in control.influences.of(i) {
            let map = &rig.skinning[usize::from(joint)];
            linear += map.matrix3 * weight;
            offset += map.translation * weight;
        }
        *out = (linear * Vec3A::from(*x) + offset).into();
    }
}

pub(super) fn measure(control: &ControlMesh, rigs: &[PosedRig; 2], effort: &Effort) -> Sample {
    let mut out = vec![Vec3::ZERO; control.positions.len()];
    skin(control, &rigs[0], &mut out);
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.is_empty() || begin.elapsed() < effort.budget / 4 && times.len() < effort.most {
        for rig in rigs {
            let start = Instant::now();
            skin(control, rig, std::hint::black_box(&mut out));
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Sample::of(&times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::capsule;
    use crate::bind::{BindOptions, bind_attachments};
    use crate::deform::{Bound, Geometric, Streams};
    use std::sync::Arc;

    #[test]
    fn the_yardstick_skins_as_the_twin_does() {
        let character = Arc::new(capsule(4, 24, 12, 0.1, 1.0));
        let rigs = super::super::poses::pair(&character.skeleton);
        let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
        let bound = Bound::new(character.clone(), Arc::new(attachments));
        let mut streams = Streams::default();
        Geometric::Lbs.bind(&bound).unwrap().reference(&rigs[1], &mut streams);
        let mut out = vec![Vec3::ZERO; character.control.positions.len()];
        skin(&character.control, &rigs[1], &mut out);
        for (a, b) in out.iter().zip(&streams.position) {
            assert!(a.distance(*b) < 1e-5, "{a} {b}");
        }
    }
}
